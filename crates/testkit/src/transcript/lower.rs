//! From abstract messages to the messages of one format, and how their content is written there.
//! Rendering and viewing both start here, so they cannot disagree.

use conspectus_core::view::Flags;

use super::{Block, BlockKind, Form, Format, Label, Message, Speaker, Transcript};

/// A message as the format has it, and the abstract messages it came from.
#[derive(Clone, Debug)]
pub(super) struct Lowered {
    pub(super) labels: Vec<Label>,
    pub(super) message: Message,
}

/// How a content is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape<'a> {
    One(&'a str),
    List,
    Null,
    Missing,
}

/// What stands outside the list (Anthropic's leading system messages), and the list.
pub(super) fn lower(transcript: &Transcript, format: Format) -> (Vec<&Message>, Vec<Lowered>) {
    let outside = match format {
        Format::Anthropic => transcript.leading_system(),
        Format::OpenAi | Format::LangChain => 0,
    };
    let (system, list) = transcript.messages.split_at(outside);
    let mut out: Vec<Lowered> = Vec::new();
    let mut behind_results = false;
    for message in list {
        let is_result = message.speaker == Speaker::Tool;
        let merges = behind_results && (is_result || message.joined);
        match out.last_mut() {
            Some(last) if format == Format::Anthropic && merges => {
                last.labels.push(message.label.clone());
                join(&mut last.message, message);
            }
            _ => out.push(Lowered {
                labels: vec![message.label.clone()],
                message: as_in(format, message),
            }),
        }
        behind_results = is_result;
    }
    (system.iter().collect(), out)
}

fn as_in(format: Format, message: &Message) -> Message {
    let mut out = message.clone();
    if format == Format::Anthropic && message.speaker == Speaker::Tool {
        out.speaker = Speaker::User;
        out.form = Form::Blocks;
    }
    out
}

fn join(into: &mut Message, message: &Message) {
    into.blocks.extend(message.blocks.iter().cloned());
    into.extras.extend(message.extras.iter().cloned());
    let (a, b) = (into.flags, message.flags);
    into.flags = Flags {
        reminder: a.reminder || b.reminder,
        hidden: a.hidden || b.hidden,
        pinned: a.pinned || b.pinned,
        partial: a.partial || b.partial,
        summary: a.summary || b.summary,
    };
}

/// Whether a block stands in the content, rather than in a field of its own.
pub(super) fn in_content(block: &Block, format: Format) -> bool {
    match (&block.kind, format) {
        (_, Format::Anthropic) => true,
        (BlockKind::Text(_) | BlockKind::Image(_) | BlockKind::Opaque { .. }, _) => true,
        (BlockKind::Thinking { signature, .. }, Format::LangChain) => signature.is_some(),
        (BlockKind::Redacted(_), Format::LangChain) => true,
        _ => false,
    }
}

/// How the content of a message that is no tool message is written.
pub(super) fn shape(message: &Message, format: Format) -> Shape<'_> {
    let mut content = message.blocks.iter().filter(|b| in_content(b, format));
    let first = content.next();
    match (first, content.next(), message.form) {
        (None, _, Form::Null) => Shape::Null,
        (None, _, Form::Missing) => Shape::Missing,
        (None, _, Form::Blocks) => Shape::List,
        (None, _, Form::Text) => {
            let calls = message.calls().next().is_some();
            if calls && format == Format::OpenAi {
                Shape::Null
            } else {
                Shape::One("")
            }
        }
        (Some(only), None, form) if form != Form::Blocks && !only.marker => match &only.kind {
            BlockKind::Text(text) => Shape::One(text),
            _ => Shape::List,
        },
        _ => Shape::List,
    }
}
