//! Messages held in memory, for tests of this crate.

use std::borrow::Cow;

use crate::id::{Handle, Ident};
use crate::view::{ContentForm, MediaKind, MessageView, Part, PartKind, PartRef, Role, Texts};

/// One part with its text, to build messages from.
#[derive(Clone, Debug)]
pub(crate) struct TestPart {
    kind: PartKind,
    text: String,
    json: Option<String>,
    inside: Option<usize>,
}

impl TestPart {
    fn new(kind: PartKind, text: &str) -> Self {
        Self {
            kind,
            text: text.into(),
            json: None,
            inside: None,
        }
    }

    /// With the part's source as JSON.
    pub(crate) fn json(mut self, json: impl Into<String>) -> Self {
        self.json = Some(json.into());
        self
    }

    /// As a part of the result at index `result`.
    pub(crate) fn inside(mut self, result: usize) -> Self {
        self.inside = Some(result);
        self
    }
}

/// Plain text.
pub(crate) fn text(text: &str) -> TestPart {
    TestPart::new(PartKind::Text, text)
}

/// A tool call with its arguments as JSON text.
pub(crate) fn call(id: &str, tool: &str, arguments: &str) -> TestPart {
    let kind = PartKind::Call {
        id: id.into(),
        tool: tool.into(),
    };
    TestPart::new(kind, arguments)
}

/// A tool's answer.
pub(crate) fn result(id: &str, text: &str) -> TestPart {
    let kind = PartKind::Result {
        id: id.into(),
        tool: None,
        error: false,
    };
    TestPart::new(kind, text)
}

/// A picture by its data.
pub(crate) fn image(data: &str) -> TestPart {
    TestPart::new(PartKind::Media(MediaKind::Image), data)
}

/// Any other part.
pub(crate) fn part(kind: PartKind, text: &str) -> TestPart {
    TestPart::new(kind, text)
}

/// The texts of all messages made so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    messages: Vec<Vec<TestPart>>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A message with string content.
    pub(crate) fn message(&mut self, role: Role, parts: Vec<TestPart>) -> MessageView {
        let handle = Handle(u32::try_from(self.messages.len()).expect("few messages"));
        let views = parts
            .iter()
            .map(|p| match p.inside {
                Some(result) => Part::inside(p.kind.clone(), p.text.len(), result),
                None => Part::new(p.kind.clone(), p.text.len()),
            })
            .collect();
        let ident = Ident::of(&format!("{role:?}{parts:?}"));
        self.messages.push(parts);
        MessageView::new(handle, role, views, ident)
    }

    /// A message whose content is a list.
    pub(crate) fn blocks(&mut self, role: Role, parts: Vec<TestPart>) -> MessageView {
        MessageView {
            form: ContentForm::Blocks,
            ..self.message(role, parts)
        }
    }

    fn get(&self, at: PartRef) -> Option<&TestPart> {
        let message = self.messages.get(at.message.0 as usize)?;
        message.get(usize::from(at.part))
    }
}

impl Texts for Memory {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        self.get(at).map_or(Cow::Borrowed(""), |p| (&p.text).into())
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        self.get(at)?.json.as_ref().map(Into::into)
    }
}
