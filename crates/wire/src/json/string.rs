//! JSON string literals: decode them, find decoded offsets in their source, cut them.
//!
//! A *literal* is the source of a JSON string, quotes included. Decoding never fails: a lone surrogate
//! (`\ud83d` without its partner, which Rust's strings cannot hold) is shown as U+FFFD. A cut only replaces
//! whole characters of the source, so an escape or a surrogate pair is never split and what is not cut keeps
//! its own spelling, lone surrogates included.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

/// What a lone surrogate is shown as.
const REPLACEMENT: char = '\u{fffd}';

/// The decoded text of a literal.
pub fn decode(literal: &str) -> Cow<'_, str> {
    let inner = inner(literal);
    let Some(first) = memchr(b'\\', inner.as_bytes()) else {
        return Cow::Borrowed(inner);
    };
    let mut text = String::with_capacity(inner.len());
    text.push_str(&inner[..first]);
    for piece in (Pieces { inner, at: first }) {
        match piece.meaning {
            Meaning::Plain => text.push_str(&inner[piece.source]),
            Meaning::Escaped(char) => text.push(char),
        }
    }
    Cow::Owned(text)
}

/// Whether a literal's text is empty, without decoding it.
pub fn is_empty(literal: &str) -> bool {
    inner(literal).is_empty()
}

/// Where the string that goes on at `at` ends: behind its closing quote, or at the end of what there is.
pub(super) fn end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// The beginning of what [`decode`] gives: as many whole characters as `max_bytes` bytes hold. Costs no more than
/// these and the run without escapes that they end in.
pub(crate) fn decode_head(literal: &str, max_bytes: usize) -> Cow<'_, str> {
    let inner = inner(literal);
    let mut text = String::new();
    for piece in Pieces::new(inner) {
        let room = max_bytes - text.len();
        let source = &inner[piece.source.clone()];
        match piece.meaning {
            Meaning::Plain if source.len() > room => {
                let head = &source[..source.floor_char_boundary(room)];
                if piece.source.start == 0 {
                    return Cow::Borrowed(head);
                }
                text.push_str(head);
                break;
            }
            Meaning::Plain => text.push_str(source),
            Meaning::Escaped(char) if char.len_utf8() > room => break,
            Meaning::Escaped(char) => text.push(char),
        }
    }
    Cow::Owned(text)
}

/// Where the decoded byte range `decoded` stands in the literal's source (quotes counted).
/// `None` when it is out of range or would split a character.
pub fn locate(literal: &str, decoded: Range<usize>) -> Option<Range<usize>> {
    locate_all(literal, &[decoded]).pop().flatten()
}

/// [`locate`] for many ranges that are sorted and lie apart, in one pass.
pub(crate) fn locate_all(literal: &str, decoded: &[Range<usize>]) -> Vec<Option<Range<usize>>> {
    let inner = inner(literal);
    let mut pieces = Positions::new(inner);
    decoded
        .iter()
        .map(|range| {
            let start = pieces.source_of(range.start)?;
            let end = pieces.source_of(range.end)?;
            Some(start + 1..end + 1)
        })
        .collect()
}

/// The literal with the decoded range replaced by `marker`. `None` when the range is not valid, or when the
/// two ends of an empty marker's cut would join two lone surrogates into a character that was not there.
pub fn cut(literal: &str, decoded: Range<usize>, marker: &str) -> Option<String> {
    let range = locate(literal, decoded)?;
    let (head, tail) = (&literal[..range.start], &literal[range.end..]);
    if marker.is_empty() && range.start < range.end && joins_surrogates(head, tail) {
        return None;
    }
    Some([head, &encode_inner(marker), tail].concat())
}

/// `text` as a literal.
pub fn encode(text: &str) -> String {
    serde_json::to_string(text).expect("a string always has a JSON form")
}

/// `text` as the inside of a literal, without the quotes.
pub fn encode_inner(text: &str) -> String {
    let mut literal = encode(text);
    literal.pop();
    literal.remove(0);
    literal
}

fn inner(literal: &str) -> &str {
    literal
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
}

fn joins_surrogates(head: &str, tail: &str) -> bool {
    let last = head.len().checked_sub(6).and_then(|at| {
        let before = head.get(..at)?.bytes().rev();
        let is_escaped = before.take_while(|b| *b == b'\\').count() % 2 == 1;
        unit(head.get(at..)?).filter(|_| !is_escaped)
    });
    let first = tail.get(..6).and_then(unit);
    matches!((last, first), (Some(high), Some(low)) if is_high(high) && is_low(low))
}

/// Walks a literal's inside forward, from decoded offsets to source offsets.
struct Positions<'a> {
    inner: &'a str,
    pieces: Pieces<'a>,
    /// The piece at hand and the decoded offset that it starts at.
    now: Option<Piece>,
    decoded: usize,
}

impl<'a> Positions<'a> {
    fn new(inner: &'a str) -> Self {
        let mut pieces = Pieces::new(inner);
        let now = pieces.next();
        Self {
            inner,
            pieces,
            now,
            decoded: 0,
        }
    }

    /// The source offset of a decoded offset that is not before the last one asked for.
    fn source_of(&mut self, wanted: usize) -> Option<usize> {
        while let Some(piece) = &self.now {
            let len = match piece.meaning {
                Meaning::Plain => piece.source.len(),
                Meaning::Escaped(char) => char.len_utf8(),
            };
            let into = wanted.checked_sub(self.decoded)?;
            if into < len {
                let at = piece.source.start + into;
                let whole = into == 0
                    || matches!(piece.meaning, Meaning::Plain) && self.inner.is_char_boundary(at);
                return whole.then_some(at);
            }
            self.decoded += len;
            self.now = self.pieces.next();
        }
        (self.decoded == wanted).then_some(self.inner.len())
    }
}

/// A run of unescaped text, or one escaped character.
struct Piece {
    source: Range<usize>,
    meaning: Meaning,
}

enum Meaning {
    Plain,
    Escaped(char),
}

struct Pieces<'a> {
    inner: &'a str,
    at: usize,
}

impl<'a> Pieces<'a> {
    fn new(inner: &'a str) -> Self {
        Self { inner, at: 0 }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = self.inner.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let (len, meaning) = match memchr(b'\\', rest.as_bytes()) {
            Some(0) => escape(rest),
            Some(run) => (run, Meaning::Plain),
            None => (rest.len(), Meaning::Plain),
        };
        self.at = start + len;
        Some(Piece {
            source: start..self.at,
            meaning,
        })
    }
}

/// The length and meaning of the escape that `rest` starts with.
fn escape(rest: &str) -> (usize, Meaning) {
    let plain = |char| (2, Meaning::Escaped(char));
    match rest.as_bytes().get(1) {
        Some(b'n') => plain('\n'),
        Some(b't') => plain('\t'),
        Some(b'r') => plain('\r'),
        Some(b'b') => plain('\u{8}'),
        Some(b'f') => plain('\u{c}'),
        Some(b'u') => unicode(rest),
        Some(&byte) if byte.is_ascii() => plain(char::from(byte)),
        // Not valid JSON; kept as it stands so that nothing is lost.
        _ => (1, Meaning::Plain),
    }
}

fn unicode(rest: &str) -> (usize, Meaning) {
    let Some(first) = rest.get(..6).and_then(unit) else {
        return (1, Meaning::Plain);
    };
    let second = rest.get(6..12).and_then(unit);
    if let (true, Some(low)) = (is_high(first), second.filter(|low| is_low(*low))) {
        let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        let char = char::from_u32(code).unwrap_or(REPLACEMENT);
        return (12, Meaning::Escaped(char));
    }
    let char = char::from_u32(first).unwrap_or(REPLACEMENT);
    (6, Meaning::Escaped(char))
}

/// The code unit of `\uXXXX`.
fn unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?;
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

fn is_high(unit: u32) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_low(unit: u32) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding() {
        let check = |literal: &str, text: &str| assert_eq!(decode(literal), text, "{literal}");
        check(r#""""#, "");
        check(r#""plain""#, "plain");
        check(r#""a\n\t\"\\\/\u0041""#, "a\n\t\"\\/A");
        check(r#""\ud83d\ude00!""#, "😀!");
        check(r#""\uD83D""#, "\u{fffd}");
        check(r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}");
        check(r#""\ud83d\u0041""#, "\u{fffd}A");
        check(r#""\\ud83d""#, "\\ud83d");
    }

    #[test]
    fn a_string_ends_behind_its_quote() {
        let check =
            |rest: &str, expect: usize| assert_eq!(end(rest.as_bytes(), 0), expect, "{rest}");
        check(r#"plain" : 1"#, 6);
        check(r#"a\"b\\" : 1"#, 7);
        check("no end", 6);
        check(r#"cut off\"#, 8);
        assert!(is_empty(r#""""#) && !is_empty(r#""\n""#));
    }

    #[test]
    fn a_head_is_the_beginning_of_the_text() {
        for literal in [
            r#""""#,
            r#""plain""#,
            r#""a\n\t\"\\\/\u0041""#,
            r#""\ud83d\ude00!""#,
            r#""中x\u6587\ud83d""#,
            r#""tail\""#,
        ] {
            let text = decode(literal);
            for max in 0..20 {
                let expect = &text[..text.floor_char_boundary(max)];
                assert_eq!(decode_head(literal, max), expect, "{literal} {max}");
            }
        }
    }

    #[test]
    fn cutting() {
        let check = |literal: &str, range: Range<usize>, marker: &str, expect: Option<&str>| {
            assert_eq!(cut(literal, range, marker).as_deref(), expect, "{literal}");
        };
        check(r#""abc""#, 1..2, "-", Some(r#""a-c""#));
        check(r#""\u0061\nb\/""#, 1..2, "\"", Some(r#""\u0061\"b\/""#));
        // A pair is one character of four bytes: only its ends are offsets.
        check(r#""\ud83d\ude00x""#, 0..4, "m", Some(r#""mx""#));
        check(r#""\ud83d\ude00x""#, 0..3, "m", None);
        check(r#""中\u6587x""#, 3..6, "", Some(r#""中x""#));
        check(r#""中\u6587x""#, 1..6, "", None);
        check(r#""abc""#, 2..9, "", None);
        check(r#""abc""#, 3..3, "end", Some(r#""abcend""#));
        // Lone surrogates outside the cut keep their spelling, and never become a pair.
        check(r#""\ud83dabc""#, 3..6, "…", Some(r#""\ud83d…""#));
        check(r#""\ud83dx\ude00""#, 3..4, "", None);
        check(r#""\ud83dx\ude00""#, 3..4, "-", Some(r#""\ud83d-\ude00""#));
    }
}
