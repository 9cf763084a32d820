//! The next request taken apart: what each message of it is, what it weighs, and what of it the provider may hold.

use std::sync::Arc;

use conspectus_core::cost::Warmth;
use conspectus_core::effect::Millis;
use conspectus_core::id::NodeId;
use conspectus_core::projection::{BlockKind, Piece};
use conspectus_core::view::Role;
use serde::Serialize;

use super::open::Opened;
use super::request::Request;

/// A request with what is known of its parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestInParts {
    /// The request.
    #[serde(flatten)]
    pub request: Request,
    /// One for each of its messages, in order.
    pub parts: Vec<RequestPart>,
    /// The beginning that the provider may hold.
    pub cached: CachedPrefix,
}

/// A message of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestPart {
    /// What it is.
    pub kind: PartKind,
    /// What it weighs, by the thread's counter.
    pub tokens: u64,
    /// Its place in the conversation, from 0, where it is a message of it.
    pub position: Option<u64>,
    /// Its id there.
    pub id: Option<Arc<str>>,
}

/// What a message of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A system prompt.
    System,
    /// A message as it came.
    Message,
    /// A message of which parts are shortened.
    Shortened,
    /// How the summary is to be read.
    Rules,
    /// The summary, and what code keeps beside it.
    Summary,
    /// Something that is told once, at the end.
    Reminder,
    /// A short reply that keeps the order of speakers.
    Acknowledgement,
    /// A stand-in for an answer that never came.
    Answer,
}

/// The beginning of a request that stood in the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CachedPrefix {
    /// So many parts of it.
    pub parts: usize,
    /// Their tokens, by the thread's counter.
    pub tokens: u64,
    /// Whether the provider still holds them, by its prices' time to live and when a request was sent last.
    pub warmth: Warmth,
    /// What the provider reported to have read from its cache for the newest reply.
    pub reported: Option<u64>,
}

impl RequestInParts {
    pub(super) fn of(opened: &Opened, now: Millis) -> Self {
        let request = Request::of(opened);
        let mut parts = Vec::with_capacity(request.messages.len());
        for piece in opened.thread.projection().pieces() {
            if opened.shelf.shown(piece).is_some() {
                parts.push(part(opened, piece));
            }
        }
        let cached = cached(opened, &parts, request.size.fixed, now);
        Self {
            cached,
            request,
            parts,
        }
    }
}

fn part(opened: &Opened, piece: &Piece) -> RequestPart {
    let counter = opened.counter();
    let of_message = |node: NodeId, is_edited: bool| {
        let branch = opened.thread.branch();
        let at = branch.position(node);
        let role = at.map(|at| branch.view(at).role);
        RequestPart {
            kind: match role {
                _ if is_edited => PartKind::Shortened,
                Some(Role::System) => PartKind::System,
                _ => PartKind::Message,
            },
            tokens: at.map_or(0, |at| counter.tokens(opened.thread.weight_at(at))),
            position: at.map(|at| at as u64),
            id: opened.shelf.id(node).cloned(),
        }
    };
    match piece {
        Piece::Keep(at) => of_message(NodeId(u64::from(at.0)), false),
        Piece::Edit(at, patches) => of_message(NodeId(u64::from(at.0)), !patches.is_empty()),
        Piece::Insert(block) => RequestPart {
            kind: match block.kind {
                BlockKind::Rules => PartKind::Rules,
                BlockKind::Summary => PartKind::Summary,
                BlockKind::Reminder => PartKind::Reminder,
                BlockKind::Acknowledgement => PartKind::Acknowledgement,
                BlockKind::Answer { .. } => PartKind::Answer,
            },
            tokens: counter.tokens(counter.added_message(&block.text)),
            position: None,
            id: None,
        },
    }
}

/// What stood in the last request: all before the newest reply that came under the record in force; where none came
/// since, what that record left as it was.
fn cached(opened: &Opened, parts: &[RequestPart], fixed: u64, now: Millis) -> CachedPrefix {
    let thread = &opened.thread;
    let branch = thread.branch();
    let upto = thread
        .active()
        .and_then(|record| branch.position(record.upto));
    let first = upto.map_or(0, |at| at + 1);
    let mut newest_first = (first..branch.len()).rev();
    let reply = newest_first.find(|at| branch.view(*at).role == Role::Assistant);
    let count = match reply {
        Some(reply) => {
            let is_before = |part: &RequestPart| part.position.is_none_or(|p| p < reply as u64);
            parts.iter().take_while(|part| is_before(part)).count()
        }
        None => {
            let change = thread.active().and_then(|record| record.measured.change);
            let same = change.map_or(0, |change| change.same);
            let mut sum = fixed;
            let fits = |part: &&RequestPart| {
                sum += part.tokens;
                sum <= same
            };
            parts.iter().take_while(fits).count()
        }
    };
    let usage = reply.and_then(|at| branch.view(at).usage.clone());
    CachedPrefix {
        parts: count,
        tokens: parts[..count].iter().map(|part| part.tokens).sum(),
        warmth: thread.warmth(now, &thread.size(opened.sources())),
        reported: usage.map(|usage| usage.cache_read),
    }
}
