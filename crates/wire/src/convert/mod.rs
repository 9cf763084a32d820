//! A document in another form: for logs, which cannot be written back, and for whoever wants chat messages.
//!
//! The way there is the same for every format. A projection's pieces become messages with their decoded texts
//! ([`said`]), and those are written: as role and parts with everything that they hold ([`neutral`]), or as chat
//! messages with all calls answered ([`chat`]).

mod chat;
mod neutral;
mod said;

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::projection::{Piece, Projection};
use serde::{Deserialize, Serialize};

use crate::conversation::Conversation;
use crate::document::{Document, check_handles, is_whole};
use crate::error::WriteError;
use crate::format::Format;

/// A form that every document can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Target {
    /// Chat messages as OpenAI's API takes them: `{"messages": […]}`, one object a line for several conversations.
    /// Signed reasoning is left out, since no other provider takes it; calls without an answer get a stand-in, answers
    /// without a call become a user's text.
    OpenAi,
    /// Role and parts: everything, in our own form ([`Format::Neutral`]).
    Neutral,
}

impl Target {
    /// The format that it is read as.
    pub fn format(self) -> Format {
        match self {
            Self::OpenAi => Format::OpenAi,
            Self::Neutral => Format::Neutral,
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.format().name()
    }
}

impl Document {
    /// The conversations in another form, those of `edits` (by index) as their projection says and the others whole.
    ///
    /// # Errors
    /// When a conversation or message does not exist in this document, or goes on from a history that only a server
    /// has and is not whole.
    pub fn convert(
        &self,
        edits: &[(usize, &Projection)],
        target: Target,
    ) -> Result<Vec<u8>, WriteError> {
        let edits: BTreeMap<usize, &Projection> = edits.iter().copied().collect();
        if let Some((index, _)) = edits.range(self.conversations.len()..).next() {
            return Err(WriteError::NoConversation(*index));
        }
        let mut written = Vec::with_capacity(self.conversations.len());
        for (index, conversation) in self.conversations.iter().enumerate() {
            let whole;
            let projection = match edits.get(&index) {
                Some(projection) => *projection,
                None => {
                    whole = everything(conversation);
                    &whole
                }
            };
            let pieces: Vec<&Piece> = projection.pieces().collect();
            check_handles(index, conversation, &pieces)?;
            if conversation.is_continued && !is_whole(conversation, &pieces) {
                return Err(WriteError::HistoryElsewhere(index));
            }
            let messages = said::of(conversation, &pieces);
            written.push(match target {
                Target::OpenAi => chat::request(conversation, &messages, self.conversations.len()),
                Target::Neutral => neutral::conversation(conversation, &messages),
            });
        }
        Ok(match target {
            Target::OpenAi => written.join("\n") + "\n",
            Target::Neutral => neutral::file(&written),
        }
        .into_bytes())
    }
}

fn everything(conversation: &Conversation) -> Projection {
    let handles = conversation.views.iter().map(|view| view.handle);
    Projection {
        frozen: Arc::default(),
        tail: Arc::new(handles.map(Piece::Keep).collect()),
    }
}
