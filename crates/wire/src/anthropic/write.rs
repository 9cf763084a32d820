//! Blocks of ours as Anthropic's messages.
//!
//! Two things differ from formats with a message for everything: rules go into the request's `system`, and answers
//! are blocks of a user message ([`super::turns`]).

use std::sync::Arc;

use conspectus_core::id::{CallId, Handle};
use conspectus_core::patch::Patch;
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{ContentForm, Role};

use super::Anthropic;
use super::turns::Turns;
use crate::conversation::{Conversation, List};
use crate::error::WriteError;
use crate::json::{Array, Kind, Object, Span, Splices, string};
use crate::write::{Slot, Writer, Written, kept};

impl Writer for Anthropic {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        cache_summary: bool,
    ) -> Result<Written, WriteError> {
        let style = Style {
            cache_summary: cache_summary && breakpoints(conversation, pieces) < MAX_BREAKPOINTS,
            ..Style::of(conversation)
        };
        let mut turns = Turns::new(conversation);
        let mut system = Vec::new();
        for piece in pieces {
            let (handle, patches): (_, &[Patch]) = match piece {
                Piece::Keep(handle) => (*handle, &[]),
                Piece::Edit(handle, patches) => (*handle, patches),
                Piece::Insert(block) => {
                    match &block.kind {
                        BlockKind::Answer { id, .. } => turns.answer(answer(id, &block.text)),
                        _ if block.role == Role::System && style.has_system => {
                            system.push(Arc::clone(&block.text));
                        }
                        _ => {
                            let (message, role) = style.message(block);
                            turns.message(Slot::Made(message), Some(role));
                        }
                    }
                    continue;
                }
            };
            if let Some(slot) = kept(conversation, handle, patches) {
                turns.message(slot, speaker(conversation, handle));
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

/// How this conversation writes what more than one way is known for.
struct Style {
    /// There is an object around the list that has or can have a system prompt.
    has_system: bool,
    /// A user's words stand in blocks.
    blocks: bool,
    /// The summary gets a cache breakpoint.
    cache_summary: bool,
}

impl Style {
    fn of(conversation: &Conversation) -> Self {
        let request = match conversation.list {
            List::Array { request, .. } => request,
            List::Value { .. } | List::Lines => None,
        };
        let request = request.and_then(|at| Object::of(at.text(conversation.source.text())));
        let mut users = conversation.views.iter().filter(|view| {
            view.role == Role::User && !view.flags.hidden && !view.is_only_results()
        });
        Self {
            has_system: request.is_some_and(|request| {
                !request.has_duplicates && request.get("messages").is_some()
            }),
            blocks: users
                .next()
                .is_some_and(|view| view.form == ContentForm::Blocks),
            cache_summary: false,
        }
    }

    /// A block as a message, and who speaks in it. What nobody may say in a list is told by the user.
    fn message(&self, block: &Block) -> (String, Role) {
        let (role, name) = match block.role {
            Role::Assistant => (Role::Assistant, "assistant"),
            Role::System | Role::User | Role::Tool => (Role::User, "user"),
        };
        let is_marked = self.cache_summary && block.kind == BlockKind::Summary;
        let content = match self.blocks {
            _ if is_marked => {
                let text = string::encode(&block.text);
                format!(
                    r#"[{{"type":"text","text":{text},"cache_control":{{"type":"ephemeral"}}}}]"#
                )
            }
            true => format!("[{}]", text_block(&block.text)),
            false => string::encode(&block.text),
        };
        (format!(r#"{{"role":"{name}","content":{content}}}"#), role)
    }
}

/// The most cache breakpoints that the API takes in one request.
const MAX_BREAKPOINTS: usize = 4;

/// Cache breakpoints that the request has without ours: in system prompt, tools and the messages that stay.
fn breakpoints(conversation: &Conversation, pieces: &[&Piece]) -> usize {
    // The host's breakpoints are written as keys; inside a text the quote in front would be escaped.
    let count = |json: &str| json.matches("\"cache_control\"").count();
    let source = conversation.source.text();
    let around = match conversation.list {
        List::Array {
            request: Some(request),
            ..
        } => Object::of(request.text(source)).map_or(0, |object| {
            let outside = object.members.iter().filter(|m| m.key != "messages");
            outside.map(|m| count(m.value)).sum()
        }),
        _ => 0,
    };
    let handles = pieces.iter().filter_map(|piece| match piece {
        Piece::Keep(handle) | Piece::Edit(handle, _) => Some(*handle),
        Piece::Insert(_) => None,
    });
    around
        + handles
            .map(|handle| count(conversation.json_of(handle)))
            .sum::<usize>()
}

/// Who speaks in a message that is there; nobody we know in one that we cannot read.
fn speaker(conversation: &Conversation, handle: Handle) -> Option<Role> {
    let view = conversation.views.get(handle.0 as usize)?;
    (!view.flags.hidden).then_some(view.role)
}

fn answer(id: &CallId, text: &str) -> String {
    let (id, text) = (string::encode(id.as_str()), string::encode(text));
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{text}}}"#)
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, string::encode(text))
}
