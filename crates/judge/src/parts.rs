//! The retention evaluation's neutral form of a transcript (a list of parts), seen through the core's eyes.

use std::borrow::Cow;
use std::sync::Arc;

use conspectus_core::id::{CallId, Handle, Ident};
use conspectus_core::view::{MediaKind, MessageView, Part, PartKind, PartRef, Role, Texts};
use serde::Deserialize;

/// What the evaluation writes to a compactor's standard input.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// Tokens that the answer may have, by the evaluation's measure ([`conspectus_eval::tokens`]).
    pub budget: u64,
    /// The transcript before the cut.
    pub parts: Vec<RawPart>,
}

/// One part of a transcript.
#[derive(Clone, Debug, Deserialize)]
pub struct RawPart {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `image`, `summary` or `opaque`.
    pub kind: String,
    /// Its text.
    pub text: String,
    /// The tool's name, or empty.
    pub name: String,
    /// The call's id, or empty.
    pub id: String,
    /// The message that it belongs to.
    pub msg: u64,
}

/// The transcript as messages, with their texts in memory.
#[derive(Debug, Default)]
pub struct Transcript {
    /// One view a message.
    pub messages: Vec<MessageView>,
    texts: Vec<Vec<String>>,
}

impl Transcript {
    /// Groups parts of one message and role.
    pub fn new(parts: &[RawPart]) -> Self {
        let mut out = Self::default();
        for group in parts.chunk_by(|a, b| a.msg == b.msg && a.role == b.role) {
            let handle = Handle(u32::try_from(out.messages.len()).unwrap_or(u32::MAX));
            let views = group.iter().map(|p| Part::new(p.part_kind(), p.text.len()));
            let all: String = group.iter().map(|p| p.text.as_str()).collect();
            let role = group[0].role();
            let mut view = MessageView::new(handle, role, views.collect(), Ident::of(&all));
            view.flags.summary = group.iter().any(|p| p.kind == "summary");
            out.messages.push(view);
            out.texts
                .push(group.iter().map(|p| p.text.clone()).collect());
        }
        out
    }
}

impl RawPart {
    fn role(&self) -> Role {
        match self.role.as_str() {
            "system" | "developer" => Role::System,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::User,
        }
    }

    fn part_kind(&self) -> PartKind {
        let id = || CallId::from(self.id.as_str());
        match self.kind.as_str() {
            "thinking" => PartKind::Reasoning { bound: false },
            "tool_call" => PartKind::Call {
                id: id(),
                tool: Arc::from(self.name.as_str()),
            },
            "tool_result" => PartKind::Result {
                id: id(),
                tool: None,
                error: false,
            },
            "image" => PartKind::Media(MediaKind::Image),
            "opaque" => PartKind::Opaque {
                label: Arc::from(self.name.as_str()),
            },
            _ => PartKind::Text,
        }
    }
}

impl Texts for Transcript {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        let message = self.texts.get(at.message.0 as usize);
        let text = message.and_then(|parts| parts.get(usize::from(at.part)));
        Cow::Borrowed(text.map_or("", String::as_str))
    }

    fn json(&self, _at: PartRef) -> Option<Cow<'_, str>> {
        None
    }
}
