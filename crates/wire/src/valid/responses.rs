//! The Responses API: `POST /responses` with a list of items.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Faults, Rule, text};

pub(super) fn check(request: &Value, items: &[Value], out: &mut Faults) {
    let is_continued = ["previous_response_id", "conversation"]
        .iter()
        .any(|key| request.get(key).is_some_and(|value| !value.is_null()));
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut answered = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let kind = match item.get("type").and_then(Value::as_str) {
            Some(kind) => kind,
            None if item.get("role").is_some() => "message",
            None => {
                out.add(at, Rule::Shape, "an item without type and role");
                continue;
            }
        };
        let id = text(item, "id");
        if !id.is_empty()
            && kind != "item_reference"
            && !kind.ends_with("_output")
            && !ids.insert(id)
        {
            out.add(at, Rule::Repeated, format!("a second item `{id}`"));
        }
        match kind {
            "message" => check_message(at, item, out),
            "reasoning" => check_reasoning(at, items, out),
            "compaction_trigger" if at + 1 < items.len() => {
                out.add(at, Rule::Last, "a compaction trigger before other items");
            }
            _ if is_call(kind) => {
                if matches!(kind, "function_call")
                    && !item.get("arguments").is_some_and(Value::is_string)
                {
                    out.add(at, Rule::Arguments, "arguments that are no string");
                }
                let id = called(item);
                if id.is_empty() && kind != "tool_search_call" {
                    out.add(at, Rule::Id, format!("`{kind}` without `call_id`"));
                } else if waiting.insert(id, at).is_some() && !id.is_empty() {
                    out.add(at, Rule::Repeated, format!("two open calls `{id}`"));
                }
            }
            _ => {
                if let Some(id) = answers(kind, item, items) {
                    if waiting.remove(id).is_some() {
                        answered.insert(id);
                    } else if answered.contains(id) {
                        out.add(at, Rule::Repeated, format!("a second answer to `{id}`"));
                    } else if !is_continued {
                        let detail = format!("answer to `{id}` without its call before it");
                        out.add(at, Rule::Orphan, detail);
                    }
                }
            }
        }
    }
    for (id, at) in waiting {
        out.add(
            at,
            Rule::Unanswered,
            format!("call `{id}` has no answer behind it"),
        );
    }
}

/// Calls that the caller answers.
fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "shell_call"
            | "apply_patch_call"
            | "computer_call"
            | "tool_search_call"
    )
}

fn called(item: &Value) -> &str {
    match text(item, "call_id") {
        "" => text(item, "id"),
        id => id,
    }
}

/// The call that an output answers. A local shell's output may name it by the call's item.
fn answers<'a>(kind: &str, item: &'a Value, items: &'a [Value]) -> Option<&'a str> {
    let kinds = [
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
        "tool_search_output",
    ];
    if !kinds.contains(&kind) {
        return None;
    }
    let id = called(item);
    if kind == "local_shell_call_output" {
        let by_item =
            |call: &&Value| text(call, "type") == "local_shell_call" && text(call, "id") == id;
        return Some(items.iter().find(by_item).map_or(id, called));
    }
    Some(id)
}

fn check_message(at: usize, item: &Value, out: &mut Faults) {
    let role = text(item, "role");
    if !matches!(role, "user" | "assistant" | "system" | "developer") {
        out.add(at, Rule::Role, format!("role `{role}`"));
    }
    match item.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            let is_textless = |part: &Value| {
                matches!(text(part, "type"), "input_text" | "output_text" | "text")
                    && part.get("text").and_then(Value::as_str).is_none()
            };
            if parts.iter().any(is_textless) {
                out.add(at, Rule::Empty, "a text part without text");
            }
        }
        _ => out.add(at, Rule::Empty, "content that is neither text nor parts"),
    }
}

/// Reasoning is followed by what it led to. At the end of an answer that was cut off nothing follows.
fn check_reasoning(at: usize, items: &[Value], out: &mut Faults) {
    let next = items[at + 1..]
        .iter()
        .find(|item| text(item, "type") != "reasoning");
    let led_to = |item: &Value| {
        let kind = text(item, "type");
        match kind {
            "" | "message" => text(item, "role") == "assistant",
            kind => !kind.ends_with("_output"),
        }
    };
    if next.is_some_and(|item| !led_to(item)) {
        out.add(
            at,
            Rule::Thinking,
            "reasoning without the item that it led to",
        );
    }
}
