//! Long strings in the arguments of calls.

use super::headtail::head_and_tail;
use super::marker::Length;
use crate::count::TokenCounter;
use crate::json::{cut_leaves, leaf_text, string_leaves};
use crate::patch::{Patch, PatchCause, Site};
use crate::policy::Prune;
use crate::view::{MessageView, Part, PartRef, Texts};

/// Whether arguments are shortened at all.
pub(crate) fn is_limited(limits: &Prune) -> bool {
    limits.max_argument_chars > 0 || limits.max_argument_tokens > 0
}

/// Whether the arguments may be over a limit, by their length alone.
pub(crate) fn may_be_long(call: &Part, limits: &Prune) -> bool {
    // No counter finds more than two tokens in a byte.
    let over_tokens =
        limits.max_argument_tokens > 0 && u64::from(call.len) > limits.max_argument_tokens / 2;
    let over_chars =
        limits.max_argument_chars > 0 && u64::from(call.len) > limits.max_argument_chars;
    over_tokens || over_chars
}

/// The patches that bring the arguments of the call at `part` under the limits. Nothing for a part that has
/// a patch already.
pub(crate) fn shorten_call(
    message: &MessageView,
    part: usize,
    texts: &dyn Texts,
    limits: &Prune,
    counter: &dyn TokenCounter,
    already: &[Patch],
) -> Vec<Patch> {
    let Ok(number) = u16::try_from(part) else {
        return Vec::new();
    };
    let is_short = !may_be_long(&message.parts[part], limits);
    if is_short || already.iter().any(|p| p.part() == number) {
        return Vec::new();
    }
    let at = PartRef {
        message: message.handle,
        part: number,
    };
    let chars = match limits.max_argument_chars {
        0 => usize::MAX,
        chars => usize::try_from(chars).unwrap_or(usize::MAX),
    };
    let tokens = Some(limits.max_argument_tokens).filter(|t| *t > 0);
    let json = texts.text(at);
    match tokens {
        Some(tokens) => shorten_arguments_to(&json, number, chars, tokens, counter),
        None => shorten_arguments(&json, number, chars),
    }
}

/// How often a limit in tokens is turned into one in characters anew.
const TRIES: usize = 8;

/// The patches that bring all of `json`, the arguments of the call at `part`, under `tokens` tokens where its
/// string values can give that much, and every one of them under `limit` characters.
fn shorten_arguments_to(
    json: &str,
    part: u16,
    limit: usize,
    tokens: u64,
    counter: &dyn TokenCounter,
) -> Vec<Patch> {
    let size = |patches: &[Patch]| {
        let leaves: Vec<_> = patches.iter().filter_map(leaf_cut).collect();
        let text = if leaves.is_empty() {
            json.into()
        } else {
            cut_leaves(json, &leaves)
        };
        counter.tokens(counter.text(&text))
    };
    let whole = size(&[]);
    if whole <= tokens {
        return shorten_arguments(json, part, limit);
    }
    let mut best = Vec::new();
    let mut chars = json.chars().count().min(limit);
    for _ in 0..TRIES {
        let now = size(&best).max(1);
        let fewer = chars as u128 * u128::from(tokens) / u128::from(now);
        chars = usize::try_from(fewer)
            .unwrap_or(chars)
            .min(chars - chars / 16);
        let patches = shorten_arguments(json, part, chars);
        if patches.is_empty() {
            break;
        }
        best = patches;
        if size(&best) <= tokens {
            break;
        }
    }
    if best.is_empty() {
        // The smallest that a long string can become.
        best = shorten_arguments(json, part, Length::Short.longest(json.len()));
    }
    best
}

fn leaf_cut(patch: &Patch) -> Option<(u32, std::ops::Range<u32>, &str)> {
    match patch {
        Patch::Cut {
            site: Site::Leaf(leaf),
            range,
            marker,
            ..
        } => Some((*leaf, range.clone(), marker)),
        _ => None,
    }
}

/// The patches that bring every string value of `json`, the arguments of the call at `part`, under `limit`
/// characters. Arguments that are no JSON (free text of custom tools, broken ones) are left alone, and so
/// are strings that do not decode.
fn shorten_arguments(json: &str, part: u16, limit: usize) -> Vec<Patch> {
    if json.len() <= limit {
        return Vec::new();
    }
    let leaves = string_leaves(json).unwrap_or_default();
    let mut patches = Vec::new();
    for (number, leaf) in (0u32..).zip(&leaves) {
        if leaf.len() <= limit {
            continue;
        }
        let text = leaf_text(json, leaf);
        let made = text.and_then(|text| head_and_tail(&text, limit, Length::Short));
        patches.extend(made.map(|made| Patch::Cut {
            part,
            site: Site::Leaf(number),
            range: made.range,
            marker: made.marker,
            cause: PatchCause::Arguments,
        }));
    }
    patches
}
