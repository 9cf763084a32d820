//! Long strings in the arguments of calls.

use super::headtail::head_and_tail;
use super::marker::Length;
use crate::json::{leaf_text, string_leaves};
use crate::patch::{Patch, PatchCause, Site};

/// The patches that bring every string value of `json`, the arguments of the call at `part`, under `limit`
/// characters. Arguments that are no JSON (free text of custom tools, broken ones) are left alone, and so
/// are strings that do not decode.
pub(super) fn shorten_arguments(json: &str, part: u16, limit: usize) -> Vec<Patch> {
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
