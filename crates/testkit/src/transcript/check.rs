//! A small strict validator of requests, written from the providers' rules and independent of the
//! generator: what `Knobs::valid` makes must pass it, and so must what is made of it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Format;

/// How strict the server is beyond the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strict {
    /// User and assistant strictly in turn (chat templates, Mistral).
    pub alternating: bool,
    /// The assistant may be last.
    pub prefill: bool,
    /// Calls without an answer that the host still waits for.
    pub pending: bool,
}

/// One message, whatever the format.
#[derive(Clone, Debug, Default)]
struct Turn {
    role: &'static str,
    calls: Vec<String>,
    results: Vec<String>,
    kinds: Vec<String>,
}

/// What a strict server would mind about a request (an object with `messages`); empty when nothing.
/// Each line begins with the position of the message.
pub fn violations(format: Format, body: &[u8], strict: Strict) -> Vec<String> {
    let body: Value = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(error) => return vec![format!("no JSON: {error}")],
    };
    let Some(messages) = body["messages"].as_array() else {
        return vec!["no list of messages".to_owned()];
    };
    let mut out = Vec::new();
    let mut turns: Vec<Turn> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let mut mind = |what: &str| out.push(format!("{at}: {what}"));
        let turn = read(format, message, &mut mind);
        match turns.last_mut() {
            // Anthropic merges turns of one role.
            Some(last) if format == Format::Anthropic && last.role == turn.role => {
                if strict.alternating {
                    mind("two messages of one role in a row");
                }
                last.calls.extend(turn.calls);
                last.results.extend(turn.results);
                last.kinds.extend(turn.kinds);
            }
            _ => turns.push(turn),
        }
    }
    markers(&body, &mut out);
    order(format, &turns, strict, &mut out);
    pairs(format, &turns, strict, &mut out);
    out
}

fn read(format: Format, message: &Value, mind: &mut dyn FnMut(&str)) -> Turn {
    let mut turn = Turn::default();
    let key = if format == Format::LangChain {
        "type"
    } else {
        "role"
    };
    turn.role = match message[key].as_str().unwrap_or_default() {
        "system" | "developer" => "system",
        "user" | "human" => "user",
        "assistant" | "ai" => "assistant",
        "tool" if format != Format::Anthropic => "tool",
        _ => "unknown",
    };
    if turn.role == "unknown" {
        mind("unknown role");
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let id = call["id"].as_str().unwrap_or_default().to_owned();
        turn.calls.push(id);
        let object = match format {
            Format::LangChain => call["args"].is_object(),
            _ => call["function"]["arguments"]
                .as_str()
                .and_then(|a| serde_json::from_str::<Value>(a).ok())
                .is_some_and(|a| a.is_object()),
        };
        if !object {
            mind("arguments are no object");
        }
    }
    if turn.role == "tool" {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        turn.results.push(id.to_owned());
    }
    match &message["content"] {
        Value::String(text) => {
            let may_be_empty = format != Format::Anthropic && turn.role != "user";
            if text.is_empty() && !may_be_empty {
                mind("empty content");
            }
            turn.kinds.push("text".to_owned());
        }
        Value::Array(blocks) => {
            if blocks.is_empty() {
                mind("empty content");
            }
            for block in blocks {
                read_block(format, block, &mut turn, mind);
            }
        }
        Value::Null if turn.role == "assistant" && !turn.calls.is_empty() => {
            if format == Format::Anthropic {
                mind("no content");
            }
        }
        _ => mind("no content"),
    }
    if format == Format::Anthropic {
        let fields = message.as_object().into_iter().flatten();
        for (key, _) in fields.filter(|(key, _)| !matches!(key.as_str(), "role" | "content")) {
            mind(&format!("unknown field {key}"));
        }
    }
    turn
}

fn read_block(format: Format, block: &Value, turn: &mut Turn, mind: &mut dyn FnMut(&str)) {
    let kind = block["type"].as_str().unwrap_or_default();
    let known: &[&str] = match (format, turn.role) {
        (_, "system") => &["text"],
        (Format::Anthropic, "assistant") => &["text", "thinking", "redacted_thinking", "tool_use"],
        (Format::Anthropic, _) => &["text", "image", "tool_result"],
        (_, "user") => &["text", "image_url"],
        (Format::LangChain, "assistant") => &["text", "thinking"],
        _ => &["text"],
    };
    if !known.contains(&kind) {
        mind(&format!("block {kind} does not belong here"));
    }
    match kind {
        "text" if format == Format::Anthropic && block["text"] == "" => mind("empty text block"),
        "thinking" if block["signature"].as_str().unwrap_or_default().is_empty() => {
            mind("thinking without signature");
        }
        "tool_use" => {
            let id = block["id"].as_str().unwrap_or_default();
            if !block["input"].is_object() {
                mind("arguments are no object");
            }
            turn.calls.push(id.to_owned());
        }
        "tool_result" => {
            if turn.kinds.iter().any(|k| k != "tool_result") {
                mind("results stand behind other blocks");
            }
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            turn.results.push(id.to_owned());
        }
        _ => {}
    }
    turn.kinds.push(kind.to_owned());
}

fn markers(body: &Value, out: &mut Vec<String>) {
    fn count(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| {
                    let marker =
                        matches!(key.as_str(), "cache_control" | "prompt_cache_breakpoint");
                    usize::from(marker) + count(value)
                })
                .sum(),
            _ => 0,
        }
    }
    let found = count(body);
    if found > 4 {
        out.push(format!("{found} cache markers"));
    }
}

fn order(format: Format, turns: &[Turn], strict: Strict, out: &mut Vec<String>) {
    let front = turns.iter().take_while(|t| t.role == "system").count();
    let list = &turns[front..];
    if front > 0 && format == Format::Anthropic {
        out.push("0: a system message stands in the list".to_owned());
    }
    for (at, _) in list.iter().enumerate().filter(|(_, t)| t.role == "system") {
        out.push(format!("{}: a system message in the middle", front + at));
    }
    match list.first().map(|t| t.role) {
        Some("user") => {}
        first => out.push(format!("{front}: begins with {first:?}")),
    }
    if let Some(last) = list.last()
        && last.role == "assistant"
        && !strict.prefill
    {
        out.push("the assistant is last".to_owned());
    }
    if format == Format::Anthropic {
        for (at, turn) in turns.iter().enumerate() {
            let last = turn.kinds.last().map(String::as_str);
            if turn.role == "assistant" && matches!(last, Some("thinking" | "redacted_thinking")) {
                out.push(format!("{at}: a turn ends with thinking"));
            }
        }
    }
    if strict.alternating && format != Format::Anthropic {
        for (at, pair) in list.windows(2).enumerate() {
            let bad = match (pair[0].role, pair[1].role) {
                ("tool", "user") => true,
                (a, b) => a == b && a != "tool",
            };
            if bad {
                out.push(format!("{}: roles do not alternate", front + at + 1));
            }
        }
    }
}

/// Each call has exactly one answer, right behind it, and each answer its call; ids are unique.
fn pairs(format: Format, turns: &[Turn], strict: Strict, out: &mut Vec<String>) {
    let mut ever = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, turn) in turns.iter().enumerate() {
        for id in &turn.results {
            if !open.remove(id.as_str()) {
                out.push(format!("{at}: answer {id:?} has no call right before it"));
            }
        }
        let goes_on = format != Format::Anthropic && turn.role == "tool";
        if !goes_on && !open.is_empty() && !strict.pending {
            out.push(format!("{at}: no answer to {open:?}"));
        }
        if !goes_on {
            open.clear();
        }
        for id in &turn.calls {
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if id.is_empty() || (format == Format::Anthropic && !id.chars().all(legal)) {
                out.push(format!("{at}: bad call id {id:?}"));
            }
            if !ever.insert(id) {
                out.push(format!("{at}: call id {id:?} twice"));
            }
            open.insert(id);
        }
    }
    if !open.is_empty() && !strict.pending {
        out.push(format!("end: no answer to {open:?}"));
    }
}
