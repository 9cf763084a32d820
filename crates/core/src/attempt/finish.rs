//! The digest's turn, and the last judgement of a summary: what replaces must be smaller.

use std::sync::Arc;

use super::Attempt;
use crate::digest::{DigestSource, digest};
use crate::durable::{self, Beside, Budget, Next};
use crate::effect::{Failure, Refusal};
use crate::outcome::{Outcome, Reason};
use crate::plan::Fate;
use crate::planted::{Bug, planted};
use crate::record::{Author, Summary};
use crate::redact::Shown;
use crate::summary::is_silent;
use crate::thread::Sources;
use crate::view::MessageView;

/// Below this a digest says too little to be worth a change of the history.
pub(super) const LEAST_DIGEST_TOKENS: u64 = 24;
/// What a digest gets when the target leaves no room: enough to go on with.
pub(super) const DIGEST_FLOOR_TOKENS: u64 = 512;

impl Attempt {
    /// The deterministic digest takes the summary's place.
    pub(super) fn digest(&mut self, src: Sources<'_>) {
        let Some(budget) = self.digest_budget(src) else {
            self.reasons.push(Reason::Irreducible);
            return self.fail(Outcome::Rejected, self.failure.clone());
        };
        let s = &self.s;
        let (folded, kept) = self.folded_and_kept();
        let redact = &s.policy.redact;
        let texts = Shown::all(src.texts, redact);
        let ledger = s.ledger.redacted(redact);
        let source = DigestSource {
            kept: &kept,
            beside: &self.durable,
            ..DigestSource::new(&folded, &texts, &ledger)
        };
        let text = digest(&source, budget, src.counter).text;
        // Shortened and put together it may match what its sources did not.
        let text = redact.redact(&text);
        if text.trim().is_empty() || !self.is_smaller(&text, src) {
            return self.fail(Outcome::Rejected, self.failure.clone());
        }
        self.summarised(
            Summary {
                text: text.as_ref().into(),
                author: Author::Digest,
            },
            src,
        );
    }

    /// The messages that the summary stands for, and those that stay. The history keeps everything, so each digest is
    /// made anew from all that is folded, not from the last one.
    pub(super) fn folded_and_kept(&self) -> (Vec<&MessageView>, Vec<&MessageView>) {
        let s = &self.s;
        let views = |is_in: &dyn Fn(usize) -> bool| -> Vec<&MessageView> {
            (0..s.branch.len())
                .filter(|at| is_in(*at))
                .map(|at| s.branch.view(at).as_ref())
                .collect()
        };
        let folded = views(&|at| s.was_folded(at) || s.plan.fates[at] == Fate::Goes);
        let kept = views(&|at| matches!(s.plan.fates[at], Fate::Stays(_)));
        (folded, kept)
    }

    /// The summary in force, where all that goes says nothing: it stays, and nobody is asked.
    pub(super) fn unchanged_summary(&self, src: Sources<'_>) -> Option<Summary> {
        let s = &self.s;
        let adds_nothing = !s.policy.strict_parity
            && !s.plan.is_empty()
            && s.plan
                .going()
                .all(|at| is_silent(s.branch.view(at), src.texts));
        let active = s.active.as_ref().filter(|_| adds_nothing)?;
        active.summary.clone()
    }

    /// Whether a summary of what can go could make the request smaller by the minimum gain.
    pub(super) fn would_pay(&self, src: Sources<'_>) -> bool {
        if let Some(summary) = self.unchanged_summary(src) {
            return self.is_smaller(&summary.text, src);
        }
        let s = &self.s;
        let says_something = s.plan.going().any(|at| {
            let view = s.branch.view(at);
            !view.flags.summary && (s.policy.strict_parity || !is_silent(view, src.texts))
        });
        says_something
            && (s.policy.strict_parity
                || self
                    .room(src)
                    .is_some_and(|room| room >= LEAST_DIGEST_TOKENS))
    }

    /// The most tokens that a summary may have for the compaction to pay.
    fn room(&self, src: Sources<'_>) -> Option<u64> {
        let s = &self.s;
        s.size
            .request
            .checked_sub(s.goal.minimum_gain + self.without_summary(src) + 1)
    }

    /// What the request holds beside the summary's own text.
    fn without_summary(&self, src: Sources<'_>) -> u64 {
        let frame = self
            .s
            .summary_weight("", &self.durable, self.placement(), src);
        src.counter
            .tokens(self.s.fixed.weight + self.staying_weight(src) + frame)
    }

    /// What code keeps beside the summary, as far as it may take room from it. Nothing where a peer is followed
    /// to the letter.
    pub(super) fn kept(&self, src: Sources<'_>) -> Arc<str> {
        let s = &self.s;
        let Some(pays) = self.room(src).filter(|_| !s.policy.strict_parity) else {
            return "".into();
        };
        let room = s.goal.target.saturating_sub(self.without_summary(src));
        let budget = Budget::new(
            s.policy.summary.max_tokens,
            room.max(DIGEST_FLOOR_TOKENS),
            pays,
        );
        let is_gone = |ordinal: u64| {
            let at = usize::try_from(ordinal)
                .ok()
                .filter(|at| *at < s.branch.len());
            at.is_none_or(|at| s.was_folded(at) || !matches!(s.plan.fates[at], Fate::Stays(_)))
        };
        let ledger = s.ledger.redacted(&s.policy.redact);
        let beside = s.beside.as_ref().map(|beside| Beside {
            text: s.policy.redact.redact_arc(&beside.text),
            tells_delegations: beside.tells_delegations,
        });
        let source = durable::Source {
            ledger: &ledger,
            is_gone: &is_gone,
            beside: beside.as_ref(),
            next: Next::of(&s.branch, &s.ledger),
        };
        durable::render(&source, budget, src.counter).into()
    }

    /// Tokens for the digest: what the target leaves, at least enough to go on with, and never so much that
    /// the compaction would not pay. `None`: no digest can pay.
    fn digest_budget(&self, src: Sources<'_>) -> Option<u64> {
        let pays = self.room(src)?;
        let room = self.s.goal.target.saturating_sub(self.without_summary(src));
        let budget = room
            .max(DIGEST_FLOOR_TOKENS)
            .min(self.s.policy.summary.max_tokens)
            .min(pays);
        Some(budget).filter(|b| *b >= LEAST_DIGEST_TOKENS)
    }

    /// Whether the request with this summary is smaller by the minimum gain. Under `strict_parity` the minimum
    /// gain is 0 and anything passes.
    pub(super) fn is_smaller(&self, summary: &str, src: Sources<'_>) -> bool {
        self.s.policy.strict_parity
            || planted(Bug::GainUnchecked)
            || self.tokens_after(summary, src) + self.s.goal.minimum_gain <= self.s.size.request
    }

    /// A model's text, judged by size.
    ///
    /// # Errors
    /// It is over its cap or replaces nothing. The peers do not look.
    pub(super) fn judge(&self, text: &str, src: Sources<'_>) -> Result<(), Failure> {
        if self.s.peer().is_some() {
            return Ok(());
        }
        if src.counter.tokens(src.counter.text(text)) > self.s.policy.summary.max_tokens {
            return Err(Failure::NotASummary(Refusal::TooLong));
        }
        if !self.is_smaller(text, src) {
            return Err(Failure::NotASummary(Refusal::NotSmaller));
        }
        Ok(())
    }
}
