//! Messages: `POST /v1/messages`. Consecutive messages of one role are one turn there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Faults, Rule, list, text};

pub(super) fn check(request: &Value, messages: &[Value], out: &mut Faults) {
    check_roles(messages, out);
    for (at, message) in messages.iter().enumerate() {
        let is_last = at + 1 == messages.len();
        check_content(at, message, is_last, out);
        if text(message, "role") == "assistant" {
            check_reply(at, message, out);
        }
    }
    check_pairs(messages, out);
    check_cache(request, messages, out);
    check_open_loop(request, messages, out);
    let uses_tools = messages
        .iter()
        .flat_map(|message| list(message, "content"))
        .any(|block| matches!(text(block, "type"), "tool_use" | "tool_result"));
    let is_request = request.get("max_tokens").is_some();
    if uses_tools && is_request && list(request, "tools").is_empty() {
        out.of_request(Rule::Tools, "tool blocks without tool definitions");
    }
}

fn check_roles(messages: &[Value], out: &mut Faults) {
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let before = at.checked_sub(1).map(|at| text(&messages[at], "role"));
        let after = messages.get(at + 1).map(|message| text(message, "role"));
        match (role, before) {
            ("user", _) => {}
            ("assistant", Some(_)) => {}
            ("assistant", None) => {
                let first = list(message, "content").first();
                if first.is_none_or(|block| text(block, "type") != "compaction") {
                    out.add(at, Rule::First, "the assistant speaks first");
                }
            }
            ("system", None) => out.add(at, Rule::System, "a system message comes first"),
            ("system", Some(before)) => {
                if !matches!(before, "user" | "system")
                    || !matches!(after, None | Some("assistant" | "system"))
                {
                    out.add(
                        at,
                        Rule::System,
                        "a system message that is not between user and assistant",
                    );
                }
            }
            _ => out.add(at, Rule::Role, format!("role `{role}`")),
        }
    }
}

fn check_content(at: usize, message: &Value, is_last: bool, out: &mut Faults) {
    let may_be_empty = is_last && text(message, "role") == "assistant";
    match message.get("content") {
        Some(Value::String(content)) => {
            if content.trim().is_empty() && !may_be_empty {
                out.add(at, Rule::Empty, "empty content");
            }
        }
        Some(Value::Array(blocks)) => {
            if blocks.is_empty() && !may_be_empty {
                out.add(at, Rule::Empty, "no block");
            }
            for block in blocks {
                check_block(at, block, out);
            }
        }
        _ => out.add(at, Rule::Empty, "content that is neither text nor blocks"),
    }
}

fn check_block(at: usize, block: &Value, out: &mut Faults) {
    let id = match text(block, "type") {
        "text" => {
            if text(block, "text").trim().is_empty() {
                out.add(at, Rule::Empty, "an empty text block");
            }
            return;
        }
        "tool_result" => {
            let inner = list(block, "content").iter();
            for block in inner.filter(|block| text(block, "type") == "text") {
                if text(block, "text").is_empty() {
                    out.add(at, Rule::Empty, "an empty text block in a result");
                }
            }
            text(block, "tool_use_id")
        }
        "tool_use" => {
            if !block.get("input").is_some_and(Value::is_object) {
                out.add(
                    at,
                    Rule::Arguments,
                    format!("input of `{}` is no object", text(block, "id")),
                );
            }
            text(block, "id")
        }
        _ => return,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.is_empty() || !id.chars().all(is_plain) {
        out.add(at, Rule::Id, format!("id `{id}`"));
    }
}

/// Thinking comes before something, and server tools' results behind their calls.
fn check_reply(at: usize, message: &Value, out: &mut Faults) {
    let blocks = list(message, "content");
    let is_thinking =
        |block: &Value| matches!(text(block, "type"), "thinking" | "redacted_thinking");
    if blocks.last().is_some_and(is_thinking) {
        out.add(at, Rule::Thinking, "the last block is thinking");
    }
    for block in blocks
        .iter()
        .filter(|block| text(block, "type") == "thinking")
    {
        if text(block, "signature").is_empty() {
            out.add(at, Rule::Thinking, "thinking without a signature");
        }
    }
    let mut seen = BTreeSet::new();
    for block in blocks {
        match text(block, "type") {
            "server_tool_use" | "mcp_tool_use" => {
                seen.insert(text(block, "id"));
            }
            kind if kind.ends_with("_tool_result")
                && !seen.contains(text(block, "tool_use_id")) =>
            {
                let id = text(block, "tool_use_id");
                out.add(
                    at,
                    Rule::Orphan,
                    format!("`{kind}` for `{id}` without its call before it"),
                );
            }
            _ => {}
        }
    }
}

/// A run of messages of one role.
struct Turn<'a> {
    role: &'a str,
    /// Each block with its message; a string counts as one text block.
    blocks: Vec<(usize, &'a str, &'a Value)>,
}

fn turns(messages: &[Value]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().map(|b| (at, text(b, "type"), b)).collect(),
            _ => vec![(at, "text", message)],
        };
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.blocks.extend(blocks),
            None => turns.push(Turn { role, blocks }),
        }
    }
    turns
}

fn check_pairs(messages: &[Value], out: &mut Faults) {
    let turns = turns(messages);
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| &turns[index]);
        match turn.role {
            "assistant" => check_answered(turn, turns.get(index + 1), out),
            _ => check_results(turn, before, out),
        }
    }
}

impl<'a> Turn<'a> {
    /// How often each id occurs in the blocks of a type.
    fn ids(&self, kind: &str, key: &str) -> BTreeMap<&'a str, usize> {
        let mut ids = BTreeMap::new();
        for (_, _, block) in self.blocks.iter().filter(|block| block.1 == kind) {
            *ids.entry(text(block, key)).or_default() += 1;
        }
        ids
    }
}

fn check_answered(turn: &Turn<'_>, next: Option<&Turn<'_>>, out: &mut Faults) {
    let next = next.filter(|next| next.role == "user");
    let answers = next
        .map(|next| next.ids("tool_result", "tool_use_id"))
        .unwrap_or_default();
    let mut ids = BTreeSet::new();
    for (at, _, call) in turn.blocks.iter().filter(|block| block.1 == "tool_use") {
        let id = text(call, "id");
        if !ids.insert(id) {
            out.add(*at, Rule::Repeated, format!("two calls `{id}` in one turn"));
        }
        match answers.get(id) {
            Some(1) => {}
            Some(more) => out.add(*at, Rule::Repeated, format!("{more} results for `{id}`")),
            None => {
                let detail = format!("call `{id}` has no result in the next message");
                out.add(*at, Rule::Unanswered, detail);
            }
        }
    }
}

fn check_results(turn: &Turn<'_>, before: Option<&Turn<'_>>, out: &mut Faults) {
    let before = before.filter(|before| before.role == "assistant");
    let calls = before
        .map(|before| before.ids("tool_use", "id"))
        .unwrap_or_default();
    let mut is_behind_text = false;
    for (at, kind, block) in &turn.blocks {
        if *kind != "tool_result" {
            is_behind_text = true;
            continue;
        }
        let id = text(block, "tool_use_id");
        if !calls.contains_key(id) {
            let detail = format!("result for `{id}` without its call before it");
            out.add(*at, Rule::Orphan, detail);
        }
        if is_behind_text {
            out.add(
                *at,
                Rule::ResultsFirst,
                format!("result for `{id}` behind other blocks"),
            );
        }
    }
}

/// At most four in all. Longer ones come first; that order is checked from the system prompt on, since the markers on
/// tools are never ours and whether they take part in it is not verified.
fn check_cache(request: &Value, messages: &[Value], out: &mut Faults) {
    let is_marked = |block: &&Value| block.get("cache_control").is_some_and(Value::is_object);
    let blocks = messages.iter().flat_map(|message| list(message, "content"));
    let prompt = list(request, "system").iter().chain(blocks);
    let marked: Vec<_> = prompt.filter(is_marked).collect();
    let on_tools = list(request, "tools").iter().filter(is_marked).count();
    let count = marked.len() + on_tools + usize::from(is_marked(&request));
    if count > 4 {
        out.of_request(Rule::Cache, format!("{count} cache breakpoints, at most 4"));
    }
    if marked
        .iter()
        .any(|block| text(block, "type").ends_with("thinking"))
    {
        out.of_request(Rule::Cache, "a cache breakpoint on thinking");
    }
    let is_long = |block: &Value| text(&block["cache_control"], "ttl") == "1h";
    let longs = marked.iter().take_while(|block| is_long(block)).count();
    if marked[longs..].iter().any(|block| is_long(block)) {
        out.of_request(Rule::Cache, "a breakpoint of 1h behind one of 5m");
    }
}

/// With thinking switched on, the reply whose results come last begins with its thinking.
fn check_open_loop(request: &Value, messages: &[Value], out: &mut Faults) {
    let is_on = request
        .get("thinking")
        .is_some_and(|thinking| text(thinking, "type") == "enabled");
    let ends_with_results = messages.last().is_some_and(|last| {
        list(last, "content")
            .iter()
            .any(|block| text(block, "type") == "tool_result")
    });
    let reply = messages
        .iter()
        .rposition(|message| text(message, "role") == "assistant");
    if let (true, true, Some(at)) = (is_on, ends_with_results, reply) {
        let first = list(&messages[at], "content").first();
        let begins = first.is_some_and(|block| text(block, "type").ends_with("thinking"));
        if !begins {
            out.add(
                at,
                Rule::Thinking,
                "the open tool loop does not begin with its thinking",
            );
        }
    }
}
