//! LangChain's messages: what every chat model behind them demands, and what a thread state does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Faults, Rule, list, text};

pub(super) fn check(messages: &[Value], out: &mut Faults) {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for (at, outer) in messages.iter().enumerate() {
        let message = ["kwargs", "data"]
            .iter()
            .find_map(|key| outer.get(key).filter(|fields| fields.is_object()))
            .unwrap_or(outer);
        let id = text(message, "id");
        if !id.is_empty() && !ids.insert(id) {
            out.add(at, Rule::Repeated, format!("a second message `{id}`"));
        }
        match kind(outer, message) {
            "ai" => {
                close(&mut waiting, out);
                let calls = ["tool_calls", "invalid_tool_calls"];
                for call in calls.iter().flat_map(|key| list(message, key)) {
                    let id = text(call, "id");
                    if waiting.insert(id, at).is_some() {
                        out.add(
                            at,
                            Rule::Repeated,
                            format!("two calls `{id}` in one message"),
                        );
                    }
                }
                let args = list(message, "tool_calls")
                    .iter()
                    .map(|call| call.get("args"));
                if args.flatten().any(|args| !args.is_object()) {
                    out.add(at, Rule::Arguments, "arguments that are no object");
                }
            }
            "tool" => {
                let id = text(message, "tool_call_id");
                if waiting.remove(id).is_none() {
                    out.add(
                        at,
                        Rule::Orphan,
                        format!("answer to `{id}` without its call before it"),
                    );
                }
            }
            "human" | "system" | "chat" => close(&mut waiting, out),
            "function" | "remove" => {}
            other => out.add(at, Rule::Role, format!("type `{other}`")),
        }
        if !matches!(
            message.get("content"),
            Some(Value::String(_) | Value::Array(_))
        ) {
            out.add(at, Rule::Empty, "content that is neither text nor blocks");
        }
    }
    close(&mut waiting, out);
}

fn close(waiting: &mut BTreeMap<&str, usize>, out: &mut Faults) {
    for (id, at) in std::mem::take(waiting) {
        out.add(
            at,
            Rule::Unanswered,
            format!("call `{id}` has no answer behind it"),
        );
    }
}

/// The short name of the message's type.
fn kind<'a>(outer: &'a Value, message: &'a Value) -> &'a str {
    let class = || list(outer, "id").last().and_then(Value::as_str);
    let name = match text(message, "type") {
        "" | "constructor" => match text(outer, "type") {
            "" | "constructor" => class().unwrap_or_default(),
            name => name,
        },
        name => name,
    };
    match name.strip_suffix("Chunk").unwrap_or(name) {
        "HumanMessage" => "human",
        "AIMessage" => "ai",
        "SystemMessage" => "system",
        "ToolMessage" => "tool",
        "ChatMessage" => "chat",
        "FunctionMessage" => "function",
        name => name,
    }
}
