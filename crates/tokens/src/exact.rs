//! A vocabulary as a [`TokenCounter`].

use std::fmt;

use conspectus_core::count::{CounterId, TokenCounter, Weight};
use conspectus_core::view::{MediaKind, MessageView, Part, PartKind, PartRef, Role, Texts};
use tiktoken::CoreBpe;

/// Of every message.
const MESSAGE: u64 = 3;
/// Of a name, beside its text.
const NAME: u64 = 1;
/// Of a tool call, beside its name and arguments.
const CALL: u64 = 3;

/// Counts by a vocabulary. Weights are tokens. Marks of special tokens in a text are ordinary text.
#[derive(Clone, Copy)]
pub struct Exact {
    id: CounterId,
    bpe: &'static CoreBpe,
}

impl Exact {
    pub(crate) fn new(id: CounterId, bpe: &'static CoreBpe) -> Self {
        Self { id, bpe }
    }

    fn part(self, at: PartRef, part: &Part, texts: &dyn Texts) -> Weight {
        let text = texts.text(at);
        match &part.kind {
            PartKind::Text | PartKind::Reasoning { .. } | PartKind::Result { .. } => {
                self.text(&text)
            }
            PartKind::Call { tool, .. } => CALL + self.text(tool) + self.text(&text),
            // What is not as long as it was has been patched: its marker counts, or nothing if it is gone.
            PartKind::Media(_) if text.len() != part.len as usize => self.text(&text),
            PartKind::Media(kind) => media_tokens(*kind),
            PartKind::Opaque { .. } if text.is_empty() => {
                texts.json(at).map_or(0, |json| self.text(&json))
            }
            PartKind::Opaque { .. } => self.text(&text),
        }
    }
}

impl TokenCounter for Exact {
    fn id(&self) -> CounterId {
        self.id
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        let name = message
            .name
            .as_deref()
            .map_or(0, |name| NAME + self.text(name));
        let handle = message.handle;
        let parts = (0u16..).zip(&message.parts).map(|(part, view)| {
            let at = PartRef {
                message: handle,
                part,
            };
            self.part(at, view, texts)
        });
        MESSAGE + self.text(role_name(message.role)) + name + parts.sum::<Weight>()
    }

    fn text(&self, text: &str) -> Weight {
        self.bpe.count(text) as Weight
    }

    fn added_message(&self, text: &str) -> Weight {
        MESSAGE + self.text(role_name(Role::User)) + self.text(text)
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight
    }
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exact").field(&self.id).finish()
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn media_tokens(kind: MediaKind) -> u64 {
    match kind {
        MediaKind::Image => 765,
        MediaKind::Audio | MediaKind::File => 2_000,
        MediaKind::Video => 4_000,
    }
}
