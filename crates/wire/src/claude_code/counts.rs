//! What a session file holds over all its records, out of sight or not.

use conspectus_core::view::{MediaKind, MessageView, PartKind};

use crate::claude_code::record::{self, RecordKind};
use crate::document::Document;
use crate::format::Format;
use crate::json::{Array, Kind, Object};
use crate::source::Source;

/// Counts over all records of a session file, branches and sub-agents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Records of the user or the model, one for each block of a reply; in Codex's files items and compactions.
    pub messages: usize,
    /// Tool calls.
    pub calls: usize,
    /// Tool results.
    pub results: usize,
    /// Images, those in tool results included.
    pub images: usize,
    /// Summaries of the client's own compactions.
    pub summaries: usize,
}

impl RecordCounts {
    /// Adds a record by what it is in views.
    pub(crate) fn add(&mut self, views: &[MessageView]) {
        self.messages += usize::from(!views.is_empty());
        for view in views {
            self.summaries += usize::from(view.flags.summary);
            for part in &view.parts {
                match part.kind {
                    PartKind::Call { .. } => self.calls += 1,
                    PartKind::Result { .. } => self.results += 1,
                    PartKind::Media(MediaKind::Image) => self.images += 1,
                    _ => {}
                }
            }
        }
    }
}

impl Document {
    /// What a session file holds over all its records; `None` for formats that are lists of messages, which
    /// hold what they show.
    pub fn record_counts(&self) -> Option<RecordCounts> {
        match self.format {
            Format::Claude => Some(count(&self.source)),
            Format::Codex => Some(crate::codex::count(&self.source)),
            Format::Pi => Some(crate::pi::count(&self.source)),
            Format::GeminiCli => Some(crate::gemini_cli::count(&self.source)),
            Format::Copilot => Some(crate::copilot::count(&self.source)),
            Format::OpenHands => Some(crate::openhands::count(&self.source)),
            Format::Goose => Some(crate::goose::count(&self.source)),
            _ => None,
        }
    }
}

/// Counts what the lines that can be read hold.
fn count(source: &Source) -> RecordCounts {
    let mut counts = RecordCounts::default();
    let records = record::read(source, true).map(|(records, _)| records);
    for record in records
        .unwrap_or_default()
        .iter()
        .filter(|r| r.is_message())
    {
        counts.messages += 1;
        counts.summaries += usize::from(record.kind == RecordKind::User { summary: true });
        let content = Object::of(record.span.text(source.text()))
            .and_then(|object| object.object("message"))
            .and_then(|message| message.get("content"));
        blocks(content.unwrap_or_default(), &mut counts);
    }
    counts
}

fn blocks(content: &str, counts: &mut RecordCounts) {
    if Kind::of(content) != Kind::Array {
        return;
    }
    let blocks = Array::of(content).unwrap_or_default().0;
    for block in blocks.into_iter().filter_map(Object::of) {
        match block.string("type").as_deref() {
            Some("tool_use") => counts.calls += 1,
            Some("image") => counts.images += 1,
            Some("tool_result") => {
                counts.results += 1;
                let inner = block.get("content").unwrap_or_default();
                let images = Array::of(inner).unwrap_or_default().0.into_iter();
                let is_image =
                    |block: &Object<'_>| block.string("type").as_deref() == Some("image");
                counts.images += images.filter_map(Object::of).filter(is_image).count();
            }
            _ => {}
        }
    }
}
