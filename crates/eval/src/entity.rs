//! Names that a later step may need: paths, files, identifiers, codes, numbers, dates, errors, URLs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

/// What a name is. The order is that in which kinds are looked for: a name has the first kind that finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A web address.
    Url,
    /// A path with a slash.
    Path,
    /// A file name with a known ending.
    File,
    /// The name of an error.
    Error,
    /// snake_case, camelCase, PascalCase.
    Ident,
    /// Capitals with digits, or a hash.
    Code,
    /// Three digits or more, or with a fraction.
    Number,
    /// Year-month-day.
    Date,
}

/// A pattern, what may not stand before and behind it, and what the match itself must hold.
struct Rule {
    pattern: Regex,
    before: fn(char) -> bool,
    after: fn(char) -> bool,
    holds: fn(&str) -> bool,
}

static RULES: LazyLock<Vec<(Kind, Vec<Rule>)>> = LazyLock::new(|| {
    let any: fn(&str) -> bool = |_| true;
    let no: fn(char) -> bool = |_| false;
    let point: fn(char) -> bool = |c| word(c) || c == '.';
    let upper: fn(&str) -> bool =
        |s| s.bytes().any(|b| b.is_ascii_uppercase()) && s.bytes().any(|b| b.is_ascii_digit());
    let hash: fn(&str) -> bool =
        |s| s.bytes().any(|b| b.is_ascii_lowercase()) && s.bytes().any(|b| b.is_ascii_digit());
    let plain = |pattern| rule(pattern, no, no, any);
    vec![
        (Kind::Url, vec![plain(r#"https?://[^\s"'<>)\]}\\]+"#)]),
        (
            Kind::Path,
            vec![rule(
                r"(?:~?/|\.{1,2}/)?(?:[\w@.+-]+/)+[\w@.+-]+",
                |c| word(c) || c == ':' || c == '/',
                no,
                any,
            )],
        ),
        (
            Kind::File,
            vec![plain(
                r"\b[\w-]+\.(?:py|rs|ts|tsx|js|jsx|mjs|json|jsonl|md|ex|exs|heex|go|java|kt|c|h|cpp|toml|yaml|yml|sh|sql|html|css|csv|txt|lock|cfg|ini)\b",
            )],
        ),
        (
            Kind::Error,
            vec![plain(r"\b[A-Za-z_.]*(?:Error|Exception|Warning)\b")],
        ),
        (
            Kind::Ident,
            vec![plain(
                r"\b[A-Za-z][a-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b",
            )],
        ),
        (
            Kind::Code,
            vec![
                rule(r"\b[A-Z0-9]{5,}\b", no, no, upper),
                rule(r"\b[0-9a-f]{7,40}\b", no, no, hash),
            ],
        ),
        (
            Kind::Number,
            vec![
                rule(r"\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?", point, no, any),
                rule(r"\$?\d{3,}\.\d+", point, word, any),
                rule(r"\$?\d{3,}", point, word, any),
                rule(r"\$?\d+\.\d+", point, point, any),
            ],
        ),
        (Kind::Date, vec![plain(r"\b\d{4}-\d{2}-\d{2}\b")]),
    ]
});

fn rule(
    pattern: &str,
    before: fn(char) -> bool,
    after: fn(char) -> bool,
    holds: fn(&str) -> bool,
) -> Rule {
    let pattern = Regex::new(pattern).expect("patterns are constant");
    Rule {
        pattern,
        before,
        after,
        holds,
    }
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Rule {
    /// The first match at or behind `from` that the surroundings allow.
    fn next(&self, text: &str, mut from: usize) -> Option<(usize, usize)> {
        loop {
            let found = self.pattern.find_at(text, from)?;
            let before = text[..found.start()].chars().next_back();
            let after = text[found.end()..].chars().next();
            if !before.is_some_and(self.before)
                && !after.is_some_and(self.after)
                && (self.holds)(found.as_str())
            {
                return Some((found.start(), found.end()));
            }
            let first = text[found.start()..].chars().next()?;
            from = found.start() + first.len_utf8();
            // Inside a word nothing begins when what stands before decides.
            while let (Some(last), Some(next)) = (
                text[..from].chars().next_back(),
                text[from..].chars().next(),
            ) && (self.before)(last)
            {
                from += next.len_utf8();
            }
        }
    }
}

/// The names in `text`, each with its kind, in the order of their letters.
pub fn entities(text: &str) -> BTreeMap<String, Kind> {
    let mut found = BTreeMap::new();
    for (kind, rules) in RULES.iter() {
        let mut ahead: Vec<Option<(usize, usize)>> =
            rules.iter().map(|rule| rule.next(text, 0)).collect();
        // The leftmost; of those that begin together the first rule's.
        while let Some((start, end)) = first(&ahead) {
            let name = text[start..end].trim_end_matches(['.', ',', ':', ';', '/']);
            if (3..=160).contains(&name.chars().count()) {
                found.entry(name.to_owned()).or_insert(*kind);
            }
            for (rule, next) in rules.iter().zip(&mut ahead) {
                if next.is_some_and(|(start, _)| start < end) {
                    *next = rule.next(text, end);
                }
            }
        }
    }
    found
}

fn first(ahead: &[Option<(usize, usize)>]) -> Option<(usize, usize)> {
    let mut first: Option<(usize, usize)> = None;
    for next in ahead.iter().flatten() {
        if first.is_none_or(|first| next.0 < first.0) {
            first = Some(*next);
        }
    }
    first
}

/// Whether `name` stands in `text` by itself, not as a piece of a longer word.
pub fn occurs(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(word) && !after.is_some_and(word)
        })
}

/// The share of `names` that stand in `text`; nothing when there are none.
pub fn recall<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<f64> {
    let (mut have, mut all) = (0u32, 0u32);
    for name in names {
        all += 1;
        have += u32::from(occurs(text, name));
    }
    (all > 0).then(|| f64::from(have) / f64::from(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, Kind)]) {
        let expect: BTreeMap<String, Kind> = expect
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), *kind))
            .collect();
        assert_eq!(entities(text), expect, "{text}");
    }

    #[test]
    fn names_have_kinds() {
        check(
            "see src/lib.rs.",
            &[("src/lib.rs", Kind::Path), ("lib.rs", Kind::File)],
        );
        check(
            "order W5866402 of 1,234.50 on 2024-05-01",
            &[
                ("W5866402", Kind::Code),
                ("1,234.50", Kind::Number),
                ("2024", Kind::Number),
                ("2024-05-01", Kind::Date),
            ],
        );
        check("123.45x 12.34.5 99", &[("123", Kind::Number)]);
        check(
            "deadbee1 12345 ABCDE",
            &[("deadbee1", Kind::Code), ("12345", Kind::Number)],
        );
        check(
            "a ValueError in parseArgs, user_id",
            &[
                ("ValueError", Kind::Error),
                ("parseArgs", Kind::Ident),
                ("user_id", Kind::Ident),
            ],
        );
    }

    #[test]
    fn a_piece_of_a_word_is_not_the_name() {
        assert!(occurs("in lib.rs:3", "lib.rs"));
        assert!(!occurs("mylib.rs lib.rsx", "lib.rs"));
        assert_eq!(recall("a b", ["a", "c"]), Some(0.5));
        assert_eq!(recall("a b", []), None);
    }
}
