//! A projection as messages with their texts.

use std::collections::{BTreeMap, BTreeSet};

use conspectus_core::id::Handle;
use conspectus_core::patch::{Patch, Patched};
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{Flags, MessageView, PartKind, PartRef, Role, Texts as _};

use crate::conversation::Conversation;

/// A message of the projection.
pub(super) enum Said<'a> {
    /// One that was there.
    Message(Message<'a>),
    /// One of ours.
    Block(&'a Block),
}

/// A message that was there, patches applied.
pub(super) struct Message<'a> {
    pub(super) view: &'a MessageView,
    /// The id that its format gives it.
    pub(super) id: Option<&'a str>,
    /// What is left of it, in order; parts inside a result follow it.
    pub(super) parts: Vec<Part<'a>>,
}

/// A part that is left.
pub(super) struct Part<'a> {
    /// What it is now: half a picture is text.
    pub(super) kind: PartKind,
    /// Its text now.
    pub(super) text: String,
    /// It stands inside the result before it.
    pub(super) is_inside: bool,
    /// Its source.
    pub(super) json: &'a str,
}

impl Said<'_> {
    /// Who speaks.
    pub(super) fn role(&self) -> Role {
        match self {
            Said::Message(message) => message.view.role,
            Said::Block(block) => block.role,
        }
    }

    /// What is known of it.
    pub(super) fn flags(&self) -> Flags {
        match self {
            Said::Message(message) => message.view.flags,
            Said::Block(block) => Flags {
                summary: block.kind == BlockKind::Summary,
                ..Flags::default()
            },
        }
    }
}

/// The messages of a projection. Rules of system rank go directly behind the leading system messages.
pub(super) fn of<'a>(conversation: &'a Conversation, pieces: &[&'a Piece]) -> Vec<Said<'a>> {
    let mut out = Vec::with_capacity(pieces.len());
    let mut rules = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Insert(block)
                if block.kind == BlockKind::Rules && block.role == Role::System =>
            {
                rules.push(Said::Block(block));
            }
            Piece::Insert(block) => out.push(Said::Block(block)),
            Piece::Keep(handle) => out.extend(message(conversation, *handle, &[])),
            Piece::Edit(handle, patches) => out.extend(message(conversation, *handle, patches)),
        }
    }
    let leading = out.iter().take_while(|said| said.role() == Role::System);
    let leading = leading.count();
    out.splice(leading..leading, rules);
    out
}

/// The message after its patches, unless they leave nothing of it.
fn message<'a>(
    conversation: &'a Conversation,
    handle: Handle,
    patches: &[Patch],
) -> Option<Said<'a>> {
    let view = conversation.views.get(handle.0 as usize)?;
    let places = &conversation.message(handle)?.parts;
    let named = patches.iter().filter_map(|patch| match patch {
        Patch::Remove { part, .. } => Some(*part),
        Patch::Cut { .. } => None,
    });
    let gone: BTreeSet<u16> = named.collect();
    let mut cuts: BTreeMap<u16, Vec<Patch>> = BTreeMap::new();
    for patch in patches {
        if matches!(patch, Patch::Cut { .. }) {
            cuts.entry(patch.part()).or_default().push(patch.clone());
        }
    }
    let mut parts = Vec::with_capacity(view.parts.len());
    for (n, (part, place)) in view.parts.iter().zip(places).enumerate() {
        let Ok(index) = u16::try_from(n) else { break };
        let with_its_result = part.inside.is_some_and(|result| gone.contains(&result));
        if gone.contains(&index) || with_its_result {
            continue;
        }
        let at = PartRef {
            message: handle,
            part: index,
        };
        let is_fixed = matches!(
            part.kind,
            PartKind::Opaque { .. } | PartKind::Reasoning { bound: true }
        );
        let cuts = cuts.get(&index).filter(|_| !is_fixed);
        let (kind, text) = match (&part.kind, cuts) {
            // Half a picture is none.
            (PartKind::Media(_), Some(cuts)) => {
                let marker = cuts.iter().rev().find_map(|patch| match patch {
                    Patch::Cut { marker, .. } => Some(marker.to_string()),
                    Patch::Remove { .. } => None,
                });
                (PartKind::Text, marker.unwrap_or_default())
            }
            (kind, Some(cuts)) => {
                let patched = Patched::new(conversation, handle, cuts);
                (kind.clone(), patched.text(at).into_owned())
            }
            (kind, None) => (kind.clone(), conversation.text(at).into_owned()),
        };
        parts.push(Part {
            kind,
            text,
            is_inside: part.inside.is_some(),
            json: place.block.text(conversation.source.text()),
        });
    }
    let says = |kind: &PartKind| !matches!(kind, PartKind::Reasoning { .. });
    let said_something = view.parts.iter().any(|part| says(&part.kind));
    let says_something = parts.iter().any(|part| says(&part.kind));
    if !gone.is_empty() && (parts.is_empty() || (said_something && !says_something)) {
        return None;
    }
    Some(Said::Message(Message {
        view,
        id: conversation.native_id(handle),
        parts,
    }))
}
