//! Messages of chat completions as views.

use std::sync::Arc;

use conspectus_core::id::{CallId, Handle};
use conspectus_core::view::{ContentForm, MediaKind, MessageView, PartKind, Role, Usage};

use crate::conversation::{Emptied, Fixed, Home, Message, TextAt};
use crate::json::{Array, Kind, Object, Span, string};
use crate::read::{Builder, Odd, Reader, content, object, opaque, text_or_json, unique};
use crate::usage::openai_usage;

/// The format.
pub(crate) struct OpenAi;

impl Reader for OpenAi {
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd> {
        let message = object(source, span)?;
        let Some(role_name) = message.string("role") else {
            let found = "an object without `role`";
            return Err(Odd::no_message(found, "a message with a role"));
        };
        let role = match role_name.as_ref() {
            "system" | "developer" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            unknown => return Ok(opaque(source, span, handle, unknown)),
        };
        let name = message.string("name");
        let tool_name = name.as_deref().filter(|_| role == Role::Tool);
        let mut builder =
            Builder::new(source, role, name.as_deref().filter(|_| role != Role::Tool));
        if role == Role::Tool {
            answer(&mut builder, &message, tool_name)?;
        } else {
            reasoning(&mut builder, &message, span);
            said(&mut builder, &message)?;
            calls(&mut builder, &message, span)?;
        }
        let native_id = message.string("id").filter(|_| role != Role::Tool);
        let (mut view, message_places) = builder.build(handle, span, native_id.map(Arc::from))?;
        view.form = form(message.value("content"));
        view.flags.summary |= view.name.as_deref() == Some("summary");
        if role == Role::Assistant {
            view.usage = usage(&message);
        }
        Ok((view, message_places))
    }

    fn fixed(&self, request: &Object<'_>) -> Fixed {
        let tools = request
            .value("tools")
            .or_else(|| request.value("functions"));
        Fixed {
            system: String::new(),
            tools: tools.unwrap_or_default().to_owned(),
        }
    }
}

/// How the content is written.
pub(crate) fn form(content: Option<&str>) -> ContentForm {
    match content.map(Kind::of) {
        Some(Kind::Array) => ContentForm::Blocks,
        Some(Kind::Null) | None => ContentForm::Absent,
        Some(_) => ContentForm::Text,
    }
}

/// A tool's answer. tau2-bench names the call by `id`, SWE-agent by a list; the deprecated `function` role names only
/// the tool.
fn answer(builder: &mut Builder<'_>, message: &Object<'_>, tool: Option<&str>) -> Result<(), Odd> {
    let listed = || {
        let list = message.array("tool_call_ids")?;
        let first = list.0.first().copied();
        first.map(string::decode)
    };
    let id = message
        .string("tool_call_id")
        .or_else(listed)
        .or_else(|| message.string("id"));
    let kind = PartKind::Result {
        id: CallId::from(id.as_deref().unwrap_or_default()),
        tool: tool.map(Arc::from),
        error: message.is_true("error"),
    };
    result(builder, kind, message.value("content"))
}

/// A result that is a message of its own: its content as text, or as parts inside it.
pub(crate) fn result(
    builder: &mut Builder<'_>,
    kind: PartKind,
    json: Option<&str>,
) -> Result<(), Odd> {
    let list = json.filter(|json| Kind::of(json) == Kind::Array);
    let text = match list {
        Some(_) => TextAt::Nowhere,
        None => text_or_json(builder.source(), json),
    };
    let block = builder.span(json.unwrap_or(&builder.source()[..0]));
    let index = builder.push(kind, text, block, Home::Content(Emptied::Text));
    match list {
        Some(list) => content(builder, list, Some(index), Emptied::Text),
        None => Ok(()),
    }
}

/// Reasoning beside the content. Gateways repeat it: signed details are the ones that count, and the plain
/// text goes where they go.
fn reasoning(builder: &mut Builder<'_>, message: &Object<'_>, span: Span) {
    let source = builder.source();
    let plain = ["reasoning_content", "reasoning"]
        .iter()
        .filter_map(|key| message.value(key))
        .filter(|value| Kind::of(value) == Kind::String && *value != "\"\"");
    let sealed = ["reasoning_details", "thinking_blocks"]
        .iter()
        .filter_map(|key| message.value(key))
        .filter(|value| Array::of(value).is_some_and(|list| !list.0.is_empty()));
    let mut first = None;
    for (bound, value) in sealed
        .map(|value| (true, value))
        .chain(plain.map(|value| (false, value)))
    {
        let block = Span::of(source, value);
        let text = text_or_json(source, Some(value));
        match first {
            None => {
                let kind = PartKind::Reasoning { bound };
                first = Some(builder.push(kind, text, block, Home::Member(span)));
            }
            Some(index) => builder.copy(index, text, block, Home::Member(span)),
        }
    }
}

/// The content and what is said beside it.
fn said(builder: &mut Builder<'_>, message: &Object<'_>) -> Result<(), Odd> {
    let source = builder.source();
    if let Some(json) = message.value("content") {
        match Kind::of(json) {
            Kind::String if string::is_empty(json) => {}
            Kind::String => {
                let span = Span::of(source, json);
                let home = Home::Content(Emptied::Null);
                builder.push(PartKind::Text, TextAt::String(span), span, home);
            }
            _ => content(builder, json, None, Emptied::Null)?,
        }
    }
    Ok(())
}

fn calls(builder: &mut Builder<'_>, message: &Object<'_>, span: Span) -> Result<(), Odd> {
    let source = builder.source();
    let member = Home::Member(span);
    if let Some(refusal) = message
        .value("refusal")
        .filter(|r| Kind::of(r) == Kind::String)
    {
        let at = Span::of(source, refusal);
        builder.push(PartKind::Text, TextAt::String(at), at, member);
    }
    if let Some(audio) = message.value("audio") {
        let id = Object::of(audio).and_then(|audio| audio.value("id"));
        let kind = PartKind::Media(MediaKind::Audio);
        builder.push(
            kind,
            text_or_json(source, id),
            Span::of(source, audio),
            member,
        );
    }
    if let Some(list) = message.value("tool_calls") {
        let Some(entries) = Array::of(list) else {
            return Err(Odd::new(Kind::of(list).name(), "a list of tool calls"));
        };
        let home = Home::Element {
            array: Span::of(source, list),
            emptied: Emptied::Nothing(span),
        };
        for entry in entries.0 {
            call(builder, entry, home)?;
        }
    }
    if let Some(json) = message.value("function_call") {
        let function = unique(json, "a function call")?;
        let kind = PartKind::Call {
            id: CallId::from(""),
            tool: function.string("name").unwrap_or_default().as_ref().into(),
        };
        let arguments = text_or_json(source, function.value("arguments"));
        builder.push(kind, arguments, Span::of(source, json), member);
    }
    Ok(())
}

/// `function` is an object in OpenAI's own form, a name in Inspect's, missing in tau2-bench's.
fn call(builder: &mut Builder<'_>, json: &str, home: Home) -> Result<(), Odd> {
    const EXPECTED: &str = "a tool call object";
    let source = builder.source();
    let entry = unique(json, EXPECTED)?;
    let inner = match entry.value("function").or_else(|| entry.value("custom")) {
        Some(inner) if Kind::of(inner) == Kind::Object => Some(unique(inner, EXPECTED)?),
        _ => None,
    };
    let function = inner.as_ref().unwrap_or(&entry);
    let tool = function.string("name").or_else(|| entry.string("function"));
    let arguments = function
        .value("arguments")
        .or_else(|| function.value("input"));
    let kind = PartKind::Call {
        id: CallId::from(entry.string("id").as_deref().unwrap_or_default()),
        tool: tool.unwrap_or_default().as_ref().into(),
    };
    builder.push(
        kind,
        text_or_json(source, arguments),
        Span::of(source, json),
        home,
    );
    Ok(())
}

/// mini-swe-agent keeps the whole reply under `extra`.
fn usage(message: &Object<'_>) -> Option<Usage> {
    let usage = message.object("usage").or_else(|| {
        let reply = message.object("extra")?.object("response")?;
        reply.object("usage")
    })?;
    openai_usage(&usage)
}
