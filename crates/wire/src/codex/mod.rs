//! Codex's session files ("rollouts"): JSON lines, append-only, items of the Responses API among records about them.
//!
//! Reading gives what the model would be sent when the session is resumed now; [`history`] says how that is found.
//! Writing leaves every byte of the file where it is and appends a compaction in the client's own terms: a
//! `compacted` record whose `replacement_history` is the projection, and what keeps the client from telling its
//! surroundings again and from compacting at once. `docs/codex-rollouts.md` says what was found out and how.

mod context;
mod counts;
mod history;
mod record;
mod report;
mod write;

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::projection::Projection;
use conspectus_core::view::{MessageView, Role};

pub(crate) use counts::count;

use self::record::{Record, RecordKind};
use crate::conversation::{Conversation, Fixed};
use crate::document::{Document, OpenOptions, RenderContext, SessionFormat};
use crate::error::{Fault, ReadError, WriteError};
use crate::format::Format;
use crate::json::{Object, depth};
use crate::read::{self, MAX_DEPTH, Odd};
use crate::responses;
use crate::source::Source;

/// The format behind the documents' seam.
pub(crate) struct Codex;

impl SessionFormat for Codex {
    fn open(&self, source: Arc<Source>, options: &OpenOptions) -> Result<Document, ReadError> {
        let (records, mut faults) = record::read(&source, options.lenient)?;
        let text = source.text();
        let mut conversation = Conversation::new(label(text, &records), source.clone());
        for item in history::in_sight(text, &records) {
            let handle = Handle(u32::try_from(conversation.views.len()).unwrap_or(u32::MAX));
            let read = match depth(item.span.text(text)) {
                levels if levels > MAX_DEPTH => Err(Odd::new(
                    format!("nesting {levels} levels deep"),
                    "an item that nests less than 120 levels deep",
                )),
                _ => responses::item(text, item.span, handle),
            };
            let (mut view, message) = read.unwrap_or_else(|odd| {
                faults.push(Fault {
                    line: item.line,
                    found: odd.found,
                    expected: odd.expected,
                });
                read::opaque(text, item.span, handle, "item")
            });
            context::tell(text, &mut view, &message);
            view.flags.summary |= item.is_summary;
            view.usage = item.usage;
            conversation.views.push(view);
            conversation.messages.push(message);
        }
        responses::number_replies(&mut conversation.views);
        responses::link_local_shells(&mut conversation);
        pin_beginning(&mut conversation.views);
        conversation.fixed = fixed(text, &records, &conversation);
        faults.sort_by_key(|fault| fault.line);
        Ok(Document {
            source,
            format: Format::Codex,
            conversations: vec![conversation],
            faults,
        })
    }

    fn render(
        &self,
        document: &Document,
        edits: &[(usize, &Projection)],
        context: &RenderContext,
    ) -> Result<Vec<u8>, WriteError> {
        write::render(document, edits, context)
    }
}

/// The session's id.
fn label(text: &str, records: &[Record]) -> String {
    let meta = records.iter().find_map(|record| match record.kind {
        RecordKind::Meta(payload) => Object::of(payload.text(text))?.string("id"),
        _ => None,
    });
    meta.unwrap_or_default().into_owned()
}

/// What the client tells before the first request, environment and instructions: never folded, since the client
/// takes it for said.
fn pin_beginning(views: &mut [MessageView]) {
    for view in views
        .iter_mut()
        .take_while(|view| view.role == Role::System || view.flags.hidden)
    {
        view.flags.pinned |= view.role != Role::System;
    }
}

/// The system prompt of the session, unless it stands among the items, as newer clients have it.
fn fixed(text: &str, records: &[Record], conversation: &Conversation) -> Fixed {
    let is_said = |view: &MessageView| {
        let json = conversation.json_of(view.handle);
        let kind = Object::of(json).and_then(|item| item.string("type"));
        kind.as_deref() == Some("additional_tools")
    };
    if conversation.views.iter().any(is_said) {
        return Fixed::default();
    }
    let system = records.iter().rev().find_map(|record| {
        let RecordKind::Meta(payload) = record.kind else {
            return None;
        };
        let meta = Object::of(payload.text(text))?;
        let base = meta.object("base_instructions");
        base.and_then(|base| base.string("text"))
            .or_else(|| meta.string("instructions"))
            .map(std::borrow::Cow::into_owned)
    });
    Fixed {
        system: system.unwrap_or_default(),
        tools: String::new(),
    }
}
