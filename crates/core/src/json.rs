//! The little JSON the core needs: string leaves of a call's arguments.
//!
//! A *leaf* is a string value of a JSON text, numbered in document order, keys not counted. The numbering
//! is shared with `wire`, which edits the same leaves in the source bytes.

use std::collections::BTreeMap;
use std::ops::Range;

/// The source ranges (quotes included) of all string values in `json`, in document order.
/// `None` if `json` is not one JSON text.
pub fn string_leaves(json: &str) -> Option<Vec<Range<usize>>> {
    serde_json::from_str::<&serde_json::value::RawValue>(json).ok()?;
    let bytes = json.as_bytes();
    let mut leaves = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let end = string_end(bytes, at);
        let after = bytes[end..].iter().find(|b| !b.is_ascii_whitespace());
        if after != Some(&b':') {
            leaves.push(at..end);
        }
        at = end;
    }
    Some(leaves)
}

/// The index after the closing quote of the string that opens at `start`, in valid JSON.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The decoded text of the leaf at `range`.
pub fn leaf_text(json: &str, range: &Range<usize>) -> Option<String> {
    serde_json::from_str(json.get(range.clone())?).ok()
}

/// `json` with ranges of some leaves (number, decoded byte range, marker) replaced. Leaves that do not
/// exist or do not decode stay as they are.
pub fn cut_leaves(json: &str, cuts: &[(u32, Range<u32>, &str)]) -> String {
    let Some(leaves) = string_leaves(json) else {
        return json.to_owned();
    };
    let mut by_leaf = BTreeMap::new();
    for (leaf, range, marker) in cuts {
        by_leaf.entry(*leaf as usize).or_insert((range, marker));
    }
    let mut out = String::with_capacity(json.len());
    let mut done = 0;
    for (number, source) in leaves.iter().enumerate() {
        let Some((range, marker)) = by_leaf.get(&number) else {
            continue;
        };
        let Some(text) = leaf_text(json, source) else {
            continue;
        };
        let Ok(encoded) = serde_json::to_string(&crate::patch::cut(&text, range, marker)) else {
            continue;
        };
        out.push_str(&json[done..source.start]);
        out.push_str(&encoded);
        done = source.end;
    }
    out.push_str(&json[done..]);
    out
}

/// `block`, a JSON text that holds the string `before`, with that string replaced by `after`.
/// When the string is not found the block is returned as it is.
pub fn with_text(block: &str, before: &str, after: &str) -> String {
    let spelled = string_leaves(block)
        .unwrap_or_default()
        .into_iter()
        .find(|range| leaf_text(block, range).as_deref() == Some(before));
    match (spelled, serde_json::to_string(after)) {
        (Some(range), Ok(encoded)) => {
            [&block[..range.start], &encoded, &block[range.end..]].concat()
        }
        _ if block.trim() == before.trim() => after.to_owned(),
        // A value of its own, as a call's arguments are in its block.
        _ if before.starts_with('{') => block.replacen(before.trim(), after, 1),
        _ => block.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_values_in_document_order() {
        let json = r#"{"a": "x\"y", "b": [1, "z", {"c" : "w"}], "d": null}"#;
        let texts: Vec<_> = string_leaves(json)
            .unwrap()
            .iter()
            .map(|r| leaf_text(json, r).unwrap())
            .collect();
        assert_eq!(texts, ["x\"y", "z", "w"]);
        assert_eq!(string_leaves("not json"), None);
    }

    #[test]
    fn cutting_a_leaf_keeps_the_json_valid() {
        let json = r#"{"path":"a.md","content":"line\nline\nline"}"#;
        let cut = cut_leaves(json, &[(1, 4..10, "[\"…\"]")]);
        assert_eq!(cut, r#"{"path":"a.md","content":"line[\"…\"]line"}"#);
    }
}
