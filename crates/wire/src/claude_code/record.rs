//! The lines of a session file as records: what each is, how it hangs together with the others, and where
//! its pieces stand. Nothing is decoded that the chain does not ask for.

use std::sync::Arc;

use crate::error::{Fault, ReadError};
use crate::json::{Array, Kind, Object, Span};
use crate::lines::{self, Line};
use crate::source::Source;

/// One line that is a record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Line in the file, from 1.
    pub(super) line: usize,
    /// The JSON object.
    pub(super) span: Span,
    /// What it is.
    pub(super) kind: RecordKind,
    /// Its id, where it has one.
    pub(super) uuid: Option<Arc<str>>,
    /// The record before it.
    pub(super) parent: Parent,
    /// Written by a sub-agent.
    pub(super) sidechain: bool,
    /// Injected by the client.
    pub(super) meta: bool,
    /// The id that all records of one reply share.
    pub(super) reply: Option<Arc<str>>,
    /// The ids of the calls in it.
    pub(super) calls: Vec<Arc<str>>,
    /// The ids of the calls that it answers.
    pub(super) results: Vec<Arc<str>>,
}

/// What a record is, as far as the conversation goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// The user's side; tool results stand here.
    User {
        /// The summary of an earlier compaction.
        summary: bool,
    },
    /// A block of a reply.
    Assistant {
        /// Written by the client when a call to the model failed; never sent to the model.
        api_error: bool,
    },
    /// Everything before it is out of the model's sight, but for what it names.
    Boundary(Preserved),
    /// A slash command that ran locally; the model is shown it as a user's text.
    LocalCommand,
    /// Something that the client showed the model between messages.
    Attachment,
    /// The system prompt and tools of a request, written down by newer clients when they change.
    RequestShape,
    /// All else: progress, snapshots, titles, and whatever is still to come.
    Other,
}

/// What a boundary keeps in sight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Preserved {
    /// The kept records follow this one.
    pub(super) anchor: Option<Arc<str>>,
    /// `preservedMessages`: exactly these, in this order.
    pub(super) uuids: Option<Vec<Arc<str>>>,
    /// `preservedSegment`, for files without the list: from this record …
    pub(super) head: Option<Arc<str>>,
    /// … to this one, by their parents.
    pub(super) tail: Option<Arc<str>>,
}

/// How a record names the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// It has no such field.
    Absent,
    /// It is a root.
    Null,
    /// The id.
    Is(Arc<str>),
}

impl Record {
    /// A record of the conversation, which can be the newest one of it.
    pub(super) fn is_message(&self) -> bool {
        matches!(
            self.kind,
            RecordKind::User { .. } | RecordKind::Assistant { .. }
        )
    }

    /// A message, or what the model is shown beside the messages, or a boundary: the newest of these is where
    /// the session stands.
    pub(super) fn is_in_talk(&self) -> bool {
        !matches!(self.kind, RecordKind::RequestShape | RecordKind::Other)
    }

    /// Something that the user said.
    pub(super) fn is_prompt(&self) -> bool {
        matches!(self.kind, RecordKind::User { .. }) && self.results.is_empty() && !self.meta
    }

    /// Answers to calls.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self.kind, RecordKind::User { summary: false }) && !self.results.is_empty()
    }
}

/// All records of a file, in order.
///
/// # Errors
/// When not lenient: at the first line that is no JSON object, and at the first message without content.
pub(super) fn read(source: &Source, lenient: bool) -> Result<(Vec<Record>, Vec<Fault>), ReadError> {
    lines::read(source, lenient, parse)
}

const A_MESSAGE: &str = "a `message` object whose `content` is a string or a list of blocks";

fn parse(line: Line<'_>) -> Result<Record, ReadError> {
    let object = line.object()?;
    let id = |key: &str| {
        object
            .string(key)
            .filter(|id| !id.is_empty())
            .map(Arc::from)
    };
    let mut record = Record {
        line: line.number,
        span: line.span(),
        kind: kind(&object),
        uuid: id("uuid"),
        parent: match object.get("parentUuid") {
            None => Parent::Absent,
            Some(_) => id("parentUuid").map_or(Parent::Null, Parent::Is),
        },
        sidechain: object.is_true("isSidechain"),
        meta: object.is_true("isMeta"),
        reply: None,
        calls: Vec::new(),
        results: Vec::new(),
    };
    if record.is_message() {
        let message = object.object("message").ok_or_else(|| {
            let found = object
                .get("message")
                .map_or("no message", |m| Kind::of(m).name());
            line.bad(found, A_MESSAGE)
        })?;
        let content = message
            .get("content")
            .filter(|c| matches!(Kind::of(c), Kind::String | Kind::Array))
            .ok_or_else(|| line.bad("a message without content", A_MESSAGE))?;
        if matches!(record.kind, RecordKind::Assistant { .. }) {
            record.reply = message
                .string("id")
                .filter(|id| !id.is_empty())
                .map(Arc::from);
        }
        for block in Array::of(content).unwrap_or_default().0 {
            let Some(block) = Object::of(block) else {
                continue;
            };
            let id = |key: &str| block.string(key).filter(|id| !id.is_empty()).map(Arc::from);
            match block.string("type").as_deref() {
                Some("tool_use") => record.calls.extend(id("id")),
                Some("tool_result") => record.results.extend(id("tool_use_id")),
                _ => {}
            }
        }
    }
    Ok(record)
}

fn kind(object: &Object<'_>) -> RecordKind {
    match object.string("type").as_deref() {
        Some("user") => RecordKind::User {
            summary: object.is_true("isCompactSummary"),
        },
        Some("assistant") => RecordKind::Assistant {
            api_error: object.is_true("isApiErrorMessage"),
        },
        Some("attachment") => RecordKind::Attachment,
        Some("api-request-shape") => RecordKind::RequestShape,
        Some("system") => match object.string("subtype").as_deref() {
            Some("compact_boundary") => RecordKind::Boundary(preserved(object)),
            Some("local_command") => RecordKind::LocalCommand,
            _ => RecordKind::Other,
        },
        _ => RecordKind::Other,
    }
}

fn preserved(object: &Object<'_>) -> Preserved {
    let metadata = object.object("compactMetadata").unwrap_or_default();
    let messages = metadata.object("preservedMessages").unwrap_or_default();
    let segment = metadata.object("preservedSegment").unwrap_or_default();
    let id = |of: &Object<'_>, key: &str| of.string(key).map(Arc::from);
    Preserved {
        anchor: id(&messages, "anchorUuid").or_else(|| id(&segment, "anchorUuid")),
        uuids: messages.array("uuids").map(|list| {
            let ids = list.0.into_iter();
            ids.map(|id| Arc::from(crate::json::string::decode(id)))
                .collect()
        }),
        head: id(&segment, "headUuid"),
        tail: id(&segment, "tailUuid"),
    }
}
