//! What reports of the provider teach about the counter, for the time when no report measures what is shown.
//!
//! A report anchors the size until the next commit. After it only the count is left, and the count is wrong by what
//! it always was: text that the host sends and does not show us, and a vocabulary that we do not know. So the
//! difference between the last reports and the counts of the same requests is kept and added, within bounds: a
//! correction, never a size. One for each thread; a pure function of what was appended and reported.

use serde::{Deserialize, Serialize};

use super::{Pos, Thread};
use crate::count::{TokenCounter, Weight};
use crate::id::{NodeId, RecordId};
use crate::planted::{Bug, planted};
use crate::policy::UsageRule;
use crate::view::{MessageView, Role};

/// By how much counts are off, as far as reports of this thread told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Calibration {
    /// What is added to a count; below zero where the counter counts too high. `None`: nothing is known.
    offset: Option<i64>,
}

impl Calibration {
    /// Learns from a request that was counted as `estimated` and reported as `reported` tokens. Each report moves
    /// the offset by half of what is missing, so that one odd report among many does little.
    ///
    /// A report under half of the count is of something else (a request that was cut, another list) and teaches
    /// nothing: no script is counted twice too high (invariant 20).
    #[must_use]
    pub fn learn(self, reported: u64, estimated: u64) -> Self {
        if reported == 0 || estimated == 0 || reported < estimated / 2 {
            return self;
        }
        let off = signed(reported) - signed(estimated);
        let seen = bounded(off, estimated);
        let offset = self.offset.map_or(seen, |known| known + (seen - known) / 2);
        Self {
            offset: Some(offset),
        }
    }

    /// What is added to a count of `estimated` tokens: at most half of it.
    pub fn offset(self, estimated: u64) -> i64 {
        let offset = self.offset.unwrap_or_default();
        if planted(Bug::UnboundedOffset) {
            return offset.saturating_mul(8);
        }
        bounded(offset, estimated)
    }

    /// A count, corrected.
    pub fn corrected(self, estimated: u64) -> u64 {
        estimated.saturating_add_signed(self.offset(estimated))
    }
}

/// Never more than half of what was counted, either way.
fn bounded(offset: i64, estimated: u64) -> i64 {
    let most = signed(estimated / 2);
    offset.clamp(-most, most)
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// What a thread keeps for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Calibrator {
    learnt: Calibration,
    /// The reply whose report is awaited, and the weight of the request that it answers.
    asked: Option<(Pos, Weight)>,
    /// Reported tokens of input and the weight of the same request, not learnt from yet: that takes a counter.
    told: Option<(u64, Weight)>,
}

impl Calibrator {
    fn known(&self, counter: &dyn TokenCounter) -> Calibration {
        match self.told {
            Some((reported, weight)) => self.learnt.learn(reported, counter.tokens(weight)),
            None => self.learnt,
        }
    }
}

impl Thread {
    /// The corrections that reports taught.
    pub fn calibration(&self, counter: &dyn TokenCounter) -> Calibration {
        self.calibrator.known(counter)
    }

    /// A message is about to be appended. What is shown now is what a reply answers; of a reply in several pieces,
    /// what was shown before the first. Gives the record under which the request was sent: a compaction beside the
    /// conversation may have been committed since, and the report is of what was shown before it.
    pub(super) fn asks(
        &mut self,
        node: NodeId,
        view: &MessageView,
        counter: &dyn TokenCounter,
    ) -> Option<RecordId> {
        // A piece that the surface cannot read may look as if the user said it.
        if view.role != Role::Assistant && view.reply.is_none() {
            return self.active;
        }
        let at = self.branch.len();
        let last = self.branch.views().last();
        let goes_on = view.reply.is_some() && last.is_some_and(|last| last.reply == view.reply);
        let under = match goes_on.then(|| self.branch.head()).flatten() {
            Some(first) => self.reports.get(&first).copied().unwrap_or(self.active),
            None => self.sent_under.take().unwrap_or(self.active),
        };
        self.reports.insert(node, under);
        self.calibrator.learnt = self.calibrator.known(counter);
        self.calibrator.told = None;
        let weight = match self.calibrator.asked.filter(|_| goes_on) {
            Some((_, weight)) => weight,
            None => self.fixed.weight + self.shown_weight() + self.frozen.summary_weight,
        };
        self.calibrator.asked = Some((at, weight));
        under
    }

    /// The reply at `at` was reported with so many tokens of input. Each report is learnt from once.
    pub(super) fn told(&mut self, at: Pos, reported: u64) {
        if self.policy.usage == UsageRule::Anchor
            && let Some((_, weight)) = self.calibrator.asked.take_if(|(reply, _)| *reply == at)
        {
            self.calibrator.told = Some((reported, weight));
        }
    }

    /// The request that would be sent now was refused, and the error said that it holds so many tokens.
    pub(super) fn told_of_refused(&mut self, reported: u64) {
        if self.policy.usage == UsageRule::Anchor {
            let weight = self.fixed.weight + self.shown_weight() + self.frozen.summary_weight;
            self.calibrator.told = Some((reported, weight));
        }
    }

    /// What the messages weigh that are sent now, the summary not counted.
    pub(super) fn shown_weight(&self) -> Weight {
        let tail = self
            .branch
            .weight(self.frozen.end, self.branch.len())
            .saturating_sub(self.unsent)
            .saturating_add_signed(-self.live.saved);
        self.frozen.weight + tail
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_offset_is_learnt_by_halves_and_bounded() {
        let none = Calibration::default();
        let check = |reports: &[(u64, u64)], estimated: u64, expect: u64| {
            let known = reports.iter().fold(none, |known, (reported, counted)| {
                known.learn(*reported, *counted)
            });
            assert_eq!(known.corrected(estimated), expect, "{reports:?}");
        };
        check(&[], 1_000, 1_000);
        // 200 tokens that we do not see
        check(&[(1_200, 1_000)], 900, 1_100);
        // a smaller request: at most half of it
        check(&[(1_200, 1_000)], 300, 450);
        // halfway to what the second one says
        check(&[(1_200, 1_000), (1_400, 1_000)], 1_000, 1_300);
        // a counter that counts too high
        check(&[(800, 1_000)], 1_000, 800);
        check(&[(800, 1_000)], 200, 100);
        // nothing was reported, or something else was
        check(&[(0, 1_000), (499, 1_000), (5, 0)], 1_000, 1_000);
        // never more than half of the request that was reported
        check(&[(9_000, 1_000)], 10_000, 10_500);
    }

    proptest! {
        /// Invariants 20 and 21: whatever was reported, a count is corrected by at most half of itself, more text
        /// never counts less, and nothing counts as nothing.
        #[test]
        fn corrections_are_bounded_and_monotone(
            reports in prop::collection::vec((any::<u64>(), any::<u64>()), 0..8),
            a in any::<u64>(),
            b in any::<u64>(),
        ) {
            let known = reports.iter().fold(Calibration::default(), |c, (r, e)| c.learn(*r, *e));
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(known.corrected(low) <= known.corrected(high));
            let corrected = known.corrected(high);
            prop_assert!(corrected >= high - high / 2);
            prop_assert!(corrected <= high.saturating_add(high / 2));
        }

        /// Reports of counts that are off by the same share, within what is promised, converge on it.
        #[test]
        fn steady_reports_are_believed(permille in 700u64..1430, estimated in 1_000u64..1_000_000) {
            let real = estimated * permille / 1000;
            let known = (0..3).fold(Calibration::default(), |c, _| c.learn(real, estimated));
            prop_assert_eq!(known.corrected(estimated), real);
        }
    }
}
