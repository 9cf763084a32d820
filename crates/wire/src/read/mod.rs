//! Reading messages: what all formats of content share.

mod blocks;
mod builder;

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{MessageView, PartKind, Role};

use crate::conversation::{Conversation, Emptied, Fixed, Home, Message, TextAt};
use crate::error::Fault;
use crate::json::{Kind, Object, Span};

pub(crate) use blocks::{block, call_block, content, is_call_block, text_or_json};
pub(crate) use builder::Builder;

/// How deep a message may nest. Readers of JSON commonly stop at 128.
pub(crate) const MAX_DEPTH: usize = 120;

/// Why a message is not what its format says. It is then shown as one opaque part and passed through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Odd {
    /// What is there.
    pub(crate) found: String,
    /// What was expected.
    pub(crate) expected: &'static str,
    /// It is not even a message: only lenient reading goes on.
    pub(crate) is_no_message: bool,
}

impl Odd {
    pub(crate) fn new(found: impl Into<String>, expected: &'static str) -> Self {
        Self {
            found: found.into(),
            expected,
            is_no_message: false,
        }
    }

    /// It is not even a message.
    pub(crate) fn no_message(found: impl Into<String>, expected: &'static str) -> Self {
        Self {
            is_no_message: true,
            ..Self::new(found, expected)
        }
    }
}

/// How the messages of a request format are read.
pub(crate) trait Reader: Sync {
    /// The view of the message at `span`, and where its parts stand.
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd>;

    /// What stands beside the messages in the object that holds them.
    fn fixed(&self, request: &Object<'_>) -> Fixed;

    /// What can only be told when all messages are there. `request` is the object that holds them.
    fn finish(
        &self,
        _conversation: &mut Conversation,
        _request: Option<Span>,
        _faults: &mut Vec<Fault>,
    ) {
    }
}

/// The object at `span`, without a key that occurs twice.
pub(crate) fn object(source: &str, span: Span) -> Result<Object<'_>, Odd> {
    const EXPECTED: &str = "a message object";
    let json = span.text(source);
    match Kind::of(json) {
        Kind::Object => unique(json, EXPECTED),
        other => Err(Odd::no_message(other.name(), EXPECTED)),
    }
}

/// `json` as an object without a key that occurs twice.
pub(crate) fn unique<'a>(json: &'a str, expected: &'static str) -> Result<Object<'a>, Odd> {
    let object = Object::of(json).ok_or_else(|| Odd::new(Kind::of(json).name(), expected))?;
    object
        .unique()
        .map_err(|_| Odd::new("a key that occurs twice", expected))
}

/// The view of something that is kept as it is: injected by nobody knows whom, so never a user's request.
pub(crate) fn opaque(
    source: &str,
    span: Span,
    handle: Handle,
    label: &str,
) -> (MessageView, Message) {
    let mut builder = Builder::new(source, Role::User, None);
    let kind = PartKind::Opaque {
        label: label.into(),
    };
    builder.push(kind, TextAt::Json(span), span, Home::Content(Emptied::Null));
    let native_id = Object::of(span.text(source))
        .and_then(|object| object.string("id"))
        .map(Arc::from);
    let (mut view, message) = builder.finish(handle, span, native_id);
    view.flags.hidden = true;
    (view, message)
}
