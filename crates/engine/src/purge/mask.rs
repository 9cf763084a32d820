//! Texts without what was in them. Pure.

use serde_json::Value;

/// What stands where something was taken out.
pub const PURGED: &str = "[purged]";
/// A text that is shorter would be found in the middle of others.
pub const MIN_SECRET_CHARS: usize = 4;

/// Whether it can be told from other text, and stays gone.
pub(super) fn is_rare(secret: &str) -> bool {
    secret.trim().chars().count() >= MIN_SECRET_CHARS && !PURGED.contains(secret)
}

/// The text without the secret; `None`: it is not in it. Where the text has strings of JSON, the secret is found in
/// them whatever its spelling, and they stay strings of JSON; what stands around them stays as it is.
pub(super) fn without(text: &str, secret: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut is_changed = false;
    let mut copied = 0;
    for (from, to) in strings(text) {
        let Some(inner) = decoded(&text[from..to]).and_then(|inner| without(&inner, secret)) else {
            continue;
        };
        let Ok(literal) = serde_json::to_string(&inner) else {
            continue;
        };
        out.push_str(&text[copied..from]);
        out.push_str(&literal);
        copied = to;
        is_changed = true;
    }
    out.push_str(&text[copied..]);
    if out.contains(secret) {
        // As plain text. In JSON this is a name, a number, or spans strings: the reader decides whether it still is one.
        out = out.replace(secret, PURGED);
        is_changed = true;
    }
    is_changed.then_some(out)
}

/// Whether the secret is in it, whatever its spelling.
pub(super) fn holds(text: &str, secret: &str) -> bool {
    let in_string =
        |(from, to): (usize, usize)| decoded(&text[from..to]).is_some_and(|t| holds(&t, secret));
    text.contains(secret) || strings(text).into_iter().any(in_string)
}

/// Where strings of JSON stand in a text, quotes included. A text that is no JSON has what looks like some.
fn strings(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = bytes[at..].iter().position(|b| *b == b'"') {
        let from = at + open;
        let mut end = from + 1;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            break;
        }
        found.push((from, end + 1));
        at = end + 1;
    }
    found
}

/// Only a string with something within can hide something: one without escapes is read as plain text.
fn decoded(literal: &str) -> Option<String> {
    literal
        .contains('\\')
        .then(|| serde_json::from_str(literal).ok())?
}

/// The message with nothing of what it said, in any of the formats in which messages are JSON objects: roles, types and
/// ids stay, texts are tombstones, arguments are empty, reasoning and media are gone. A text that is no JSON is one
/// tombstone.
pub(super) fn tombstone(message: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(message) else {
        return PURGED.to_owned();
    };
    silence(&mut value, "");
    value.to_string()
}

/// Names whose strings say how a message is built.
const STRUCTURE: [&str; 15] = [
    "type",
    "role",
    "id",
    "name",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "toolCallId",
    "toolName",
    "status",
    "finish_reason",
    "stop_reason",
    "model",
    "model_name",
    "object",
];
/// Names whose values are arguments of a call.
const ARGUMENTS: [&str; 4] = ["args", "arguments", "input", "parameters"];
/// Kinds of blocks that are only whole or not at all.
const SEALED: [&str; 4] = [
    "thinking",
    "redacted_thinking",
    "reasoning",
    "reasoning_content",
];
/// Kinds of blocks whose data would be none any more.
const MEDIA: [&str; 10] = [
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "video",
    "file",
    "input_file",
    "document",
    "media",
];

fn silence(value: &mut Value, name: &str) {
    match value {
        Value::String(text) if ARGUMENTS.contains(&name) => {
            let is_json = serde_json::from_str::<Value>(text).is_ok();
            *text = if is_json { "{}" } else { PURGED }.to_owned();
        }
        Value::String(text) => {
            if !STRUCTURE.contains(&name) && !text.is_empty() {
                *text = PURGED.to_owned();
            }
        }
        Value::Object(object) if ARGUMENTS.contains(&name) => object.clear(),
        Value::Object(object) => object
            .iter_mut()
            .for_each(|(name, value)| silence(value, name)),
        Value::Array(blocks) => {
            let was_empty = blocks.is_empty();
            blocks.retain(|block| !is_kind(block, &SEALED));
            for block in blocks.iter_mut() {
                match is_kind(block, &MEDIA) {
                    true => *block = said_nothing(),
                    false => silence(block, name),
                }
            }
            if blocks.is_empty() && !was_empty && name == "content" {
                blocks.push(said_nothing());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_kind(block: &Value, kinds: &[&str]) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kinds.contains(&kind))
}

fn said_nothing() -> Value {
    serde_json::json!({"type": "text", "text": PURGED})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_goes_whatever_its_spelling() {
        let secret = r#"pa"ss/wörd"#;
        for (text, expect) in [
            ("nothing here", None),
            (
                r#"it is pa"ss/wörd, I think"#,
                Some("it is [purged], I think"),
            ),
            (
                r#"{"a":"x pa\"ss/wörd y", "b" : 1}"#,
                Some(r#"{"a":"x [purged] y", "b" : 1}"#),
            ),
            (
                r#"{"a":"pa\u0022ss\/w\u00f6rd","other":"\u0041"}"#,
                Some(r#"{"a":"[purged]","other":"\u0041"}"#),
            ),
            // JSON within JSON within JSON
            (
                r#"{"arguments":"{\"q\":\"{\\\"p\\\":\\\"pa\\\\\\\"ss/wörd\\\"}\"}"}"#,
                Some(r#"{"arguments":"{\"q\":\"{\\\"p\\\":\\\"[purged]\\\"}\"}"}"#),
            ),
        ] {
            assert_eq!(without(text, secret).as_deref(), expect, "{text}");
            assert_eq!(holds(text, secret), expect.is_some(), "{text}");
            assert!(expect.is_none_or(|text| !holds(text, secret)), "{text}");
        }
    }

    #[test]
    fn what_stands_everywhere_is_not_purged() {
        for (secret, expect) in [
            ("", false),
            ("    ", false),
            ("abc", false),
            ("purged", false),
            ("abcd", true),
        ] {
            assert_eq!(is_rare(secret), expect, "{secret}");
        }
    }

    #[test]
    fn tombstones_keep_the_structure() {
        for (message, expect) in [
            ("plain", "[purged]"),
            (
                r#"{"role":"user","content":"my secret"}"#,
                r#"{"content":"[purged]","role":"user"}"#,
            ),
            (
                r#"{"type":"ai","content":[{"type":"thinking","thinking":"x","signature":"s"}],"tool_calls":[{"id":"c","name":"f","args":{"a":"x"},"type":"tool_call"}]}"#,
                r#"{"content":[{"text":"[purged]","type":"text"}],"tool_calls":[{"args":{},"id":"c","name":"f","type":"tool_call"}],"type":"ai"}"#,
            ),
            (
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}"#,
                r#"{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c","type":"function"}]}"#,
            ),
            (
                r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}},{"type":"tool_result","tool_use_id":"t","content":"out"}]}"#,
                r#"{"content":[{"text":"[purged]","type":"text"},{"content":"[purged]","tool_use_id":"t","type":"tool_result"}],"role":"user"}"#,
            ),
        ] {
            assert_eq!(tombstone(message), expect);
        }
    }
}
