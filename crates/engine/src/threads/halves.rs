//! JSON that holds half of a surrogate pair, as languages with 16-bit strings write it: kept as it came everywhere, but no
//! tree of values can hold it.

use serde_json::Value;

/// The JSON as a tree, with the replacement character in the place of each half of a surrogate pair that stands alone.
/// `None`: it is no JSON, or has too many levels.
pub fn to_value(json: &str) -> Option<Value> {
    let as_it_is = serde_json::from_str(json).ok();
    as_it_is.or_else(|| serde_json::from_str(&mended(json)).ok())
}

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
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_all_else_stays() {
        let check = |json: &str, expect: Value| assert_eq!(to_value(json), Some(expect), "{json}");
        check(r#"{"a":"x"}"#, json!({"a": "x"}));
        check(r#""\ud83d alone""#, json!("\u{fffd} alone"));
        check(r#""\ude00\ud83d\ude00\ud83d""#, json!("\u{fffd}😀\u{fffd}"));
        check(
            r#""\ud83d\ud83d\ude00 \\ud83d \n é""#,
            json!("\u{fffd}😀 \\ud83d \n é"),
        );
        for none in ["{oh", "\"\\", "\"\\ud83", &"[".repeat(300)] {
            assert_eq!(to_value(none), None, "{none}");
        }
    }
}
