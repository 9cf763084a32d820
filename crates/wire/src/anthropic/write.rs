//! Blocks of ours as Anthropic's messages.
//!
//! Two things differ from formats with a message for everything. Rules go into the request's `system`. And an
//! answer is a block of the user message that follows its call, in front of any text there; so answers wait
//! until it is known which message that is.

use std::sync::Arc;

use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{ContentForm, PartKind, Role};

use super::Anthropic;
use crate::conversation::{Conversation, List};
use crate::error::WriteError;
use crate::json::{Array, Kind, Object, Span, Splices, string};
use crate::write::{Slot, Writer, Written, kept};

impl Writer for Anthropic {
    fn list(&self, conversation: &Conversation, pieces: &[&Piece]) -> Result<Written, WriteError> {
        let mut out = Out {
            conversation,
            has_system: has_system_place(conversation),
            blocks: prefers_blocks(conversation),
            last: None,
            waiting: Vec::new(),
            written: Written::default(),
        };
        for piece in pieces {
            match piece {
                Piece::Insert(block) => out.block(block),
                Piece::Keep(handle) => {
                    if let Some(slot) = kept(conversation, *handle, &[]) {
                        out.message(slot);
                    }
                }
                Piece::Edit(handle, patches) => {
                    if let Some(slot) = kept(conversation, *handle, patches) {
                        out.message(slot);
                    }
                }
            }
        }
        out.flush();
        Ok(out.written)
    }

    fn add_system(&self, source: &str, request: Span, texts: &[Arc<str>], splices: &mut Splices) {
        if texts.is_empty() {
            return;
        }
        let Some(object) = Object::of(request.text(source)) else {
            return;
        };
        let joined = texts.join("\n\n");
        let at = |value: &str| Span::of(source, value);
        match object.get("system").or_else(|| object.get("system_prompt")) {
            Some(value) if Kind::of(value) == Kind::String => {
                let more = string::encode_inner(&joined);
                let gap = if value == "\"\"" { "" } else { "\\n\\n" };
                splices.insert(at(value).end - 1, format!("{gap}{more}"));
            }
            Some(value) if Kind::of(value) == Kind::Array => {
                let blocks = texts.iter().map(|text| text_block(text));
                let blocks = blocks.collect::<Vec<_>>().join(",");
                match Array::of(value).and_then(|list| list.0.last().copied()) {
                    Some(last) => splices.insert(at(last).end, format!(",{blocks}")),
                    None => splices.replace(at(value), format!("[{blocks}]")),
                }
            }
            Some(value) => splices.replace(at(value), string::encode(&joined)),
            None => {
                let Some(list) = object.members.iter().find(|m| m.key == "messages") else {
                    return;
                };
                let text = string::encode(&joined);
                splices.insert(at(list.key_source).start, format!("\"system\":{text},"));
            }
        }
    }
}

/// The request's own system prompt can take more: there is an object, and its list is `messages`.
fn has_system_place(conversation: &Conversation) -> bool {
    let List::Array {
        request: Some(request),
        ..
    } = conversation.list
    else {
        return false;
    };
    Object::of(request.text(conversation.source.text()))
        .is_some_and(|object| object.get("messages").is_some())
}

/// How the conversation writes a user's words.
fn prefers_blocks(conversation: &Conversation) -> bool {
    let user = |view: &&conspectus_core::view::MessageView| {
        view.role == Role::User && !view.flags.hidden && !view.is_only_results()
    };
    conversation
        .views
        .iter()
        .find(user)
        .is_some_and(|view| view.form == ContentForm::Blocks)
}

struct Out<'a> {
    conversation: &'a Conversation,
    has_system: bool,
    blocks: bool,
    /// Who speaks in the last slot.
    last: Option<Role>,
    /// Answers that go into the next user message.
    waiting: Vec<String>,
    written: Written,
}

impl Out<'_> {
    fn block(&mut self, block: &Block) {
        match &block.kind {
            BlockKind::Answer { id, .. } => self.answer(id.as_str(), &block.text),
            _ if block.role == Role::System && self.has_system => {
                self.written.system.push(Arc::clone(&block.text));
            }
            _ => {
                let role = match block.role {
                    Role::Assistant => "assistant",
                    _ => "user",
                };
                let text = if self.blocks {
                    format!("[{}]", text_block(&block.text))
                } else {
                    string::encode(&block.text)
                };
                self.message(Slot::Made(format!(
                    r#"{{"role":"{role}","content":{text}}}"#
                )));
            }
        }
    }

    /// Into the user message just written when that follows the call, or into the next one.
    fn answer(&mut self, id: &str, text: &str) {
        let (id, text) = (string::encode(id), string::encode(text));
        let block = format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{text}}}"#);
        if self.last == Some(Role::User)
            && let Some(last) = self.written.slots.pop()
        {
            let with = self.with_blocks(last, &[block]);
            self.written.slots.push(with);
        } else {
            self.waiting.push(block);
        }
    }

    fn message(&mut self, slot: Slot) {
        let role = self.role(&slot);
        let slot = match role {
            Some(Role::User) if !self.waiting.is_empty() => {
                let waiting = std::mem::take(&mut self.waiting);
                self.with_blocks(slot, &waiting)
            }
            _ => {
                self.flush();
                slot
            }
        };
        self.last = role;
        self.written.slots.push(slot);
    }

    /// No user message followed: the answers make one of their own.
    fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let blocks = std::mem::take(&mut self.waiting).join(",");
            let message = format!(r#"{{"role":"user","content":[{blocks}]}}"#);
            self.written.slots.push(Slot::Made(message));
            self.last = Some(Role::User);
        }
    }

    /// Who speaks; nobody we know in an opaque message.
    fn role(&self, slot: &Slot) -> Option<Role> {
        match slot {
            Slot::Kept { handle, .. } => {
                let view = self.conversation.views.get(handle.0 as usize)?;
                let is_opaque = |kind: &PartKind| matches!(kind, PartKind::Opaque { .. });
                let whole = view.flags.hidden && view.parts.iter().all(|p| is_opaque(&p.kind));
                (!whole).then_some(view.role)
            }
            Slot::Made(text) if text.starts_with(r#"{"role":"assistant""#) => Some(Role::Assistant),
            Slot::Made(_) => Some(Role::User),
        }
    }

    /// The message with these blocks in front of its text, behind results that are there. A string becomes a text
    /// block with its own spelling.
    fn with_blocks(&self, slot: Slot, blocks: &[String]) -> Slot {
        let (handle, text) = match slot {
            Slot::Kept { handle, edited } => {
                let text = edited.unwrap_or_else(|| self.conversation.json_of(handle).to_owned());
                (Some(handle), text)
            }
            Slot::Made(text) => (None, text),
        };
        let text = match Object::of(&text).and_then(|message| message.get("content")) {
            None => text.clone(),
            Some(content) => {
                let mut splices = Splices::new();
                put_in_front(&mut splices, &text, content, &blocks.join(","));
                splices.apply(&text, Span::new(0, text.len()))
            }
        };
        match handle {
            Some(handle) => Slot::Kept {
                handle,
                edited: Some(text),
            },
            None => Slot::Made(text),
        }
    }
}

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

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, string::encode(text))
}
