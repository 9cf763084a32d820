//! The format of messages, found by what only that format writes.

use std::borrow::Cow;

use crate::format::Format;
use crate::json::Object;

/// Names of message types that only LangChain has.
const LANGCHAIN_TYPES: [&str; 8] = [
    "human",
    "ai",
    "HumanMessage",
    "AIMessage",
    "SystemMessage",
    "ToolMessage",
    "HumanMessageChunk",
    "AIMessageChunk",
];

/// Names that it shares with others.
const COMMON_TYPES: [&str; 5] = ["system", "tool", "function", "chat", "remove"];

/// What Claude Code calls its records.
const CLAUDE_RECORDS: [&str; 6] = [
    "user",
    "assistant",
    "system",
    "summary",
    "attachment",
    "progress",
];

/// Items of the Responses API that are no messages.
const ITEM_TYPES: [&str; 34] = [
    "additional_tools",
    "agent_message",
    "apply_patch_call",
    "apply_patch_call_output",
    "code_interpreter_call",
    "compaction",
    "compaction_trigger",
    "computer_call",
    "computer_call_output",
    "configuration_update",
    "custom_tool_call",
    "custom_tool_call_output",
    "file_search_call",
    "function_call",
    "function_call_output",
    "ghost_snapshot",
    "image_generation_call",
    "item_reference",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
    "reasoning",
    "shell_call",
    "shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "compaction_summary",
    "context_compaction",
];

/// What Codex calls its records.
const ROLLOUT_RECORDS: [&str; 5] = [
    "compacted",
    "event_msg",
    "response_item",
    "session_meta",
    "turn_context",
];

/// The format of one message by itself, if there is something in it that only that format writes.
pub fn message_format(json: &str) -> Option<Format> {
    match of_message(json) {
        Evidence::Sure(format) => Some(format),
        Evidence::None | Evidence::Weak(_) => None,
    }
}

/// What one message says about its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// A message that several formats write alike, or none.
    None,
    /// Could be either, but looks like this one.
    Weak(Format),
    /// Only this format writes it.
    Sure(Format),
}

/// The format of the conversations whose messages and request objects these are; OpenAI's when nothing
/// speaks against it.
pub(super) fn format<'a>(
    requests: impl Iterator<Item = &'a str>,
    messages: impl Iterator<Item = &'a str>,
) -> Format {
    let mut weak = None;
    let requests: Vec<_> = requests
        .filter_map(Object::of)
        .map(|request| of_request(&request))
        .collect();
    for format in [Format::Responses, Format::MiniSweAgent, Format::Cline] {
        if requests.contains(&Evidence::Sure(format)) {
            return format;
        }
    }
    let evidence = messages.map(of_message).chain(requests);
    for evidence in evidence {
        match evidence {
            Evidence::Sure(format) => return format,
            Evidence::Weak(format) => weak = weak.or(Some(format)),
            Evidence::None => {}
        }
    }
    weak.unwrap_or(Format::OpenAi)
}

/// What the object around the messages says.
fn of_request(request: &Object<'_>) -> Evidence {
    let first_tool = request
        .array("tools")
        .and_then(|tools| tools.0.first().copied());
    let first_tool = first_tool.and_then(Object::of);
    let has = |key: &str| request.value(key).is_some();
    let is_answer = request
        .string("object")
        .is_some_and(|name| name.starts_with("response"));
    if !has("messages") && (has("input") || (is_answer && has("output"))) {
        return Evidence::Sure(Format::Responses);
    }
    if !has("messages") && has("contents") {
        return Evidence::Sure(Format::Gemini);
    }
    // Trajectories and sessions of agents, in the messages of a provider.
    if has("trajectory_format") && has("messages") {
        return Evidence::Sure(Format::MiniSweAgent);
    }
    if has("system_prompt") && has("sessionId") {
        return Evidence::Sure(Format::Cline);
    }
    if has("system") || has("anthropic_version") || has("anthropic_beta") {
        return Evidence::Sure(Format::Anthropic);
    }
    if let Some(tool) = first_tool {
        return match (tool.get("input_schema"), tool.get("function")) {
            (Some(_), _) => Evidence::Sure(Format::Anthropic),
            (_, Some(_)) => Evidence::Sure(Format::OpenAi),
            _ => Evidence::None,
        };
    }
    let is_claude = |model: Cow<'_, str>| model.starts_with("claude-");
    if has("max_tokens") && request.string("model").is_some_and(is_claude) {
        return Evidence::Weak(Format::Anthropic);
    }
    match has("system_prompt") {
        true => Evidence::Weak(Format::Anthropic),
        false => Evidence::None,
    }
}

/// What a message says.
pub(super) fn of_message(json: &str) -> Evidence {
    let Some(message) = Object::of(json) else {
        return Evidence::None;
    };
    if is_langchain(&message) {
        return Evidence::Sure(Format::LangChain);
    }
    if is_flat_or_data(&message, &COMMON_TYPES) {
        return Evidence::Weak(Format::LangChain);
    }
    if is_claude_record(&message) {
        return Evidence::Sure(Format::Claude);
    }
    if is_typed_item(&message) || is_item_message(&message) {
        return Evidence::Sure(Format::Responses);
    }
    if let Some(format) = of_parts(&message) {
        return Evidence::Sure(format);
    }
    let role = message.string("role");
    if role.as_deref() == Some("exit") {
        return Evidence::Sure(Format::MiniSweAgent);
    }
    if matches!(role.as_deref(), Some("tool" | "function" | "developer"))
        || [
            "tool_calls",
            "function_call",
            "tool_call_id",
            "reasoning_content",
        ]
        .iter()
        .any(|key| message.value(key).is_some())
    {
        return Evidence::Sure(Format::OpenAi);
    }
    let blocks = message.array("content").unwrap_or_default().0;
    let blocks = blocks.iter().filter_map(|block| Object::of(block));
    let evidence = blocks.map(|block| of_block(&block)).max();
    evidence.unwrap_or(Evidence::None)
}

/// A message of parts: Gemini's say by their members what they are, ours by a type.
fn of_parts(message: &Object<'_>) -> Option<Format> {
    let parts = message
        .array("parts")
        .filter(|_| message.get("content").is_none())?;
    let mut parts = parts.0.iter().filter_map(|part| Object::of(part));
    let is_typed = parts.next()?.get("type").is_some();
    match is_typed {
        true => message.get("role").map(|_| Format::Neutral),
        false => is_content(message).then_some(Format::Gemini),
    }
}

/// A content of Gemini's.
pub(super) fn is_content(message: &Object<'_>) -> bool {
    const MEMBERS: [&str; 5] = [
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
    ];
    let parts = message.array("parts").unwrap_or_default().0;
    let is_part = |part: &Object<'_>| {
        part.get("type").is_none() && MEMBERS.iter().any(|key| part.get(key).is_some())
    };
    let role = message.string("role");
    matches!(role.as_deref(), None | Some("user" | "model" | "function"))
        && message.get("content").is_none()
        && message.get("type").is_none()
        && parts
            .iter()
            .filter_map(|part| Object::of(part))
            .any(|part| is_part(&part))
}

fn of_block(block: &Object<'_>) -> Evidence {
    match block.string("type").as_deref() {
        Some(
            "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use"
            | "compaction" | "document",
        ) => Evidence::Sure(Format::Anthropic),
        Some("image") if block.get("source").is_some() => Evidence::Sure(Format::Anthropic),
        Some("image_url" | "input_audio" | "refusal" | "video_url") => {
            Evidence::Sure(Format::OpenAi)
        }
        _ => Evidence::None,
    }
}

/// Any of LangChain's three forms, told by what only they have.
pub(super) fn is_langchain(message: &Object<'_>) -> bool {
    (message.get("lc").is_some() && message.object("kwargs").is_some())
        || is_flat_or_data(message, &LANGCHAIN_TYPES)
}

fn is_flat_or_data(message: &Object<'_>, types: &[&str]) -> bool {
    let is_named = message
        .string("type")
        .is_some_and(|name| types.contains(&name.as_ref()));
    let has_fields = message.get("content").is_some() || message.object("data").is_some();
    is_named && has_fields && message.get("role").is_none()
}

/// Whether an element of a list can be an item of the Responses API.
pub(super) fn is_item(json: &str) -> bool {
    Object::of(json).is_some_and(|item| {
        is_typed_item(&item) || (item.get("role").is_some() && item.get("content").is_some())
    })
}

/// An item of the Responses API that is no message.
pub(super) fn is_typed_item(item: &Object<'_>) -> bool {
    let has = |key: &str| item.get(key).is_some();
    // Others have blocks and parts of the same names.
    let has_its_own = |kind: &str| match kind {
        "reasoning" => has("summary"),
        "compaction" | "compaction_summary" | "context_compaction" => has("encrypted_content"),
        "agent_message" => has("author"),
        _ => true,
    };
    let kind = item.string("type");
    kind.is_some_and(|kind| ITEM_TYPES.contains(&kind.as_ref()) && has_its_own(&kind))
        && (!has("role") || has("tools"))
        && !has("function")
}

/// A message as only the Responses API writes it.
fn is_item_message(message: &Object<'_>) -> bool {
    let blocks = message.array("content").unwrap_or_default().0;
    let is_its_own = |block: &Object<'_>| {
        matches!(
            block.string("type").as_deref(),
            Some("input_text" | "output_text" | "input_image" | "input_file")
        )
    };
    message.get("role").is_some()
        && message.string("type").is_none_or(|kind| kind == "message")
        && blocks
            .iter()
            .filter_map(|block| Object::of(block))
            .any(|block| is_its_own(&block))
}

/// Whether lines are records of Codex's. The oldest files hold bare items behind a line that describes the session.
pub(super) fn is_rollout<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    for (n, record) in lines.filter_map(Object::of).enumerate() {
        let kind = record.string("type");
        let is_record = kind.is_some_and(|kind| ROLLOUT_RECORDS.contains(&kind.as_ref()));
        if is_record && record.object("payload").is_some() {
            return true;
        }
        if n == 0 && is_bare_meta(&record) {
            return true;
        }
    }
    false
}

/// The first line of the oldest rollouts.
pub(crate) fn is_bare_meta(record: &Object<'_>) -> bool {
    let has = |key: &str| record.get(key).is_some();
    has("id")
        && has("timestamp")
        && (has("instructions") || has("git"))
        && !has("type")
        && !has("role")
        && !has("messages")
}

/// Whether lines are Claude Code's session records. Qwen Code writes the same records around messages of `parts`.
pub(super) fn is_session<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let mut found = false;
    for record in lines.filter_map(Object::of) {
        let parts = record
            .object("message")
            .and_then(|message| message.get("parts"));
        if parts.is_some() {
            return false;
        }
        found |= is_claude_record(&record);
    }
    found
}

/// A record of Claude Code's: never a message itself, but it may hold one.
fn is_claude_record(record: &Object<'_>) -> bool {
    let Some(kind) = record.string("type") else {
        return false;
    };
    let has = |key: &str| record.get(key).is_some();
    let holds_message = record
        .object("message")
        .is_some_and(|message| message.get("role").is_some());
    !has("role")
        && ((holds_message && matches!(kind.as_ref(), "user" | "assistant"))
            || (has("leafUuid") && kind == "summary")
            || (has("sessionId") && has("uuid"))
            || (has("uuid") && has("parentUuid") && CLAUDE_RECORDS.contains(&kind.as_ref()))
            || (has("messageId") && kind == "file-history-snapshot")
            || (has("sessionId") && kind == "queue-operation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_by_what_only_one_format_writes() {
        use Evidence::{None, Sure};
        let check = |json: &str, expect: Evidence| assert_eq!(of_message(json), expect, "{json}");
        let (openai, anthropic) = (Sure(Format::OpenAi), Sure(Format::Anthropic));
        let (langchain, claude) = (Sure(Format::LangChain), Sure(Format::Claude));
        check(r#"{"role":"user","content":"hi"}"#, None);
        check(
            r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#,
            None,
        );
        check(
            r#"{"role":"tool","content":"x","tool_call_id":"c"}"#,
            openai,
        );
        check(r#"{"role":"developer","content":"x"}"#, openai);
        check(
            r#"{"role":"assistant","content":null,"tool_calls":[]}"#,
            openai,
        );
        check(
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#,
            openai,
        );
        check(
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"t"}]}"#,
            anthropic,
        );
        check(
            r#"{"role":"user","content":[{"type":"text"},{"type":"tool_result"}]}"#,
            anthropic,
        );
        check(
            r#"{"role":"user","content":[{"type":"image","source":{}}]}"#,
            anthropic,
        );
        check(r#"{"type":"human","content":"hi"}"#, langchain);
        check(r#"{"type":"ai","data":{"content":"hi"}}"#, langchain);
        check(
            r#"{"lc":1,"type":"constructor","id":["x"],"kwargs":{"content":"hi"}}"#,
            langchain,
        );
        check(
            r#"{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}"#,
            claude,
        );
        check(r#"{"type":"summary","summary":"s","leafUuid":"u"}"#, claude);
        let responses = Sure(Format::Responses);
        check(
            r#"{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}"#,
            responses,
        );
        check(r#"{"type":"reasoning","summary":[]}"#, responses);
        check(r#"{"type":"reasoning","text":"of another program"}"#, None);
        check(r#"{"type":"compaction","auto":true}"#, None);
        check(
            r#"{"role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
            responses,
        );
        check(
            r#"{"type":"additional_tools","role":"developer","tools":[]}"#,
            responses,
        );
        check(r#"{"type":"user","content":"not a record"}"#, None);
        check(
            r#"{"type":"message","id":"1","message":{"role":"user"}}"#,
            None,
        );
        check(
            r#"{"type":"user.message","data":{"content":"hi"},"parentId":"p"}"#,
            None,
        );
        check("3", None);
        check("[]", None);
    }

    #[test]
    fn requests_decide_where_messages_do_not() {
        let check = |request: &str, expect: Format| {
            let messages = [r#"{"role":"user","content":"hi"}"#];
            let found = format([request].into_iter(), messages.into_iter());
            assert_eq!(found, expect, "{request}");
        };
        check(r#"{"messages":[]}"#, Format::OpenAi);
        check(r#"{"model":"m","system":"s"}"#, Format::Anthropic);
        check(r#"{"model":"m","system":[]}"#, Format::Anthropic);
        check(r#"{"model":"m","input":[]}"#, Format::Responses);
        check(r#"{"object":"response","output":[]}"#, Format::Responses);
        check(r#"{"system_prompt":"s"}"#, Format::Anthropic);
        check(r#"{"model":"claude-x","max_tokens":1}"#, Format::Anthropic);
        check(
            r#"{"model":"anthropic/claude-x","max_tokens":1}"#,
            Format::OpenAi,
        );
        check(
            r#"{"tools":[{"name":"t","input_schema":{}}]}"#,
            Format::Anthropic,
        );
        check(
            r#"{"tools":[{"type":"function","function":{}}]}"#,
            Format::OpenAi,
        );
    }
}
