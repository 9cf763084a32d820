//! Blocks of ours as items.

use conspectus_core::id::CallId;
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{ContentForm, PartKind, Role};

use super::Responses;
use crate::conversation::Conversation;
use crate::error::WriteError;
use crate::json::{Kind, Object, string};
use crate::write::{Writer, Written, hoisted};

impl Writer for Responses {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        _cache_summary: bool,
    ) -> Result<Written, WriteError> {
        let style = Style::of(conversation);
        hoisted(conversation, pieces, |block| match &block.kind {
            BlockKind::Answer { id, .. } => answer(conversation, id, &block.text),
            _ => style.message(block),
        })
    }

    fn as_message(&self, json: &str) -> String {
        string_as_message(json)
    }
}

/// An item; a bare string becomes the user's message that it stands for.
pub(crate) fn string_as_message(json: &str) -> String {
    match Kind::of(json) {
        Kind::String => format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{json}}}]}}"#
        ),
        _ => json.to_owned(),
    }
}

/// How this conversation writes what more than one way is known for.
struct Style {
    /// The host's rules come from `system`.
    system: bool,
    /// Messages are `{role, content: "…"}`.
    easy: bool,
}

impl Style {
    fn of(conversation: &Conversation) -> Self {
        let object = |role: Role| {
            let of_role = |n: &usize| {
                let view = &conversation.views[*n];
                view.role == role && view.parts.iter().all(|part| part.kind == PartKind::Text)
            };
            let first = (0..conversation.views.len()).find(of_role)?;
            let json = conversation.messages[first]
                .span
                .text(conversation.source.text());
            Some((Object::of(json)?, conversation.views[first].form))
        };
        let user = object(Role::User);
        let host = object(Role::System).and_then(|(item, _)| item.string("role"));
        Self {
            system: host.is_some_and(|role| role == "system"),
            easy: user.is_some_and(|(item, form)| {
                form == ContentForm::Text && item.get("type").is_none()
            }),
        }
    }

    fn message(&self, block: &Block) -> String {
        let text = string::encode(&block.text);
        let role = match block.role {
            Role::System if self.system => "system",
            Role::System => "developer",
            Role::Assistant => "assistant",
            Role::User | Role::Tool => "user",
        };
        let part = match block.role {
            Role::Assistant => "output_text",
            _ => "input_text",
        };
        if self.easy {
            format!(r#"{{"role":"{role}","content":{text}}}"#)
        } else {
            format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"{part}","text":{text}}}]}}"#
            )
        }
    }
}

/// The stand-in for an answer that never came, in the form that its kind of call takes.
fn answer(conversation: &Conversation, id: &CallId, text: &str) -> String {
    let called = conversation
        .views
        .iter()
        .rposition(|view| view.calls().any(|call| call.1 == id));
    let item = called.and_then(|n| {
        let span = conversation.messages.get(n)?.span;
        Object::of(span.text(conversation.source.text()))
    });
    let item = item.unwrap_or_default();
    let (id, text) = (string::encode(id.as_str()), string::encode(text));
    match item.string("type").as_deref() {
        Some("custom_tool_call") => {
            format!(r#"{{"type":"custom_tool_call_output","call_id":{id},"output":{text}}}"#)
        }
        Some("local_shell_call") => {
            format!(r#"{{"type":"local_shell_call_output","id":{id},"output":{text}}}"#)
        }
        Some("shell_call") => format!(
            r#"{{"type":"shell_call_output","call_id":{id},"output":[{{"stdout":"","stderr":{text},"outcome":{{"type":"exit","exit_code":1}}}}]}}"#
        ),
        Some("apply_patch_call") => format!(
            r#"{{"type":"apply_patch_call_output","call_id":{id},"status":"failed","output":{text}}}"#
        ),
        Some("tool_search_call") => {
            format!(
                r#"{{"type":"tool_search_output","call_id":{id},"status":"completed","execution":"client","tools":[]}}"#
            )
        }
        Some("mcp_approval_request") => format!(
            r#"{{"type":"mcp_approval_response","approval_request_id":{id},"approve":false,"reason":{text}}}"#
        ),
        _ => format!(r#"{{"type":"function_call_output","call_id":{id},"output":{text}}}"#),
    }
}
