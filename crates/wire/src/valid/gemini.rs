//! Gemini: `POST /v1beta/models/…:generateContent`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Faults, Rule, list, text};

pub(super) fn check(contents: &[Value], out: &mut Faults) {
    for (at, content) in contents.iter().enumerate() {
        check_content(at, content, out);
        let before = at.checked_sub(1).map(|at| &contents[at]);
        let calls = members(content, "functionCall", "function_call");
        let responses = members(content, "functionResponse", "function_response");
        if !calls.is_empty() {
            check_calls(at, &calls, before, contents.get(at + 1), out);
        }
        let asked = before.map(|before| members(before, "functionCall", "function_call"));
        if !responses.is_empty() && asked.is_none_or(|asked| asked.is_empty()) {
            let detail = "function responses that do not come directly behind function calls";
            out.add(at, Rule::Orphan, detail);
        }
    }
    if contents
        .first()
        .is_some_and(|first| text(first, "role") == "model")
    {
        out.add(0, Rule::First, "the model speaks first");
    }
    check_signatures(contents, out);
}

fn check_content(at: usize, content: &Value, out: &mut Faults) {
    let role = text(content, "role");
    if !matches!(role, "user" | "model" | "function" | "") {
        out.add(at, Rule::Role, format!("role `{role}`"));
    }
    let parts = list(content, "parts");
    if parts.is_empty() {
        out.add(at, Rule::Empty, "no part");
    }
    const MARKS: [&str; 4] = [
        "thought",
        "thoughtSignature",
        "thought_signature",
        "videoMetadata",
    ];
    for part in parts {
        let says = part.as_object().is_some_and(|part| {
            part.iter()
                .any(|(key, value)| !MARKS.contains(&key.as_str()) && !value.is_null())
        });
        if !says {
            out.add(at, Rule::Empty, "a part without data");
        }
    }
}

/// The calls or responses of a content.
fn members<'a>(content: &'a Value, key: &str, other: &str) -> Vec<&'a Value> {
    let parts = list(content, "parts").iter();
    let member = |part: &'a Value| part.get(key).or_else(|| part.get(other));
    parts.filter_map(member).filter(|m| m.is_object()).collect()
}

/// As many responses as calls, of the same tools, in the next content; ids, where there are any, name the calls.
fn check_calls(
    at: usize,
    calls: &[&Value],
    before: Option<&Value>,
    next: Option<&Value>,
    out: &mut Faults,
) {
    if before.is_none_or(|before| text(before, "role") == "model") {
        let detail = "function calls that do not come behind a user's turn or function responses";
        out.add(at, Rule::Alternation, detail);
    }
    for call in calls {
        if text(call, "name").is_empty() {
            out.add(at, Rule::Id, "a function call without a name");
        }
        let args = call.get("args").filter(|args| !args.is_null());
        if args.is_some_and(|args| !args.is_object()) {
            let detail = format!("arguments of `{}` are no object", text(call, "name"));
            out.add(at, Rule::Arguments, detail);
        }
    }
    let responses = next
        .map(|next| members(next, "functionResponse", "function_response"))
        .unwrap_or_default();
    for response in &responses {
        if !response.get("response").is_some_and(Value::is_object) {
            let detail = format!("the response of `{}` is no object", text(response, "name"));
            out.add(at + 1, Rule::Arguments, detail);
        }
    }
    if responses.len() != calls.len() {
        let detail = format!(
            "{} function calls and {} function responses behind them",
            calls.len(),
            responses.len()
        );
        out.add(at, Rule::Unanswered, detail);
        return;
    }
    if tally(calls, "name") != tally(&responses, "name") {
        out.add(
            at,
            Rule::Orphan,
            "responses of other functions than those called",
        );
    }
    let has_ids = |members: &[&Value]| members.iter().all(|m| !text(m, "id").is_empty());
    if has_ids(calls) && has_ids(&responses) && tally(calls, "id") != tally(&responses, "id") {
        out.add(at, Rule::Orphan, "responses with other ids than the calls");
    }
}

fn tally<'a>(members: &[&'a Value], key: &str) -> BTreeMap<&'a str, usize> {
    let mut out = BTreeMap::new();
    for member in members {
        *out.entry(text(member, key)).or_default() += 1;
    }
    out
}

/// Where the model signs its calls, the first call of each step of the current turn carries its signature.
fn check_signatures(contents: &[Value], out: &mut Faults) {
    let signature = |part: &Value| {
        let one = text(part, "thoughtSignature");
        !one.is_empty() || !text(part, "thought_signature").is_empty()
    };
    let is_call = |part: &&Value| {
        part.get("functionCall")
            .or_else(|| part.get("function_call"))
            .is_some()
    };
    let signs = contents
        .iter()
        .flat_map(|content| list(content, "parts"))
        .any(|part| is_call(&part) && signature(part));
    if !signs {
        return;
    }
    let is_request = |content: &Value| {
        text(content, "role") != "model"
            && members(content, "functionResponse", "function_response").is_empty()
    };
    let current = contents.iter().rposition(is_request).unwrap_or(0);
    for (at, content) in contents.iter().enumerate().skip(current) {
        let first = list(content, "parts").iter().find(is_call);
        if first.is_some_and(|part| !signature(part)) {
            let detail = "the first function call of a step of the current turn is not signed";
            out.add(at, Rule::Thinking, detail);
        }
    }
}
