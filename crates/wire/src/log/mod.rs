//! Logs of other programs: files that tell what was said, and that nobody sends anywhere or resumes from.
//!
//! They are read into the same views as requests. Since several records can make one message and one record several,
//! their views stand where they may, and a compaction of them is written in another form ([`crate::Target`]).

mod reading;

use std::sync::Arc;

use conspectus_core::projection::{Piece, Projection};
use conspectus_core::view::Role;

pub(crate) use reading::{Reading, file_as_text, unknown};

use crate::conversation::Conversation;
use crate::document::{
    Document, OpenOptions, RenderContext, SessionFormat, check_handles, is_whole,
};
use crate::error::{Fault, ReadError, WriteError};
use crate::format::Format;
use crate::source::Source;

/// Messages of a list that are looked at to tell whose it is.
pub(crate) const MESSAGES_TO_TELL: usize = 50;

/// A format of logs.
pub(crate) trait Log: Sync {
    /// Its name.
    fn format(&self) -> Format;

    /// The conversations of a file, and what in it was not understood.
    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError>;
}

impl<T: Log> SessionFormat for T {
    fn open(&self, source: Arc<Source>, options: &OpenOptions) -> Result<Document, ReadError> {
        let (mut conversations, mut faults) = self.read(&source, options)?;
        conversations.iter_mut().for_each(pin_unread);
        faults.sort_by_key(|fault| fault.line);
        Ok(Document {
            source,
            format: self.format(),
            conversations,
            faults,
        })
    }

    /// The file as it is, or an error: a log is not written anew.
    fn render(
        &self,
        document: &Document,
        edits: &[(usize, &Projection)],
        _context: &RenderContext,
    ) -> Result<Vec<u8>, WriteError> {
        for (index, projection) in edits {
            let conversation = document
                .conversations
                .get(*index)
                .ok_or(WriteError::NoConversation(*index))?;
            let pieces: Vec<&Piece> = projection.pieces().collect();
            check_handles(*index, conversation, &pieces)?;
            if !is_whole(conversation, &pieces) {
                return Err(WriteError::NotInPlace(self.format()));
            }
        }
        Ok(document.bytes().to_vec())
    }
}

/// What was told to the model without being a person's request (the output of a command, an observation) and that it
/// has not replied to yet: like a result that was not read, it is not to be folded.
fn pin_unread(conversation: &mut Conversation) {
    let unread = conversation.views.iter_mut().rev();
    for view in unread.take_while(|view| view.role != Role::Assistant) {
        view.flags.pinned |= view.role == Role::User && view.flags.hidden;
    }
}
