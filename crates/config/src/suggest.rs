//! "Did you mean": the known name that is nearest to what was typed.

/// Longer than any name and its edits: nothing to compare.
const MAX_LENGTH: usize = 80;

/// The nearest of `known` by single edits, if it is near: one edit in three characters.
pub(crate) fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = known.iter().min_by_key(|name| distance(typed, name))?;
    let edits = (typed.chars().count() / 3).clamp(1, 4);
    is_near(typed, name, edits).then_some(*name)
}

/// Whether a name is within some edits of what was typed.
pub(crate) fn is_near(typed: &str, name: &str, edits: usize) -> bool {
    distance(typed, name) <= edits
}

/// Edits (a character inserted, deleted, replaced, or two neighbours swapped) between two words.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > MAX_LENGTH {
        return usize::MAX;
    }
    let a: Vec<char> = a.to_lowercase().replace('-', "_").chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            let swapped = i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y;
            if swapped {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["trigger", "keep", "keep_recent", "summarization", "prune"];
        for (typed, expect) in [
            ("triger", Some("trigger")),
            ("tirgger", Some("trigger")),
            ("keep-recent", Some("keep_recent")),
            ("Keep", Some("keep")),
            ("summarisation", Some("summarization")),
            ("nothing_like_it", None),
            ("models", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &known), expect, "{typed}");
        }
    }
}
