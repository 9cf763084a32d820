//! How large the request is, and whether that is a reason to act. O(1).

use serde::{Deserialize, Serialize};

use super::{Sources, Thread};
use crate::policy::{Counted, Reached, Threshold, UsageRule};

/// The size of what the policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// Tokens, anchored on the last valid report where the policy uses reports.
    pub tokens: u64,
    /// Tokens by the counter alone.
    pub estimated: u64,
    /// Tokens of all that would be sent, by the counter, whatever part of it the policy counts.
    pub request: u64,
    /// Of `request`: what stands outside the messages.
    pub fixed: u64,
    /// Messages of the active window.
    pub messages: u64,
    /// Whether a report of the provider was used.
    pub reported: bool,
}

impl Size {
    /// What `tokens` and `request` differ by: thresholds are in the former, plans in the latter.
    pub fn footing(&self) -> i64 {
        i64::try_from(self.tokens)
            .unwrap_or(i64::MAX)
            .saturating_sub_unsigned(self.request)
    }

    /// The size to tell: as reported where there is a report, else all that would be sent.
    pub fn shown(&self) -> u64 {
        if self.reported {
            self.tokens
        } else {
            self.request
        }
    }

    /// What is added to estimates so that they can stand beside [`Size::shown`].
    pub fn report_offset(&self) -> i64 {
        if self.reported { self.footing() } else { 0 }
    }

    /// Whether a threshold is reached.
    pub fn reaches(&self, threshold: &Threshold, rule: Reached) -> bool {
        let met = |size: u64, limit: Option<u64>| match (limit, rule) {
            (None, _) => true,
            (Some(limit), Reached::AtLeast) => size >= limit,
            (Some(limit), Reached::Above) => size > limit,
        };
        (threshold.tokens.is_some() || threshold.messages.is_some())
            && met(self.tokens, threshold.tokens)
            && met(self.messages, threshold.messages)
    }
}

impl Thread {
    /// The size of the request that would be sent now.
    pub fn size(&self, src: Sources<'_>) -> Size {
        let counted = self.policy.counted;
        let tail = self
            .branch
            .weight(self.frozen.end, self.branch.len())
            .saturating_sub(self.unsent)
            .saturating_add_signed(-self.live.saved);
        let messages = self.frozen.weight + tail;
        let estimated = src.counter.tokens(match counted {
            Counted::Request => self.fixed.weight + messages + self.frozen.summary_weight,
            Counted::MessagesAndSummary => messages + self.frozen.summary_weight,
            Counted::Messages => messages,
        });
        let has_summary = self.active().is_some_and(|r| r.summary.is_some());
        let extra = u64::from(counted == Counted::MessagesAndSummary && has_summary);
        let reported = self.reported(src);
        Size {
            tokens: reported.unwrap_or(estimated),
            estimated,
            request: src
                .counter
                .tokens(self.fixed.weight + messages + self.frozen.summary_weight),
            fixed: src.counter.tokens(self.fixed.weight),
            messages: self.frozen.messages + (self.branch.len() - self.frozen.end) as u64 + extra,
            reported: reported.is_some(),
        }
    }

    /// What the provider last said, and an estimate of what came after it.
    fn reported(&self, src: Sources<'_>) -> Option<u64> {
        if self.policy.usage != UsageRule::Anchor {
            return None;
        }
        let at = self.anchor?;
        let context = self.branch.view(at).usage.as_ref()?.context();
        Some(
            context
                + src
                    .counter
                    .tokens(self.branch.weight(at + 1, self.branch.len())),
        )
    }

    /// Whether any trigger is reached.
    pub fn is_triggered(&self, size: &Size) -> bool {
        self.policy
            .triggers
            .iter()
            .any(|t| size.reaches(t, self.policy.reached))
    }
}
