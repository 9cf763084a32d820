//! Collects the parts of a message, where they stand, and the digest of what they say.

use std::sync::Arc;

use conspectus_core::frame;
use conspectus_core::id::{Handle, IdentHasher};
use conspectus_core::view::{MediaKind, MessageView, Part, PartKind, Role};

use super::Odd;
use crate::conversation::{Home, Message, Place, TextAt};
use crate::json::{Object, Span, compact};

/// Members that say nothing: clients move them every turn.
const CACHE_MARKERS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// Builds one message.
pub(crate) struct Builder<'s> {
    source: &'s str,
    role: Role,
    name: Option<Arc<str>>,
    hash: IdentHasher,
    parts: Vec<Part>,
    places: Vec<Place>,
    /// Every text so far is a block that the core wrote.
    is_ours: bool,
}

impl<'s> Builder<'s> {
    /// A message without parts. `source` is the whole file.
    pub(crate) fn new(source: &'s str, role: Role, name: Option<&str>) -> Self {
        let mut hash = IdentHasher::new();
        hash.field(&[role as u8]);
        hash.field(name.unwrap_or_default().as_bytes());
        Self {
            source,
            role,
            name: name.map(Arc::from),
            hash,
            parts: Vec::new(),
            places: Vec::new(),
            is_ours: true,
        }
    }

    /// The whole file.
    pub(crate) fn source(&self) -> &'s str {
        self.source
    }

    /// Nothing was said so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Where a piece of the file stands.
    pub(crate) fn span(&self, piece: &str) -> Span {
        Span::of(self.source, piece)
    }

    /// Adds a part and gives its index.
    pub(crate) fn push(&mut self, kind: PartKind, text: TextAt, block: Span, home: Home) -> usize {
        self.add(kind, text, block, home, None)
    }

    /// Adds a part of the result at index `result`.
    pub(crate) fn push_inside(
        &mut self,
        kind: PartKind,
        text: TextAt,
        block: Span,
        home: Home,
        result: Option<usize>,
    ) -> usize {
        self.add(kind, text, block, home, result)
    }

    /// The part at `index` is written once more, there.
    pub(crate) fn copy(&mut self, index: usize, text: TextAt, block: Span, home: Home) {
        self.places[index].copies.push(Place {
            text,
            block,
            home,
            copies: Vec::new(),
            is_beside: false,
        });
    }

    /// The call at index is listed beside a content that is a list.
    pub(crate) fn stands_beside(&mut self, index: usize) {
        self.places[index].is_beside = true;
    }

    /// The message, unless it has more parts than a reference can name.
    pub(crate) fn build(
        self,
        handle: Handle,
        span: Span,
        native_id: Option<Arc<str>>,
    ) -> Result<(MessageView, Message), Odd> {
        if self.parts.len() > usize::from(u16::MAX) {
            return Err(Odd::new("65536 parts or more", "a message of fewer parts"));
        }
        Ok(self.finish(handle, span, native_id))
    }

    pub(super) fn finish(
        mut self,
        handle: Handle,
        span: Span,
        native_id: Option<Arc<str>>,
    ) -> (MessageView, Message) {
        // Most messages have one part, and a list that grew has room for four.
        self.parts.shrink_to_fit();
        self.places.shrink_to_fit();
        let mut view = MessageView::new(handle, self.role, self.parts, self.hash.finish());
        view.name = self.name;
        let is_told = matches!(self.role, Role::User | Role::System) && !view.parts.is_empty();
        view.flags.summary = is_told && self.is_ours;
        let message = Message {
            span,
            native_id,
            parts: self.places,
        };
        (view, message)
    }

    fn add(
        &mut self,
        kind: PartKind,
        text: TextAt,
        block: Span,
        home: Home,
        result: Option<usize>,
    ) -> usize {
        let index = self.parts.len();
        let decoded = text.read(self.source);
        let part = match result {
            Some(result) => Part::inside(kind, decoded.len(), result),
            None => Part::new(kind, decoded.len()),
        };
        self.is_ours &= part.kind == PartKind::Text && frame::is_ours(&decoded);
        self.digest(&part, text, &decoded);
        self.parts.push(part);
        self.places.push(Place {
            text,
            block,
            home,
            copies: Vec::new(),
            is_beside: false,
        });
        index
    }

    /// A result's one string is digested like a list of one text block, and empty text like none.
    fn digest(&mut self, part: &Part, text: TextAt, decoded: &str) {
        let hash = &mut self.hash;
        match &part.kind {
            PartKind::Text => {}
            PartKind::Reasoning { .. } => hash.field(b"reasoning"),
            PartKind::Call { id, tool } => {
                hash.field(b"call");
                hash.field(id.as_str().as_bytes());
                hash.field(tool.as_bytes());
            }
            PartKind::Result { id, error, .. } => {
                hash.field(b"result");
                hash.field(id.as_str().as_bytes());
                hash.field(&[u8::from(*error)]);
            }
            PartKind::Media(kind) => hash.field(match kind {
                MediaKind::Image => b"image",
                MediaKind::Audio => b"audio",
                MediaKind::Video => b"video",
                MediaKind::File => b"file",
            }),
            PartKind::Opaque { label } => {
                hash.field(b"opaque");
                hash.field(label.as_bytes());
            }
        }
        match text {
            _ if decoded.is_empty() => {}
            TextAt::Json(_) | TextAt::Response(_) => digest_json(hash, decoded),
            _ => {
                hash.field(b"text");
                hash.field(decoded.as_bytes());
            }
        }
    }
}

/// Spelling and cache markers left out.
fn digest_json(hash: &mut IdentHasher, json: &str) {
    hash.field(b"json");
    let Some(object) = Object::of(json) else {
        return hash.field(compact(json).as_bytes());
    };
    for member in &object.members {
        if !CACHE_MARKERS.contains(&member.key.as_ref()) {
            hash.field(member.key.as_bytes());
            hash.field(compact(member.value).as_bytes());
        }
    }
}
