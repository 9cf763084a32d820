//! Answers as trees of values. Messages in them are JSON as it came, which may hold what no tree does: half of a surrogate
//! pair, or more levels than are parsed.

use serde::Serialize;
use serde_json::Value;

/// An answer. What cannot be a tree is its own text.
pub(crate) fn value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_else(|_| {
        let json = serde_json::to_string(answer).expect("answers can be written");
        read(json.as_bytes()).unwrap_or(Value::String(json))
    })
}

/// JSON of a service. `None`: it is none, or has too many levels.
pub(super) fn read(json: &[u8]) -> Option<Value> {
    serde_json::from_slice(json)
        .ok()
        .or_else(|| serde_json::from_str(&mended(std::str::from_utf8(json).ok()?)).ok())
}

/// The same JSON with the replacement character in the place of each half of a surrogate pair that stands alone.
fn mended(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    // A backslash stands in strings only.
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            _ => rest.chars().take(2).map(char::len_utf8).sum(),
        };
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out.push_str(rest);
    out
}

/// The unit that the escape at the beginning stands for.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use conspectus::threads::Json;
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_pairs_are_shown_and_all_else_stays() {
        let check = |json: &str, expect: Value| {
            let raw = Json::parse(json).expect("JSON");
            assert_eq!(value(&raw), expect, "{json}");
        };
        check(r#"{"a":"x"}"#, json!({"a": "x"}));
        check(r#""\ud83d alone""#, json!("\u{fffd} alone"));
        check(r#""\ude00\ud83d\ude00\ud83d""#, json!("\u{fffd}😀\u{fffd}"));
        check(
            r#""\ud83d\ud83d\ude00 \\ud83d \n é""#,
            json!("\u{fffd}😀 \\ud83d \n é"),
        );
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        check(&deep, json!(deep));
        assert_eq!(read(b"{oh"), None);
    }
}
