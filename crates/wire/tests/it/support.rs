//! What the tests share: opening, projecting, cutting.

use std::path::PathBuf;
use std::sync::Arc;

use conspectus_core::id::{CallId, Handle};
use conspectus_core::patch::{Patch, PatchCause, Site};
use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
use conspectus_core::view::{PartKind, PartRef, Role, Texts};
use conspectus_wire::{Conversation, Document, Format, OpenOptions, RenderContext};

/// The folder of shared data, if it is there.
pub(crate) fn shared() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("CONSPECTUS_SHARED").map_or_else(beside, PathBuf::from);
    folder.join("data").is_dir().then_some(folder)
}

/// A small file kept beside the tests.
pub(crate) fn data(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read_to_string(path).expect("the test file is part of the crate")
}

pub(crate) fn open(text: &str) -> Document {
    Document::open(text.as_bytes().to_vec(), &OpenOptions::default()).expect("the file is readable")
}

pub(crate) fn open_as(text: &str, format: Format) -> Document {
    let options = OpenOptions {
        format: Some(format),
        lenient: false,
    };
    Document::open(text.as_bytes().to_vec(), &options).expect("the file is readable")
}

pub(crate) fn lenient(text: &str) -> Document {
    let options = OpenOptions {
        format: None,
        lenient: true,
    };
    Document::open(text.as_bytes().to_vec(), &options).expect("the file is readable")
}

pub(crate) fn script(pieces: impl IntoIterator<Item = Piece>) -> Projection {
    Projection {
        frozen: Arc::default(),
        tail: Arc::new(pieces.into_iter().collect()),
    }
}

pub(crate) fn keep(handle: u32) -> Piece {
    Piece::Keep(Handle(handle))
}

pub(crate) fn edit(handle: u32, patches: impl IntoIterator<Item = Patch>) -> Piece {
    Piece::Edit(Handle(handle), patches.into_iter().collect())
}

pub(crate) fn insert(kind: BlockKind, role: Role, text: &str) -> Piece {
    Piece::Insert(Block {
        kind,
        role,
        text: text.into(),
    })
}

pub(crate) fn summary(text: &str) -> Piece {
    insert(BlockKind::Summary, Role::User, text)
}

pub(crate) fn answer(id: &str, tool: &str, text: &str) -> Piece {
    let kind = BlockKind::Answer {
        id: CallId::from(id),
        tool: tool.into(),
    };
    insert(kind, Role::Tool, text)
}

pub(crate) fn cut(part: u16, range: std::ops::Range<u32>, marker: &str) -> Patch {
    cut_at(part, Site::Text, range, marker)
}

pub(crate) fn cut_at(part: u16, site: Site, range: std::ops::Range<u32>, marker: &str) -> Patch {
    Patch::Cut {
        part,
        site,
        range,
        marker: marker.into(),
        cause: PatchCause::Oversized,
    }
}

pub(crate) fn remove(part: u16) -> Patch {
    Patch::Remove {
        part,
        cause: PatchCause::Orphan,
    }
}

/// The file after a projection of its first conversation.
pub(crate) fn render(document: &Document, pieces: impl IntoIterator<Item = Piece>) -> String {
    let projection = script(pieces);
    let bytes = document
        .render(&[(0, &projection)], &RenderContext::default())
        .expect("the projection is of this document");
    String::from_utf8(bytes).expect("a file of text stays text")
}

pub(crate) fn everything(conversation: &Conversation) -> Projection {
    script((0..conversation.views().len()).map(|n| keep(u32::try_from(n).unwrap())))
}

/// One line a message: role, flags, and each part as `kind=text`.
pub(crate) fn shape(conversation: &Conversation) -> Vec<String> {
    let views = conversation.views().iter();
    views
        .map(|view| {
            let role = match view.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            let flags = [
                (view.flags.hidden, "!hidden"),
                (view.flags.summary, "!summary"),
                (view.flags.reminder, "!reminder"),
            ];
            let flags = flags
                .iter()
                .filter(|f| f.0)
                .map(|f| f.1)
                .collect::<String>();
            let parts = view.parts.iter().enumerate().map(|(n, part)| {
                let at = PartRef {
                    message: view.handle,
                    part: u16::try_from(n).unwrap(),
                };
                let text = conversation.text(at);
                assert_eq!(part.len as usize, text.len());
                let kind = match &part.kind {
                    PartKind::Text => "text".to_owned(),
                    PartKind::Reasoning { bound: true } => "sealed".to_owned(),
                    PartKind::Reasoning { bound: false } => "reasoning".to_owned(),
                    PartKind::Call { id, tool } => format!("call {} {tool}", id.as_str()),
                    PartKind::Result { id, tool, error } => {
                        let failed = if *error { " failed" } else { "" };
                        let tool = tool.as_deref().unwrap_or("-");
                        format!("result {} {tool}{failed}", id.as_str())
                    }
                    PartKind::Media(kind) => format!("{kind:?}").to_lowercase(),
                    PartKind::Opaque { label } => format!("opaque {label}"),
                };
                let inside = part.inside.map(|r| format!("^{r} ")).unwrap_or_default();
                format!("{inside}{kind}={text}")
            });
            let parts: Vec<_> = parts.collect();
            format!("{role}{flags}: {}", parts.join(" | "))
        })
        .collect()
}

/// Small files of every format.
pub(crate) fn fixtures() -> Vec<String> {
    let names = [
        "openai/request.json",
        "openai/request.custom_tool.json",
        "openai/request.multimodal.json",
        "anthropic/request.json",
        "anthropic/request.after_compaction.json",
        "anthropic/invalid.tool_result_after_text.json",
        "langchain/state.json",
    ];
    let mut files: Vec<_> = names.iter().map(|name| data(name)).collect();
    files.push(r#"{"model":"m","input":[{"role":"user","content":"q"},{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"h"}],"encrypted_content":"E"},{"type":"function_call","call_id":"c","name":"t","arguments":"{\"a\":\"b\"}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"o"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"d"}]}]}"#.to_owned());
    files.push(r#"{"model":"m","input":"a question"}"#.to_owned());
    files.push("{\"role\":\"user\",\"content\":\"a\\ud83d\\ude00\"}\n{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":null}\n".to_owned());
    files.push(r#"[{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":[{"type":"tool_use","id":"c","input":{"a":"b"}}],"tool_calls":[{"id":"c","args":{"a":"b"}}],"type":"ai"}}]"#.to_owned());
    files
}
