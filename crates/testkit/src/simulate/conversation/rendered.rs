//! A life through the bytes of a format: the same conversation, written, read and rendered by `wire`, and judged by
//! two validators that know nothing of each other (invariants 4 and 11).

use std::sync::Arc;

use conspectus_core::projection::{Piece, Projection};
use conspectus_core::view::{MessageView, Texts};
use conspectus_wire::{Document, OpenOptions, RenderContext, valid};

use super::Life;
use crate::transcript::{Format, Strict, violations};

/// A conversation as a file.
pub(super) struct Rendered {
    format: Format,
    document: Document,
}

fn wire_format(format: Format) -> conspectus_wire::Format {
    match format {
        Format::OpenAi => conspectus_wire::Format::OpenAi,
        Format::Anthropic => conspectus_wire::Format::Anthropic,
        Format::LangChain => conspectus_wire::Format::LangChain,
    }
}

impl Rendered {
    /// The life's conversation as a file, and what is read from it, with what only the host knows taken from
    /// `views`. `None` when the life does not want it, or when the format reads another number of messages.
    pub(super) fn of(life: &Life, views: &[MessageView]) -> Option<(Self, Vec<MessageView>)> {
        if !life.through_bytes {
            return None;
        }
        let options = OpenOptions {
            format: Some(wire_format(life.format)),
            lenient: true,
        };
        let body = life.talk.render(life.format).body();
        let document = Document::open(body, &options).ok()?;
        let read = document.conversations().first()?.views();
        if read.len() != views.len() {
            return None;
        }
        let told = |(read, view): (&MessageView, &MessageView)| MessageView {
            flags: view.flags,
            reply: view.reply,
            ..read.clone()
        };
        let read = read.iter().zip(views).map(told).collect();
        let format = life.format;
        Some((Self { format, document }, read))
    }

    pub(super) fn texts(&self) -> &dyn Texts {
        &self.document.conversations()[0]
    }

    /// 4: if the provider takes `history`, it takes `request`. 11: what is untouched is the same bytes. Whether
    /// the history was valid.
    pub(super) fn check(
        &self,
        history: &[Arc<MessageView>],
        request: &Projection,
    ) -> Result<bool, String> {
        let keep = history.iter().map(|v| Piece::Keep(v.handle));
        let whole = Projection {
            frozen: Arc::from([]),
            tail: std::sync::Arc::new(keep.collect()),
        };
        let before = self.bytes(&whole)?;
        if !self.faults(&before).is_empty() {
            return Ok(false);
        }
        let after = self.bytes(request)?;
        if request.is_untouched() && after != before {
            return Err("11: other bytes although nothing is changed".to_owned());
        }
        match self.faults(&after).first() {
            Some(first) => Err(format!(
                "4: valid before, and now: {first}\n{}",
                String::from_utf8_lossy(&after)
            )),
            None => Ok(true),
        }
    }

    fn bytes(&self, request: &Projection) -> Result<Vec<u8>, String> {
        let context = RenderContext::default();
        let bytes = self.document.render(&[(0, request)], &context);
        bytes.map_err(|error| format!("3: {error}"))
    }

    fn faults(&self, bytes: &[u8]) -> Vec<String> {
        let ours = valid::check(wire_format(self.format), bytes);
        let mut out: Vec<String> = ours.iter().map(ToString::to_string).collect();
        out.extend(violations(self.format, bytes, Strict::default()));
        out
    }
}
