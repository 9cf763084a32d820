//! Claude Code's session files: JSON lines, append-only, a tree of records by `uuid` and `parentUuid`.
//!
//! Reading gives what the model would see when the session is resumed now; [`chain`] says how that is found.
//! Writing leaves every byte of the file where it is and appends a compaction in the client's own terms: a
//! boundary record that lists, in order, the records that stay in sight, and the summary. What the projection
//! changed is appended as a changed copy and listed in the original's place. `docs/claude-code-sessions.md`
//! says what was found out about the format and how.

mod chain;
mod counts;
mod ids;
mod order;
mod record;
mod view;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::id::{Handle, ReplyId};
use conspectus_core::projection::Projection;

pub use counts::RecordCounts;

use self::record::{Record, RecordKind};
use crate::conversation::Conversation;
use crate::document::{Document, OpenOptions, RenderContext, SessionFormat};
use crate::error::{Fault, ReadError, WriteError};
use crate::format::Format;
use crate::json::Object;
use crate::read;
use crate::source::Source;

/// The format behind the documents' seam.
pub(crate) struct ClaudeCode;

impl SessionFormat for ClaudeCode {
    fn open(&self, source: Arc<Source>, options: &OpenOptions) -> Result<Document, ReadError> {
        let (records, mut faults) = record::read(&source, options.lenient)?;
        let active = chain::active(&records);
        let mut conversation = Conversation::new(label(&source, &records), source.clone());
        let is_shape = |record: &&Record| record.kind == RecordKind::RequestShape;
        if let Some(shape) = records.iter().rfind(is_shape) {
            conversation.fixed = view::fixed(source.text(), shape);
        }
        let mut replies = Replies::default();
        for index in active.sequence {
            let record = &records[index];
            let handle = Handle(u32::try_from(conversation.views.len()).unwrap_or(u32::MAX));
            let (mut view, mut message) = match view::view(source.text(), record, handle) {
                Ok(None) => continue,
                Ok(Some(read)) => read,
                Err(odd) => {
                    faults.push(Fault {
                        line: record.line,
                        found: odd.found,
                        expected: odd.expected,
                    });
                    read::opaque(source.text(), record.span, handle, "record")
                }
            };
            message.native_id = record.uuid.clone();
            view.reply = replies.reply(record);
            if let Some(reply) = view.reply.filter(|_| !active.kept.contains(&index)) {
                // The last record of a reply tells its usage.
                view.usage = view::usage(source.text(), record);
                if let Some(earlier) = replies
                    .last
                    .insert(reply, handle)
                    .filter(|_| view.usage.is_some())
                {
                    conversation.views[earlier.0 as usize].usage = None;
                }
            }
            conversation.views.push(view);
            conversation.messages.push(message);
        }
        faults.sort_by_key(|fault| fault.line);
        Ok(Document {
            source,
            format: Format::Claude,
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
fn label(source: &Source, records: &[Record]) -> String {
    records
        .iter()
        .find_map(|record| {
            let object = Object::of(record.span.text(source.text()))?;
            object.string("sessionId").map(Into::into)
        })
        .unwrap_or_default()
}

/// Numbers the replies. Their ids count within a turn only: not every server makes unique ones.
#[derive(Default)]
struct Replies {
    of_turn: BTreeMap<Arc<str>, ReplyId>,
    count: u32,
    last: BTreeMap<ReplyId, Handle>,
}

impl Replies {
    fn reply(&mut self, record: &Record) -> Option<ReplyId> {
        if record.is_prompt() {
            self.of_turn.clear();
        }
        if !matches!(record.kind, RecordKind::Assistant { .. }) {
            return None;
        }
        let next = ReplyId(self.count);
        let reply = match &record.reply {
            Some(id) => *self.of_turn.entry(id.clone()).or_insert(next),
            None => next,
        };
        self.count += u32::from(reply == next);
        Some(reply)
    }
}
