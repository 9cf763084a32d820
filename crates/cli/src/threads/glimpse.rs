//! A message in one line: who says it, and how it begins. Messages come as LangChain's JSON, as chat messages and as
//! Anthropic's; whatever else is in them, there is always a line.

use serde_json::Value;

/// Who says it, and what.
pub(super) fn glimpse(message: &Value) -> (String, String) {
    let inner = ["kwargs", "data"].iter().find_map(|key| {
        let inner = message.get(key)?;
        inner.is_object().then_some(inner)
    });
    let inner = inner.unwrap_or(message);
    (role(message, inner), text(inner))
}

fn role(message: &Value, inner: &Value) -> String {
    let word = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let constructed = || {
        let path = message.get("id")?.as_array()?;
        path.last()?.as_str().map(str::to_owned)
    };
    let said = word(message, "role")
        .or_else(|| word(inner, "type"))
        .or_else(|| word(message, "type").filter(|kind| kind != "constructor"))
        .or_else(constructed)
        .unwrap_or_default()
        .to_lowercase();
    let said = said.trim_end_matches("chunk").trim_end_matches("message");
    match said {
        "human" => "user",
        "ai" | "model" => "assistant",
        "function" => "tool",
        "" => "?",
        other => other,
    }
    .to_owned()
}

fn text(message: &Value) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(content) = message.get("content") {
        parts.push(content_text(content));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let names = calls.into_iter().flatten().map(|call| {
        let own = call.get("name");
        let name = own.or_else(|| call.get("function")?.get("name"));
        name.and_then(Value::as_str).unwrap_or("?")
    });
    parts.extend(names.map(|name| format!("[calls {name}]")));
    parts.retain(|part| !part.trim().is_empty());
    parts.join(" ")
}

fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(block_text);
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            texts.join(" ")
        }
        _ => String::new(),
    }
}

fn block_text(block: &Value) -> String {
    let word = |key: &str| block.get(key).and_then(Value::as_str);
    if let Some(text) = block.as_str().or_else(|| word("text")) {
        return text.to_owned();
    }
    match word("type") {
        Some("tool_use") => format!("[calls {}]", word("name").unwrap_or("?")),
        Some("tool_result") => block.get("content").map(content_text).unwrap_or_default(),
        Some("thinking" | "redacted_thinking" | "reasoning") => String::new(),
        Some(kind) => format!("[{kind}]"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_line_whatever_it_is() {
        let check = |message: Value, expect: (&str, &str)| {
            let (role, text) = glimpse(&message);
            assert_eq!((role.as_str(), text.as_str()), expect, "{message}");
        };
        check(json!({"type": "human", "content": "hi"}), ("user", "hi"));
        check(
            json!({"type": "AIMessageChunk", "content": "ho"}),
            ("assistant", "ho"),
        );
        check(
            json!({"role": "tool", "content": "x", "type": "tool"}),
            ("tool", "x"),
        );
        let calls = json!({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "ls"}}]});
        check(calls, ("assistant", "[calls ls]"));
        let calls = json!({"type": "ai", "content": "see", "tool_calls": [{"name": "ls"}, {"name": "cat"}]});
        check(calls, ("assistant", "see [calls ls] [calls cat]"));
        let made = json!({"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "hi"}});
        check(made, ("user", "hi"));
        let blocks = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a"}]},
            {"type": "image", "source": {}},
        ]});
        check(blocks, ("user", "a [image]"));
        check(json!(3), ("?", ""));
    }
}
