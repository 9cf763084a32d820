//! The list of contents, with answers in the content that they belong to.
//!
//! The API wants as many responses as calls, together, in the content behind the calls. So an answer joins the content
//! of responses beside it, behind or in front, or makes one of its own.

use conspectus_core::view::PartKind;

use crate::conversation::Conversation;
use crate::json::{Array, Object, Span, Splices};
use crate::write::Slot;

/// Collects the list.
pub(super) struct Turns<'a> {
    conversation: &'a Conversation,
    done: Vec<Slot>,
    /// Response parts that were not written yet.
    answers: Vec<String>,
    /// The newest content holds responses.
    after_responses: bool,
}

impl<'a> Turns<'a> {
    pub(super) fn new(conversation: &'a Conversation) -> Self {
        Self {
            conversation,
            done: Vec::new(),
            answers: Vec::new(),
            after_responses: false,
        }
    }

    /// A response part.
    pub(super) fn answer(&mut self, part: String) {
        self.answers.push(part);
    }

    /// The next content.
    pub(super) fn content(&mut self, slot: Slot) {
        let has_responses = self.has_responses(&slot);
        let mut slot = slot;
        if !self.answers.is_empty() {
            if self.after_responses {
                self.join_last();
            } else if has_responses {
                let answers = std::mem::take(&mut self.answers);
                slot = self.joined(slot, &answers, true);
            } else {
                self.own_content();
            }
        }
        self.after_responses = has_responses;
        self.done.push(slot);
    }

    /// All contents.
    pub(super) fn finish(mut self) -> Vec<Slot> {
        if !self.answers.is_empty() {
            match self.after_responses {
                true => self.join_last(),
                false => self.own_content(),
            }
        }
        self.done
    }

    fn join_last(&mut self) {
        let answers = std::mem::take(&mut self.answers);
        if let Some(last) = self.done.pop() {
            let joined = self.joined(last, &answers, false);
            self.done.push(joined);
        }
    }

    fn own_content(&mut self) {
        let parts = std::mem::take(&mut self.answers).join(",");
        let content = format!(r#"{{"role":"user","parts":[{parts}]}}"#);
        self.done.push(Slot::Made(content));
    }

    fn text<'s>(&'s self, slot: &'s Slot) -> &'s str {
        match slot {
            Slot::Kept {
                edited: Some(text), ..
            }
            | Slot::Made(text) => text,
            Slot::Kept { handle, .. } => self.conversation.json_of(*handle),
        }
    }

    fn has_responses(&self, slot: &Slot) -> bool {
        let Slot::Kept { handle, .. } = slot else {
            return false;
        };
        let view = self.conversation.views.get(handle.0 as usize);
        view.is_some_and(|view| {
            let is_result = |kind: &PartKind| matches!(kind, PartKind::Result { .. });
            view.parts.iter().any(|part| is_result(&part.kind))
        })
    }

    /// The content with these parts behind or in front of those that it has.
    fn joined(&self, slot: Slot, answers: &[String], in_front: bool) -> Slot {
        let text = self.text(&slot);
        let parts = Object::of(text).and_then(|content| content.value("parts"));
        let elements = parts.and_then(Array::of).unwrap_or_default().0;
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else {
            return slot;
        };
        let blocks = answers.join(",");
        let mut splices = Splices::new();
        match in_front {
            true => splices.insert(Span::of(text, first).start, format!("{blocks},")),
            false => splices.insert(Span::of(text, last).end, format!(",{blocks}")),
        }
        let joined = splices.apply(text, Span::new(0, text.len()));
        match slot {
            Slot::Kept { handle, .. } => Slot::Kept {
                handle,
                edited: Some(joined),
            },
            Slot::Made(_) => Slot::Made(joined),
        }
    }
}
