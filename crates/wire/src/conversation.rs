//! One conversation of a file: the core's views, and where each part of them stands in the source.

use std::borrow::Cow;
use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{MessageView, PartRef, Texts};

use crate::json::{Span, string};
use crate::source::Source;

/// One conversation. A message's [`Handle`] is its index in the conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    pub(crate) label: String,
    pub(crate) source: Arc<Source>,
    pub(crate) views: Vec<MessageView>,
    /// Where they stand, one for each view.
    pub(crate) messages: Vec<Message>,
    pub(crate) fixed: Fixed,
    /// Where the messages stand together.
    pub(crate) list: List,
    /// The messages go on from a history that only the server has.
    pub(crate) is_continued: bool,
    /// It is sent to a provider that binds signed reasoning to everything before it.
    pub(crate) binds_reasoning: bool,
}

/// Where the messages of a conversation stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// Elements of this array, in a request or state object if there is one around it.
    Array {
        /// The array, brackets included.
        array: Span,
        /// The object around it that may hold a system prompt.
        request: Option<Span>,
    },
    /// The one message is this value: a prompt as a string.
    Value {
        /// The value.
        value: Span,
        /// The request that it is a member of.
        request: Span,
    },
    /// One a line, and nothing else in the file.
    Lines,
}

/// What is sent with every request and stands outside the messages. Only counted, never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// The system prompt, its blocks joined by line ends; empty without one.
    pub system: String,
    /// The tool definitions as JSON; empty without any.
    pub tools: String,
}

/// Where a message stands.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// Its JSON: an element of a list, or a line.
    pub(crate) span: Span,
    /// The id that the format gives messages.
    pub(crate) native_id: Option<Arc<str>>,
    /// One for each part of the view.
    pub(crate) parts: Vec<Place>,
}

/// Where a part stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Where its text comes from.
    pub(crate) text: TextAt,
    /// Its JSON: the content block, the content string, the entry of `tool_calls`.
    pub(crate) block: Span,
    /// What it is a piece of, and so what leaving it out means.
    pub(crate) home: Home,
    /// The same call written again in another field (LangChain): edited along with this one.
    pub(crate) copies: Vec<Place>,
    /// A call that is listed beside a content which is a list (LangChain): there, only a copy in that list is content.
    pub(crate) is_beside: bool,
}

impl Place {
    /// The call's block in the content, for one that is listed beside it.
    fn block_in_content(&self) -> Option<Span> {
        let is_content = |home: &Home| {
            let emptied = Emptied::Text;
            matches!(home, Home::Element { emptied: found, .. } if *found == emptied)
        };
        let mut copies = self.copies.iter();
        Some(copies.find(|copy| is_content(&copy.home))?.block)
    }
}

/// Where a part's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextAt {
    /// There is none.
    Nowhere,
    /// A JSON string; its decoded text.
    String(Span),
    /// A JSON value; its source is the text.
    Json(Span),
    /// A JSON object that a tool answered, where only objects may stand; its source is the text. Cut, it is no
    /// object any more and becomes the `output` of one.
    Response(Span),
}

/// What a part is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// An element of the array that stands there.
    Element {
        /// The array.
        array: Span,
        /// What the array becomes when its last element goes.
        emptied: Emptied,
    },
    /// A member of the object that stands there; its value is the part's block.
    Member(Span),
    /// The message's content itself, as one value.
    Content(Emptied),
    /// The message as a whole: nothing is left without it.
    Whole,
}

/// What stands where everything was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptied {
    /// `null`
    Null,
    /// `""`
    Text,
    /// `[]`
    List,
    /// Not even the key: the list is a member of the object that stands there.
    Nothing(Span),
}

impl Conversation {
    /// A conversation without messages.
    pub(crate) fn new(label: String, source: Arc<Source>) -> Self {
        Self {
            label,
            source,
            views: Vec::new(),
            messages: Vec::new(),
            fixed: Fixed::default(),
            list: List::Lines,
            is_continued: false,
            binds_reasoning: false,
        }
    }

    /// Its index or id in its container.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The messages as the core sees them, in order.
    pub fn views(&self) -> &[MessageView] {
        &self.views
    }

    /// Whether its provider takes signed reasoning only behind exactly what stood before it when it was written:
    /// Anthropic's newer models do.
    pub fn binds_reasoning(&self) -> bool {
        self.binds_reasoning
    }

    /// What stands outside the messages.
    pub fn fixed(&self) -> &Fixed {
        &self.fixed
    }

    /// The id that the format itself gives the message (`id`, `uuid`), if any.
    pub fn native_id(&self, handle: Handle) -> Option<&str> {
        self.message(handle)?.native_id.as_deref()
    }

    /// The message as it stands in the file; empty for an unknown handle.
    pub fn json_of(&self, handle: Handle) -> &str {
        self.message(handle)
            .map(|message| message.span.text(self.source.text()))
            .unwrap_or_default()
    }

    pub(crate) fn message(&self, handle: Handle) -> Option<&Message> {
        self.messages.get(handle.0 as usize)
    }

    fn place(&self, at: PartRef) -> Option<&Place> {
        self.message(at.message)?.parts.get(usize::from(at.part))
    }
}

impl TextAt {
    /// The text itself.
    pub(crate) fn read(self, source: &str) -> Cow<'_, str> {
        match self {
            Self::Nowhere => Cow::Borrowed(""),
            Self::String(span) => string::decode(span.text(source)),
            Self::Json(span) | Self::Response(span) => Cow::Borrowed(span.text(source)),
        }
    }

    /// Its beginning: as many whole characters as `max_bytes` bytes hold.
    fn head(self, source: &str, max_bytes: usize) -> Cow<'_, str> {
        match self {
            Self::Nowhere => Cow::Borrowed(""),
            Self::String(span) => string::decode_head(span.text(source), max_bytes),
            Self::Json(span) | Self::Response(span) => {
                let text = span.text(source);
                Cow::Borrowed(&text[..text.floor_char_boundary(max_bytes)])
            }
        }
    }
}

impl Texts for Conversation {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        self.place(at)
            .map(|place| place.text.read(self.source.text()))
            .unwrap_or_default()
    }

    fn head(&self, at: PartRef, max_bytes: usize) -> Cow<'_, str> {
        self.place(at)
            .map(|place| place.text.head(self.source.text(), max_bytes))
            .unwrap_or_default()
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        let place = self.place(at)?;
        let view = self.views.get(at.message.0 as usize)?;
        let source = self.source.text();
        Some(match view.parts.get(usize::from(at.part))?.kind {
            conspectus_core::view::PartKind::Call { .. } if place.is_beside => {
                Cow::Borrowed(place.block_in_content()?.text(source))
            }
            conspectus_core::view::PartKind::Call { .. } => place.text.read(source),
            _ => Cow::Borrowed(place.block.text(source)),
        })
    }
}
