//! Money and the provider's cache: when the last request was sent, what summaries have cost, what they may still cost.

use serde::{Deserialize, Serialize};

use super::{Size, Thread};
use crate::cost::{Change, SummaryCall, Warmth, cost};
use crate::effect::{Millis, Route};
use crate::outcome::Reason;
use crate::policy::OnFailure;
use crate::way::{Sizes, replays};

/// A day of the host's clock.
const DAY_MS: Millis = 24 * 60 * 60 * 1000;

/// What the summaries of a thread have cost, in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spent {
    /// In all.
    pub thread_micros: u64,
    /// The day of the newest spending, counted from the clock's beginning.
    pub day: u64,
    /// On that day.
    pub day_micros: u64,
}

impl Spent {
    fn on(&self, now: Millis) -> u64 {
        if self.day == now / DAY_MS {
            self.day_micros
        } else {
            0
        }
    }
}

/// Whether a model may be asked.
pub(super) enum Purse {
    /// Yes, for so many micro-dollars; `None`: without a cap.
    Open(Option<u64>),
    /// No: the digest takes its place.
    Digest,
    /// No, and nothing takes its place.
    Nothing,
}

impl Thread {
    /// A request of the conversation is sent now. From here on the provider's cache is warm for a while; a host that never
    /// says so is taken to have a cold one.
    pub fn sent(&mut self, now: Millis) {
        self.last_request = Some(now);
    }

    /// Summaries have cost so much more: what [`Measured::spent_micros`](crate::outcome::Measured::spent_micros) of an
    /// attempt's report says, however it ended.
    pub fn spend(&mut self, now: Millis, micros: u64) {
        if micros == 0 {
            return;
        }
        let spent = &mut self.spent;
        spent.day_micros = spent.on(now).saturating_add(micros);
        spent.day = now / DAY_MS;
        spent.thread_micros = spent.thread_micros.saturating_add(micros);
    }

    /// What summaries have cost.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Whether the provider still holds the last request.
    pub fn warmth(&self, now: Millis, size: &Size) -> Warmth {
        Warmth::since(self.last_request, now, self.policy.cost.cache, size.tokens)
    }

    /// Whether any of these models may be asked for a summary of all there is.
    pub(super) fn purse(&self, now: Millis, routes: &[Route], size: &Size) -> Purse {
        let policy = &self.policy.cost;
        let left = |cap: Option<u64>, spent: u64| cap.map(|cap| cap.saturating_sub(spent));
        let of_thread = left(policy.max_thread_micros, self.spent.thread_micros);
        let of_day = left(policy.max_day_micros, self.spent.on(now));
        let Some(left) = of_thread.into_iter().chain(of_day).min() else {
            return Purse::Open(None);
        };
        if routes.is_empty() {
            return Purse::Open(None);
        }
        let warmth = self.warmth(now, size);
        // A cap without prices holds nothing back, which the policy has warned of.
        let can_be_paid = |route| {
            let call = self.price_of_call(route, size, warmth);
            call.is_none_or(|call| call <= left)
        };
        match self.policy.summary.on_failure {
            _ if routes.iter().any(can_be_paid) => Purse::Open(Some(left)),
            OnFailure::Digest => Purse::Digest,
            _ => Purse::Nothing,
        }
    }

    /// What one call of this model for a summary of the request would cost, in micro-dollars.
    fn price_of_call(&self, route: &Route, size: &Size, warmth: Warmth) -> Option<u64> {
        let policy = &self.policy;
        let prices = policy.cost.prices_of(route.model.as_deref())?;
        let summary = policy.summary.max_tokens.min(route.max_output);
        let sizes = Sizes {
            conversation: size.tokens.max(size.request),
            folded: size.request,
            instruction: 0,
            summary,
        };
        let call = match replays(policy, route, &sizes, warmth).0 {
            true => SummaryCall::Replay {
                instruction: 0,
                summary,
            },
            false => SummaryCall::Transcript {
                input: size.request,
                summary,
                prices,
            },
        };
        let all = Change {
            same: 0,
            before: sizes.conversation,
            after: 0,
        };
        let made = cost(all, call, &prices, warmth);
        Some(u64::try_from(made.call_micros).unwrap_or(0))
    }

    /// Whether a change that does not pay can still wait: the trigger is reached, but the request is not yet a tenth
    /// over it nor halfway to what the window takes.
    pub(super) fn may_wait(&self, threshold: u64, size: &Size) -> bool {
        let limit = self.policy.input_limit();
        let halfway = threshold.saturating_add(limit.saturating_sub(threshold) / 2);
        let tenth_over = threshold.saturating_add(threshold / 10);
        size.tokens < halfway.min(tenth_over)
    }

    /// What is said when nothing is done for the cache's sake.
    pub(super) fn waiting() -> Vec<Reason> {
        vec![Reason::WaitsForCache]
    }
}
