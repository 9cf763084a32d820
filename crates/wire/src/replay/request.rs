//! The object around the list: what of it would keep the reply from being text, and what a list alone is put into.

use conspectus_core::view::PartKind;

use super::{Ask, NoReplay};
use crate::conversation::{Conversation, List};
use crate::format::Format;
use crate::json::{Object, string, with_members};

/// A field and its new value; `None`: it goes.
type Field = (&'static str, Option<String>);

/// Where a request of the format has its messages. `None`: the format is no request.
pub(super) fn list_key(format: Format) -> Option<&'static str> {
    match format {
        Format::OpenAi | Format::Anthropic => Some("messages"),
        Format::Responses => Some("input"),
        Format::Gemini => Some("contents"),
        _ => None,
    }
}

/// # Errors
/// When sending the request again would do harm or could not work.
pub(super) fn check(
    format: Format,
    conversation: &Conversation,
    is_made: bool,
) -> Result<(), NoReplay> {
    let object = around(conversation).unwrap_or_default();
    // An answer of the server is not what was sent.
    if is_made && format == Format::Responses && object.get("output").is_some() {
        return Err(NoReplay::NoRequest(format));
    }
    if object.value("conversation").is_some() && format == Format::Responses
        || object.value("thread").is_some() && format == Format::Anthropic && !is_made
        || is_made && conversation.is_continued
    {
        return Err(NoReplay::HistoryElsewhere);
    }
    let asks_for_compaction = match format {
        Format::Anthropic => !is_made && object.value("compaction").is_some(),
        Format::Responses => conversation.messages.last().is_some_and(|last| {
            let item = Object::of(last.span.text(conversation.source.text()));
            item.is_some_and(|i| i.string("type").as_deref() == Some("compaction_trigger"))
        }),
        _ => false,
    };
    if asks_for_compaction {
        return Err(NoReplay::OwnCompaction);
    }
    let uses_tools = || {
        let is_use =
            |kind: &PartKind| matches!(kind, PartKind::Call { .. } | PartKind::Result { .. });
        let mut parts = conversation.views.iter().flat_map(|view| &view.parts);
        parts.any(|part| is_use(&part.kind))
    };
    let has_tools = has_items(&object, "tools");
    if format == Format::Anthropic && !has_tools && uses_tools() {
        return Err(NoReplay::NoTools);
    }
    Ok(())
}

/// The object that the list is a member of.
fn around(conversation: &Conversation) -> Option<Object<'_>> {
    let span = match conversation.list {
        List::Array { request, .. } => request?,
        List::Value { request, .. } => request,
        List::Lines => return None,
    };
    Object::of(span.text(conversation.source.text()))
}

/// A request of the list, with what an object around it holds of system prompt and tools.
pub(super) fn envelope(format: Format, conversation: &Conversation, list: &str) -> String {
    let object = around(conversation).unwrap_or_default();
    let mut members = Vec::new();
    if format != Format::Gemini {
        let model = object.value("model").unwrap_or("\"\"");
        members.push(format!("\"model\":{model}"));
    }
    let known: &[&str] = match format {
        Format::OpenAi => &["tools"],
        Format::Anthropic => &["tools", "system"],
        Format::Responses => &["instructions", "tools"],
        _ => &["systemInstruction", "system_instruction", "tools"],
    };
    for key in known {
        let value = object.value(key);
        members.extend(value.map(|value| format!("\"{key}\":{value}")));
    }
    let key = list_key(format).unwrap_or_default();
    members.push(format!("\"{key}\":{list}"));
    format!("{{{}}}", members.join(","))
}

/// The request with everything changed that keeps the reply from being text. `None`: a field occurs twice.
pub(super) fn asking_for_text(format: Format, body: &str, ask: &Ask<'_>) -> Option<String> {
    let object = Object::of(body)?;
    let mut fields = match format {
        Format::OpenAi => openai(&object, ask.max_output_tokens),
        Format::Anthropic => anthropic(&object, ask.max_output_tokens),
        Format::Responses => responses(&object, ask.max_output_tokens),
        _ => gemini(&object, ask.max_output_tokens),
    };
    if let Some(model) = ask.model.filter(|_| format != Format::Gemini) {
        fields.push(("model", Some(string::encode(model))));
    }
    with_members(body, &fields)
}

fn openai(request: &Object<'_>, cap: u64) -> Vec<Field> {
    let gone = [
        "response_format",
        "stop",
        "n",
        "prediction",
        "modalities",
        "audio",
    ];
    let mut fields: Vec<Field> = gone.map(|key| (key, None)).into();
    let none = || Some("\"none\"".to_owned());
    if has_items(request, "tools") {
        fields.push(("tool_choice", none()));
    }
    if has_items(request, "functions") {
        fields.push(("function_call", none()));
    }
    let name = match request.get("max_completion_tokens") {
        Some(_) => "max_completion_tokens",
        None => "max_tokens",
    };
    fields.push((name, Some(cap.to_string())));
    fields
}

fn anthropic(request: &Object<'_>, cap: u64) -> Vec<Field> {
    let mut fields: Vec<Field> = vec![("stop_sequences", None), ("output_format", None)];
    let choice = request.object("tool_choice");
    let kind = choice.and_then(|choice| choice.string("type"));
    if matches!(kind.as_deref(), Some("any" | "tool")) {
        fields.push(("tool_choice", Some(r#"{"type":"none"}"#.to_owned())));
    }
    fields.extend(without_member(request, "output_config", "format"));
    let cap = room_for_thinking(request, cap);
    fields.push(("max_tokens", Some(cap.to_string())));
    fields
}

fn responses(request: &Object<'_>, cap: u64) -> Vec<Field> {
    let mut fields: Vec<Field> = vec![("background", None)];
    let is_tools = |item: &&str| {
        Object::of(item).is_some_and(|i| i.string("type").as_deref() == Some("additional_tools"))
    };
    let items = request.array("input").unwrap_or_default().0;
    if has_items(request, "tools") || items.iter().any(is_tools) {
        fields.push(("tool_choice", Some("\"none\"".to_owned())));
    }
    fields.extend(without_member(request, "text", "format"));
    fields.push(("max_output_tokens", Some(cap.to_string())));
    fields
}

fn gemini(request: &Object<'_>, cap: u64) -> Vec<Field> {
    let either = |one: &'static str, other: &'static str| match request.get(other) {
        Some(_) => other,
        None => one,
    };
    let mut fields = Vec::new();
    // With `cachedContent` the settings of tools are in there, and a request may not have its own.
    if has_items(request, "tools") {
        let name = either("toolConfig", "tool_config");
        let none = r#"{"functionCallingConfig":{"mode":"NONE"}}"#;
        fields.push((name, Some(none.to_owned())));
    }
    let name = either("generationConfig", "generation_config");
    let config = request.value(name).unwrap_or("{}");
    let mut settings: Vec<Field> = [
        "responseMimeType",
        "response_mime_type",
        "responseSchema",
        "response_schema",
        "responseJsonSchema",
        "stopSequences",
        "stop_sequences",
        "candidateCount",
        "candidate_count",
    ]
    .map(|key| (key, None))
    .into();
    let listed = Object::of(config).unwrap_or_default();
    let cap_name = match listed.get("max_output_tokens") {
        Some(_) => "max_output_tokens",
        None => "maxOutputTokens",
    };
    let thinking = listed.object("thinkingConfig").unwrap_or_default();
    let cap = cap.saturating_add(thinking.number("thinkingBudget").unwrap_or(0));
    settings.push((cap_name, Some(cap.to_string())));
    fields.extend(with_members(config, &settings).map(|config| (name, Some(config))));
    fields
}

/// What `max_tokens` has to be for so many tokens of text in the reply to `request`, which is one of Anthropic's: its
/// thinking is written first, and must be within the cap.
pub fn room_for_thinking(request: &Object<'_>, text_tokens: u64) -> u64 {
    let thinking = request.object("thinking").unwrap_or_default();
    match thinking.string("type").as_deref() {
        Some("enabled") => {
            text_tokens.saturating_add(thinking.number("budget_tokens").unwrap_or(0))
        }
        // It takes what it needs.
        Some("adaptive") => text_tokens.max(request.number("max_tokens").unwrap_or(0)),
        _ => text_tokens,
    }
}

fn has_items(request: &Object<'_>, key: &str) -> bool {
    request.array(key).is_some_and(|list| !list.0.is_empty())
}

/// The object at `key` without one of its members; all of it goes when nothing is left.
fn without_member(request: &Object<'_>, key: &'static str, member: &str) -> Option<Field> {
    let object = request.object(key)?;
    object.get(member)?;
    let rest = with_members(request.get(key)?, &[(member, None)])?;
    Some((key, (object.members.len() > 1).then_some(rest)))
}
