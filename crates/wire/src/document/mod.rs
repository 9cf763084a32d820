//! A file: its conversations, and the same file again with some of them compacted.

mod detect;
mod logs;
mod read;
mod render;
mod session;
mod shape;

use std::sync::Arc;

use conspectus_core::projection::Projection;

pub(crate) use detect::is_bare_meta;
pub use detect::message_format;
pub(crate) use read::{file_records, unknown_file};
pub(crate) use render::{check_handles, is_whole};
pub(crate) use session::SessionFormat;

use crate::anthropic::Anthropic;
use crate::cline::Cline;
use crate::conversation::Conversation;
use crate::error::{Fault, ReadError, WriteError};
use crate::format::Format;
use crate::gemini::Gemini;
use crate::langchain::LangChain;
use crate::neutral::Neutral;
use crate::openai::OpenAi;
use crate::responses::Responses;
use crate::source::Source;
use crate::write::Writer;

/// How to read a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The format; found by content when not named.
    pub format: Option<Format>,
    /// Keep what cannot be understood, as a [`Fault`], instead of refusing the file.
    pub lenient: bool,
}

/// How to write. All but `cache_summary` is what a session writer puts into the records that it appends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderContext {
    /// The time of the compaction, in milliseconds since 1970.
    pub now_ms: u64,
    /// What new record ids are made from; another compaction, another seed.
    pub id_seed: u64,
    /// Size of the conversation before.
    pub tokens_before: u64,
    /// Size after.
    pub tokens_after: u64,
    /// A trigger started it, not a person.
    pub automatic: bool,
    /// Puts a cache breakpoint on the summary, in formats that have them and if the request has room for one:
    /// what is frozen by a compaction is then read from the cache until the next one.
    pub cache_summary: bool,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) source: Arc<Source>,
    pub(crate) format: Format,
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) faults: Vec<Fault>,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is not text, not JSON, or of no known format; when not lenient, also when a message is none.
    pub fn open(bytes: Vec<u8>, options: &OpenOptions) -> Result<Self, ReadError> {
        read::open(Arc::new(Source::new(bytes)?), options)
    }

    /// The file itself.
    pub fn bytes(&self) -> &[u8] {
        self.source.text().as_bytes()
    }

    /// The file itself, handed back without a copy where nobody else holds it.
    pub fn into_bytes(self) -> Vec<u8> {
        let Self {
            source,
            conversations,
            ..
        } = self;
        drop(conversations);
        match Arc::try_unwrap(source) {
            Ok(source) => source.into_bytes(),
            Err(shared) => shared.text().as_bytes().to_vec(),
        }
    }

    /// The format of its messages.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its conversations, in the order of the file.
    pub fn conversations(&self) -> &[Conversation] {
        &self.conversations
    }

    /// What could not be understood and is kept as it is.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The whole file again, with the messages of these conversations (by index) as their projection says and
    /// all else byte for byte.
    ///
    /// # Errors
    /// When a conversation or message does not exist in this document.
    pub fn render(
        &self,
        edits: &[(usize, &Projection)],
        context: &RenderContext,
    ) -> Result<Vec<u8>, WriteError> {
        match session::of(self.format) {
            Some(session) => session.render(self, edits, context),
            None => render::render(self, edits, context),
        }
    }
}

/// A format whose conversations are lists of messages.
pub(crate) trait Dialect: crate::read::Reader + Writer {}

impl<T: crate::read::Reader + Writer> Dialect for T {}

/// The dialect behind a name, if it is one.
pub(crate) fn dialect(format: Format) -> Option<&'static dyn Dialect> {
    match format {
        Format::OpenAi | Format::MiniSweAgent => Some(&OpenAi),
        Format::Anthropic => Some(&Anthropic),
        Format::Cline => Some(&Cline),
        Format::Gemini => Some(&Gemini),
        Format::Neutral => Some(&Neutral),
        Format::LangChain => Some(&LangChain),
        Format::Responses => Some(&Responses),
        _ => None,
    }
}
