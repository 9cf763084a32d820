//! What the core sees of a message: facts, never bytes.
//!
//! A surface (wire format, Python object, session file) makes one [`MessageView`] for each message and
//! answers questions about its text through [`Texts`], decoded on demand. Everything the core decides
//! comes back as an edit script over the surface's own handles ([`crate::projection`]), so unknown
//! fields, signatures and number formats survive: the core never held them.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{CallId, Handle, Ident, ReplyId};

/// Who speaks. `developer` is [`Role::System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The host's rules.
    System,
    /// The person, or the host on their behalf. In Anthropic's format tool results stand here too.
    User,
    /// The model.
    Assistant,
    /// A tool's answer, in formats that give it a role of its own.
    Tool,
}

/// How the surface writes the content. Only counting formulas that depend on it ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentForm {
    /// One string.
    #[default]
    Text,
    /// A list of blocks.
    Blocks,
    /// Missing or `null`.
    Absent,
}

/// Independent facts about a message, told by its surface or its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags {
    /// A dynamic-context reminder (date, memory) that the host tagged: stays.
    pub reminder: bool,
    /// Not typed by a person: injected by the host, hidden from the user interface. Never the current request.
    pub hidden: bool,
    /// The host wants it kept for good.
    pub pinned: bool,
    /// Still streaming.
    pub partial: bool,
    /// An earlier summary that stands in the list. Never the current request; replaced by the next summary.
    pub summary: bool,
}

/// What the provider reported for the call that produced an assistant message, in one normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the whole request, cached ones included exactly once.
    pub input: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Of `input`: read from the cache.
    pub cache_read: u64,
    /// Of `input`: written to the cache.
    pub cache_write: u64,
    /// The `total_tokens` field as reported, where the format has one (LangChain's scaling reads it).
    pub reported_total: Option<u64>,
    /// The provider's name as the format states it (`response_metadata.model_provider`).
    pub provider: Option<Arc<str>>,
}

impl Usage {
    /// The size of the context after this reply: what was sent and what was written.
    pub fn context(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What kind of media a part holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// Moving pictures.
    Video,
    /// A document or file, by reference or inline.
    File,
}

/// What one part of a message is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Plain text.
    Text,
    /// Reasoning of the model. `bound` reasoning carries a signature or is encrypted: it may be kept
    /// whole or left out whole, never edited.
    Reasoning {
        /// Signed or encrypted by the provider.
        bound: bool,
    },
    /// A tool call; its text is the arguments as JSON text (or free text for custom tools).
    Call {
        /// The id that its answer names.
        id: CallId,
        /// The tool's name.
        tool: Arc<str>,
    },
    /// A tool's answer. Its text is the content when that is one string; when it is a list, the text is
    /// empty and the pieces follow as parts that stand [`Part::inside`] this one.
    Result {
        /// The id of the call that it answers.
        id: CallId,
        /// The tool's name, where the format repeats it.
        tool: Option<Arc<str>>,
        /// The tool said that it failed.
        error: bool,
    },
    /// A picture, sound or file. Its text is the data or reference, so that equal media can be found.
    Media(MediaKind),
    /// Something this surface does not know or must not touch: kept as it is, and its message with it.
    Opaque {
        /// The block's type as the format names it.
        label: Arc<str>,
    },
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Length of its decoded text in bytes.
    pub len: u32,
    /// The index of the [`PartKind::Result`] that this part stands in, for answers that are lists.
    pub inside: Option<u16>,
}

impl Part {
    /// A part that stands by itself.
    pub fn new(kind: PartKind, len: usize) -> Self {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        Self {
            kind,
            len,
            inside: None,
        }
    }

    /// A part of the result at index `result`.
    pub fn inside(kind: PartKind, len: usize, result: usize) -> Self {
        let inside = u16::try_from(result).ok();
        Self {
            inside,
            ..Self::new(kind, len)
        }
    }
}

/// The core's view of one message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageView {
    /// Digest of what it says.
    pub ident: Ident,
    /// Who speaks.
    pub role: Role,
    /// Its parts, in the order in which the model reads them.
    pub parts: Vec<Part>,
    /// How the surface writes the content.
    pub form: ContentForm,
    /// The author's name, where the format has one.
    pub name: Option<Arc<str>>,
    /// Facts told by surface and host.
    pub flags: Flags,
    /// The reply of the model that this message is a piece of.
    pub reply: Option<ReplyId>,
    /// What the provider reported for the call that wrote this message.
    pub usage: Option<Usage>,
    /// The surface's payload.
    pub handle: Handle,
}

impl MessageView {
    /// A message without any special fact.
    pub fn new(handle: Handle, role: Role, parts: Vec<Part>, ident: Ident) -> Self {
        Self {
            ident,
            role,
            parts,
            form: ContentForm::Text,
            name: None,
            flags: Flags::default(),
            reply: None,
            usage: None,
            handle,
        }
    }

    /// Something the user said: role user with anything but tool results in it, not injected by the host,
    /// and not an earlier summary.
    pub fn is_user_request(&self) -> bool {
        self.role == Role::User
            && !self.flags.hidden
            && !self.flags.reminder
            && !self.flags.summary
            && !self.is_only_results()
    }

    /// Nothing but tool results (and there is one).
    pub fn is_only_results(&self) -> bool {
        let mut outer = self.parts.iter().filter(|p| p.inside.is_none()).peekable();
        outer.peek().is_some() && outer.all(|p| matches!(p.kind, PartKind::Result { .. }))
    }

    /// The tool calls of this message with their part index.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &CallId, &Arc<str>)> {
        self.parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match &part.kind {
                PartKind::Call { id, tool } => Some((index, id, tool)),
                _ => None,
            })
    }

    /// The tool results of this message with their part index.
    pub fn results(&self) -> impl Iterator<Item = (usize, &CallId)> {
        self.parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match &part.kind {
                PartKind::Result { id, .. } => Some((index, id)),
                _ => None,
            })
    }
}

/// A part of a message, by the surface's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartRef {
    /// The message.
    pub message: Handle,
    /// The index in [`MessageView::parts`].
    pub part: u16,
}

/// Decoded text on demand. Implemented by each surface over what it holds.
pub trait Texts {
    /// The decoded text of a part: see [`PartKind`] for what that is. Undecodable input (a lone surrogate)
    /// is shown with replacement characters. An unknown reference gives the empty string.
    fn text(&self, at: PartRef) -> Cow<'_, str>;

    /// The beginning of [`Texts::text`]: as many whole characters as `max_bytes` bytes hold. A surface that can
    /// tell without decoding all of it should.
    fn head(&self, at: PartRef, max_bytes: usize) -> Cow<'_, str> {
        match self.text(at) {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..text.floor_char_boundary(max_bytes)]),
            Cow::Owned(mut text) => {
                text.truncate(text.floor_char_boundary(max_bytes));
                Cow::Owned(text)
            }
        }
    }

    /// The part's source as JSON, for formulas that count its spelling: the block for content blocks,
    /// the arguments object for calls. `None` when the surface has no JSON.
    fn json(&self, at: PartRef) -> Option<Cow<'_, str>>;
}
