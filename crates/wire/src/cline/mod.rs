//! Cline's sessions: Anthropic's messages with notes about them.
//!
//! Its own compactions are told by `metadata`: the agentic one puts a summary first (`compaction_summary`), the basic
//! one marks the first message (`compaction`) and leaves out what was between. Sizes that replies reported before
//! either are of a longer request.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::projection::Piece;
use conspectus_core::view::MessageView;

use crate::anthropic::Anthropic;
use crate::conversation::{Conversation, Fixed, Message};
use crate::error::{Fault, WriteError};
use crate::json::{Object, Span, Splices};
use crate::read::{Odd, Reader};
use crate::write::{Writer, Written};

/// The format.
pub(crate) struct Cline;

impl Reader for Cline {
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd> {
        Anthropic.message(source, span, handle)
    }

    fn fixed(&self, request: &Object<'_>) -> Fixed {
        Anthropic.fixed(request)
    }

    fn finish(
        &self,
        conversation: &mut Conversation,
        _request: Option<Span>,
        _faults: &mut Vec<Fault>,
    ) {
        let source = Arc::clone(&conversation.source);
        let is_compacted = |message: &Message| {
            let message = Object::of(message.span.text(source.text()));
            let metadata = message.and_then(|message| message.object("metadata"));
            let kind = metadata.and_then(|metadata| metadata.string("kind"));
            matches!(kind.as_deref(), Some("compaction" | "compaction_summary"))
        };
        if conversation.messages.iter().any(is_compacted) {
            let views = conversation.views.iter_mut();
            views.for_each(|view| view.usage = None);
        }
    }
}

impl Writer for Cline {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        cache_summary: bool,
    ) -> Result<Written, WriteError> {
        Anthropic.list(conversation, pieces, cache_summary)
    }

    fn add_system(&self, source: &str, request: Span, texts: &[Arc<str>], splices: &mut Splices) {
        Anthropic.add_system(source, request, texts, splices);
    }
}
