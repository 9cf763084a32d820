//! One attempt on a stored thread: begun under a lease, driven, and everything it leaves written.

use std::sync::Arc;

use conspectus_core::attempt::Attempt;
use conspectus_core::effect::{Event, Hook, Route};
use conspectus_core::outcome::{Measured, Moment, Outcome, Reason, Report};
use conspectus_core::policy::{Keep, KeepOption, Options, Policy};
use conspectus_core::ranges::NodeRanges;
use conspectus_core::thread::{Decision, Learnt, Manual, Recovery, State};
use conspectus_wire::Format;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::compact::{BeforeFold, CompactThread, Compacted};
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::home::{Keeping, Left, StoreHome};
use super::lease::Held;
use super::meta::{LastAttempt, Meta};
use super::open::{Much, Opened};
use super::settings::Run;
use crate::clock::Clock;
use crate::compactor::Surroundings;
use crate::control::Control;
use crate::model::Boxed;
use crate::store::{Mark, ThreadKey, Write, Written};
use crate::telemetry::Labels;

impl<C: Clock> Threads<C> {
    pub(super) async fn compact_held(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
        held: &Held,
        control: &Control,
        hook: &dyn BeforeFold,
    ) -> Result<Compacted, ThreadsError> {
        let mut is_marked = false;
        let mut turn = None;
        for _ in 0..Self::TRIES {
            let mut opened = self.open(key, Much::Whole, &ask.asked()).await?;
            opened.thread.set_fence(held.fence);
            self.recall_limits(key, &mut opened).await?;
            let before = opened.thread.state();
            opened.take_fixed(ask);
            let attempt = match self.decide(&mut opened, ask)? {
                Begun::Attempt(attempt) => attempt,
                Begun::No(report) => {
                    if is_marked {
                        self.store().mark(key, held.fence, None).await?;
                    }
                    self.remember(key, &opened, &before).await?;
                    return Ok(Compacted::of(key, *report, Some(&opened.run)));
                }
            };
            let mark = Mark {
                attempt: attempt.id(),
                fence: held.fence,
                since_ms: self.now(),
            };
            if !self.store().mark(key, held.fence, Some(mark)).await? {
                let why = vec![Reason::AttemptRunning];
                return Ok(Compacted::without(key, Outcome::Conflict, why));
            }
            is_marked = true;
            // From here on nobody else gives an attempt the same id.
            let write = Write {
                revision: opened.head.revision,
                state: Some(Arc::new(opened.thread.state())),
                now: self.now(),
                ..Write::default()
            };
            match self.write(key, write).await {
                Ok(Written::Done(revision)) => opened.head.revision = revision,
                Ok(_) => {
                    turn.get_or_insert_with(|| self.kept_open().turns.hold(key));
                    continue;
                }
                Err(why) => {
                    // Nothing began.
                    let _ = self.store().mark(key, held.fence, None).await;
                    return Err(why);
                }
            }
            drop(turn);
            return self
                .attempt(key, ask, held, control, hook, opened, *attempt)
                .await;
        }
        self.store().mark(key, held.fence, None).await?;
        Err(ThreadsError::Contended)
    }

    /// Whether there is something to try.
    fn decide(&self, opened: &mut Opened, ask: &CompactThread) -> Result<Begun, ThreadsError> {
        let routes = self.routes(opened);
        let keep = ask
            .keep
            .map(|keep| keep_in(&opened.run, keep))
            .transpose()?;
        let manual = Manual {
            force: ask.force,
            below_keep: ask.below_keep,
            keep,
            focus: ask.focus.clone(),
            invoking: ask.invoking.clone(),
            moment: ask.moment,
            routes: routes.clone(),
        };
        let now = self.now();
        let (thread, src) = opened.parts();
        let decision = match (&ask.refusal, ask.moment) {
            (Some(refusal), _) => match thread.provider_error(now, refusal, &routes, src) {
                Recovery::Compact(attempt) => return Ok(Begun::Attempt(attempt)),
                Recovery::GiveUp(report) => return Ok(Begun::No(Box::new(report))),
            },
            (None, Moment::Manual) => thread.manual(now, &manual, src),
            (None, _) if ask.force => thread.manual(now, &manual, src),
            (None, _) => thread.before_call(now, &routes, src),
        };
        Ok(match decision {
            Decision::Start(attempt, _) => Begun::Attempt(attempt),
            Decision::Send(report) => Begun::No(Box::new(report)),
            Decision::Wait(_) => Begun::No(Box::new(Report::without_attempt(
                Outcome::Conflict,
                Measured::default(),
                vec![Reason::AttemptRunning],
            ))),
        })
    }

    /// The models to ask, in order.
    pub(super) fn routes(&self, opened: &Opened) -> Vec<Route> {
        let mut routes = opened.run.routes.clone();
        self.compactor().settle(&mut routes, &Nobody);
        routes
    }

    /// Runs an attempt, and writes what it leaves.
    #[expect(clippy::too_many_arguments, reason = "what one attempt runs with")]
    async fn attempt(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
        held: &Held,
        control: &Control,
        hook: &dyn BeforeFold,
        opened: Opened,
        attempt: Attempt,
    ) -> Result<Compacted, ThreadsError> {
        let (run, id) = (opened.run.clone(), attempt.id());
        let agent = ask.agent_name.clone().or_else(|| opened.meta.agent.clone());
        let keeping = match ask.dry_run {
            true => Keeping::Preview,
            false => Keeping::Live,
        };
        let clock = self.compactor().clock();
        let around_store = (self.store(), &self.kept_open().turns);
        let home = StoreHome::new(around_store, clock, self.bells(), key, keeping, opened);
        let around = Around {
            home: &home,
            hook: (keeping == Keeping::Live).then_some(hook),
            labels: Labels {
                agent_name: agent,
                tenant: Some(key.tenant.clone()),
                thread: Some(key.thread.clone()),
                dry_run: ask.dry_run,
            },
        };
        let work = self.compactor().run(&home, attempt, &around, control);
        let report = self.held(key, held, control, work, home.tell()).await;
        let mut left = home.into_left();
        let mut compacted = Compacted::of(key, report.clone(), Some(&run));
        if compacted.is_change() {
            let record = report.record.and_then(|id| left.thread.record(id));
            let summary = record.and_then(|r| r.summary.as_ref());
            compacted.summary_text = summary.map(|summary| summary.text.clone());
            match keeping {
                Keeping::Live => {
                    let state = left.thread.state();
                    compacted.checkpoint_id =
                        Some(CheckpointId::new(state.knows().2, state.head()));
                }
                Keeping::Preview => {
                    let preview = self.keep_preview(key, id, &report, &left).await?;
                    left.events.push(
                        ThreadEvent::Previewed {
                            preview: preview.clone(),
                        }
                        .to_text(),
                    );
                    compacted.preview = Some(preview);
                }
            }
        }
        let last = LastAttempt {
            attempt: id,
            moment: ask.moment,
            outcome: report.outcome,
            reasons: report.reasons.clone(),
            failure: report.failure.as_ref().map(|f| f.to_string().into()),
            measured: report.measured,
            ended_ms: self.now(),
        };
        match self.finish(key, ask, held, &run, &left, last).await {
            // What is in force is told, even where the end could not be written: the next attempt finds the mark.
            Err(why) if !compacted.is_change() => Err(why),
            _ => Ok(compacted),
        }
    }

    /// Writes how an attempt ended with its last event, then clears the mark.
    async fn finish(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
        held: &Held,
        run: &Run,
        left: &Left,
        last: LastAttempt,
    ) -> Result<(), ThreadsError> {
        let learnt = left.thread.learnt();
        if learnt != Learnt::default()
            && let Some(model) = &run.model
        {
            let learning = self
                .store()
                .learn(&key.tenant, &run.endpoint, model, learnt);
            learning.await?;
        }
        let mut turn = None;
        for _ in 0..Self::TRIES {
            let mut opened = self.open(key, Much::Window, &ask.asked()).await?;
            opened.thread.takes_end_of(&left.thread);
            let meta = Meta {
                last: Some(last.clone()),
                ..opened.meta.clone()
            };
            let write = Write {
                revision: opened.head.revision,
                state: Some(Arc::new(opened.thread.state())),
                meta: Some(meta.to_text()),
                events: left.events.clone(),
                now: self.now(),
                ..Write::default()
            };
            if let Written::Done(_) = self.write(key, write).await? {
                self.store().mark(key, held.fence, None).await?;
                return Ok(());
            }
            turn.get_or_insert_with(|| self.kept_open().turns.hold(key));
        }
        Err(ThreadsError::Contended)
    }

    /// Writes what a check that began no attempt found out: that nothing would pay below some size. The revision at which
    /// it is stored; `None`: somebody else wrote meanwhile.
    pub(super) async fn remember(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        before: &State,
    ) -> Result<Option<u64>, ThreadsError> {
        let state = opened.thread.state();
        if state == *before {
            return Ok(Some(opened.head.revision));
        }
        let write = Write {
            revision: opened.head.revision,
            state: Some(Arc::new(state)),
            now: self.now(),
            ..Write::default()
        };
        // Whoever was faster will find it out again.
        let written = self.write(key, write).await?;
        Ok(match written {
            Written::Done(revision) => Some(revision),
            _ => None,
        })
    }

    /// What other threads learnt about the model.
    pub(super) async fn recall_limits(
        &self,
        key: &ThreadKey,
        opened: &mut Opened,
    ) -> Result<(), ThreadsError> {
        if let Some(model) = &opened.run.model {
            let limits = self.store().limits(&key.tenant).await?;
            let learnt = limits.of(&opened.run.endpoint, model);
            let own = opened.thread.learnt();
            opened.thread.set_learnt(own.and(learnt));
        }
        Ok(())
    }
}

enum Begun {
    Attempt(Box<Attempt>),
    No(Box<Report>),
}

/// `keep` in numbers.
///
/// # Errors
/// When it cannot be with the rest of the policy.
fn keep_in(run: &Run, keep: KeepOption) -> Result<Keep, ThreadsError> {
    let options = Options {
        keep: Some(keep),
        ..run.options.clone()
    };
    Ok(Policy::resolve(&options, &run.profile)?.policy.keep)
}

/// Where nothing can be replayed: a thread is messages, not a request.
struct Nobody;

impl Surroundings for Nobody {
    fn can_replay(&self, _: &Route, _: Option<Format>) -> bool {
        false
    }
}

/// Keeps what happens on the way for the next write.
struct Around<'a, C> {
    home: &'a StoreHome<'a, C>,
    hook: Option<&'a dyn BeforeFold>,
    labels: Labels,
}

impl<C: Clock> Surroundings for Around<'_, C> {
    fn can_replay(&self, _: &Route, _: Option<Format>) -> bool {
        false
    }

    fn hook<'b>(&'b self, _: Hook, removed: &'b NodeRanges) -> Boxed<'b, ()> {
        match self.hook {
            Some(hook) => hook.before_fold(self.home.folding(removed)),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn emit(&self, event: &Event) {
        match event {
            Event::Progress { attempt, done, of } => self.home.keep(&ThreadEvent::Progress {
                attempt: *attempt,
                done: *done,
                of: *of,
            }),
            Event::ModelFailed {
                attempt,
                model,
                failure,
            } => self.home.keep(&ThreadEvent::ModelFailed {
                attempt: *attempt,
                model: model.clone(),
                failure: failure.to_string().into(),
            }),
            Event::Started { .. } | Event::Stopped { .. } => {}
        }
    }

    fn labels(&self) -> Labels {
        self.labels.clone()
    }
}
