//! SWE-agent's trajectories: chat messages under `history`, with notes of its own.
//!
//! The steps under `trajectory` repeat what the history holds. Older runs have no tool roles: what a command gave back
//! is a user's message behind the model's, and never the person's request; nor is a demonstration.

use std::sync::Arc;

use conspectus_core::view::Role;

use crate::conversation::Conversation;
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Object, Span};
use crate::log::{Log, MESSAGES_TO_TELL, Reading, file_as_text, unknown};
use crate::openai::OpenAi;
use crate::source::Source;

/// The format.
pub(crate) struct SweAgent;

impl Log for SweAgent {
    fn format(&self) -> Format {
        Format::SweAgent
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, mut faults) = file_as_text(source, options.lenient)?;
        let text = source.text();
        let mut out = Vec::new();
        for (n, span) in records.iter().enumerate() {
            let record = Object::of(span.text(text)).unwrap_or_default();
            let Some(history) = record.array("history") else {
                continue;
            };
            let label = record.string("instance_id").or_else(|| {
                let info = record.object("info")?;
                info.string("instance_id")
            });
            let label = label.map_or_else(|| n.to_string(), String::from);
            let mut reading = Reading::new(source, label);
            let mut after_action = false;
            for json in history.0 {
                let message = Object::of(json).unwrap_or_default();
                let is_demo = message.is_true("is_demo");
                let view = reading.add_as(&OpenAi, Span::of(text, json));
                if let Some(view) = view {
                    view.flags.hidden |= view.role == Role::User && (is_demo || after_action);
                    after_action = view.role == Role::Assistant && message.get("action").is_some();
                }
            }
            faults.append(&mut reading.faults);
            out.push(reading.conversation);
        }
        match out.is_empty() {
            true => Err(unknown(source)),
            false => Ok((out, faults)),
        }
    }
}

/// Whether a file is a trajectory: a history of messages.
pub(crate) fn is_it<'a>(mut records: impl Iterator<Item = &'a str>) -> bool {
    let record = records.next().and_then(Object::of).unwrap_or_default();
    let history = record.array("history").unwrap_or_default();
    let messages = history.0.into_iter().take(MESSAGES_TO_TELL);
    let mut messages = messages.filter_map(Object::of);
    messages.any(|message| message.get("role").is_some() && message.get("content").is_some())
}
