//! The seam for session files: formats that are a log of records rather than a list of messages, so that
//! a compaction is appended instead of spliced in.

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
        _ => None,
    }
}
