//! goose's sessions: JSON lines, a line about the session and then messages; or an export, one object with them under
//! `conversation`.
//!
//! Results stand in user messages. A message that the agent does not see any more (`agentVisible: false`) was folded by
//! goose's own compaction, and the first user's message after such that only the agent sees is its summary. Newer
//! versions keep sessions in a database; `goose session export` writes the form read here. No real session was at
//! hand when this was written: it follows descriptions of the format.

use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::view::{PartKind, Role};

use crate::claude_code::RecordCounts;
use crate::conversation::{Conversation, Emptied, Home, TextAt};
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Array, Kind, Object, Span};
use crate::log::{Log, MESSAGES_TO_TELL, Reading, file_as_text};
use crate::read::{Builder, Odd, block, content, text_or_json};
use crate::source::Source;

/// The format.
pub(crate) struct Goose;

impl Log for Goose {
    fn format(&self) -> Format {
        Format::Goose
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, faults) = file_as_text(source, options.lenient)?;
        let text = source.text();
        let head = records.first().and_then(|span| Object::of(span.text(text)));
        let label = head.as_ref().and_then(|head| head.string("id"));
        let mut reading = Reading::new(source, label.unwrap_or_default());
        reading.faults = faults;
        let messages = messages(text, &records);
        let mut is_folded = false;
        for span in &messages {
            let message = Object::of(span.text(text)).unwrap_or_default();
            let (for_user, for_agent) = visibility(&message);
            if !for_agent {
                is_folded = true;
                continue;
            }
            let Some(view) = add(&mut reading, *span, &message) else {
                continue;
            };
            if view.role == Role::User && !for_user {
                view.flags.summary = is_folded;
                view.flags.hidden = !is_folded;
            }
            is_folded &= !view.flags.summary;
        }
        let is_session = head.is_some_and(|head| is_head(&head)) || !messages.is_empty();
        reading.done(!is_session)
    }
}

/// What the session holds, folded messages included.
pub(crate) fn count(source: &Arc<Source>) -> RecordCounts {
    let (records, _) = file_as_text(source, true).unwrap_or_default();
    let text = source.text();
    let mut reading = Reading::new(source, "");
    let mut counts = RecordCounts::default();
    let mut is_folded = false;
    for span in messages(text, &records) {
        let message = Object::of(span.text(text)).unwrap_or_default();
        let (for_user, for_agent) = visibility(&message);
        let before = reading.conversation.views.len();
        add(&mut reading, span, &message);
        let new = &reading.conversation.views[before..];
        counts.add(new);
        let is_summary =
            is_folded && for_agent && !for_user && new.iter().any(|view| view.role == Role::User);
        counts.summaries += usize::from(is_summary);
        is_folded = !is_summary && (is_folded || !for_agent);
    }
    counts
}

/// The messages of a file.
fn messages(text: &str, records: &[Span]) -> Vec<Span> {
    let mut out = Vec::new();
    for span in records {
        let record = Object::of(span.text(text)).unwrap_or_default();
        let list = ["conversation", "messages"]
            .iter()
            .find_map(|key| record.array(key));
        match list {
            Some(list) => out.extend(list.0.iter().map(|json| Span::of(text, json))),
            None if is_message(&record) => out.push(*span),
            None => {}
        }
    }
    out
}

/// Whether the person and the agent see it.
fn visibility(message: &Object<'_>) -> (bool, bool) {
    let metadata = message.object("metadata").unwrap_or_default();
    let is_seen = |key: &str| metadata.get(key) != Some("false");
    (is_seen("userVisible"), is_seen("agentVisible"))
}

fn add<'r>(
    reading: &'r mut Reading<'_>,
    span: Span,
    message: &Object<'_>,
) -> Option<&'r mut conspectus_core::view::MessageView> {
    let role = match message.string("role").as_deref() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let said = message.value("content");
    reading.add(span, role, |builder| blocks(builder, said))
}

fn blocks(builder: &mut Builder<'_>, said: Option<&str>) -> Result<(), Odd> {
    let Some(list) = said.filter(|said| Kind::of(said) == Kind::Array) else {
        return builder.said(said);
    };
    let source = builder.source();
    let home = Home::Element {
        array: builder.span(list),
        emptied: Emptied::List,
    };
    for json in Array::of(list).unwrap_or_default().0 {
        let object = Object::of(json).unwrap_or_default();
        let span = builder.span(json);
        let id = || CallId::from(object.string("id").as_deref().unwrap_or_default());
        match object.string("type").as_deref() {
            Some("toolRequest" | "frontendToolRequest") => {
                let call = object.object("toolCall").unwrap_or_default();
                let call = call.object("value").unwrap_or(call);
                let kind = PartKind::Call {
                    id: id(),
                    tool: call.string("name").unwrap_or_default().as_ref().into(),
                };
                let arguments = call.value("arguments").unwrap_or(json);
                builder.push(kind, text_or_json(source, Some(arguments)), span, home);
            }
            Some("toolResponse") => response(builder, &object, id(), span, home)?,
            Some("redactedThinking") => {
                let kind = PartKind::Reasoning { bound: true };
                builder.push(kind, text_or_json(source, object.value("data")), span, home);
            }
            _ => block(builder, json, home, None)?,
        }
    }
    Ok(())
}

/// `{status, value}` in older files, where the value is a list or holds one; `{status, error}` for one that failed.
fn response(
    builder: &mut Builder<'_>,
    object: &Object<'_>,
    id: CallId,
    span: Span,
    home: Home,
) -> Result<(), Odd> {
    let result = object.object("toolResult").unwrap_or_default();
    let value = result.value("value");
    let inner = value.and_then(Object::of);
    let failed = result.string("status").as_deref() == Some("error")
        || result.get("error").is_some()
        || inner.as_ref().is_some_and(|inner| inner.is_true("isError"));
    let kind = PartKind::Result {
        id,
        tool: None,
        error: failed,
    };
    let said = match &inner {
        Some(inner) => inner.value("content"),
        None => value,
    };
    let said = said.or_else(|| result.value("error"));
    match said.filter(|said| Kind::of(said) == Kind::Array) {
        Some(list) => {
            let index = builder.push(kind, TextAt::Nowhere, span, home);
            content(builder, list, Some(index), Emptied::List)
        }
        None => {
            let text = text_or_json(builder.source(), said);
            builder.push(kind, text, span, home);
            Ok(())
        }
    }
}

fn is_message(record: &Object<'_>) -> bool {
    record.get("role").is_some() && record.get("content").is_some()
}

/// The line about the session.
fn is_head(head: &Object<'_>) -> bool {
    let has = |key: &str| head.get(key).is_some();
    has("working_dir") && (has("description") || has("message_count") || has("name"))
}

/// Whether records are goose's: its line about the session in front of messages, or blocks that only it writes.
pub(crate) fn is_it<'a>(records: impl Iterator<Item = &'a str>) -> bool {
    let is_block = |json: &&str| {
        let kind = Object::of(json).and_then(|block| block.string("type"));
        matches!(kind.as_deref(), Some("toolRequest" | "toolResponse"))
    };
    let is_its = |message: &Object<'_>| {
        let list = message.array("content").unwrap_or_default();
        is_message(message) && list.0.iter().any(is_block)
    };
    for (n, json) in records.enumerate() {
        let record = Object::of(json).unwrap_or_default();
        if n == 0 && is_head(&record) {
            return true;
        }
        let list = ["conversation", "messages"]
            .iter()
            .find_map(|key| record.array(key));
        let list = list.unwrap_or_default().0.into_iter();
        let mut list = list.take(MESSAGES_TO_TELL).filter_map(Object::of);
        if is_its(&record) || list.any(|message| is_its(&message)) {
            return true;
        }
    }
    false
}
