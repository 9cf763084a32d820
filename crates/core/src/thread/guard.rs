//! What keeps failure from repeating: the breaker and one recovery an overflow error.

use serde::{Deserialize, Serialize};

use super::{Decision, Learnt, Manual, Sources, Thread};
use crate::effect::{Failure, Millis, Route};
use crate::id::AttemptId;
use crate::outcome::{Moment, Outcome, Report};

/// Failed automatic attempts in a row, and until when no further one is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BreakerState {
    /// Failed attempts in a row.
    pub failures: u32,
    /// Open until then; after it one attempt probes.
    pub open_until: Option<Millis>,
}

impl BreakerState {
    /// Whether automatic attempts are stopped.
    pub fn is_open(&self, now: Millis) -> bool {
        self.open_until.is_some_and(|until| now < until)
    }
}

/// What to do after the provider refused a request.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once a call, and most often the large one"
)]
pub enum Recovery {
    /// Run this attempt, then send once more.
    Compact(Box<crate::attempt::Attempt>),
    /// Give the error to the caller.
    GiveUp(Report),
}

impl Thread {
    /// The provider refused the request. One overflow error starts one attempt; the same error again before
    /// anything was appended goes to the caller. `routes`: the models to ask, in order; empty: the digest.
    pub fn provider_error(
        &mut self,
        now: Millis,
        error: &Failure,
        routes: &[Route],
        src: Sources<'_>,
    ) -> Recovery {
        let again = std::mem::replace(&mut self.overflowed, error.is_context_overflow());
        if again || !error.is_context_overflow() {
            let report = Report::without_attempt(Outcome::Skipped, self.measured(src), Vec::new());
            return Recovery::GiveUp(report);
        }
        self.stated(error, src);
        let size = self.size(src);
        self.learnt = self.learnt.and(Learnt::from_refusal(error, &size));
        // A limit that the error states may be far below half of what there is.
        let stated = matches!(error, Failure::ContextOverflow { limit: Some(_), .. });
        let threshold = self.learnt_threshold().filter(|_| stated);
        // A compaction that was just made was not enough: go deeper than `keep`.
        let request = Manual {
            moment: Moment::Overflow,
            below_keep: self.is_settled(),
            routes: routes.to_vec(),
            ..Manual::default()
        };
        match self.command(now, &request, threshold, src) {
            Decision::Start(attempt, _) => Recovery::Compact(attempt),
            Decision::Send(report) => Recovery::GiveUp(report),
            Decision::Wait(_) => Recovery::GiveUp(Report::without_attempt(
                Outcome::Deferred,
                self.measured(src),
                Vec::new(),
            )),
        }
    }

    /// An attempt ended. Clears the way for the next one and keeps the breaker.
    pub fn ended(&mut self, attempt: AttemptId, outcome: Outcome, now: Millis) {
        let Some(running) = self.running.take_if(|r| r.attempt == attempt) else {
            return;
        };
        match outcome {
            Outcome::Compacted | Outcome::Pruned => self.breaker = BreakerState::default(),
            Outcome::Rejected | Outcome::Failed if !running.manual => {
                self.breaker.failures += 1;
                if self.breaker.failures >= self.policy.breaker.failures {
                    self.breaker.open_until =
                        Some(now.saturating_add(self.policy.breaker.cooldown_ms));
                }
            }
            _ => {}
        }
    }

    /// What the error says about the size of the request is a report like any other, until something changes.
    fn stated(&mut self, error: &Failure, src: Sources<'_>) {
        let Failure::ContextOverflow {
            limit,
            actual: Some(actual),
        } = error
        else {
            return;
        };
        // Some servers count the reply that was asked for into it, none leaves anything out.
        if *actual > limit.unwrap_or_default() {
            self.refused = None;
            let estimated = self.size(src).request;
            self.refused = Some(*actual).filter(|actual| *actual >= estimated / 2);
            self.told_of_refused(*actual);
        }
    }

    /// The breaker.
    pub fn breaker(&self) -> BreakerState {
        self.breaker
    }

    /// The breaker as it was kept, for a thread that is read from a store.
    pub fn set_breaker(&mut self, breaker: BreakerState) {
        self.breaker = breaker;
    }
}
