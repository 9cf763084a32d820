//! How large the request is, and whether that is a reason to act. O(1).

use serde::{Deserialize, Serialize};

use super::{Sources, Thread};
use crate::policy::{Counted, Preset, Reached, Threshold, UsageRule};

/// The size of what the policy counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// Tokens, anchored on the last valid report or scaled by it where the policy uses reports.
    pub tokens: u64,
    /// Tokens by the counter alone.
    pub estimated: u64,
    /// Tokens of all that would be sent, by the counter, whatever part of it the policy counts.
    pub request: u64,
    /// Of `request`: what stands outside the messages.
    pub fixed: u64,
    /// Bytes of all texts and media of the messages, the summary's included.
    pub bytes: u64,
    /// Messages of the active window.
    pub messages: u64,
    /// Whether a report of the provider was used in the place of the count.
    pub reported: bool,
    /// What earlier reports taught to add to the count, in `tokens`; 0 beside a report.
    #[serde(default)]
    pub offset: i64,
    /// What the newest reply's own report says, where the policy scales: it alone can reach a trigger.
    pub newest_report: Option<u64>,
}

impl Size {
    /// A threshold of the policy, as a size of what would be sent by the counter alone, which plans are made in.
    ///
    /// A report above the count means that something is sent that we do not see: it stays, and is taken off.
    /// A report below it means that the counter counts too high: sizes are in that proportion.
    pub fn planned(&self, threshold: u64) -> u64 {
        if self.reported && self.tokens < self.request {
            return proportion(threshold, self.request, self.tokens);
        }
        // A scaled count: sizes are in its proportion.
        let is_scaled = !self.reported && self.offset == 0 && self.tokens > self.estimated;
        if is_scaled {
            let scaled = proportion(threshold, self.estimated, self.tokens);
            return scaled.saturating_add(self.request.saturating_sub(self.estimated));
        }
        if !self.reported {
            let uncounted = self.request.saturating_sub(self.estimated);
            return uncorrected(threshold, self.offset).saturating_add(uncounted);
        }
        threshold.saturating_sub(self.tokens.saturating_sub(self.request))
    }

    /// A size of what would be sent, as it is told: beside a report on the report's footing, else as counted.
    pub fn told(&self, request: u64) -> u64 {
        match self.tokens.checked_sub(self.request) {
            _ if !self.reported => request,
            Some(unseen) => request.saturating_add(unseen),
            None => proportion(request, self.tokens, self.request),
        }
    }

    /// Whether a threshold is reached.
    pub fn reaches(&self, threshold: &Threshold, rule: Reached) -> bool {
        let met = |size: u64, limit: Option<u64>| match (limit, rule) {
            (None, _) => true,
            (Some(limit), Reached::AtLeast) => size >= limit,
            (Some(limit), Reached::Above) => size > limit,
        };
        let is_told = |told: u64| threshold.tokens.is_some_and(|limit| told >= limit);
        (threshold.tokens.is_some() || threshold.messages.is_some())
            && (met(self.tokens, threshold.tokens) || self.newest_report.is_some_and(is_told))
            && met(self.messages, threshold.messages)
    }
}

impl Thread {
    /// The size of the request that would be sent now.
    pub fn size(&self, src: Sources<'_>) -> Size {
        let counted = self.counted();
        let messages = self.shown_weight();
        let estimated = src.counter.tokens(match counted {
            Counted::Request => self.fixed.weight + messages + self.frozen.summary_weight,
            Counted::MessagesAndSummary => messages + self.frozen.summary_weight,
            Counted::Messages => messages,
        });
        let extra = u64::from(counted == Counted::MessagesAndSummary && self.has_summary());
        let reported = self.reported(src);
        let scales = self.policy.usage == UsageRule::Scale;
        let scaled = scales.then(|| self.scaled(counted, self.policy.preset != Preset::Deerflow));
        let provider = self.policy.provider.as_deref();
        let offset = match reported.or(scaled) {
            None => self.calibration(src.counter).offset(estimated),
            Some(_) => 0,
        };
        let corrected = estimated.saturating_add_signed(offset);
        Size {
            tokens: reported.or(scaled).unwrap_or(corrected),
            offset,
            estimated,
            request: src
                .counter
                .tokens(self.fixed.weight + messages + self.frozen.summary_weight),
            fixed: src.counter.tokens(self.fixed.weight),
            bytes: self.frozen.bytes + self.branch.bytes(self.frozen.end, self.branch.len()),
            messages: self.frozen.messages + (self.branch.len() - self.frozen.end) as u64 + extra,
            reported: reported.is_some(),
            newest_report: self.scale.newest_report(provider).filter(|_| scales),
        }
    }

    /// What is counted. In the lists of the peers that have one the summary is a message like any other.
    fn counted(&self) -> Counted {
        match self.policy.counted {
            Counted::Messages if self.policy.follows_peer() => Counted::MessagesAndSummary,
            counted => counted,
        }
    }

    pub(super) fn has_summary(&self) -> bool {
        self.active().is_some_and(|r| r.summary.is_some())
    }

    /// What the provider last said, and an estimate of what came after it.
    fn reported(&self, src: Sources<'_>) -> Option<u64> {
        if self.policy.usage != UsageRule::Anchor {
            return None;
        }
        if self.refused.is_some() {
            return self.refused;
        }
        let at = self.anchor?;
        let context = self.branch.view(at).usage.as_ref()?.context();
        let behind = self.branch.weight(at + 1, self.branch.len());
        Some(context.saturating_add(src.counter.tokens(behind)))
    }

    /// Whether any trigger is reached.
    pub fn is_triggered(&self, size: &Size) -> bool {
        self.policy
            .triggers
            .iter()
            .any(|t| size.reaches(t, self.policy.reached))
            || self.is_over_limits(size)
    }

    /// Whether what refusals taught, or the budget of bytes, asks for a compaction.
    fn is_over_limits(&self, size: &Size) -> bool {
        let limit = self.learnt_threshold();
        limit.is_some_and(|limit| size.tokens >= limit) || self.is_too_long_in_bytes(size)
    }
}

/// The largest count that is at most `tokens` once it is corrected by `offset`: by no more than half of itself.
fn uncorrected(tokens: u64, offset: i64) -> u64 {
    let by = offset.unsigned_abs();
    match offset < 0 {
        true => tokens.saturating_add(by).min(tokens.saturating_mul(2)),
        false => tokens
            .saturating_sub(by)
            .max(tokens - tokens.saturating_add(1) / 3),
    }
}

fn proportion(value: u64, of: u64, to: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(of) / u128::from(to.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_that_fits_once_it_is_corrected() {
        for offset in -60..60_i64 {
            for tokens in 0..120_u64 {
                let fits = |count: &u64| {
                    let most = i64::try_from(count / 2).expect("small");
                    count.saturating_add_signed(offset.clamp(-most, most)) <= tokens
                };
                let largest = (0..=2 * tokens).rev().find(fits);
                assert_eq!(
                    Some(uncorrected(tokens, offset)),
                    largest,
                    "{tokens} by {offset}"
                );
            }
        }
    }

    #[test]
    fn reports_shift_or_scale() {
        let size = |tokens, request| Size {
            tokens,
            request,
            reported: true,
            ..Size::default()
        };
        // 40 tokens that we do not see
        assert_eq!(
            (size(140, 100).told(30), size(140, 100).planned(70)),
            (70, 30)
        );
        // a counter that counts twice too high: never a size below the parts it is made of
        assert_eq!(
            (size(50, 100).told(30), size(50, 100).planned(15)),
            (15, 30)
        );
        let counted = Size {
            tokens: 80,
            estimated: 80,
            request: 100,
            ..Size::default()
        };
        assert_eq!((counted.told(30), counted.planned(40)), (30, 60));
        // 80 that are scaled to 100, beside 20 that are not counted
        let scaled = Size {
            tokens: 100,
            ..counted
        };
        assert_eq!((scaled.told(30), scaled.planned(50)), (30, 60));
    }

    /// Invariant 17: what is planned to fit fits by the size that is told of it.
    #[test]
    fn what_earlier_reports_taught_shifts_by_half_of_the_count_at_most() {
        let check = |offset: i64, threshold: u64, expect: u64| {
            let size = Size {
                tokens: 1_000_u64.saturating_add_signed(offset),
                estimated: 1_000,
                request: 1_007,
                offset,
                ..Size::default()
            };
            assert_eq!(
                size.planned(threshold),
                expect + 7,
                "{offset} at {threshold}"
            );
            let corrected = |count: u64| {
                let most = i64::try_from(count / 2).unwrap();
                count.saturating_add_signed(offset.clamp(-most, most))
            };
            assert!(corrected(expect) <= threshold && corrected(expect + 1) > threshold);
        };
        check(0, 300, 300);
        check(40, 300, 260);
        check(-40, 300, 340);
        // A smaller count is corrected by less.
        check(400, 300, 200);
        check(-400, 300, 600);
        check(-400, 450, 850);
        check(499, 1, 1);
        check(-499, 0, 0);
    }
}
