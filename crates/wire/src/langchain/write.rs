//! Blocks of ours as LangChain messages, in the form that the conversation has.

use std::cell::RefCell;
use std::collections::BTreeMap;

use conspectus_core::id::Ident;
use conspectus_core::projection::{Block, BlockKind, Piece};
use conspectus_core::view::{ContentForm, Role};

use super::{Form, LangChain, fields};
use crate::conversation::Conversation;
use crate::error::WriteError;
use crate::json::{Object, string};
use crate::write::{Writer, Written, hoisted};

impl Writer for LangChain {
    fn list(
        &self,
        conversation: &Conversation,
        pieces: &[&Piece],
        _cache_summary: bool,
    ) -> Result<Written, WriteError> {
        let style = Style::of(conversation);
        // Thread states merge messages by id, so equal blocks need different ones.
        let seen: RefCell<BTreeMap<Ident, usize>> = RefCell::default();
        hoisted(conversation, pieces, |block| {
            let digest = digest(block);
            let mut seen = seen.borrow_mut();
            let times = seen.entry(digest).and_modify(|n| *n += 1).or_insert(1);
            style.message(block, &id(digest, *times))
        })
    }
}

/// How this conversation writes its messages.
struct Style {
    form: Form,
    /// A person's text stands in a list of blocks.
    blocks: bool,
}

impl Style {
    fn of(conversation: &Conversation) -> Self {
        let source = conversation.source.text();
        let form = conversation.messages.iter().find_map(|message| {
            let json = message.span.text(source);
            Some(fields(&Object::of(json)?, json)?.form)
        });
        let user = conversation
            .views
            .iter()
            .find(|view| view.role == Role::User && !view.flags.hidden);
        Self {
            form: form.unwrap_or_default(),
            blocks: user.is_some_and(|view| view.form == ContentForm::Blocks),
        }
    }

    fn message(&self, block: &Block, id: &str) -> String {
        let (kind, class) = match (&block.kind, block.role) {
            (BlockKind::Answer { .. }, _) => ("tool", "ToolMessage"),
            (_, Role::System) => ("system", "SystemMessage"),
            (_, Role::Assistant) => ("ai", "AIMessage"),
            (_, Role::User | Role::Tool) => ("human", "HumanMessage"),
        };
        let text = string::encode(&block.text);
        let content = match self.blocks && kind == "human" {
            true => format!(r#"[{{"type":"text","text":{text}}}]"#),
            false => text,
        };
        let extra = match block.kind {
            BlockKind::Summary => r#"{"hide_from_ui":true,"lc_source":"summarization"}"#,
            BlockKind::Reminder => r#"{"hide_from_ui":true,"dynamic_context_reminder":true}"#,
            BlockKind::Rules | BlockKind::Acknowledgement => r#"{"hide_from_ui":true}"#,
            BlockKind::Answer { .. } => "{}",
        };
        let name = match &block.kind {
            BlockKind::Answer { tool, .. } => string::encode(tool),
            _ => "null".to_owned(),
        };
        let special = match &block.kind {
            BlockKind::Answer { id, .. } => {
                let id = string::encode(id.as_str());
                format!(r#","tool_call_id":{id},"artifact":null,"status":"success""#)
            }
            _ if kind == "ai" => r#","tool_calls":[],"invalid_tool_calls":[]"#.to_owned(),
            _ => String::new(),
        };
        let id = string::encode(id);
        let fields = format!(
            r#""content":{content},"additional_kwargs":{extra},"response_metadata":{{}},"type":"{kind}","name":{name},"id":{id}{special}"#
        );
        match self.form {
            Form::Flat => format!("{{{fields}}}"),
            Form::Data => format!(r#"{{"type":"{kind}","data":{{{fields}}}}}"#),
            Form::Constructor => format!(
                r#"{{"lc":1,"type":"constructor","id":["langchain","schema","messages","{class}"],"kwargs":{{{fields}}}}}"#
            ),
        }
    }
}

/// What the block says and for what, so that the same block has the same id in every rendering.
fn digest(block: &Block) -> Ident {
    let (kind, call) = match &block.kind {
        BlockKind::Rules => ("rules", ""),
        BlockKind::Summary => ("summary", ""),
        BlockKind::Reminder => ("reminder", ""),
        BlockKind::Acknowledgement => ("acknowledgement", ""),
        BlockKind::Answer { id, .. } => ("answer", id.as_str()),
    };
    Ident::of(kind)
        .then(Ident::of(call))
        .then(Ident::of(&block.text))
}

fn id(digest: Ident, times: usize) -> String {
    let digest = digest.short(16);
    match times {
        1 => format!("conspectus-{digest}"),
        _ => format!("conspectus-{digest}-{times}"),
    }
}
