//! Blocks of ours as messages of role and parts.

use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::Role;

use super::Neutral;
use crate::conversation::Conversation;
use crate::error::WriteError;
use crate::json::string;
use crate::write::{Writer, Written, hoisted};

impl Writer for Neutral {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        _cache_summary: bool,
    ) -> Result<Written, WriteError> {
        hoisted(conversation, pieces, message)
    }
}

/// A block as a message.
pub(crate) fn message(block: &Block) -> String {
    let text = string::encode(&block.text);
    if let BlockKind::Answer { id, tool } = &block.kind {
        let (id, tool) = (string::encode(id.as_str()), string::encode(tool));
        return format!(
            r#"{{"role":"tool","parts":[{{"type":"tool_result","tool_call_id":{id},"name":{tool},"content":{text}}}]}}"#
        );
    }
    let role = match block.role {
        Role::System => "system",
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
    };
    let flag = match block.kind {
        BlockKind::Summary => r#""summary":true,"#,
        BlockKind::Reminder => r#""reminder":true,"#,
        BlockKind::Rules | BlockKind::Acknowledgement => r#""hidden":true,"#,
        BlockKind::Answer { .. } => "",
    };
    format!(r#"{{"role":"{role}",{flag}"parts":[{{"type":"text","text":{text}}}]}}"#)
}
