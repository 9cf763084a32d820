//! From projections to the file again.

use std::collections::BTreeMap;

use conspectus_core::projection::{Piece, Projection};

use super::{Document, RenderContext, dialect};
use crate::conversation::{Conversation, List};
use crate::error::WriteError;
use crate::json::Splices;
use crate::write::{array, lines, value};

/// # Errors
/// See [`Document::render`].
pub(super) fn render(
    document: &Document,
    edits: &[(usize, &Projection)],
    context: &RenderContext,
) -> Result<Vec<u8>, WriteError> {
    let dialect = dialect(document.format).ok_or(WriteError::NoWriter(document.format))?;
    let source = document.source.text();
    let mut splices = Splices::new();
    let edits: BTreeMap<usize, &Projection> = edits.iter().copied().collect();
    for (index, projection) in edits {
        let conversation = document
            .conversations
            .get(index)
            .ok_or(WriteError::NoConversation(index))?;
        let pieces: Vec<_> = projection.pieces().collect();
        check_handles(index, conversation, &pieces)?;
        if is_whole(conversation, &pieces) {
            continue;
        }
        if conversation.is_continued {
            return Err(WriteError::HistoryElsewhere(index));
        }
        let written = dialect.list(conversation, &pieces, context.cache_summary)?;
        match conversation.list {
            List::Lines => return Ok(lines(conversation, &written.slots).into_bytes()),
            List::Value { value: at, .. } => {
                let list = value(conversation, &written.slots, |text| {
                    dialect.as_message(text)
                });
                splices.replace(at, list);
            }
            List::Array { array: at, request } => {
                splices.replace(at, array(conversation, at, &written.slots));
                if let Some(request) = request {
                    dialect.add_system(source, request, &written.system, &mut splices);
                }
            }
        }
    }
    let whole = (0..source.len()).into();
    Ok(splices.apply(source, whole).into_bytes())
}

/// Whether the conversation has every message that the pieces name.
pub(crate) fn check_handles(
    conversation: usize,
    messages: &Conversation,
    pieces: &[&Piece],
) -> Result<(), WriteError> {
    for piece in pieces {
        if let Piece::Keep(handle) | Piece::Edit(handle, _) = piece
            && messages.message(*handle).is_none()
        {
            return Err(WriteError::NoMessage {
                conversation,
                handle: handle.0,
            });
        }
    }
    Ok(())
}

/// Every message in its place and nothing else: the bytes that are there will do.
pub(crate) fn is_whole(conversation: &Conversation, pieces: &[&Piece]) -> bool {
    pieces.len() == conversation.messages.len()
        && pieces
            .iter()
            .enumerate()
            .all(|(n, piece)| matches!(piece, Piece::Keep(handle) if handle.0 as usize == n))
}
