//! Blocks of ours as chat completion messages.

use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{ContentForm, Role};

use super::OpenAi;
use crate::conversation::Conversation;
use crate::error::WriteError;
use crate::json::{Object, string};
use crate::write::{Writer, Written, hoisted};

impl Writer for OpenAi {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        _cache_summary: bool,
    ) -> Result<Written, WriteError> {
        let style = Style::of(conversation);
        hoisted(conversation, pieces, |block| style.message(block))
    }
}

/// How this conversation writes what more than one way is known for.
struct Style {
    /// The host's rules come from `developer`.
    developer: bool,
    /// Texts stand in lists of blocks.
    blocks: bool,
    /// Answers name their call by `id` (tau2-bench).
    answer_by_id: bool,
}

impl Style {
    fn of(conversation: &Conversation) -> Self {
        let objects = || {
            let texts = conversation.messages.iter().zip(&conversation.views);
            texts.map(|(message, view)| (message.span.text(conversation.source.text()), view))
        };
        let system = objects().find(|(_, view)| view.role == Role::System);
        let role = system.and_then(|(json, _)| Object::of(json)?.string("role"));
        let answer = objects().find(|(_, view)| view.role == Role::Tool);
        let answer = answer.and_then(|(json, _)| Object::of(json));
        let user = conversation
            .views
            .iter()
            .find(|view| view.role == Role::User && !view.flags.hidden);
        Self {
            developer: role.as_deref() == Some("developer"),
            blocks: user.is_some_and(|view| view.form == ContentForm::Blocks),
            answer_by_id: answer
                .is_some_and(|a| a.get("tool_call_id").is_none() && a.get("id").is_some()),
        }
    }

    fn message(&self, block: &Block) -> String {
        let text = string::encode(&block.text);
        if let BlockKind::Answer { id, tool } = &block.kind {
            let (id, tool) = (string::encode(id.as_str()), string::encode(tool));
            return if self.answer_by_id {
                format!(r#"{{"role":"tool","id":{id},"content":{text}}}"#)
            } else if id == "\"\"" {
                format!(r#"{{"role":"function","name":{tool},"content":{text}}}"#)
            } else {
                format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#)
            };
        }
        let role = match block.role {
            Role::System if self.developer => "developer",
            Role::System => "system",
            Role::Assistant => "assistant",
            Role::User | Role::Tool => "user",
        };
        if self.blocks {
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":{text}}}]}}"#)
        } else {
            format!(r#"{{"role":"{role}","content":{text}}}"#)
        }
    }
}
