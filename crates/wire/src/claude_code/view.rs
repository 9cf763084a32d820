//! A record as the core's view: what the model would read of it, and who said it.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{ContentForm, MessageView, PartKind, Role, Usage};

use super::record::{Record, RecordKind};
use crate::conversation::{Emptied, Fixed, Home, Message, TextAt};
use crate::json::{Array, Kind, Object, depth, string};
use crate::read::{self, Builder, Odd};

/// The view of a record and where its parts stand; `None` for a record that the model is not shown.
pub(super) fn view(
    source: &str,
    record: &Record,
    handle: Handle,
) -> Result<Option<(MessageView, Message)>, Odd> {
    let levels = depth(record.span.text(source));
    if levels > read::MAX_DEPTH && record.is_message() {
        return Err(Odd::new(
            format!("nesting {levels} levels deep"),
            "a message that nests less than 120 levels deep",
        ));
    }
    if !record.is_in_talk() || matches!(record.kind, RecordKind::Boundary(_)) {
        return Ok(None);
    }
    let object = read::unique(record.span.text(source), "a record with each key once")?;
    let reader = Reading {
        source,
        record,
        object: &object,
        handle,
    };
    match &record.kind {
        RecordKind::User { summary } => {
            let (mut view, message) = reader.message(Role::User)?;
            view.flags.summary = *summary;
            view.flags.hidden = !summary && reader.is_injected(&view, &message);
            Ok(Some((view, message)))
        }
        RecordKind::Assistant { api_error: false } => {
            let (view, message) = reader.message(Role::Assistant)?;
            Ok((!view.parts.is_empty()).then_some((view, message)))
        }
        RecordKind::LocalCommand => reader.texts(object.get("content")),
        RecordKind::Attachment => reader.attachment(),
        RecordKind::Assistant { api_error: true }
        | RecordKind::Boundary(_)
        | RecordKind::RequestShape
        | RecordKind::Other => Ok(None),
    }
}

/// The system prompt and the tools of a request that the client wrote down.
pub(super) fn fixed(source: &str, shape: &Record) -> Fixed {
    let record = Object::of(shape.span.text(source)).unwrap_or_default();
    let shape = record.object("shape").unwrap_or_default();
    let system = shape.value("system").map(strings).unwrap_or_default();
    let system: Vec<_> = system.into_iter().map(string::decode).collect();
    Fixed {
        system: system.join("\n"),
        tools: shape.value("tools").unwrap_or_default().to_owned(),
    }
}

/// What the provider reported for the reply that the record is of; the client writes it into every record
/// of a reply. Cached tokens are not part of Anthropic's `input_tokens`.
pub(super) fn usage(source: &str, record: &Record) -> Option<Usage> {
    let object = Object::of(record.span.text(source))?;
    let message = object.object("message")?;
    let usage = message.object("usage")?;
    let number = |key: &str| usage.number(key).unwrap_or(0);
    let (read, written) = (
        number("cache_read_input_tokens"),
        number("cache_creation_input_tokens"),
    );
    let usage = Usage {
        input: number("input_tokens")
            .saturating_add(read)
            .saturating_add(written),
        output: number("output_tokens"),
        cache_read: read,
        cache_write: written,
        ..Usage::default()
    };
    // What the client wrote itself reports nothing.
    (usage.context() > 0).then_some(usage)
}

struct Reading<'a> {
    source: &'a str,
    record: &'a Record,
    object: &'a Object<'a>,
    handle: Handle,
}

impl Reading<'_> {
    fn message(&self, role: Role) -> Result<(MessageView, Message), Odd> {
        let json = self.object.get("message").unwrap_or("null");
        let message = read::unique(json, "a message object")?;
        let content = message.get("content").unwrap_or("null");
        let mut builder = Builder::new(self.source, role, None);
        let form = if Kind::of(content) == Kind::String {
            let span = builder.span(content);
            let home = Home::Content(Emptied::Text);
            builder.push(PartKind::Text, TextAt::String(span), span, home);
            ContentForm::Text
        } else {
            read::content(&mut builder, content, None, Emptied::List)?;
            ContentForm::Blocks
        };
        self.build(builder, form)
    }

    /// A text, or a list of texts, that is shown to the model as said by nobody.
    fn texts(&self, value: Option<&str>) -> Result<Option<(MessageView, Message)>, Odd> {
        let texts = value.map(strings).unwrap_or_default();
        if texts.iter().all(|text| text.len() <= 2) {
            return Ok(None);
        }
        let mut builder = Builder::new(self.source, Role::User, None);
        for text in texts {
            let span = builder.span(text);
            builder.push(
                PartKind::Text,
                TextAt::String(span),
                span,
                Home::Content(Emptied::Text),
            );
        }
        let (mut view, message) = self.build(builder, ContentForm::Text)?;
        view.flags.hidden = true;
        Ok(Some((view, message)))
    }

    /// Attachments are shown to the model in words of the client's own around the texts that stand in them.
    fn attachment(&self) -> Result<Option<(MessageView, Message)>, Odd> {
        let Some(attachment) = self.object.object("attachment") else {
            return Ok(None);
        };
        let kind = attachment.string("type").unwrap_or_default();
        if RESTATED.contains(&kind.as_ref()) {
            return Ok(None);
        }
        let content = attachment.object("content");
        let file = content.as_ref().and_then(|content| content.object("file"));
        let value = ["prompt", "snippet", "content", "text"]
            .iter()
            .filter_map(|key| attachment.value(key))
            .find(|value| !strings(value).is_empty())
            .or_else(|| content.as_ref()?.value("content"))
            .or_else(|| file.as_ref()?.value("content"));
        let mut read = self.texts(value)?;
        if let Some((view, _)) = &mut read {
            let mode = attachment.string("commandMode");
            let is_typed = kind == "queued_command" && mode.is_none_or(|mode| mode == "prompt");
            view.flags.hidden = !is_typed || attachment.is_true("isMeta") || self.is_meta();
        }
        Ok(read)
    }

    fn build(
        &self,
        builder: Builder<'_>,
        form: ContentForm,
    ) -> Result<(MessageView, Message), Odd> {
        let id: Option<Arc<str>> = self.record.uuid.clone();
        let (mut view, message) = builder.build(self.handle, self.record.span, id)?;
        view.form = form;
        Ok((view, message))
    }

    fn is_meta(&self) -> bool {
        let origin = self.object.object("origin").and_then(|o| o.string("kind"));
        self.object.is_true("isMeta") || origin.is_some_and(|kind| kind == "task-notification")
    }

    /// Not typed by a person: marked so, or nothing but texts that the client writes.
    fn is_injected(&self, view: &MessageView, message: &Message) -> bool {
        if self.is_meta() {
            return true;
        }
        let mut texts = view
            .parts
            .iter()
            .zip(&message.parts)
            .filter(|(part, _)| part.inside.is_none())
            .map(|(part, place)| (&part.kind, place.text))
            .peekable();
        texts.peek().is_some()
            && texts.all(|(kind, text)| {
                *kind == PartKind::Text && is_client_text(&text.read(self.source))
            })
    }
}

/// What the client tells the model anew after a compaction, so that keeping it would say it twice.
const RESTATED: [&str; 11] = [
    "agent_listing_delta",
    "command_permissions",
    "date",
    "deferred_tools_delta",
    "environment",
    "mcp_instructions_delta",
    "model",
    "prompt_snapshot",
    "remote_session_change",
    "session_context",
    "skill_listing",
];

/// How texts begin that the client writes into the user's messages.
const CLIENT_TEXTS: [&str; 13] = [
    "<bash-input>",
    "<bash-stderr>",
    "<bash-stdout>",
    "<command-message>",
    "<command-name>",
    "<local-command-caveat>",
    "<local-command-stderr>",
    "<local-command-stdout>",
    "<system-reminder>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below were generated by the user while running local commands",
    "[Request interrupted by user",
];

/// A command with arguments is not one of them: those are the person's own words.
fn is_client_text(text: &str) -> bool {
    let text = text.trim_start();
    CLIENT_TEXTS.iter().any(|start| text.starts_with(start)) && command_arguments(text).is_none()
}

fn command_arguments(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<command-args>")?;
    let (arguments, _) = rest.split_once("</command-args>")?;
    Some(arguments.trim()).filter(|arguments| !arguments.is_empty())
}

/// The strings in a value: itself, or the elements and the texts of the blocks of a list.
fn strings(value: &str) -> Vec<&str> {
    match Kind::of(value) {
        Kind::String => vec![value],
        Kind::Array => Array::of(value)
            .unwrap_or_default()
            .0
            .into_iter()
            .filter_map(|element| match Kind::of(element) {
                Kind::String => Some(element),
                Kind::Object => Object::of(element)?.value("text"),
                _ => None,
            })
            .filter(|text| Kind::of(text) == Kind::String)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_client() {
        let check = |text: &str, expect: bool| assert_eq!(is_client_text(text), expect, "{text}");
        check("please fix <command-name>", false);
        check("<local-command-stdout>ok</local-command-stdout>", true);
        check(
            "  <command-name>/clear</command-name> <command-args></command-args>",
            true,
        );
        check(
            "<command-name>/fix</command-name>\n<command-args>issue 12</command-args>",
            false,
        );
        check("[Request interrupted by user for tool use]", true);
    }
}
