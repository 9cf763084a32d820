//! Runs an attempt to its end on the calling thread: the thin shell around the pure machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::attempt::{Attempt, Poll};
use conspectus_core::effect::{
    CommitAck, Effect, Event, Failure, Hook, Input, Millis, Reply, Route, SummaryRequest,
};
use conspectus_core::id::Ident;
use conspectus_core::outcome::Report;
use conspectus_core::ranges::NodeRanges;
use conspectus_core::thread::{Sources, Thread};

/// What an attempt's effects need from outside. Every method has a default that suits a conversation in
/// memory without a model: the digest is the summary, and the history itself is the archive.
pub trait Host {
    /// Milliseconds on this host's clock.
    fn now(&mut self) -> Millis {
        0
    }

    /// Waits until `until`.
    fn wait(&mut self, until: Millis) {
        let _ = until;
    }

    /// Asks a model.
    ///
    /// # Errors
    /// Why there is no reply.
    fn call(
        &mut self,
        request: &SummaryRequest,
        route: &Route,
        deadline: Millis,
    ) -> Result<Reply, Failure> {
        let _ = (request, route, deadline);
        Err(Failure::Unusable {
            message: "no model is configured here".into(),
        })
    }

    /// Runs the host's hooks. What fails in there is the host's to log.
    fn hook(&mut self, hook: Hook, removed: &NodeRanges) {
        let _ = (hook, removed);
    }

    /// Makes messages retrievable before they go.
    ///
    /// # Errors
    /// When they could not be written; the attempt then ends without a change.
    fn archive(&mut self, removed: &NodeRanges) -> Result<(), Failure> {
        let _ = removed;
        Ok(())
    }

    /// Listens.
    fn emit(&mut self, event: &Event) {
        let _ = event;
    }
}

/// A host without a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded {
    now: Millis,
}

impl Host for Embedded {
    fn now(&mut self) -> Millis {
        self.now
    }

    fn wait(&mut self, until: Millis) {
        self.now = self.now.max(until);
    }
}

/// Runs `attempt` to its end and commits into `thread`. Calls of one attempt run one after another.
pub fn drive(
    thread: &mut Thread,
    mut attempt: Attempt,
    src: Sources<'_>,
    host: &mut dyn Host,
) -> Report {
    let mut cache: BTreeMap<Ident, Arc<str>> = BTreeMap::new();
    let mut wakes: Vec<Millis> = Vec::new();
    loop {
        let now = host.now();
        let input = match attempt.poll(now, src) {
            Poll::Done(report) => {
                thread.ended(attempt.id(), report.outcome, now);
                thread.spend(now, report.measured.spent_micros);
                return *report;
            }
            Poll::Idle => {
                wakes.retain(|at| *at > now);
                match wakes.iter().min() {
                    Some(next) => {
                        host.wait(*next);
                        continue;
                    }
                    None => Input::Cancel,
                }
            }
            Poll::Do(effect) => match perform(thread, &effect, src, host, &mut cache, &mut wakes) {
                Some(input) => input,
                None => continue,
            },
        };
        attempt.feed(host.now(), input, src);
    }
}

fn perform(
    thread: &mut Thread,
    effect: &Effect,
    src: Sources<'_>,
    host: &mut dyn Host,
    cache: &mut BTreeMap<Ident, Arc<str>>,
    wakes: &mut Vec<Millis>,
) -> Option<Input> {
    Some(match effect {
        Effect::Call {
            call,
            request,
            route,
            deadline,
        } => match host.call(request, route, *deadline) {
            Ok(reply) => Input::Reply(*call, reply),
            Err(failure) => Input::Failed(*call, failure),
        },
        Effect::CacheGet(key) => Input::Cached(*key, cache.get(key).cloned()),
        Effect::Hook(hook, removed) => {
            host.hook(*hook, removed);
            Input::HookDone(*hook)
        }
        Effect::Archive(removed) => Input::Archived(host.archive(removed)),
        Effect::Commit(record, expect) => {
            let ack = thread.commit(record, *expect, src);
            debug_assert!(
                !matches!(ack, CommitAck::Unknown),
                "memory does not lose acknowledgements"
            );
            Input::Committed(ack)
        }
        Effect::LookUp(attempt, record) => Input::Found(thread.has_record(*attempt, *record)),
        Effect::CachePut(key, text) => {
            cache.insert(*key, text.clone());
            return None;
        }
        Effect::WakeAt(at) => {
            wakes.push(*at);
            return None;
        }
        Effect::Emit(event) => {
            host.emit(event);
            return None;
        }
        // A call has ended before the next effect is performed: there is nothing to stop.
        Effect::Abort(_) => return None,
    })
}
