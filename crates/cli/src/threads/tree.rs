//! Answers as trees of values. Messages in them are JSON as it came, which may hold what no tree does: half of a surrogate
//! pair, or more levels than are parsed.

use conspectus::threads::to_value;
use serde::Serialize;
use serde_json::Value;

/// An answer. What cannot be a tree is its own text.
pub(crate) fn value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_else(|_| {
        let json = serde_json::to_string(answer).expect("answers can be written");
        to_value(&json).unwrap_or(Value::String(json))
    })
}

/// JSON of a service. `None`: it is none, or has too many levels.
pub(super) fn read(json: &[u8]) -> Option<Value> {
    to_value(std::str::from_utf8(json).ok()?)
}

#[cfg(test)]
mod tests {
    use conspectus::threads::Json;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_always_a_value() {
        let check = |json: &str, expect: Value| {
            let raw = Json::parse(json).expect("JSON");
            assert_eq!(value(&raw), expect, "{json}");
        };
        check(r#"{"a":"\ud83d"}"#, json!({"a": "\u{fffd}"}));
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        check(&deep, json!(deep));
    }
}
