//! Files of every format: read, written without a change, with what was cut out, and after a compaction.

use std::sync::Arc;

use conspectus::{CompactRequest, Embedded, compact};
use conspectus_core::patch::{Patch, PatchCause, Site};
use conspectus_core::policy::{KeepOption, Options, PruneOption};
use conspectus_core::projection::{Piece, Projection};
use conspectus_core::view::{MessageView, PartKind, PartRef, Texts};
use conspectus_wire::{
    Conversation, Document, Format, OpenOptions, RenderContext, Target as Form, valid,
};

use super::MAX_BYTES;

/// The reader and writer of OpenAI's chat format.
pub fn openai(data: &[u8]) {
    format(data, Some(Format::OpenAi));
}

/// The reader and writer of Anthropic's messages.
pub fn anthropic(data: &[u8]) {
    format(data, Some(Format::Anthropic));
}

/// The reader and writer of LangChain's messages.
pub fn langchain(data: &[u8]) {
    format(data, Some(Format::LangChain));
}

/// The reader and writer of Claude Code's sessions.
pub fn claude(data: &[u8]) {
    format(data, Some(Format::Claude));
}

/// The reader and writer of requests to Gemini.
pub fn gemini(data: &[u8]) {
    format(data, Some(Format::Gemini));
}

/// The reader of Gemini CLI's chats.
pub fn gemini_cli(data: &[u8]) {
    format(data, Some(Format::GeminiCli));
}

/// The reader of Copilot CLI's sessions.
pub fn copilot(data: &[u8]) {
    format(data, Some(Format::Copilot));
}

/// The reader and writer of Cline's sessions.
pub fn cline(data: &[u8]) {
    format(data, Some(Format::Cline));
}

/// The reader of pi's sessions.
pub fn pi(data: &[u8]) {
    format(data, Some(Format::Pi));
}

/// The reader of OpenHands' events.
pub fn openhands(data: &[u8]) {
    format(data, Some(Format::OpenHands));
}

/// The reader of SWE-agent's trajectories.
pub fn swe_agent(data: &[u8]) {
    format(data, Some(Format::SweAgent));
}

/// The reader of Inspect's logs.
pub fn inspect(data: &[u8]) {
    format(data, Some(Format::Inspect));
}

/// The reader of goose's sessions.
pub fn goose(data: &[u8]) {
    format(data, Some(Format::Goose));
}

/// The reader and writer of our own form.
pub fn neutral(data: &[u8]) {
    format(data, Some(Format::Neutral));
}

/// Finding the format by content.
pub fn detect(data: &[u8]) {
    format(data, None);
}

fn format(data: &[u8], format: Option<Format>) {
    if data.len() > MAX_BYTES {
        return;
    }
    let mut is_done = false;
    for lenient in [false, true] {
        let options = OpenOptions { format, lenient };
        match Document::open(data.to_vec(), &options) {
            // What is readable strictly is the same file leniently.
            Ok(document) if is_done => assert_eq!(document.bytes(), data),
            Ok(document) => {
                file(data, &document, lenient);
                is_done = true;
            }
            Err(error) => {
                assert!(!is_done, "a lenient reader refuses less: {error}");
                let again = Document::open(data.to_vec(), &options).err();
                let again = again.as_ref();
                assert_eq!(Some(&error), again, "the same bytes, the same answer");
                assert!(error.to_string().len() < 1_000, "a short message: {error}");
            }
        }
    }
}

/// Everything that holds for a file that was read.
fn file(data: &[u8], document: &Document, lenient: bool) {
    assert_eq!(document.bytes(), data);
    let context = RenderContext::default();
    let rendered = document.render(&[], &context).expect("no edit");
    assert!(rendered == data, "without an edit, the same bytes");
    let _ = valid::check(document.format(), data);
    for (at, conversation) in document.conversations().iter().enumerate() {
        for view in conversation.views() {
            parts(view, conversation);
        }
        let whole = script(conversation.views().iter().map(|v| Piece::Keep(v.handle)));
        let same = document
            .render(&[(at, &whole)], &context)
            .expect("keeps all");
        assert!(
            same == data || document.format() == Format::Claude,
            "all kept, the same bytes"
        );
        let cut = script(conversation.views().iter().map(|v| halved(v, conversation)));
        read_again(document, at, &cut, lenient);
        compaction(document, at, conversation, lenient);
    }
}

fn parts(view: &MessageView, texts: &dyn Texts) {
    for (index, part) in view.parts.iter().enumerate() {
        let Ok(index) = u16::try_from(index) else {
            break;
        };
        let at = PartRef {
            message: view.handle,
            part: index,
        };
        let text = texts.text(at);
        let _ = texts.json(at);
        if matches!(part.kind, PartKind::Text) {
            assert_eq!(part.len as usize, text.len(), "{:?}", part.kind);
        }
    }
}

/// The message with the middle of its first text or result left out.
fn halved(view: &MessageView, texts: &dyn Texts) -> Piece {
    let is_text = |kind: &PartKind| matches!(kind, PartKind::Text | PartKind::Result { .. });
    let found = view.parts.iter().position(|part| is_text(&part.kind));
    let Some(part) = found.and_then(|part| u16::try_from(part).ok()) else {
        return Piece::Keep(view.handle);
    };
    let text = texts.text(PartRef {
        message: view.handle,
        part,
    });
    let start = text.floor_char_boundary(text.len() / 4);
    let end = text.floor_char_boundary(text.len() / 4 * 3).max(start);
    let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else {
        return Piece::Keep(view.handle);
    };
    let patch = Patch::Cut {
        part,
        site: Site::Text,
        range: start..end,
        marker: "[\"cut\"]".into(),
        cause: PatchCause::Oversized,
    };
    Piece::Edit(view.handle, [patch].into_iter().collect())
}

fn script(pieces: impl Iterator<Item = Piece>) -> Projection {
    Projection {
        frozen: Arc::default(),
        tail: Arc::new(pieces.collect()),
    }
}

/// What is written is read again, as the same format and as many conversations; a log in the forms that it is
/// converted to.
fn read_again(document: &Document, at: usize, projection: &Projection, lenient: bool) {
    let edits = [(at, projection)];
    if document.format().is_written_in_place() {
        let rendered = document.render(&edits, &RenderContext::default());
        let bytes = rendered.expect("handles of this file");
        read_as(document, bytes, document.format(), lenient);
    }
    let is_small = document.bytes().len() < 10_000;
    if is_small && !document.conversations().is_empty() {
        for target in [Form::OpenAi, Form::Neutral] {
            // Goes on from a history that only the server has.
            if let Ok(bytes) = document.convert(&edits, target) {
                read_as(document, bytes, target.format(), false);
            }
        }
    }
}

fn read_as(document: &Document, bytes: Vec<u8>, format: Format, lenient: bool) {
    let options = OpenOptions {
        format: Some(format),
        lenient: true,
    };
    let again = Document::open(bytes.clone(), &options);
    let again = again.unwrap_or_else(|e| panic!("{e} in {}", String::from_utf8_lossy(&bytes)));
    assert_eq!(
        again.conversations().len(),
        document.conversations().len(),
        "{}",
        String::from_utf8_lossy(&bytes)
    );
    let strict = OpenOptions {
        lenient: false,
        ..options
    };
    let is_readable = Document::open(bytes, &strict).is_ok();
    assert!(lenient || is_readable, "what was readable stays so");
}

/// A compaction that folds and shortens as much as it may.
fn compaction(document: &Document, at: usize, conversation: &Conversation, lenient: bool) {
    let mut request = CompactRequest::command(Options {
        keep: Some(KeepOption::Messages(1)),
        prune: PruneOption {
            max_result_chars: Some(40),
            max_argument_chars: Some(20),
            ..PruneOption::default()
        },
        ..Options::default()
    });
    for below_keep in [false, true] {
        request.manual.below_keep = below_keep;
        let compaction = compact(conversation, &request, &mut Embedded::default());
        let compaction = compaction.expect("the options work");
        if compaction.is_change() {
            let before = compaction.report.measured.tokens_before;
            let after = compaction.report.measured.tokens_after;
            assert!(
                after.is_none_or(|after| after <= before),
                "{before} -> {after:?}"
            );
        }
        read_again(document, at, &compaction.projection(), lenient);
    }
}
