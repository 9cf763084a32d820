//! What stands behind the conversation: answers that a call still waits for, and the instruction.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::patch::Patch;
use conspectus_core::project::STAND_IN;
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{MessageView, PartKind, Role};

use super::Ask;
use crate::conversation::Conversation;
use crate::format::Format;
use crate::json::{Array, Kind, Object, Span, Splices, string};
use crate::write::Slot;

/// What the assistant is made to say where two may not speak one after the other.
const ACKNOWLEDGED: &str = "Understood.";

/// The end of the script.
pub(super) struct Ending {
    /// How many of the pieces stay.
    pub(super) kept: usize,
    /// Stand-ins for answers.
    pub(super) answers: Vec<Piece>,
    /// The instruction, and what has to stand in front of it.
    pub(super) turns: Vec<Piece>,
}

/// What follows the pieces.
pub(super) fn of(
    format: Format,
    conversation: &Conversation,
    pieces: &[&Piece],
    ask: &Ask<'_>,
) -> Ending {
    let is_unfinished = |piece: &&&Piece| match format {
        Format::Anthropic => is_empty_reply(conversation, piece),
        Format::Responses => is_reasoning(conversation, piece),
        _ => false,
    };
    let kept = pieces.len() - pieces.iter().rev().take_while(is_unfinished).count();
    let pieces = &pieces[..kept];
    let answers = unanswered(format, conversation, pieces).into_iter();
    let answers: Vec<Piece> = answers
        .map(|(id, tool)| block(BlockKind::Answer { id, tool }, Role::Tool, STAND_IN))
        .collect();
    let last = match (answers.is_empty(), pieces.last()) {
        (false, _) => Some(Role::Tool),
        (true, last) => last.and_then(|last| speaker(conversation, last)),
    };
    let needs_reply = match (format, last) {
        // Anthropic's messages of system rank may not stand before a user's.
        (Format::Anthropic, Some(Role::System)) => true,
        (Format::OpenAi, Some(Role::Tool)) => ask.strict_turns,
        _ => false,
    };
    let mut turns = Vec::new();
    if needs_reply {
        let kind = BlockKind::Acknowledgement;
        turns.push(block(kind, Role::Assistant, ACKNOWLEDGED));
    }
    turns.push(block(BlockKind::Reminder, Role::User, ask.instruction));
    Ending {
        kept,
        answers,
        turns,
    }
}

/// Puts the instruction, which is the last message, into the one before it where that is a user's too.
pub(super) fn join_users(conversation: &Conversation, slots: &mut Vec<Slot>, instruction: &str) {
    let [.., before, _] = slots.as_slice() else {
        return;
    };
    let Some(joined) = with_text(text(conversation, before), instruction) else {
        return;
    };
    slots.pop();
    if let Some(last) = slots.last_mut() {
        *last = match last {
            Slot::Kept { handle, .. } => Slot::Kept {
                handle: *handle,
                edited: Some(joined),
            },
            Slot::Made(_) => Slot::Made(joined),
        };
    }
}

/// A user's message with a text behind what it says. `None`: it is nobody's whom we know, or has no content.
fn with_text(message: &str, more: &str) -> Option<String> {
    let object = Object::of(message)?;
    if object.has_duplicates || object.string("role").as_deref() != Some("user") {
        return None;
    }
    let content = object.value("content")?;
    let span = Span::of(message, content);
    let block = || format!(r#"{{"type":"text","text":{}}}"#, string::encode(more));
    let mut splices = Splices::new();
    match (Kind::of(content), Array::of(content)) {
        (Kind::String, _) => {
            let gap = if content == "\"\"" { "" } else { "\\n\\n" };
            let more = string::encode_inner(more);
            splices.insert(span.end - 1, format!("{gap}{more}"));
        }
        (_, Some(blocks)) => match blocks.0.last() {
            Some(last) => splices.insert(Span::of(message, last).end, format!(",{}", block())),
            None => splices.replace(span, format!("[{}]", block())),
        },
        _ => return None,
    }
    Some(splices.apply(message, Span::new(0, message.len())))
}

/// Calls at the end that nothing answers: those of the last reply, and everywhere in formats that let answers stand
/// anywhere behind.
fn unanswered(
    format: Format,
    conversation: &Conversation,
    pieces: &[&Piece],
) -> Vec<(CallId, Arc<str>)> {
    let mut open: Vec<(CallId, Arc<str>)> = Vec::new();
    let mut answered: BTreeSet<CallId> = BTreeSet::new();
    let anywhere = format == Format::Responses;
    let mut before = None;
    for piece in pieces {
        let (view, patches) = match piece {
            Piece::Insert(block) => {
                match &block.kind {
                    BlockKind::Answer { id, .. } => {
                        answered.insert(id.clone());
                    }
                    _ if !anywhere => open.clear(),
                    _ => {}
                }
                before = Some(block.role);
                continue;
            }
            Piece::Keep(handle) => (conversation.views.get(handle.0 as usize), &[][..]),
            Piece::Edit(handle, patches) => {
                (conversation.views.get(handle.0 as usize), patches.as_ref())
            }
        };
        let Some(view) = view else { continue };
        // Consecutive messages of the assistant are one turn for Anthropic.
        let goes_on = format == Format::Anthropic && before == Some(Role::Assistant);
        let is_next_turn = match view.role {
            Role::Assistant => !goes_on,
            Role::Tool => false,
            Role::User => view.results().next().is_none(),
            Role::System => true,
        };
        if is_next_turn && !anywhere {
            open.clear();
            answered.clear();
        }
        for part in parts(view, patches) {
            match part {
                PartKind::Call { id, tool } => open.push((id.clone(), tool.clone())),
                PartKind::Result { id, .. } => {
                    answered.insert(id.clone());
                }
                _ => {}
            }
        }
        before = Some(view.role);
    }
    open.retain(|(id, _)| !answered.contains(id));
    open
}

/// Kinds of the parts that patches leave.
fn parts<'a>(
    view: &'a MessageView,
    patches: &'a [Patch],
) -> impl Iterator<Item = &'a PartKind> + 'a {
    let is_gone = |at: usize| {
        let removes = |p: &Patch| usize::from(p.part()) == at && matches!(p, Patch::Remove { .. });
        patches.iter().any(removes)
    };
    let parts = view.parts.iter().enumerate();
    parts
        .filter(move |(at, _)| !is_gone(*at))
        .map(|(_, part)| &part.kind)
}

fn speaker(conversation: &Conversation, piece: &Piece) -> Option<Role> {
    match piece {
        Piece::Insert(block) => Some(block.role),
        Piece::Keep(handle) | Piece::Edit(handle, _) => {
            Some(conversation.views.get(handle.0 as usize)?.role)
        }
    }
}

/// A reply that was begun for the model and says nothing yet: only the last message may be that.
fn is_empty_reply(conversation: &Conversation, piece: &Piece) -> bool {
    let Piece::Keep(handle) = piece else {
        return false;
    };
    let message = Object::of(conversation.json_of(*handle)).unwrap_or_default();
    let says_nothing = message.value("content").is_none_or(|content| {
        Array::of(content).is_some_and(|blocks| blocks.0.is_empty())
            || Kind::of(content) == Kind::String && string::decode(content).trim().is_empty()
    });
    message.string("role").as_deref() == Some("assistant") && says_nothing
}

/// Reasoning whose reply was cut off: nothing but that reply may follow it.
fn is_reasoning(conversation: &Conversation, piece: &Piece) -> bool {
    let Piece::Keep(handle) = piece else {
        return false;
    };
    let item = Object::of(conversation.json_of(*handle)).unwrap_or_default();
    item.string("type").as_deref() == Some("reasoning")
}

fn block(kind: BlockKind, role: Role, text: &str) -> Piece {
    let text = text.into();
    Piece::Insert(Block { kind, role, text })
}

fn text<'a>(conversation: &'a Conversation, slot: &'a Slot) -> &'a str {
    match slot {
        Slot::Made(text)
        | Slot::Kept {
            edited: Some(text), ..
        } => text,
        Slot::Kept { handle, .. } => conversation.json_of(*handle),
    }
}
