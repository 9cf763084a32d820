//! Shows what is in sight in a session file, or compacts one with a given summary: the drive for
//! `scripts/claude-resume-test.py` and `scripts/codex-resume-test.py`. Files named `rollout-*` are Codex's.
//!
//! ```text
//! session views FILE
//! session compact FILE SUMMARY NOW_MS KEEP_LAST [PIN ...]     the new file on standard output
//! ```
//!
//! `compact` keeps the newest `KEEP_LAST` messages and the pinned ones, by index, and what a planner would keep at the
//! beginning; of results in sight that are longer than 2000 bytes it keeps the first 1000.

use std::io::Write as _;

use conspectus_core::id::Handle;
use conspectus_core::patch::{Patch, PatchCause, Site};
use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
use conspectus_core::view::{MessageView, PartKind, PartRef, Role, Texts};
use conspectus_wire::{Conversation, Document, Format, OpenOptions, RenderContext};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut out = std::io::stdout().lock();
    match args[..] {
        ["views", file] => {
            let document = open(file)?;
            for view in document.conversations()[0].views() {
                writeln!(out, "{}", shown(&document.conversations()[0], view))?;
            }
        }
        ["compact", file, summary, now_ms, keep_last, ref pins @ ..] => {
            let document = open(file)?;
            let conversation = &document.conversations()[0];
            let pins = pins.iter().map(|pin| pin.parse());
            let pins: Vec<u32> = pins.collect::<Result<_, _>>()?;
            let projection = project(conversation, summary, keep_last.parse()?, &pins);
            let context = RenderContext {
                now_ms: now_ms.parse()?,
                id_seed: 1,
                tokens_after: 1234,
                ..RenderContext::default()
            };
            out.write_all(&document.render(&[(0, &projection)], &context)?)?;
        }
        _ => {
            return Err("use: views FILE | compact FILE SUMMARY NOW_MS KEEP_LAST [PIN ...]".into());
        }
    }
    Ok(())
}

fn open(file: &str) -> Result<Document, Box<dyn std::error::Error>> {
    let name = std::path::Path::new(file).file_name().unwrap_or_default();
    let format = match name.to_string_lossy().starts_with("rollout-") {
        true => Format::Codex,
        false => Format::Claude,
    };
    let options = OpenOptions {
        format: Some(format),
        lenient: true,
    };
    Ok(Document::open(std::fs::read(file)?, &options)?)
}

/// One line of JSON: the role and the parts with their texts.
fn shown(conversation: &Conversation, view: &MessageView) -> String {
    let parts = view.parts.iter().enumerate().map(|(n, part)| {
        let part_ref = PartRef {
            message: view.handle,
            part: u16::try_from(n).unwrap_or(u16::MAX),
        };
        let (kind, id) = match &part.kind {
            PartKind::Text => ("text", ""),
            PartKind::Reasoning { .. } => ("reasoning", ""),
            PartKind::Call { id, .. } => ("call", id.as_str()),
            PartKind::Result { id, .. } => ("result", id.as_str()),
            PartKind::Media(_) => ("media", ""),
            PartKind::Opaque { label } => ("opaque", label.as_ref()),
        };
        let text = conversation.text(part_ref);
        serde_json::json!({"kind": kind, "id": id, "text": text, "inside": part.inside})
    });
    let parts: Vec<_> = parts.collect();
    serde_json::json!({
        "role": view.role, "parts": parts, "flags": view.flags, "reply": view.reply,
        "usage": view.usage, "uuid": conversation.native_id(view.handle),
    })
    .to_string()
}

fn project(
    conversation: &Conversation,
    summary: &str,
    keep_last: usize,
    pins: &[u32],
) -> Projection {
    let views = conversation.views();
    let first = views.len().saturating_sub(keep_last);
    let is_told = |view: &&MessageView| view.role == Role::System || view.flags.pinned;
    let beginning = views.iter().take_while(is_told).count().min(first);
    let mut pieces: Vec<_> = views[..beginning]
        .iter()
        .map(|view| Piece::Keep(view.handle))
        .collect();
    pieces.push(Piece::Insert(Block {
        kind: BlockKind::Summary,
        role: Role::User,
        text: summary.into(),
    }));
    for (n, view) in views.iter().enumerate().skip(beginning) {
        if n >= first || pins.contains(&view.handle.0) {
            pieces.push(pruned(view));
        }
    }
    Projection {
        frozen: pieces.into(),
        tail: Default::default(),
    }
}

fn pruned(view: &MessageView) -> Piece {
    let long = view.parts.iter().enumerate().filter(|(_, part)| {
        let is_inside = part.inside.is_some() && part.kind == PartKind::Text;
        part.len > 2000 && (is_inside || matches!(part.kind, PartKind::Result { .. }))
    });
    let patches: Vec<_> = long
        .map(|(n, part)| Patch::Cut {
            part: u16::try_from(n).unwrap_or(u16::MAX),
            site: Site::Text,
            range: 1000..part.len,
            marker: "[the rest was left out]".into(),
            cause: PatchCause::Oversized,
        })
        .collect();
    let handle: Handle = view.handle;
    if patches.is_empty() {
        Piece::Keep(handle)
    } else {
        Piece::Edit(handle, patches.into())
    }
}
