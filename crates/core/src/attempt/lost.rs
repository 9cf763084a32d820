//! What a model's summary lost of the user's words and of names, kept beside it by code: no other call is made for it.
//!
//! It is the digest of all that is folded, without what the summary, the facts beside it and the kept messages say
//! already. A summary that fills its cap gets nothing added, a thin one the more.

use super::Attempt;
use super::finish::{DIGEST_FLOOR_TOKENS, LEAST_DIGEST_TOKENS};
use crate::digest::{DigestSource, digest};
use crate::durable::NOT_IN_SUMMARY;
use crate::record::{Author, Summary};
use crate::redact::Shown;
use crate::summary::Fidelity;
use crate::thread::Sources;

/// Of the summary's cap, in hundredths, what is added at most.
const SHARE: u64 = 25;

impl Attempt {
    /// Puts it beside the summary, as far as there is room and the compaction still pays.
    pub(super) fn keep_what_is_lost(&mut self, summary: &Summary, src: Sources<'_>) {
        let s = &self.s;
        let is_checked = s.policy.summary.fidelity != Fidelity::Off && s.peer().is_none();
        if !is_checked || !matches!(summary.author, Author::Model(_)) {
            return;
        }
        let Some(budget) = self.room_beside(summary, src) else {
            return;
        };
        let beside = [&self.durable, "\n", &summary.text].concat();
        let (mut folded, kept) = self.folded_and_kept();
        // The newest summary wins: an older one in the list was read for it and is replaced by it.
        folded.retain(|view| !view.flags.summary);
        let redact = &s.policy.redact;
        let texts = Shown::all(src.texts, redact);
        let ledger = s.ledger.redacted(redact);
        let source = DigestSource {
            kept: &kept,
            beside: &beside,
            ..DigestSource::new(&folded, &texts, &ledger)
        };
        let lost = digest(&source, budget, src.counter).text;
        let lost = redact.redact(&lost);
        if lost.trim().is_empty() {
            return;
        }
        let before = self.durable.clone();
        let lines = [before.trim_end(), NOT_IN_SUMMARY, lost.trim_end()];
        let lines = lines.into_iter().filter(|text| !text.is_empty());
        self.durable = lines.collect::<Vec<_>>().join("\n").into();
        if !self.is_smaller(&summary.text, src) {
            self.durable = before;
        }
    }

    /// Tokens for what is added: within the cap that the summary leaves, the target, and what pays.
    fn room_beside(&self, summary: &Summary, src: Sources<'_>) -> Option<u64> {
        let s = &self.s;
        let tokens = |text: &str| src.counter.tokens(src.counter.text(text));
        let cap = s.policy.summary.max_tokens;
        let left = cap.saturating_sub(tokens(&summary.text));
        let after = self.tokens_after(&summary.text, src);
        let target = s
            .goal
            .target
            .saturating_sub(after)
            .max(DIGEST_FLOOR_TOKENS / 2);
        let pays = s
            .size
            .request
            .checked_sub(s.goal.minimum_gain + after + 1)?;
        let room = left
            .min(cap / 100 * SHARE)
            .min(target)
            .min(pays)
            .checked_sub(tokens(NOT_IN_SUMMARY) + 2)?;
        Some(room).filter(|room| *room >= 2 * LEAST_DIGEST_TOKENS)
    }
}
