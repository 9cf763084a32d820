//! The list of messages, with answers in the user message that they belong to.
//!
//! The API wants each result in the user message behind its call, in front of any text. So an answer joins the user
//! message that was just written, or waits for the next message: if that is a user's it joins it, else the answers
//! make a user message of their own.

use conspectus_core::view::Role;

use crate::conversation::Conversation;
use crate::json::{Array, Kind, Object, Span, Splices};
use crate::write::Slot;

/// Collects the list.
pub(super) struct Turns<'a> {
    conversation: &'a Conversation,
    done: Vec<Slot>,
    /// The newest message and who speaks in it, if we know.
    last: Option<(Slot, Option<Role>)>,
    /// Result blocks for the newest message if it is a user's, else for the next one.
    answers: Vec<String>,
}

impl<'a> Turns<'a> {
    pub(super) fn new(conversation: &'a Conversation) -> Self {
        Self {
            conversation,
            done: Vec::new(),
            last: None,
            answers: Vec::new(),
        }
    }

    /// A result block.
    pub(super) fn answer(&mut self, block: String) {
        self.answers.push(block);
    }

    /// The next message.
    pub(super) fn message(&mut self, slot: Slot, role: Option<Role>) {
        self.settle();
        let mut next = slot;
        if !self.answers.is_empty() {
            let answers = std::mem::take(&mut self.answers);
            match role {
                Some(Role::User) => next = self.joined(next, &answers),
                _ => self.done.push(own_message(&answers)),
            }
        }
        self.last = Some((next, role));
    }

    /// All messages.
    pub(super) fn finish(mut self) -> Vec<Slot> {
        self.settle();
        if !self.answers.is_empty() {
            self.done.push(own_message(&self.answers));
        }
        self.done
    }

    /// The newest message is done; a user's takes the answers that came behind it.
    fn settle(&mut self) {
        let Some((slot, role)) = self.last.take() else {
            return;
        };
        let slot = match role {
            Some(Role::User) if !self.answers.is_empty() => {
                let answers = std::mem::take(&mut self.answers);
                self.joined(slot, &answers)
            }
            _ => slot,
        };
        self.done.push(slot);
    }

    /// The message with these blocks in it. One without content stays as it is, behind them.
    fn joined(&mut self, slot: Slot, answers: &[String]) -> Slot {
        let text = match &slot {
            Slot::Kept {
                edited: Some(text), ..
            }
            | Slot::Made(text) => text,
            Slot::Kept { handle, .. } => self.conversation.json_of(*handle),
        };
        let Some(content) = Object::of(text).and_then(|message| message.value("content")) else {
            self.done.push(own_message(answers));
            return slot;
        };
        let mut splices = Splices::new();
        put_in_front(&mut splices, text, content, &answers.join(","));
        let text = splices.apply(text, Span::new(0, text.len()));
        match slot {
            Slot::Kept { handle, .. } => Slot::Kept {
                handle,
                edited: Some(text),
            },
            Slot::Made(_) => Slot::Made(text),
        }
    }
}

fn own_message(answers: &[String]) -> Slot {
    let blocks = answers.join(",");
    Slot::Made(format!(r#"{{"role":"user","content":[{blocks}]}}"#))
}

/// In front of the text, behind results that are there. A string becomes a text block with its own spelling.
fn put_in_front(splices: &mut Splices, message: &str, content: &str, blocks: &str) {
    let span = Span::of(message, content);
    let elements = Array::of(content).unwrap_or_default().0;
    let is_result = |block: &&&str| {
        Object::of(block)
            .is_some_and(|block| block.string("type").as_deref() == Some("tool_result"))
    };
    let results = elements.iter().take_while(is_result).count();
    match (Kind::of(content), results.checked_sub(1)) {
        (Kind::Array, Some(last)) => {
            splices.insert(Span::of(message, elements[last]).end, format!(",{blocks}"));
        }
        (Kind::Array, None) if !elements.is_empty() => {
            splices.insert(Span::of(message, elements[0]).start, format!("{blocks},"));
        }
        (Kind::String, _) if content != "\"\"" => {
            let text = format!(r#"[{blocks},{{"type":"text","text":{content}}}]"#);
            splices.replace(span, text);
        }
        _ => splices.replace(span, format!("[{blocks}]")),
    }
}
