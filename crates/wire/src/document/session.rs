//! The seam for session files: formats that are a log of records rather than a list of messages, so that
//! a compaction is appended instead of spliced in, or written in another form.

use std::sync::Arc;

use conspectus_core::projection::Projection;

use super::{Document, OpenOptions, RenderContext};
use crate::error::{ReadError, WriteError};
use crate::format::Format;
use crate::source::Source;

/// A format that reads and writes the whole file by itself.
pub(crate) trait SessionFormat: Sync {
    /// Reads the file. Handles are indices into the conversation's messages.
    fn open(&self, source: Arc<Source>, options: &OpenOptions) -> Result<Document, ReadError>;

    /// Writes it; see [`Document::render`].
    fn render(
        &self,
        document: &Document,
        edits: &[(usize, &Projection)],
        context: &RenderContext,
    ) -> Result<Vec<u8>, WriteError>;
}

/// The session format behind a name, if it is one.
pub(crate) fn of(format: Format) -> Option<&'static dyn SessionFormat> {
    match format {
        Format::Claude => Some(&crate::claude_code::ClaudeCode),
        Format::Codex => Some(&crate::codex::Codex),
        Format::GeminiCli => Some(&crate::gemini_cli::GeminiCli),
        Format::Copilot => Some(&crate::copilot::Copilot),
        Format::Pi => Some(&crate::pi::Pi),
        Format::OpenHands => Some(&crate::openhands::OpenHands),
        Format::SweAgent => Some(&crate::swe_agent::SweAgent),
        Format::Inspect => Some(&crate::inspect::Inspect),
        Format::Goose => Some(&crate::goose::Goose),
        _ => None,
    }
}
