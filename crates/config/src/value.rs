//! One value of the file as what an option takes: a boolean, a number, one of several words, a text.
//!
//! As lenient as the readers of the formats that we take over: `yes` and `on` are booleans, `100_000` and
//! `"4000"` are numbers, `4000.0` is whole.

use crate::error::{Problem, shown};
use crate::yaml::{Node, Value};

/// `true`, `yes`, `on` and their opposites.
pub(crate) fn boolean(node: &Node) -> Result<bool, Problem> {
    let text = scalar(node).map(str::to_ascii_lowercase);
    match text.as_deref() {
        Some("true" | "yes" | "on") => Ok(true),
        Some("false" | "no" | "off") => Ok(false),
        _ => Err(wrong(node, "true or false")),
    }
}

/// A whole number of at least `min`.
pub(crate) fn whole(node: &Node, min: u64) -> Result<u64, Problem> {
    let number = scalar(node).and_then(parse_whole).filter(|n| *n >= min);
    number.ok_or_else(|| wrong(node, whole_from(min)))
}

/// [`whole`], small enough to count tries.
pub(crate) fn small(node: &Node, min: u64) -> Result<u32, Problem> {
    let number = whole(node, min)?;
    u32::try_from(number).map_err(|_| wrong(node, "a whole number below 4294967296"))
}

/// A share: the range is checked where the preset is known.
pub(crate) fn fraction(node: &Node) -> Result<f64, Problem> {
    let number = scalar(node).and_then(parse_real);
    number.ok_or_else(|| wrong(node, FRACTION))
}

/// A share of which every preset says the same.
pub(crate) fn share(node: &Node) -> Result<f64, Problem> {
    let number = fraction(node)?;
    if number > 0.0 && number <= 1.0 {
        Ok(number)
    } else {
        Err(wrong(node, FRACTION))
    }
}

/// Any number.
pub(crate) fn real(node: &Node) -> Option<f64> {
    scalar(node).and_then(parse_real)
}

/// A text that is not blank.
pub(crate) fn text(node: &Node, expected: &str) -> Result<String, Problem> {
    match scalar(node) {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(wrong(node, expected)),
    }
}

/// One of several words.
pub(crate) fn word<T: Copy>(node: &Node, words: &[(&str, T)]) -> Result<T, Problem> {
    let found = scalar(node).and_then(|text| words.iter().find(|(word, _)| *word == text));
    let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| wrong(node, &one_of(&all)))
}

/// `null` or whatever `read` reads.
pub(crate) fn nullable<T>(
    node: &Node,
    read: impl FnOnce(&Node) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    match node.value {
        Value::Null => Ok(None),
        _ => read(node).map(Some),
    }
}

/// The problem of a value that is not what was expected.
pub(crate) fn wrong(node: &Node, expected: &str) -> Problem {
    Problem::Found {
        found: describe(node),
        expected: expected.to_owned(),
    }
}

/// What a share may be.
pub(crate) const FRACTION: &str = "a number above 0 and at most 1";

pub(crate) fn whole_from(min: u64) -> &'static str {
    if min == 0 {
        "a whole number >= 0"
    } else {
        "a whole number > 0"
    }
}

/// `a, b or c`.
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [words @ .., last] => format!("{} or {last}", words.join(", ")),
    }
}

/// A whole number, also as `100_000` or `4000.0`.
pub(crate) fn parse_whole(text: &str) -> Option<u64> {
    let text = without_separators(text)?;
    let digits = text.strip_prefix('+').unwrap_or(&text);
    let digits = match digits.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|b| b == b'0') => whole,
        Some(_) => return None,
        None => digits,
    };
    let only_digits = digits.bytes().all(|b| b.is_ascii_digit());
    only_digits.then(|| digits.parse().ok()).flatten()
}

/// Any number; `.nan` and infinities are none that an option takes.
pub(crate) fn parse_real(text: &str) -> Option<f64> {
    let text = without_separators(text)?;
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(number)
}

/// The text without underscores, which must stand between digits.
fn without_separators(text: &str) -> Option<String> {
    let text = text.trim();
    let between_digits = |i: usize| {
        let bytes = text.as_bytes();
        let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
        digit(i.checked_sub(1)) && digit(Some(i + 1))
    };
    let fine = text.match_indices('_').all(|(i, _)| between_digits(i));
    fine.then(|| text.replace('_', ""))
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// What a value is, for a message.
fn describe(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::List(items) if items.is_empty() => "an empty list".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
        Value::Scalar { text, quoted } => {
            let is_number = !quoted && parse_real(text).is_some() && text.len() <= 24;
            if is_number { text.clone() } else { shown(text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        for (text, expect) in [
            ("4000", Some(4000)),
            ("100_000", Some(100_000)),
            (" 7 ", Some(7)),
            ("+7", Some(7)),
            ("4000.0", Some(4000)),
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("4000.5", None),
            ("-1", None),
            ("4k", None),
            ("_1", None),
            ("1__0", None),
            ("1_", None),
            ("", None),
            (".", None),
            (".0", None),
            ("+", None),
            ("٣", None),
        ] {
            assert_eq!(parse_whole(text), expect, "{text:?}");
        }
        for (text, expect) in [
            ("0.8", Some(0.8)),
            (".5", Some(0.5)),
            ("1", Some(1.0)),
            ("-0.5", Some(-0.5)),
            ("8e-1", Some(0.8)),
            (".nan", None),
            ("nan", None),
            ("inf", None),
            ("1e999", None),
            ("0,8", None),
        ] {
            assert_eq!(parse_real(text), expect, "{text:?}");
        }
    }
}
