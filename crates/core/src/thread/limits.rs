//! What refusals teach about how large a request may be.
//!
//! A window that nobody knew, a gateway that takes less than the model, a cap on bytes: the first refusal tells.
//! What was learnt holds for the endpoint and the model, so the host keeps it in [`Limits`] for its other threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Size, Thread};
use crate::effect::Failure;

/// The largest request that is known to be taken, as far as refusals told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Learnt {
    /// Tokens of the window: what the error said, or less than what was refused.
    pub tokens: Option<u64>,
    /// Bytes of a request: less than what was refused.
    pub bytes: Option<u64>,
}

impl Learnt {
    /// What this refusal of a request of `size` says.
    pub(crate) fn from_refusal(error: &Failure, size: &Size) -> Self {
        let less = |refused: u64| Some(refused - refused / 10);
        match error {
            Failure::ContextOverflow {
                limit: Some(limit), ..
            } => Self {
                tokens: Some(*limit),
                bytes: None,
            },
            Failure::ContextOverflow { limit: None, .. } => Self {
                tokens: less(size.tokens.max(size.request)),
                bytes: None,
            },
            Failure::TooManyBytes => Self {
                tokens: None,
                bytes: less(size.bytes),
            },
            _ => Self::default(),
        }
    }

    /// Both together: the narrower of each.
    pub fn and(self, other: Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self {
            tokens: least(self.tokens, other.tokens),
            bytes: least(self.bytes, other.bytes),
        }
    }
}

/// What was learnt, by endpoint and model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits(BTreeMap<Arc<str>, BTreeMap<Arc<str>, Learnt>>);

impl Limits {
    /// What is known of `model` at `endpoint`.
    pub fn of(&self, endpoint: &str, model: &str) -> Learnt {
        let known = self.0.get(endpoint).and_then(|models| models.get(model));
        known.copied().unwrap_or_default()
    }

    /// Adds what a thread learnt.
    pub fn learn(&mut self, endpoint: &str, model: &str, learnt: Learnt) {
        if learnt == Learnt::default() {
            return;
        }
        let models = self.0.entry(endpoint.into()).or_default();
        let known = models.entry(model.into()).or_default();
        *known = known.and(learnt);
    }
}

impl Thread {
    /// What refusals of this thread's requests taught.
    pub fn learnt(&self) -> Learnt {
        self.learnt
    }

    /// What other threads learnt about the same endpoint and model.
    pub fn set_learnt(&mut self, learnt: Learnt) {
        self.learnt = learnt;
    }

    /// The most tokens that a request may hold: the policy's, or less where a refusal told so. The reserve for
    /// the reply is then at most a quarter of what is left.
    pub fn input_limit(&self) -> u64 {
        let learnt = self.learnt.tokens.map(|window| {
            let reserve = self.policy.output_reserve.min(window / 4);
            window - reserve
        });
        self.policy.input_limit().min(learnt.unwrap_or(u64::MAX))
    }

    /// The most bytes that a request may hold.
    pub(crate) fn byte_limit(&self) -> Option<u64> {
        self.policy
            .max_request_bytes
            .into_iter()
            .chain(self.learnt.bytes)
            .min()
    }

    /// From here on a compaction is due whatever the triggers say: four fifths of what a refusal left.
    pub(super) fn learnt_threshold(&self) -> Option<u64> {
        let is_narrower = self.input_limit() < self.policy.input_limit();
        is_narrower.then(|| self.input_limit() / 5 * 4)
    }

    /// Whether the request has as many bytes as may be sent, but for a fifth.
    pub(super) fn is_too_long_in_bytes(&self, size: &Size) -> bool {
        self.byte_limit()
            .is_some_and(|limit| size.bytes >= limit / 5 * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learnt_gets_narrower_and_stays_with_its_endpoint() {
        let size = Size {
            tokens: 1_000,
            bytes: 5_000,
            ..Size::default()
        };
        let told = |error| Learnt::from_refusal(&error, &size);
        let stated = told(Failure::over(800));
        assert_eq!((stated.tokens, stated.bytes), (Some(800), None));
        let unstated = told(Failure::TOO_LARGE);
        assert_eq!((unstated.tokens, unstated.bytes), (Some(900), None));
        let bytes = told(Failure::TooManyBytes);
        assert_eq!((bytes.tokens, bytes.bytes), (None, Some(4_500)));
        assert_eq!(told(Failure::TimedOut { after_ms: 1 }), Learnt::default());
        let mut limits = Limits::default();
        limits.learn("http://a", "m", unstated);
        limits.learn("http://a", "m", stated.and(bytes));
        let known = limits.of("http://a", "m");
        assert_eq!((known.tokens, known.bytes), (Some(800), Some(4_500)));
        assert_eq!(limits.of("http://b", "m"), Learnt::default());
    }
}
