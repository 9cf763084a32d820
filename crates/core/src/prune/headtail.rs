//! Head and tail of a text, with a marker between.

use std::ops::Range;
use std::sync::Arc;

use super::marker::{Length, reference};

/// What goes, and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeadTail {
    /// Bytes of the text.
    pub(super) range: Range<u32>,
    pub(super) marker: Arc<str>,
}

/// How a text of `total` characters is made to fit: which marker, and how many characters stay before and
/// after it. `None` if not even a marker fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) length: Length,
    pub(super) head: usize,
    pub(super) tail: usize,
}

impl Fit {
    /// A fit with room for `markers` markers. Four fifths of what is left are head.
    pub(super) fn new(total: usize, limit: usize, longest: Length, markers: usize) -> Option<Self> {
        let fits = |length: Length, share: usize| {
            let needed = markers * length.longest(total);
            (needed.saturating_mul(share) <= limit).then(|| (length, limit - needed))
        };
        // The long one must not be most of what is left.
        let long = (longest == Length::Long).then(|| fits(Length::Long, 4));
        let (length, room) = long.flatten().or_else(|| fits(Length::Short, 1))?;
        let tail = room / 5;
        Some(Self {
            length,
            head: room - tail,
            tail,
        })
    }
}

/// Cuts `text` so that it has at most `limit` characters, marker included. `None` if it has no more than
/// that already, or if it cannot be done.
pub(super) fn head_and_tail(text: &str, limit: usize, longest: Length) -> Option<HeadTail> {
    if text.len() <= limit {
        return None;
    }
    let total = text.chars().count();
    if total <= limit {
        return None;
    }
    let fit = Fit::new(total, limit, longest, 1)?;
    let start = settle_back(text, byte_of_char(text, fit.head));
    let end = settle_forward(text, byte_before_last_chars(text, fit.tail));
    let removed = text.get(start..end)?;
    let count = removed.chars().count();
    HeadTail::new(
        start..end,
        fit.length.marker(&reference(removed), count, total),
    )
}

impl HeadTail {
    /// `None` when the offsets are beyond what a patch can say.
    pub(super) fn new(range: Range<usize>, marker: String) -> Option<Self> {
        Some(Self {
            range: u32::try_from(range.start).ok()?..u32::try_from(range.end).ok()?,
            marker: marker.into(),
        })
    }
}

/// The byte offset after the first `count` characters.
pub(super) fn byte_of_char(text: &str, count: usize) -> usize {
    text.char_indices()
        .nth(count)
        .map_or(text.len(), |(at, _)| at)
}

/// The byte offset before the last `count` characters.
pub(super) fn byte_before_last_chars(text: &str, count: usize) -> usize {
    match count.checked_sub(1) {
        None => text.len(),
        Some(last) => text.char_indices().rev().nth(last).map_or(0, |(at, _)| at),
    }
}

/// How far a line end may be.
const NEAR: usize = 256;
/// How many code points of one cluster are stepped over.
const CLUSTER: usize = 32;

/// The end of a head at or before `at`: after a line end if one is near, and not inside a cluster.
pub(super) fn settle_back(text: &str, at: usize) -> usize {
    let from = at - NEAR.min(at / 8);
    let near = &text.as_bytes()[from..at];
    if let Some(newline) = near.iter().rposition(|b| *b == b'\n') {
        return from + newline + 1;
    }
    let mut settled = at;
    for _ in 0..CLUSTER {
        if !joins(text, settled) {
            return settled;
        }
        let before = text[..settled].chars().next_back();
        settled -= before.map_or(0, char::len_utf8);
    }
    at
}

/// The start of a tail at or after `at`: after a line end if one is near, and not inside a cluster.
pub(super) fn settle_forward(text: &str, at: usize) -> usize {
    let to = at + NEAR.min((text.len() - at) / 8);
    let near = &text.as_bytes()[at..to];
    if let Some(newline) = near.iter().position(|b| *b == b'\n') {
        return at + newline + 1;
    }
    let mut settled = at;
    for _ in 0..CLUSTER {
        if !joins(text, settled) {
            return settled;
        }
        let after = text[settled..].chars().next();
        settled += after.map_or(0, char::len_utf8);
    }
    at
}

/// Whether the characters on both sides of `at` are one for a reader: marks, joined emoji, flags, a line end
/// of two characters, Korean letters. The common cases of Unicode's grapheme clusters, not all.
pub(super) fn joins(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let (Some(left), Some(right)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    if right.is_ascii() {
        return left == '\r' && right == '\n';
    }
    let is_flag_half = |c: &char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let is_jamo = |c: char| matches!(c, '\u{1100}'..='\u{11ff}');
    if is_flag_half(&right) && is_flag_half(&left) {
        let run = before
            .chars()
            .rev()
            .take(2 * CLUSTER)
            .take_while(is_flag_half);
        return run.count() % 2 == 1;
    }
    extends(right) || left == '\u{200d}' || (is_jamo(left) && is_jamo(right))
}

/// Marks, joiners, variation selectors, skin tones, tags.
fn extends(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5bd}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{670}'
            | '\u{6d6}'..='\u{6dc}'
            | '\u{900}'..='\u{903}'
            | '\u{93a}'..='\u{93c}'
            | '\u{93e}'..='\u{94f}'
            | '\u{e31}'
            | '\u{e34}'..='\u{e3a}'
            | '\u{e47}'..='\u{e4e}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{200c}'..='\u{200d}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{302a}'..='\u{302f}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::cut;

    /// The text after the cut, with the marker's changing parts taken out.
    fn check(text: &str, limit: usize, expect: Option<&str>) {
        let made = head_and_tail(text, limit, Length::Long);
        let shown = made.map(|c| {
            let short = cut(text, &c.range, &c.marker);
            assert!(short.chars().count() <= limit && short.len() < text.len());
            cut(text, &c.range, "#")
        });
        assert_eq!(shown.as_deref(), expect, "{text:?} at {limit}");
    }

    #[test]
    fn head_and_tail_stay() {
        check("short", 5, None);
        check(&"x".repeat(100), 20, None);
        // The marker may take 70 of them.
        let letters: String = ('a'..='z').cycle().take(120).collect();
        check(&letters, 82, Some("abcdefghij#op"));
        check(&letters, 74, Some("abcd#"));
        check(&letters, 70, Some("#"));
        check(&letters, 69, None);
    }

    #[test]
    fn lines_stay_whole_when_an_end_is_near() {
        let lines: String = (10..400).map(|n| format!("line {n}\n")).collect();
        let made = head_and_tail(&lines, 1000, Length::Long).unwrap();
        let left = cut(&lines, &made.range, "#");
        let (head, tail) = left.split_once('#').unwrap();
        assert!(head.ends_with('\n') && tail.starts_with("line "));
        assert!(made.marker.starts_with("\n[cx-"));
    }

    #[test]
    fn clusters_are_not_split() {
        let family = "👩‍👩‍👧‍👦";
        let rows = [
            (family, vec![0, family.len()]),
            ("🇫🇷🇯🇵", vec![0, 8, 16]),
            ("e\u{301}x", vec![0, 3, 4]),
            ("👍🏽!", vec![0, 8, 9]),
            ("a\r\nb", vec![0, 1, 3, 4]),
        ];
        for (text, ends) in rows {
            let found: Vec<usize> = (0..=text.len())
                .filter(|at| text.is_char_boundary(*at) && !joins(text, *at))
                .collect();
            assert_eq!(found, ends, "{text:?}");
        }
    }
}
