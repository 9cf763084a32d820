//! The request as an edit script: which payloads stay, which are patched, what is put between them.
//!
//! A [`Projection`] is a pure function of the history and the active record. Surfaces lower it:
//! `wire` splices bytes, Python returns the same message objects, session writers append records.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{CallId, Handle};
use crate::patch::Patch;
use crate::view::Role;

/// What an inserted block is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Static rules about how to read the data, of system rank.
    Rules,
    /// Summary and durable data, framed as data.
    Summary,
    /// Something that changed without a message, told once at the end.
    Reminder,
    /// A short reply of the assistant, for targets that want strict alternation.
    Acknowledgement,
    /// A stand-in for an answer that never came.
    Answer {
        /// The call that it answers.
        id: CallId,
        /// The tool's name.
        tool: Arc<str>,
    },
}

/// A block that the core wrote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// What it is for.
    pub kind: BlockKind,
    /// The rank it is shown with.
    pub role: Role,
    /// Its text.
    pub text: Arc<str>,
}

/// One step of the script.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// The message as it is, byte for byte.
    Keep(Handle),
    /// The message with these parts changed and all else as it is.
    Edit(Handle, Arc<[Patch]>),
    /// A block of our own.
    Insert(Block),
}

/// The request that would be sent now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Projection {
    /// The part that stays the same bytes until the next compaction.
    pub frozen: Arc<[Piece]>,
    /// What was appended since. Shared with the thread, which extends it in place once no projection holds it.
    pub tail: Arc<Vec<Piece>>,
}

impl Projection {
    /// All pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.frozen.iter().chain(self.tail.iter())
    }

    /// Whether every message is kept as it is and nothing is inserted: the input's own bytes will do.
    pub fn is_untouched(&self) -> bool {
        self.pieces().all(|piece| matches!(piece, Piece::Keep(_)))
    }
}
