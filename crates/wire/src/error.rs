//! What can go wrong with a file, and where.

use crate::format::Format;

/// A file that cannot be read. Every variant says where, what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Nothing but space.
    #[error("the file is empty, expected a conversation as JSON or JSON lines")]
    Empty,
    /// More than places in it can be told apart.
    #[error("the file is larger than 4 GiB, the most that can be read; split it")]
    TooLarge,
    /// Not text.
    #[error(
        "line {line}: byte {byte:#04x} at offset {offset} is not UTF-8, convert the file to UTF-8 first"
    )]
    NotUtf8 {
        /// Line of the first bad byte, from 1.
        line: usize,
        /// Its offset in the file, from 0.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// A database or an archive, which holds conversations in another wrapping.
    #[error("the file is {what}, write the conversation out of it first ({hint})")]
    Packed {
        /// What it is, with an article.
        what: &'static str,
        /// How the programs that keep such files do that.
        hint: &'static str,
    },
    /// Not JSON, or cut off.
    #[error("line {line}, column {column}: {found}, expected {expected}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser met.
        found: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// JSON, but no conversation that we know.
    #[error(
        "line {line}: found {found}, expected messages of a known format ({names}), \
         as a list, under `messages`, or one a line; if the format is known to you, name it",
        names = Format::names()
    )]
    UnknownShape {
        /// Line, from 1.
        line: usize,
        /// The shape that is there.
        found: String,
    },
    /// One element where a message should stand is none. Lenient reading keeps it and goes on.
    #[error(
        "line {line}: message {index} is {found}, expected {expected}; read leniently to keep it as it is"
    )]
    BadMessage {
        /// Line, from 1.
        line: usize,
        /// Its index in its conversation, from 0.
        index: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// This build has no reader for the format.
    #[error("this build does not read {0} files")]
    NoReader(Format),
}

impl ReadError {
    /// The largest file, in bytes: lengths and places of texts are 32 bits wide.
    pub const MAX_BYTES: u64 = u32::MAX as u64;
}

/// Something in a file that could not be understood and was kept as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// What is there.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

/// A projection that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The document has no such conversation.
    #[error("there is no conversation {0} in this file")]
    NoConversation(usize),
    /// The projection names a message that the conversation does not have.
    #[error(
        "conversation {conversation} has no message {handle}, render the projection of this very file"
    )]
    NoMessage {
        /// Index of the conversation.
        conversation: usize,
        /// The handle.
        handle: u32,
    },
    /// The messages go on from a history that only the server has: what is left out of them would not be gone.
    #[error(
        "conversation {0} goes on from a history that the server keeps (`previous_response_id` or `conversation`), \
         it can only be written as it is; compact where the history is"
    )]
    HistoryElsewhere(usize),
    /// The file is a log that nobody sends anywhere.
    #[error(
        "{0} files are logs and cannot be written back in place, convert to chat messages (openai) or to role and \
         parts (neutral) instead"
    )]
    NotInPlace(Format),
    /// This build has no writer for the format.
    #[error("this build does not write {0} files")]
    NoWriter(Format),
}
