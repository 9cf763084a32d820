//! Writing messages: patches of one message, and the list that the messages stand in.

mod edit;
mod list;

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::patch::Patch;
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::Role;

use crate::conversation::Conversation;
use crate::error::WriteError;
use crate::json::{Span, Splices};

pub(crate) use edit::edited;
pub(crate) use list::{array, lines, texts, value};

/// One message of the list to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// One that was there; with another text if it was edited.
    Kept {
        /// Which.
        handle: Handle,
        /// Its JSON now.
        edited: Option<String>,
    },
    /// One of ours.
    Made(String),
}

/// A conversation's list, and what goes into the system prompt that stands outside of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// The list.
    pub(crate) slots: Vec<Slot>,
    /// Texts to add to the system prompt.
    pub(crate) system: Vec<Arc<str>>,
}

/// How the messages of a request format are written.
pub(crate) trait Writer: Sync {
    /// The list for a projection. `cache_summary`: with a cache breakpoint on the summary, in formats that have
    /// them, if there is room for one.
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        cache_summary: bool,
    ) -> Result<Written, WriteError>;

    /// A message that stands for itself as an element of a list. Only formats that take a bare string change it.
    fn as_message(&self, json: &str) -> String {
        json.to_owned()
    }

    /// Adds texts to the system prompt of the object at `request`. Only formats that keep it there do.
    fn add_system(
        &self,
        _source: &str,
        _request: Span,
        _texts: &[Arc<str>],
        _splices: &mut Splices,
    ) {
    }
}

/// The slot of a kept or edited message. `None` when its patches leave nothing of it.
pub(crate) fn kept(conversation: &Conversation, handle: Handle, patches: &[Patch]) -> Option<Slot> {
    let view = conversation.views.get(handle.0 as usize)?;
    let message = conversation.message(handle)?;
    if patches.is_empty() {
        return Some(Slot::Kept {
            handle,
            edited: None,
        });
    }
    let text = edited(conversation.source.text(), view, message, patches)?;
    Some(Slot::Kept {
        handle,
        edited: Some(text),
    })
}

/// The list of a format whose blocks are messages of their own. Rules of system rank go directly behind the
/// leading system messages, wherever the script names them: chat templates and several servers refuse a system
/// message that comes later.
pub(crate) fn hoisted(
    conversation: &Conversation,
    pieces: &[&Piece],
    message: impl Fn(&Block) -> String,
) -> Result<Written, WriteError> {
    let is_rules = |block: &Block| block.kind == BlockKind::Rules && block.role == Role::System;
    let mut slots = Vec::with_capacity(pieces.len());
    let mut rules = Vec::new();
    let mut leading = 0;
    for piece in pieces {
        let slot = match piece {
            Piece::Insert(block) if is_rules(block) => {
                rules.push(Slot::Made(message(block)));
                continue;
            }
            Piece::Insert(block) => Some(Slot::Made(message(block))),
            Piece::Keep(handle) => kept(conversation, *handle, &[]),
            Piece::Edit(handle, patches) => kept(conversation, *handle, patches),
        };
        let is_system = match piece {
            Piece::Insert(block) => block.role == Role::System,
            Piece::Keep(handle) | Piece::Edit(handle, _) => conversation
                .views
                .get(handle.0 as usize)
                .is_some_and(|view| view.role == Role::System),
        };
        if is_system && leading == slots.len() {
            leading += usize::from(slot.is_some());
        }
        slots.extend(slot);
    }
    slots.splice(leading..leading, rules);
    Ok(Written {
        slots,
        system: Vec::new(),
    })
}
