//! Items as views.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{ContentForm, MessageView, PartKind, Role};

use super::{calls, finish};
use crate::conversation::{Conversation, Emptied, Fixed, Home, Message, TextAt};
use crate::error::Fault;
use crate::json::{Kind, Object, Span, string};
use crate::openai;
use crate::read::{Builder, Odd, Reader, content, object, opaque};

/// The format.
pub(crate) struct Responses;

impl Reader for Responses {
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd> {
        item(source, span, handle)
    }

    fn fixed(&self, request: &Object<'_>) -> Fixed {
        Fixed {
            system: request
                .string("instructions")
                .unwrap_or_default()
                .into_owned(),
            tools: request.value("tools").unwrap_or_default().to_owned(),
        }
    }

    fn finish(
        &self,
        conversation: &mut Conversation,
        request: Option<Span>,
        faults: &mut Vec<Fault>,
    ) {
        finish::conversation(conversation, request, faults);
    }
}

/// The view of one item. A bare string is what the user said.
pub(crate) fn item(
    source: &str,
    span: Span,
    handle: Handle,
) -> Result<(MessageView, Message), Odd> {
    let json = span.text(source);
    if Kind::of(json) == Kind::String {
        let mut builder = Builder::new(source, Role::User, None);
        let home = Home::Content(Emptied::Text);
        builder.push(PartKind::Text, TextAt::String(span), span, home);
        return builder.build(handle, span, None);
    }
    let item = object(source, span)?;
    let kind = match item.string("type") {
        Some(kind) => kind,
        None if item.get("role").is_some() => "message".into(),
        None => {
            let found = "an object without `type` and `role`";
            return Err(Odd::no_message(found, "an item of the Responses API"));
        }
    };
    let id: Option<Arc<str>> = item.string("id").map(Arc::from);
    let begin = |role| Builder::new(source, role, None);
    match kind.as_ref() {
        "message" => return said(source, &item, span, handle, id),
        "reasoning" => {
            let mut builder = begin(Role::Assistant);
            let sealed = item.string("encrypted_content");
            let bound = sealed.is_some_and(|text| !text.is_empty());
            let lists = ["summary", "content"]
                .iter()
                .filter_map(|key| item.array(key));
            let list = lists.into_iter().find(|list| !list.0.is_empty());
            let texts = list.iter().flat_map(|list| &list.0).filter_map(|part| {
                let text = Object::of(part)?.value("text")?;
                (Kind::of(text) == Kind::String).then(|| TextAt::String(Span::of(source, text)))
            });
            let mut texts: Vec<_> = texts.collect();
            if texts.is_empty() {
                texts.push(TextAt::Nowhere);
            }
            for text in texts {
                builder.push(PartKind::Reasoning { bound }, text, span, Home::Whole);
            }
            return blocks(builder, handle, span, id);
        }
        "additional_tools" => {
            let mut builder = begin(Role::System);
            let label = kind.as_ref().into();
            builder.push(
                PartKind::Opaque { label },
                TextAt::Json(span),
                span,
                Home::Whole,
            );
            return blocks(builder, handle, span, id);
        }
        // One agent to another: the host brings it in the user's place.
        "agent_message" => {
            let mut builder = begin(Role::User);
            if let Some(list) = item.value("content") {
                content(&mut builder, list, None, Emptied::List)?;
            }
            let (mut view, message) = blocks(builder, handle, span, id)?;
            view.flags.hidden = true;
            return Ok((view, message));
        }
        _ => {}
    }
    let mut builder = begin(Role::Assistant);
    if calls::call(&mut builder, &kind, &item, span).is_some()
        || calls::served(&mut builder, &kind, &item, span).is_some()
    {
        return blocks(builder, handle, span, id);
    }
    let mut builder = begin(Role::Tool);
    match calls::output(&mut builder, &kind, &item, span) {
        Some(read) => {
            read?;
            let (mut view, message) = builder.build(handle, span, id)?;
            view.form = openai::form(item.value("output"));
            Ok((view, message))
        }
        None => Ok(opaque(source, span, handle, &kind)),
    }
}

fn said(
    source: &str,
    item: &Object<'_>,
    span: Span,
    handle: Handle,
    id: Option<Arc<str>>,
) -> Result<(MessageView, Message), Odd> {
    const EXPECTED: &str =
        "a message with a role and with content that is a string or a list of parts";
    let Some(role) = item.string("role") else {
        return Err(Odd::no_message("a message without `role`", EXPECTED));
    };
    let role = match role.as_ref() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        unknown => return Ok(opaque(source, span, handle, unknown)),
    };
    let mut builder = Builder::new(source, role, None);
    let Some(json) = item.value("content") else {
        return Err(Odd::new("a message without content", EXPECTED));
    };
    match Kind::of(json) {
        Kind::String if string::is_empty(json) => {}
        Kind::String => {
            let at = Span::of(source, json);
            builder.push(PartKind::Text, TextAt::String(at), at, Home::Whole);
        }
        _ => content(&mut builder, json, None, Emptied::List)?,
    }
    let (mut view, message) = builder.build(handle, span, id)?;
    view.form = openai::form(Some(json));
    Ok((view, message))
}

fn blocks(
    builder: Builder<'_>,
    handle: Handle,
    span: Span,
    id: Option<Arc<str>>,
) -> Result<(MessageView, Message), Odd> {
    let (mut view, message) = builder.build(handle, span, id)?;
    view.form = ContentForm::Blocks;
    Ok((view, message))
}
