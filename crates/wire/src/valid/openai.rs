//! Chat completions: `POST /chat/completions` and the servers that copy it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Faults, Rule, list, text};

pub(super) fn check(messages: &[Value], out: &mut Faults) {
    let mut open: Option<Open> = None;
    let mut is_leading = true;
    let mut system_roles = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        match role {
            "system" | "developer" => {
                system_roles.insert(role);
                if !is_leading {
                    out.add(at, Rule::System, format!("`{role}` behind other messages"));
                }
            }
            "user" | "assistant" | "tool" | "function" => is_leading = false,
            _ => out.add(at, Rule::Role, format!("role `{role}`")),
        }
        check_content(at, message, role, out);
        if matches!(role, "tool" | "function") {
            let id = if role == "tool" {
                answered(message)
            } else {
                ""
            };
            match &mut open {
                Some(turn) => turn.answer(at, id, out),
                None => orphan(at, id, out),
            }
            continue;
        }
        if let Some(turn) = open.take() {
            turn.close(out);
        }
        open = Open::of(at, message, out);
    }
    if let Some(turn) = open {
        turn.close(out);
    }
    if system_roles.len() > 1 {
        out.of_request(Rule::System, "both `system` and `developer` messages");
    }
}

/// The calls of one message that wait for their answers.
struct Open {
    at: usize,
    /// Each id with whether it was answered.
    calls: BTreeMap<String, bool>,
}

impl Open {
    fn of(at: usize, message: &Value, out: &mut Faults) -> Option<Self> {
        let mut calls = BTreeMap::new();
        for call in list(message, "tool_calls") {
            let id = text(call, "id").to_owned();
            check_arguments(at, call, out);
            if calls.insert(id.clone(), false).is_some() {
                out.add(
                    at,
                    Rule::Repeated,
                    format!("two calls `{id}` in one message"),
                );
            }
        }
        if message
            .get("function_call")
            .is_some_and(|call| !call.is_null())
        {
            calls.insert(String::new(), false);
        }
        (!calls.is_empty()).then_some(Self { at, calls })
    }

    fn answer(&mut self, at: usize, id: &str, out: &mut Faults) {
        match self.calls.get_mut(id) {
            Some(answered) if *answered => {
                out.add(at, Rule::Repeated, format!("a second answer to `{id}`"));
            }
            Some(answered) => *answered = true,
            None => orphan(at, id, out),
        }
    }

    fn close(self, out: &mut Faults) {
        for (id, _) in self.calls.into_iter().filter(|(_, answered)| !answered) {
            let detail = format!("call `{id}` has no answer behind it");
            out.add(self.at, Rule::Unanswered, detail);
        }
    }
}

fn orphan(at: usize, id: &str, out: &mut Faults) {
    let detail = format!("answer to `{id}` without its call before it");
    out.add(at, Rule::Orphan, detail);
}

/// tau2-bench names the call in `id`.
fn answered(message: &Value) -> &str {
    match text(message, "tool_call_id") {
        "" => text(message, "id"),
        id => id,
    }
}

fn check_content(at: usize, message: &Value, role: &str, out: &mut Faults) {
    let has_calls = !list(message, "tool_calls").is_empty()
        || message
            .get("function_call")
            .is_some_and(|call| !call.is_null());
    let may_be_absent = has_calls
        || (role == "assistant"
            && ["refusal", "audio"]
                .iter()
                .any(|key| message.get(key).is_some_and(|v| !v.is_null())));
    match message.get("content") {
        None | Some(Value::Null) if may_be_absent => {}
        None | Some(Value::Null) => out.add(at, Rule::Empty, "no content"),
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            if parts.is_empty() && !may_be_absent {
                out.add(at, Rule::Empty, "an empty list of parts");
            }
            let is_textless = |part: &&Value| {
                text(part, "type") == "text" && part.get("text").and_then(Value::as_str).is_none()
            };
            if parts.iter().any(|part| is_textless(&part)) {
                out.add(at, Rule::Empty, "a text part without text");
            }
        }
        Some(_) => out.add(at, Rule::Empty, "content that is neither text nor parts"),
    }
}

/// A string of JSON in OpenAI's own form; an object in tau2-bench's.
fn check_arguments(at: usize, call: &Value, out: &mut Faults) {
    let function = call
        .get("function")
        .filter(|f| f.is_object())
        .unwrap_or(call);
    let is_fine = match function.get("arguments") {
        Some(Value::String(json)) => {
            json.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok()
        }
        Some(Value::Object(_)) => call.get("function").is_none(),
        None | Some(Value::Null) => true,
        Some(_) => false,
    };
    if !is_fine {
        let id = text(call, "id");
        out.add(
            at,
            Rule::Arguments,
            format!("arguments of `{id}` are not JSON"),
        );
    }
}

/// Chat templates of Mistral, Gemma, Llama and Qwen models.
pub(super) fn check_template(messages: &[Value], out: &mut Faults) {
    check(messages, out);
    let mut before = "";
    let systems = messages
        .iter()
        .take_while(|m| is_system(text(m, "role")))
        .count();
    if systems > 1 {
        out.of_request(Rule::System, "more than one system message");
    }
    for (at, message) in messages.iter().enumerate().skip(systems) {
        let role = text(message, "role");
        match (before, role) {
            ("", "user") => {}
            ("", _) => out.add(at, Rule::First, format!("`{role}` comes first")),
            ("tool", "tool" | "assistant")
            | ("user", "assistant")
            | ("assistant", "user" | "tool") => {}
            _ => out.add(at, Rule::Alternation, format!("`{role}` behind `{before}`")),
        }
        before = role;
    }
    if !matches!(before, "user" | "tool") {
        let last = messages.len().saturating_sub(1);
        out.add(last, Rule::Last, format!("`{before}` comes last"));
    }
}

fn is_system(role: &str) -> bool {
    matches!(role, "system" | "developer")
}
