//! Gemini CLI's chats: one object with `messages`, or JSON lines that patch such a list.
//!
//! In the lines a message with a known id replaces the earlier one, `$set` with `messages` replaces the list (after
//! the client's own compression), `$rewindTo` drops a message and what follows. One record holds thoughts, text,
//! calls and their results; here the results are a message of their own behind the reply. Notes of the user interface
//! (`info`, `warning`, `error`) are not seen by the model.

mod replay;

use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::view::{PartKind, Role, Usage};

use crate::claude_code::RecordCounts;
use crate::conversation::{Conversation, Emptied, Home, TextAt};
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::gemini::part;
use crate::json::{Array, Kind, Object, Span, string};
use crate::log::{Log, Reading, file_as_text};
use crate::read::{Builder, Odd, text_or_json};
use crate::source::Source;

pub(crate) use replay::is_it;

/// The format.
pub(crate) struct GeminiCli;

/// How the client's own summary begins.
const SUMMARY: &str = "<state_snapshot>";

impl Log for GeminiCli {
    fn format(&self) -> Format {
        Format::GeminiCli
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, faults) = file_as_text(source, options.lenient)?;
        let replay = replay::of(source.text(), &records);
        let mut reading = Reading::new(source, replay.session.unwrap_or_default());
        reading.faults = faults;
        for span in &replay.messages {
            add(&mut reading, *span, false);
        }
        if reading
            .conversation
            .views
            .iter()
            .any(|view| view.flags.summary)
        {
            // Reports of replies that the compression kept are of a longer request.
            let views = reading.conversation.views.iter_mut();
            views.for_each(|view| view.usage = None);
        }
        reading.done(!replay.is_chat)
    }
}

/// What the chat holds, notes included.
pub(crate) fn count(source: &Arc<Source>) -> RecordCounts {
    let (records, _) = file_as_text(source, true).unwrap_or_default();
    let mut reading = Reading::new(source, "");
    let mut counts = RecordCounts::default();
    for span in replay::of(source.text(), &records).messages {
        let before = reading.conversation.views.len();
        add(&mut reading, span, true);
        counts.add(&reading.conversation.views[before..]);
    }
    counts
}

fn add(reading: &mut Reading<'_>, span: Span, with_notes: bool) {
    let text = reading.text();
    let message = Object::of(span.text(text)).unwrap_or_default();
    let kind = message.string("type").or_else(|| message.string("role"));
    let said = message.value("content").or_else(|| message.value("parts"));
    match kind.as_deref() {
        Some("user") => {
            let view = reading.add(span, Role::User, |builder| content(builder, said));
            let is_summary = said.is_some_and(|said| first_text(said).starts_with(SUMMARY));
            if let Some(view) = view {
                view.flags.summary |= is_summary;
            }
        }
        Some("gemini" | "model") => {
            let view = reading.add(span, Role::Assistant, |builder| {
                thoughts(builder, &message);
                content(builder, said)?;
                calls(builder, &message)
            });
            if let Some(view) = view {
                view.usage = usage(&message);
            }
            reading.add(span, Role::Tool, |builder| results(builder, &message));
        }
        Some("info" | "warning" | "error") => {
            if with_notes {
                reading.add(span, Role::System, |builder| builder.said(said));
            }
        }
        other => reading.add_unknown(span, other.unwrap_or("message")),
    }
}

/// A string, or parts as Gemini's API has them.
fn content(builder: &mut Builder<'_>, said: Option<&str>) -> Result<(), Odd> {
    let Some(list) = said.filter(|said| Kind::of(said) == Kind::Array) else {
        return builder.said(said);
    };
    let array = builder.span(list);
    for json in Array::of(list).unwrap_or_default().0 {
        let home = Home::Element {
            array,
            emptied: Emptied::List,
        };
        part(builder, json, home)?;
    }
    Ok(())
}

fn first_text(said: &str) -> String {
    let first = match Kind::of(said) {
        Kind::String => Some(said),
        _ => Array::of(said)
            .and_then(|list| list.0.first().copied())
            .and_then(|part| Object::of(part)?.value("text")),
    };
    let first = first.map(string::decode).unwrap_or_default();
    first.trim_start().to_owned()
}

/// Summaries of thoughts; their subject repeats what the description begins with.
fn thoughts(builder: &mut Builder<'_>, message: &Object<'_>) {
    for json in message.array("thoughts").unwrap_or_default().0 {
        let thought = Object::of(json).unwrap_or_default();
        let kind = PartKind::Reasoning { bound: false };
        if let Some(text) = thought
            .value("description")
            .or_else(|| thought.value("subject"))
        {
            builder.text_of(kind, text);
        }
    }
}

fn calls(builder: &mut Builder<'_>, message: &Object<'_>) -> Result<(), Odd> {
    let Some(list) = message.value("toolCalls") else {
        return Ok(());
    };
    let source = builder.source();
    let home = Home::Element {
        array: builder.span(list),
        emptied: Emptied::List,
    };
    for json in Array::of(list).unwrap_or_default().0 {
        let call = Object::of(json).unwrap_or_default();
        let kind = PartKind::Call {
            id: id(&call),
            tool: call.string("name").unwrap_or_default().as_ref().into(),
        };
        let span = builder.span(json);
        builder.push(kind, text_or_json(source, call.value("args")), span, home);
    }
    Ok(())
}

/// The results that are there: a call that was not run has none.
fn results(builder: &mut Builder<'_>, message: &Object<'_>) -> Result<(), Odd> {
    for json in message.array("toolCalls").unwrap_or_default().0 {
        let call = Object::of(json).unwrap_or_default();
        let Some(result) = call.value("result") else {
            continue;
        };
        let kind = PartKind::Result {
            id: id(&call),
            tool: call.string("name").map(|name| name.as_ref().into()),
            error: matches!(
                call.string("status").as_deref(),
                Some("error" | "cancelled")
            ),
        };
        let elements = Array::of(result).unwrap_or_default().0;
        if let [one] = elements[..]
            && let Some(text) = response(builder.source(), one)
        {
            let span = builder.span(result);
            builder.push(kind, text, span, Home::Content(Emptied::Text));
            continue;
        }
        if elements.is_empty() {
            builder.text_of(kind, result);
            continue;
        }
        let span = builder.span(result);
        let home = Home::Content(Emptied::Text);
        let index = builder.push(kind, TextAt::Nowhere, span, home);
        for one in elements {
            let inside = builder.span(one);
            let source = builder.source();
            match response(source, one).or_else(|| plain_text(source, one)) {
                Some(text) => builder.push_inside(PartKind::Text, text, inside, home, Some(index)),
                None => {
                    let label = "part".into();
                    let opaque = PartKind::Opaque { label };
                    builder.push_inside(opaque, TextAt::Json(inside), inside, home, Some(index))
                }
            };
        }
    }
    Ok(())
}

/// What a tool answered: the text under `output` or `error` where there is nothing else, else the JSON.
fn response(source: &str, json: &str) -> Option<TextAt> {
    let response = Object::of(json)?.object("functionResponse")?;
    let value = response.value("response")?;
    Some(crate::gemini::response_text(source, value))
}

fn plain_text(source: &str, json: &str) -> Option<TextAt> {
    let text = Object::of(json)?.value("text")?;
    Some(text_or_json(source, Some(text)))
}

fn id(call: &Object<'_>) -> CallId {
    CallId::from(call.string("id").as_deref().unwrap_or_default())
}

/// `input` includes cached ones; thoughts are written too. A reply that was cut off reports zeros.
fn usage(message: &Object<'_>) -> Option<Usage> {
    let tokens = message.object("tokens")?;
    let number = |key: &str| tokens.number(key).unwrap_or(0);
    let usage = Usage {
        input: number("input"),
        output: number("output").saturating_add(number("thoughts")),
        cache_read: number("cached"),
        cache_write: 0,
        reported_total: tokens.number("total"),
        provider: None,
    };
    (usage.input > 0).then_some(usage)
}
