//! Names that matter in a text: paths, files, identifiers, codes, addresses, numbers of three digits or more.

use std::collections::BTreeSet;

/// The names in `text`, each once. A word is one when it holds a digit, `_`, `@`, or a dot or slash inside it, and has
/// four characters or more.
pub fn names(text: &str) -> BTreeSet<String> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_@./-:".contains(c);
    let mut out = BTreeSet::new();
    for word in text.split(|c: char| !is_inside(c)) {
        let word = word.trim_matches(|c: char| "./-:".contains(c));
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        let is_name = match letters {
            0 => digits >= 3,
            _ => digits > 0 || word.contains(['_', '@', '/', '.']),
        };
        if is_name && word.len() >= 4 {
            out.insert(word.to_lowercase());
        }
    }
    out
}

/// How many of `wanted` stand in `text`.
pub fn share(wanted: &BTreeSet<String>, text: &str) -> usize {
    let text = text.to_lowercase();
    wanted
        .iter()
        .filter(|name| text.contains(name.as_str()))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_code_and_orders_are_called() {
        let found = names(
            "Edit `src/a.rs`, then ORD1234 for sara_doe_496: $1,250 on 2024-05-16. And 12 more.",
        );
        let found: Vec<_> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["2024-05-16", "ord1234", "sara_doe_496", "src/a.rs"]);
        assert_eq!(share(&names("a.rs1 b.rs2"), "only A.rs1"), 1);
    }
}
