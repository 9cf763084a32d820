//! What stands where a secret stood, and how it is known again: a marker is never itself searched.

use std::ops::Range;

use super::{CUSTOM, blocks, named, tokens};

const OPEN: &str = "[redacted";
const PLAIN: &str = "[redacted]";
/// For secrets shorter than any words about them.
const SHORT: &str = "[*]";

/// Appends the marker for a secret of `len` bytes: the longest of the three forms that is not longer than what it
/// replaces, so that a summary under its cap stays under it.
pub(super) fn push(out: &mut String, kind: &str, len: usize) {
    let typed = OPEN.len() + ": ]".len() + kind.len();
    if typed <= len {
        out.push_str(OPEN);
        out.push_str(": ");
        out.push_str(kind);
        out.push(']');
    } else {
        out.push_str(if PLAIN.len() <= len { PLAIN } else { SHORT });
    }
}

/// The stretches of a text between its markers.
pub(super) fn stretches(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let mut looked = from;
        while let Some(at) = text[looked..].find('[').map(|at| looked + at) {
            if let Some(len) = marker_len(&text[at..]) {
                start = Some(at + len);
                return Some(from..at);
            }
            looked = at + 1;
        }
        start = None;
        Some(from..text.len())
    })
    .filter(|range| !range.is_empty())
}

/// The length of the marker that `text` begins with.
fn marker_len(text: &str) -> Option<usize> {
    if text.starts_with(SHORT) {
        return Some(SHORT.len());
    }
    let rest = text.strip_prefix(OPEN)?;
    if rest.starts_with(']') {
        return Some(PLAIN.len());
    }
    let rest = rest.strip_prefix(": ")?;
    kinds()
        .find(|kind| {
            rest.strip_prefix(kind)
                .is_some_and(|end| end.starts_with(']'))
        })
        .map(|kind| OPEN.len() + ": ]".len() + kind.len())
}

fn kinds() -> impl Iterator<Item = &'static str> {
    tokens::TOKENS
        .iter()
        .map(|token| token.kind)
        .chain(blocks::KINDS)
        .chain(named::KINDS)
        .chain([CUSTOM])
}
