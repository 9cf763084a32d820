//! The lines of a rollout as records.

use crate::document::is_bare_meta;
use crate::error::{Fault, ReadError};
use crate::json::{Kind, Object, Span};
use crate::lines::{self, Line};
use crate::source::Source;

/// One line that is a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Line in the file, from 1.
    pub(super) line: usize,
    /// The JSON object.
    pub(super) span: Span,
    /// What it is.
    pub(super) kind: RecordKind,
    /// Its number, in files of newer clients.
    pub(super) ordinal: Option<u64>,
}

/// What a record is, as far as the conversation goes. Spans are of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// About the session; forked sessions have several.
    Meta(Span),
    /// An item that the model sees.
    Item(Span),
    /// A compaction: what the model sees from here on.
    Compacted(Span),
    /// Settings of a turn.
    TurnContext,
    /// What the client has told the model about its surroundings.
    WorldState {
        /// All of it, not what changed.
        full: bool,
    },
    /// A turn begins.
    TaskStarted,
    /// The user took the newest turns back.
    RolledBack {
        /// How many.
        turns: u64,
    },
    /// What the provider reported for the newest reply.
    TokenCount(Span),
    /// All else: what the user interface shows, and whatever is still to come.
    Other,
}

/// All records of a file, in order.
///
/// # Errors
/// When not lenient: at the first line that is no JSON object, and at the first record whose payload is none.
pub(super) fn read(source: &Source, lenient: bool) -> Result<(Vec<Record>, Vec<Fault>), ReadError> {
    lines::read(source, lenient, parse)
}

const A_PAYLOAD: &str = "a record whose `payload` is an object";

fn parse(line: Line<'_>) -> Result<Record, ReadError> {
    let record = line.object()?;
    let name = record.string("type");
    let name = name.as_deref().unwrap_or_default();
    let kind = match name {
        "session_meta" | "response_item" | "compacted" | "turn_context" | "world_state"
        | "event_msg" => {
            let payload = record.get("payload").unwrap_or("null");
            let Some(object) = Object::of(payload) else {
                return Err(line.bad(Kind::of(payload).name(), A_PAYLOAD));
            };
            enveloped(name, Span::of(line.file, payload), &object)
        }
        _ => bare(line.span(), &record),
    };
    Ok(Record {
        line: line.number,
        span: line.span(),
        kind,
        ordinal: record.number("ordinal"),
    })
}

fn enveloped(name: &str, payload: Span, object: &Object<'_>) -> RecordKind {
    match name {
        "session_meta" => RecordKind::Meta(payload),
        "response_item" => RecordKind::Item(payload),
        "compacted" => RecordKind::Compacted(payload),
        "turn_context" => RecordKind::TurnContext,
        "world_state" => RecordKind::WorldState {
            full: object.is_true("full"),
        },
        _ => match object.string("type").as_deref() {
            Some("task_started" | "turn_started") => RecordKind::TaskStarted,
            Some("token_count") => RecordKind::TokenCount(payload),
            Some("thread_rolled_back") => RecordKind::RolledBack {
                turns: object.number("num_turns").unwrap_or(0),
            },
            _ => RecordKind::Other,
        },
    }
}

/// The oldest files hold the items without an envelope.
fn bare(span: Span, record: &Object<'_>) -> RecordKind {
    if is_bare_meta(record) {
        return RecordKind::Meta(span);
    }
    let has = |key: &str| record.get(key).is_some();
    if has("payload") || has("record_type") || !(has("type") || has("role")) {
        return RecordKind::Other;
    }
    RecordKind::Item(span)
}
