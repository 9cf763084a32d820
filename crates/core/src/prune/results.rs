//! Answers over the limit: one answer keeps its head and tail.

use std::borrow::Cow;

use super::headtail::{
    Fit, byte_before_last_chars, byte_of_char, head_and_tail, settle_back, settle_forward,
};
use super::marker::{Length, reference};
use crate::patch::{Patch, PatchCause, Patched, Site};
use crate::planted::{Bug, planted};
use crate::policy::Prune;
use crate::view::{MessageView, PartKind, PartRef, Texts};

/// The new patches that bring every tool result of `message` under `max_result_chars`. `already` are the
/// patches that the message has; what they changed is left alone and counts as it is now.
///
/// A result that is a list has one limit for the sum of its texts; pictures in it stay. Costs O(length of the
/// results over the limit), and nothing for shorter ones.
pub fn shorten(
    message: &MessageView,
    texts: &dyn Texts,
    limits: &Prune,
    already: &[Patch],
) -> Vec<Patch> {
    shorten_some(message, texts, limits, already, |_| true)
}

/// The same for those results (by part index) that `is_free` lets go.
pub(super) fn shorten_some(
    message: &MessageView,
    texts: &dyn Texts,
    limits: &Prune,
    already: &[Patch],
    is_free: impl Fn(usize) -> bool,
) -> Vec<Patch> {
    let limit = usize::try_from(limits.max_result_chars).unwrap_or(usize::MAX);
    if limit == 0 || message.flags.pinned || message.flags.partial {
        return Vec::new();
    }
    let all: usize = message.parts.iter().map(|part| part.len as usize).sum();
    if all <= limit {
        return Vec::new();
    }
    let pieces = pieces_of_results(message);
    let mut patches = Vec::new();
    for (result, pieces) in pieces {
        let bytes: usize = pieces.iter().map(|p| message.parts[*p].len as usize).sum();
        if bytes > limit && is_free(result) {
            let result = ResultText::read(message, texts, already, &pieces);
            patches.extend(result.shortened(limit));
        }
    }
    patches
}

/// Each result with the parts that hold its text, its own first.
pub(super) fn pieces_of_results(message: &MessageView) -> Vec<(usize, Vec<usize>)> {
    let mut results: Vec<(usize, Vec<usize>)> = message
        .results()
        .map(|(index, _)| (index, vec![index]))
        .collect();
    for (index, part) in message.parts.iter().enumerate() {
        if let (PartKind::Text, Some(result)) = (&part.kind, part.inside)
            && let Ok(found) = results.binary_search_by_key(&usize::from(result), |r| r.0)
        {
            results[found].1.push(index);
        }
    }
    results
}

/// One piece of text that may be cut.
struct Piece<'a> {
    part: u16,
    text: Cow<'a, str>,
    chars: usize,
}

/// The text of one result.
struct ResultText<'a> {
    /// Characters that earlier patches left.
    decided: usize,
    open: Vec<Piece<'a>>,
}

impl<'a> ResultText<'a> {
    fn read(
        message: &MessageView,
        texts: &'a dyn Texts,
        already: &[Patch],
        pieces: &[usize],
    ) -> Self {
        let mut read = Self {
            decided: 0,
            open: Vec::new(),
        };
        for piece in pieces {
            let Ok(part) = u16::try_from(*piece) else {
                continue;
            };
            let at = PartRef {
                message: message.handle,
                part,
            };
            if already.iter().any(|patch| patch.part() == part) {
                let patched = Patched::new(texts, message.handle, already);
                read.decided += patched.text(at).chars().count();
                continue;
            }
            let text = texts.text(at);
            if !text.is_empty() {
                let chars = text.chars().count();
                read.open.push(Piece { part, text, chars });
            }
        }
        read
    }

    fn shortened(&self, limit: usize) -> Vec<Patch> {
        let total: usize = self.open.iter().map(|piece| piece.chars).sum();
        let limit = limit.saturating_sub(self.decided);
        let limit = limit << u32::from(planted(Bug::PruneOverLimit));
        match self.open.as_slice() {
            _ if total <= limit => Vec::new(),
            [piece] => head_and_tail(&piece.text, limit, Length::Long)
                .map(|made| cut(piece.part, made.range, made.marker))
                .into_iter()
                .collect(),
            pieces => across(pieces, total, limit).unwrap_or_default(),
        }
    }
}

fn cut(part: u16, range: std::ops::Range<u32>, marker: std::sync::Arc<str>) -> Patch {
    Patch::Cut {
        part,
        site: Site::Text,
        range,
        marker,
        cause: PatchCause::Oversized,
    }
}

/// Head and tail of several texts that are one answer. The head ends in one text and the tail begins in
/// another or the same; both get a marker (the first speaks for all), further texts between them go.
fn across(pieces: &[Piece<'_>], total: usize, limit: usize) -> Option<Vec<Patch>> {
    // The text where the head ends, one between, and the one where the tail begins may each need a marker,
    // or stay whole because they are no longer than one.
    let fit = Fit::new(total, limit, Length::Long, pieces.len().min(3))?;
    let tail_from = total - fit.tail;
    let mut patches = Vec::new();
    let mut start = 0;
    for piece in pieces {
        let end = start + piece.chars;
        // In characters of this piece.
        let keep_head = fit.head.saturating_sub(start).min(piece.chars);
        let keep_tail = end.saturating_sub(tail_from).min(piece.chars - keep_head);
        start = end;
        if keep_head + keep_tail == piece.chars {
            continue;
        }
        let is_first = patches.is_empty();
        let goes_whole = keep_head + keep_tail == 0;
        if goes_whole && !is_first {
            let (part, cause) = (piece.part, PatchCause::Oversized);
            patches.push(Patch::Remove { part, cause });
            continue;
        }
        let text = &*piece.text;
        let from = settle_back(text, byte_of_char(text, keep_head));
        let to = settle_forward(text, byte_before_last_chars(text, keep_tail));
        let removed = text.get(from..to)?;
        if !goes_whole && removed.chars().count() <= fit.length.longest(total) {
            // The marker would need more room than the text that goes.
            continue;
        }
        let (count, of) = if is_first {
            (total - fit.head - fit.tail, total)
        } else {
            (removed.chars().count(), piece.chars)
        };
        let marker = fit.length.marker(&reference(removed), count, of);
        let (from, to) = (u32::try_from(from).ok()?, u32::try_from(to).ok()?);
        patches.push(cut(piece.part, from..to, marker.into()));
    }
    Some(patches)
}
