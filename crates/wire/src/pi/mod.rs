//! pi's sessions: JSON lines, a header, then messages among settings. Newer files are trees by `id` and `parentId`.
//!
//! A `compaction` entry holds the summary and names the first entry that stays (older files by its line, newer ones by
//! its id); the model sees the summary, the entries from there up to the compaction, and what follows. The branch of
//! the newest entry is the conversation.

mod branch;

use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::view::{PartKind, Role, Usage};

use self::branch::Entry;
use crate::claude_code::RecordCounts;
use crate::conversation::{Conversation, Emptied, Home};
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Array, Object, Span};
use crate::log::{Log, Reading, file_as_text};
use crate::read::{Builder, Odd, block, text_or_json};
use crate::source::Source;

/// The format.
pub(crate) struct Pi;

impl Log for Pi {
    fn format(&self) -> Format {
        Format::Pi
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, faults) = file_as_text(source, options.lenient)?;
        let text = source.text();
        let label = records.first().and_then(|span| {
            let header = Object::of(span.text(text))?;
            header.string("id").map(String::from)
        });
        let mut reading = Reading::new(source, label.unwrap_or_default());
        reading.faults = faults;
        let seen = branch::in_sight(source, &records);
        let is_session = branch::has_entries(text, &records);
        for entry in seen.entries {
            let before = reading.conversation.views.len();
            add(&mut reading, entry);
            if entry.is_before_compaction {
                // Reported of a longer request.
                let views = &mut reading.conversation.views[before..];
                views.iter_mut().for_each(|view| view.usage = None);
            }
        }
        reading.done(!is_session)
    }
}

/// What the file holds over all its entries: messages that say something, and summaries. Commands that the person ran
/// are nobody's message.
pub(crate) fn count(source: &Arc<Source>) -> RecordCounts {
    let (records, _) = file_as_text(source, true).unwrap_or_default();
    let mut reading = Reading::new(source, "");
    let mut counts = RecordCounts::default();
    for span in records {
        let before = reading.conversation.views.len();
        add(&mut reading, Entry::of(span));
        let new = &reading.conversation.views[before..];
        if !is_command(source.text(), span) {
            counts.add(new);
        }
    }
    counts
}

fn is_command(text: &str, entry: Span) -> bool {
    let message = Object::of(entry.text(text)).and_then(|entry| entry.object("message"));
    let role = message.and_then(|message| message.string("role"));
    role.as_deref() == Some("bashExecution")
}

fn add(reading: &mut Reading<'_>, entry: Entry) {
    let text = reading.text();
    let record = Object::of(entry.span.text(text)).unwrap_or_default();
    let kind = record.string("type").unwrap_or_default();
    match kind.as_ref() {
        "message" => {
            if let Some(message) = record.object("message") {
                add_message(reading, entry.span, &message);
            }
        }
        "compaction" | "branch_summary" => {
            let summary = record.value("summary");
            let view = reading.add(entry.span, Role::User, |builder| builder.said(summary));
            if let Some(view) = view {
                view.flags.summary = true;
            }
        }
        "custom_message" => {
            let said = record.value("content");
            let view = reading.add(entry.span, Role::User, |builder| builder.said(said));
            if let Some(view) = view {
                view.flags.hidden = true;
            }
        }
        _ => {}
    }
}

fn add_message(reading: &mut Reading<'_>, span: Span, message: &Object<'_>) {
    let said = message.value("content");
    match message.string("role").as_deref() {
        Some("user") => {
            reading.add(span, Role::User, |builder| builder.said(said));
        }
        Some("assistant") => {
            let view = reading.add(span, Role::Assistant, |builder| reply(builder, said));
            if let Some(view) = view {
                view.usage = usage(message);
            }
        }
        Some("toolResult") => {
            let kind = PartKind::Result {
                id: CallId::from(message.string("toolCallId").as_deref().unwrap_or_default()),
                tool: message.string("toolName").map(|name| name.as_ref().into()),
                error: message.is_true("isError"),
            };
            reading.add(span, Role::Tool, |builder| builder.result_of(kind, said));
        }
        // A command that the person ran; the model is told of it.
        Some("bashExecution") => {
            let parts = ["command", "output"].map(|key| message.value(key));
            let view = reading.add(span, Role::User, |builder| {
                parts.iter().try_for_each(|part| builder.said(*part))
            });
            if let Some(view) = view {
                view.flags.hidden = true;
            }
        }
        Some("compactionSummary" | "branchSummary") => {
            let summary = message.value("summary");
            let view = reading.add(span, Role::User, |builder| builder.said(summary));
            if let Some(view) = view {
                view.flags.summary = true;
            }
        }
        other => reading.add_unknown(span, other.unwrap_or("message")),
    }
}

/// Blocks of the model. Calls and signatures have names of their own.
fn reply(builder: &mut Builder<'_>, said: Option<&str>) -> Result<(), Odd> {
    let Some(blocks) = said.and_then(Array::of) else {
        return builder.said(said);
    };
    let array = builder.span(said.unwrap_or_default());
    let source = builder.source();
    for json in blocks.0 {
        let object = Object::of(json).unwrap_or_default();
        let home = Home::Element {
            array,
            emptied: Emptied::List,
        };
        let string = |key: &str| object.string(key).unwrap_or_default();
        let (kind, text) = match object.string("type").as_deref() {
            Some("toolCall") => {
                let kind = PartKind::Call {
                    id: CallId::from(string("id").as_ref()),
                    tool: string("name").as_ref().into(),
                };
                (kind, object.value("arguments"))
            }
            Some("thinking") => {
                let bound = !string("thinkingSignature").is_empty();
                (PartKind::Reasoning { bound }, object.value("thinking"))
            }
            _ => {
                block(builder, json, home, None)?;
                continue;
            }
        };
        let span = builder.span(json);
        builder.push(kind, text_or_json(source, text), span, home);
    }
    Ok(())
}

/// `input` leaves cached tokens out. A reply that failed reports zeros.
fn usage(message: &Object<'_>) -> Option<Usage> {
    let usage = message.object("usage")?;
    let number = |key: &str| usage.number(key).unwrap_or(0);
    let (cache_read, cache_write) = (number("cacheRead"), number("cacheWrite"));
    let usage = Usage {
        input: number("input")
            .saturating_add(cache_read)
            .saturating_add(cache_write),
        output: number("output"),
        cache_read,
        cache_write,
        reported_total: usage.number("totalTokens"),
        provider: message.string("provider").map(|name| name.as_ref().into()),
    };
    (usage.input > 0).then_some(usage)
}

/// Whether records are pi's.
pub(crate) fn is_it<'a>(mut records: impl Iterator<Item = &'a str>) -> bool {
    let header = records.next().and_then(Object::of).unwrap_or_default();
    let has_header = header.string("type").as_deref() == Some("session");
    let is_entry = |record: Object<'_>| {
        let message = record.object("message").unwrap_or_default();
        record.string("type").as_deref() == Some("message") && message.get("role").is_some()
    };
    has_header && records.filter_map(Object::of).any(is_entry)
}
