//! Answers over the limit: one answer keeps its head and tail.

use std::borrow::Cow;

use super::headtail::{
    Fit, byte_before_last_chars, byte_of_char, head_and_tail, settle_back, settle_forward,
};
use super::marker::{Length, left_out_media, reference};
use crate::count::{TokenCounter, Weight};
use crate::patch::{Patch, PatchCause, Patched, Site};
use crate::planted::{Bug, planted};
use crate::policy::Prune;
use crate::view::{MessageView, Part, PartKind, PartRef, Texts};

/// What is left of a masked result beside the marker: enough to know it by.
const MASKED_CHARS: usize = 64;

/// How often a limit in tokens is turned into one in characters anew.
const TRIES: usize = 8;

/// The new patches that bring every tool result of `message` under `max_result_chars` and
/// `max_result_tokens`. `already` are the
/// patches that the message has; what they changed is left alone and counts as it is now.
///
/// A result that is a list has one limit for the sum of its texts; pictures in it stay. Costs O(length of the
/// results over the limit), and nothing for shorter ones.
pub fn shorten(
    message: &MessageView,
    texts: &dyn Texts,
    limits: &Prune,
    counter: &dyn TokenCounter,
    already: &[Patch],
) -> Vec<Patch> {
    shorten_some(message, texts, limits, counter, already, |_| true)
}

/// The same for those results (by part index) that `is_free` lets go.
pub(crate) fn shorten_some(
    message: &MessageView,
    texts: &dyn Texts,
    limits: &Prune,
    counter: &dyn TokenCounter,
    already: &[Patch],
    is_free: impl Fn(usize) -> bool,
) -> Vec<Patch> {
    let limit = usize::try_from(limits.max_result_chars).unwrap_or(usize::MAX);
    if limit == 0 || is_closed(message) {
        return Vec::new();
    }
    // No counter finds more than two tokens in a byte.
    let tokens = Some(limits.max_result_tokens).filter(|t| *t > 0);
    let bytes_in_tokens =
        tokens.map_or(usize::MAX, |t| usize::try_from(t / 2).unwrap_or(usize::MAX));
    let all: usize = message.parts.iter().map(|part| part.len as usize).sum();
    if all <= limit.min(bytes_in_tokens) {
        return Vec::new();
    }
    let pieces = pieces_of_results(message);
    let mut patches = Vec::new();
    for (result, pieces) in pieces {
        let bytes: usize = pieces.iter().map(|p| message.parts[*p].len as usize).sum();
        if bytes > limit.min(bytes_in_tokens) && is_free(result) {
            let result = ResultText::read(message, texts, already, &pieces);
            patches.extend(match tokens {
                Some(tokens) => result.shortened_to(limit, tokens, counter),
                None => result.shortened(limit),
            });
        }
    }
    patches
}

/// Messages whose results nobody shortens.
fn is_closed(message: &MessageView) -> bool {
    message.flags.pinned || message.flags.partial
}

/// What the result at part `result` weighs as it is sent.
pub(crate) fn result_weight(
    message: &MessageView,
    texts: &dyn Texts,
    counter: &dyn TokenCounter,
    already: &[Patch],
    result: usize,
) -> Weight {
    let patched = Patched::new(texts, message.handle, already);
    let pieces = pieces_of_results(message).into_iter();
    let parts = pieces
        .filter(|(at, _)| *at == result)
        .flat_map(|(_, parts)| parts);
    let numbers = parts.filter_map(|part| u16::try_from(part).ok());
    numbers
        .map(|part| {
            let message = message.handle;
            counter.text(&patched.text(PartRef { message, part }))
        })
        .sum()
}

/// The patches that bring the result at part `result` to `tokens`; to a marker and its beginning if `tokens`
/// is 0. Since that decides it, the limits of a single result hold too.
pub(crate) fn reclaim(
    message: &MessageView,
    texts: &dyn Texts,
    counter: &dyn TokenCounter,
    already: &[Patch],
    result: usize,
    limits: &Prune,
    tokens: u64,
) -> Vec<Patch> {
    if is_closed(message) {
        return Vec::new();
    }
    let pieces = pieces_of_results(message).into_iter();
    let Some((_, pieces)) = pieces.into_iter().find(|(at, _)| *at == result) else {
        return Vec::new();
    };
    let text = ResultText::read(message, texts, already, &pieces);
    match tokens {
        0 => text.masked(MASKED_CHARS),
        tokens => {
            let chars = usize::try_from(limits.max_result_chars).unwrap_or(usize::MAX);
            let own = Some(limits.max_result_tokens).filter(|t| *t > 0);
            text.shortened_to(chars, tokens.min(own.unwrap_or(u64::MAX)), counter)
        }
    }
}

/// The patches of a message, `new` ones so far beside those it has, with the result at part `result` masked: its beginning and
/// a marker. `None`: it was decided before, or nothing can be taken.
pub(crate) fn mask(
    message: &MessageView,
    result: usize,
    texts: &dyn Texts,
    counter: &dyn TokenCounter,
    already: &[Patch],
    new: &[Patch],
    limits: &Prune,
) -> Option<Vec<Patch>> {
    let pieces = pieces_of_results(message).into_iter();
    let (_, pieces) = pieces.into_iter().find(|(at, _)| *at == result)?;
    let is_of = |patch: &Patch| pieces.contains(&usize::from(patch.part()));
    if already.iter().any(is_of) {
        return None;
    }
    let mut masked = reclaim(message, texts, counter, already, result, limits, 0);
    masked.extend(masked_media(
        message,
        result,
        texts,
        &[already, new].concat(),
    ));
    if masked.is_empty() {
        return None;
    }
    let others = new.iter().filter(|patch| !is_of(patch)).cloned();
    Some(others.chain(masked.into_iter().map(as_masked)).collect())
}

/// A line in the place of each picture, sound and file of the result that no patch of `known` is about.
fn masked_media(
    message: &MessageView,
    result: usize,
    texts: &dyn Texts,
    known: &[Patch],
) -> Vec<Patch> {
    if is_closed(message) {
        return Vec::new();
    }
    let inside = |part: &Part| part.inside.map(usize::from) == Some(result);
    let parts = message.parts.iter().zip(0u16..);
    let media = parts.filter_map(|(view, part)| match view.kind {
        PartKind::Media(kind) if inside(view) && view.len > 0 => Some((kind, view.len, part)),
        _ => None,
    });
    media
        .filter(|(_, _, part)| known.iter().all(|patch| patch.part() != *part))
        .map(|(kind, len, part)| {
            let data = texts.text(PartRef {
                message: message.handle,
                part,
            });
            cut(
                part,
                0..len,
                left_out_media(&reference(&data), kind, len).into(),
            )
        })
        .collect()
}

fn as_masked(mut patch: Patch) -> Patch {
    match &mut patch {
        Patch::Cut { cause, .. } | Patch::Remove { cause, .. } => *cause = PatchCause::Masked,
    }
    patch
}

/// Each result with the parts that hold its text, its own first.
pub(crate) fn pieces_of_results(message: &MessageView) -> Vec<(usize, Vec<usize>)> {
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

    /// At most `limit` characters and `tokens` tokens. How many characters are so many tokens differs from
    /// text to text, so it is found by trying.
    fn shortened_to(&self, limit: usize, tokens: u64, counter: &dyn TokenCounter) -> Vec<Patch> {
        let whole = self.tokens(&[], counter);
        if whole <= tokens {
            return self.shortened(limit);
        }
        let total: usize = self.open.iter().map(|piece| piece.chars).sum();
        let share = |chars: usize, size: u64| {
            let chars = chars as u128 * u128::from(tokens) / u128::from(size.max(1));
            usize::try_from(chars).unwrap_or(usize::MAX)
        };
        let mut chars = share(total + self.decided, whole).min(limit);
        for _ in 0..TRIES {
            let patches = self.shortened(chars);
            if patches.is_empty() {
                break;
            }
            let size = self.tokens(&patches, counter);
            if size <= tokens {
                return patches;
            }
            chars = share(chars, size).min(chars - chars / 16 - 1);
        }
        // Where not even head and tail fit the marker may.
        let patches = self.masked(0);
        let fits = self.tokens(&patches, counter) <= tokens;
        if fits { patches } else { Vec::new() }
    }

    /// What of it is still open, in tokens, as these patches leave it.
    fn tokens(&self, patches: &[Patch], counter: &dyn TokenCounter) -> u64 {
        let of = |piece: &Piece<'_>| {
            let mine = patches.iter().find(|patch| patch.part() == piece.part);
            match mine {
                None => counter.text(&piece.text),
                Some(Patch::Remove { .. }) => 0,
                Some(Patch::Cut { range, marker, .. }) => {
                    counter.text(&crate::patch::cut(&piece.text, range, marker))
                }
            }
        };
        counter.tokens(self.open.iter().map(of).sum())
    }

    /// The shortest that says what was there: the marker and `more` characters.
    fn masked(&self, more: usize) -> Vec<Patch> {
        let total: usize = self.open.iter().map(|piece| piece.chars).sum();
        let marker = Length::Short.longest(total);
        (1..=self.open.len().min(3))
            .map(|markers| self.shortened(self.decided + markers * marker + more))
            .find(|patches| !patches.is_empty())
            .unwrap_or_default()
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
