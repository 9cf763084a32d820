//! Collects the messages of a log.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{MessageView, PartKind, Role};

use crate::conversation::{Conversation, Emptied, Home, Message, TextAt};
use crate::document::file_records;
use crate::error::{Fault, ReadError};
use crate::json::{Kind, Object, Span, depth};
use crate::read::{Builder, MAX_DEPTH, Odd, Reader, content, opaque, text_or_json};
use crate::source::Source;

/// One conversation in the making.
pub(crate) struct Reading<'a> {
    source: &'a Arc<Source>,
    /// What it is so far.
    pub(crate) conversation: Conversation,
    /// What was not understood.
    pub(crate) faults: Vec<Fault>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(source: &'a Arc<Source>, label: impl Into<String>) -> Self {
        Self {
            source,
            conversation: Conversation::new(label.into(), Arc::clone(source)),
            faults: Vec::new(),
        }
    }

    /// The whole file.
    pub(crate) fn text(&self) -> &'a str {
        self.source.text()
    }

    /// Adds what `build` makes of the record at `span`; nothing if that has no part. What cannot be understood is
    /// kept as one opaque part.
    pub(crate) fn add(
        &mut self,
        span: Span,
        role: Role,
        build: impl FnOnce(&mut Builder<'a>) -> Result<(), Odd>,
    ) -> Option<&mut MessageView> {
        let text = self.text();
        let handle = Handle(u32::try_from(self.conversation.views.len()).unwrap_or(u32::MAX));
        let id = |object: Object<'_>| object.string("id").map(|id| Arc::from(id.as_ref()));
        let made = match depth(span.text(text)) {
            levels if levels > MAX_DEPTH => Err(Odd::new(
                format!("nesting {levels} levels deep"),
                "a record that nests less than 120 levels deep",
            )),
            _ => {
                let mut builder = Builder::new(text, role, None);
                let built = build(&mut builder);
                if built.is_ok() && builder.is_empty() {
                    return None;
                }
                let native_id = Object::of(span.text(text)).and_then(id);
                built.and_then(|()| builder.build(handle, span, native_id))
            }
        };
        self.keep(span, handle, made)
    }

    /// Adds the message at `span` as a request format reads it.
    pub(crate) fn add_as(&mut self, reader: &dyn Reader, span: Span) -> Option<&mut MessageView> {
        let text = self.text();
        let handle = Handle(u32::try_from(self.conversation.views.len()).unwrap_or(u32::MAX));
        let made = match depth(span.text(text)) {
            levels if levels > MAX_DEPTH => Err(Odd::new(
                format!("nesting {levels} levels deep"),
                "a message that nests less than 120 levels deep",
            )),
            _ => reader.message(text, span, handle),
        };
        self.keep(span, handle, made)
    }

    fn keep(
        &mut self,
        span: Span,
        handle: Handle,
        made: Result<(MessageView, Message), Odd>,
    ) -> Option<&mut MessageView> {
        let (view, message) = made.unwrap_or_else(|odd| {
            self.faults.push(Fault {
                line: self.source.line(span.start),
                found: odd.found,
                expected: odd.expected,
            });
            opaque(self.source.text(), span, handle, "unreadable")
        });
        self.conversation.views.push(view);
        self.conversation.messages.push(message);
        self.conversation.views.last_mut()
    }

    /// Adds a record that is not known, as it is.
    pub(crate) fn add_unknown(&mut self, span: Span, label: &str) {
        let handle = Handle(u32::try_from(self.conversation.views.len()).unwrap_or(u32::MAX));
        let (view, message) = opaque(self.text(), span, handle, label);
        self.conversation.views.push(view);
        self.conversation.messages.push(message);
    }

    /// Takes the newest reply of the model.
    pub(crate) fn newest_reply(&mut self) -> Option<&mut MessageView> {
        let views = self.conversation.views.iter_mut();
        views.rev().find(|view| view.role == Role::Assistant)
    }

    /// The conversation; `found` is where somebody would look for its messages.
    ///
    /// # Errors
    /// When it has no message although the file is not empty.
    pub(crate) fn done(self, expected: bool) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        if expected && self.conversation.views.is_empty() {
            return Err(unknown(self.source));
        }
        Ok((vec![self.conversation], self.faults))
    }
}

/// The error for a file that has no record of the format.
pub(crate) fn unknown(source: &Source) -> ReadError {
    crate::document::unknown_file(source)
}

impl Builder<'_> {
    /// A string, or a list of blocks; what is neither becomes an opaque part.
    pub(crate) fn said(&mut self, value: Option<&str>) -> Result<(), Odd> {
        let Some(value) = value else {
            return Ok(());
        };
        match Kind::of(value) {
            Kind::Array => content(self, value, None, Emptied::List),
            Kind::String if value == "\"\"" => Ok(()),
            Kind::String => {
                self.text_of(PartKind::Text, value);
                Ok(())
            }
            kind => {
                let label = kind.name().into();
                self.text_of(PartKind::Opaque { label }, value);
                Ok(())
            }
        }
    }

    /// A part whose text is this value: a string's own, anything else as JSON.
    pub(crate) fn text_of(&mut self, kind: PartKind, value: &str) -> usize {
        let span = self.span(value);
        let text = text_or_json(self.source(), Some(value));
        self.push(kind, text, span, Home::Content(Emptied::Null))
    }

    /// A result whose content is this value.
    pub(crate) fn result_of(&mut self, kind: PartKind, value: Option<&str>) -> Result<(), Odd> {
        match value {
            Some(list) if Kind::of(list) == Kind::Array => {
                let span = self.span(list);
                let home = Home::Content(Emptied::Text);
                let index = self.push(kind, TextAt::Nowhere, span, home);
                content(self, list, Some(index), Emptied::Text)
            }
            Some(value) => {
                self.text_of(kind, value);
                Ok(())
            }
            None => {
                let nowhere = Span::new(0, 0);
                self.push(kind, TextAt::Nowhere, nowhere, Home::Whole);
                Ok(())
            }
        }
    }
}

/// The records of a file, and what in it is none.
///
/// # Errors
/// When it is no JSON, or a line of it is none and reading is not lenient.
pub(crate) fn file_as_text(
    source: &Source,
    lenient: bool,
) -> Result<(Vec<Span>, Vec<Fault>), ReadError> {
    file_records(source, lenient)
}
