//! Contents as views.

use std::borrow::Cow;

use conspectus_core::id::{CallId, Handle};
use conspectus_core::view::{ContentForm, MediaKind, MessageView, PartKind, Role};

use super::ids;
use crate::conversation::{Conversation, Emptied, Fixed, Home, Message, TextAt};
use crate::error::Fault;
use crate::json::{Array, Kind, Object, Span};
use crate::read::{Builder, Odd, Reader, object, opaque, text_or_json, unique};

/// The format.
pub(crate) struct Gemini;

impl Reader for Gemini {
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd> {
        let content = object(source, span)?;
        let parts = content.value("parts");
        if parts.is_none() && content.get("role").is_none() {
            let found = "an object without `role` and `parts`";
            return Err(Odd::no_message(found, "a content with a role and parts"));
        }
        let role = match content.string("role").as_deref() {
            // A single turn may leave it out.
            Some("user" | "function" | "tool") | None => Role::User,
            Some("model") => Role::Assistant,
            Some("system") => Role::System,
            Some(unknown) => return Ok(opaque(source, span, handle, unknown)),
        };
        let mut builder = Builder::new(source, role, None);
        if let Some(list) = parts {
            let Some(elements) = Array::of(list) else {
                return Err(Odd::new(Kind::of(list).name(), "a list of parts"));
            };
            let home = Home::Element {
                array: builder.span(list),
                emptied: Emptied::List,
            };
            for json in elements.0 {
                part(&mut builder, json, home)?;
            }
        }
        let (mut view, message) = builder.build(handle, span, None)?;
        view.form = ContentForm::Blocks;
        Ok((view, message))
    }

    fn fixed(&self, request: &Object<'_>) -> Fixed {
        let instruction = ["systemInstruction", "system_instruction"]
            .iter()
            .find_map(|key| request.value(key));
        Fixed {
            system: instruction.map(system_text).unwrap_or_default(),
            tools: request.value("tools").unwrap_or_default().to_owned(),
        }
    }

    fn finish(
        &self,
        conversation: &mut Conversation,
        _request: Option<Span>,
        _faults: &mut Vec<Fault>,
    ) {
        ids::make_up(&mut conversation.views);
    }
}

/// The texts of an instruction: a string, or parts.
fn system_text(json: &str) -> String {
    if Kind::of(json) == Kind::String {
        return crate::json::string::decode(json).into_owned();
    }
    let parts = Object::of(json).and_then(|content| content.array("parts"));
    let parts = parts.unwrap_or_default().0.into_iter();
    let texts = parts.filter_map(|part| Object::of(part)?.string("text"));
    texts.collect::<Vec<Cow<'_, str>>>().join("\n")
}

/// Reads one part: what it is, its member says.
pub(crate) fn part(builder: &mut Builder<'_>, json: &str, home: Home) -> Result<(), Odd> {
    let source = builder.source();
    let span = builder.span(json);
    if Kind::of(json) == Kind::String {
        builder.push(PartKind::Text, TextAt::String(span), span, home);
        return Ok(());
    }
    let object = match Kind::of(json) {
        Kind::Object => unique(json, "a part")?,
        other => {
            let label = other.name().into();
            builder.push(PartKind::Opaque { label }, TextAt::Json(span), span, home);
            return Ok(());
        }
    };
    let either = |one: &str, other: &str| object.object(one).or_else(|| object.object(other));
    let signature = object
        .string("thoughtSignature")
        .or_else(|| object.string("thought_signature"));
    if let Some(call) = either("functionCall", "function_call") {
        let kind = PartKind::Call {
            id: id(&call),
            tool: call.string("name").unwrap_or_default().as_ref().into(),
        };
        builder.push(kind, text_or_json(source, call.value("args")), span, home);
    } else if let Some(answer) = either("functionResponse", "function_response") {
        let response = answer.value("response");
        let is_error = response
            .and_then(Object::of)
            .is_some_and(|r| r.members.len() == 1 && r.value("error").is_some());
        let kind = PartKind::Result {
            id: id(&answer),
            tool: answer.string("name").map(|name| name.as_ref().into()),
            error: is_error,
        };
        let text = response.map_or(TextAt::Nowhere, |json| response_text(source, json));
        builder.push(kind, text, span, home);
    } else if let Some(data) = either("inlineData", "inline_data") {
        let text = text_or_json(source, data.value("data"));
        builder.push(PartKind::Media(media(&data)), text, span, home);
    } else if let Some(file) = either("fileData", "file_data") {
        let uri = file.value("fileUri").or_else(|| file.value("file_uri"));
        builder.push(
            PartKind::Media(media(&file)),
            text_or_json(source, uri),
            span,
            home,
        );
    } else if let Some(text) = object.value("text").filter(|t| Kind::of(t) == Kind::String) {
        let kind = if object.is_true("thought") {
            let bound = signature.is_some_and(|s| !s.is_empty());
            PartKind::Reasoning { bound }
        } else {
            PartKind::Text
        };
        builder.push(kind, TextAt::String(Span::of(source, text)), span, home);
    } else {
        let label = object.members.first().map_or("part", |m| m.key.as_ref());
        let label = label.into();
        builder.push(PartKind::Opaque { label }, TextAt::Json(span), span, home);
    }
    Ok(())
}

/// What a tool answered: the text under `output`, `result`, `content` or `error` where there is nothing else, else
/// the JSON.
pub(crate) fn response_text(source: &str, response: &str) -> TextAt {
    if let Some(object) = Object::of(response)
        && let [member] = &object.members[..]
        && Kind::of(member.value) == Kind::String
        && matches!(
            member.key.as_ref(),
            "output" | "result" | "content" | "error"
        )
    {
        return TextAt::String(Span::of(source, member.value));
    }
    match Kind::of(response) {
        Kind::Object => TextAt::Response(Span::of(source, response)),
        _ => text_or_json(source, Some(response)),
    }
}

fn id(object: &Object<'_>) -> CallId {
    CallId::from(object.string("id").as_deref().unwrap_or_default())
}

fn media(object: &Object<'_>) -> MediaKind {
    let kind = object
        .string("mimeType")
        .or_else(|| object.string("mime_type"))
        .unwrap_or_default();
    match kind.split('/').next().unwrap_or_default() {
        "image" => MediaKind::Image,
        "audio" => MediaKind::Audio,
        "video" => MediaKind::Video,
        _ => MediaKind::File,
    }
}
