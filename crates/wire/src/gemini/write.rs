//! Blocks of ours as contents. Rules go into the request's system instruction.

use std::sync::Arc;

use conspectus_core::patch::Patch;
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::Role;

use super::turns::Turns;
use super::{Gemini, ids};
use crate::conversation::{Conversation, List};
use crate::error::WriteError;
use crate::json::{Array, Kind, Object, Span, Splices, string};
use crate::write::{Slot, Writer, Written, kept};

impl Writer for Gemini {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        _cache_summary: bool,
    ) -> Result<Written, WriteError> {
        let has_system = has_system(conversation);
        let mut turns = Turns::new(conversation);
        let mut system = Vec::new();
        for piece in pieces {
            let (handle, patches): (_, &[Patch]) = match piece {
                Piece::Keep(handle) => (*handle, &[]),
                Piece::Edit(handle, patches) => (*handle, patches),
                Piece::Insert(block) => {
                    match &block.kind {
                        BlockKind::Answer { id, tool } => {
                            turns.answer(response(id.as_str(), tool, &block.text));
                        }
                        _ if block.role == Role::System && has_system => {
                            system.push(Arc::clone(&block.text));
                        }
                        _ => turns.content(Slot::Made(content(block))),
                    }
                    continue;
                }
            };
            if let Some(slot) = kept(conversation, handle, patches) {
                turns.content(slot);
            }
        }
        Ok(Written {
            slots: turns.finish(),
            system,
        })
    }

    fn add_system(&self, source: &str, request: Span, texts: &[Arc<str>], splices: &mut Splices) {
        if texts.is_empty() {
            return;
        }
        let Some(object) = Object::of(request.text(source)) else {
            return;
        };
        let parts: Vec<_> = texts.iter().map(|text| text_part(text)).collect();
        let parts = parts.join(",");
        let at = |value: &str| Span::of(source, value);
        let value = ["systemInstruction", "system_instruction"]
            .iter()
            .find_map(|key| object.get(key));
        let list = value.and_then(Object::of).and_then(|v| v.value("parts"));
        match (value, list) {
            (_, Some(list)) if Kind::of(list) == Kind::Array => {
                match Array::of(list).and_then(|list| list.0.last().copied()) {
                    Some(last) => splices.insert(at(last).end, format!(",{parts}")),
                    None => splices.replace(at(list), format!("[{parts}]")),
                }
            }
            (Some(text), _) if Kind::of(text) == Kind::String => {
                splices.replace(
                    at(text),
                    format!(r#"{{"parts":[{{"text":{text}}},{parts}]}}"#),
                );
            }
            (Some(value), _) => splices.replace(at(value), format!(r#"{{"parts":[{parts}]}}"#)),
            (None, _) => {
                if let Some(list) = object.members.iter().find(|m| m.key == "contents") {
                    let text = format!(r#""systemInstruction":{{"parts":[{parts}]}},"#);
                    splices.insert(at(list.key_source).start, text);
                }
            }
        }
    }
}

fn has_system(conversation: &Conversation) -> bool {
    let List::Array {
        request: Some(request),
        ..
    } = conversation.list
    else {
        return false;
    };
    let request = Object::of(request.text(conversation.source.text()));
    request.is_some_and(|request| !request.has_duplicates && request.get("contents").is_some())
}

fn content(block: &Block) -> String {
    let role = match block.role {
        Role::Assistant => "model",
        Role::System | Role::User | Role::Tool => "user",
    };
    format!(
        r#"{{"role":"{role}","parts":[{}]}}"#,
        text_part(&block.text)
    )
}

fn text_part(text: &str) -> String {
    format!(r#"{{"text":{}}}"#, string::encode(text))
}

fn response(id: &str, tool: &str, text: &str) -> String {
    let id = match ids::is_made_up(id) {
        true => String::new(),
        false => format!(r#""id":{},"#, string::encode(id)),
    };
    let (tool, text) = (string::encode(tool), string::encode(text));
    format!(r#"{{"functionResponse":{{{id}"name":{tool},"response":{{"output":{text}}}}}}}"#)
}
