//! Runs an attempt to its end on the calling thread: the thin shell around the pure machine.

use conspectus_core::attempt::{Attempt, Poll};
use conspectus_core::effect::{
    Effect, Event, Failure, Hook, Input, Millis, Reply, Route, SummaryRequest,
};
use conspectus_core::outcome::Report;
use conspectus_core::ranges::NodeRanges;
use conspectus_core::thread::{Sources, Thread};

use crate::partials::Partials;
use crate::perform::{Performed, ended, perform};

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
    let mut partials = Partials::default();
    let mut wakes: Vec<Millis> = Vec::new();
    loop {
        let now = host.now();
        let input = match attempt.poll(now, src) {
            Poll::Done(report) => {
                ended(thread, attempt.id(), &report, now);
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
            Poll::Do(effect) => match perform(effect, thread, src, &mut partials) {
                Performed::Answered(input) => input,
                Performed::Done => continue,
                Performed::Outside(effect) => match outside(effect, host, &mut wakes) {
                    Some(input) => input,
                    None => continue,
                },
            },
        };
        attempt.feed(host.now(), input, src);
    }
}

fn outside(effect: Effect, host: &mut dyn Host, wakes: &mut Vec<Millis>) -> Option<Input> {
    match effect {
        Effect::Call {
            call,
            request,
            route,
            deadline,
        } => Some(match host.call(&request, &route, deadline) {
            Ok(reply) => Input::Reply(call, reply),
            Err(failure) => Input::Failed(call, failure),
        }),
        Effect::Hook(hook, removed) => {
            host.hook(hook, &removed);
            Some(Input::HookDone(hook))
        }
        Effect::Archive(removed) => Some(Input::Archived(host.archive(&removed))),
        Effect::WakeAt(at) => {
            wakes.push(at);
            None
        }
        Effect::Emit(event) => {
            host.emit(&event);
            None
        }
        // A call has ended before the next effect is performed: there is nothing to stop.
        Effect::Abort(_) => None,
        Effect::CacheGet(_) | Effect::CachePut(..) | Effect::Commit(..) | Effect::LookUp(..) => {
            unreachable!("performed without the outside")
        }
    }
}
