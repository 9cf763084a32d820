//! A transcript as the core's views, with its texts in memory: the core can be tested without `wire`.

use std::borrow::Cow;

use conspectus_core::id::{CallId, Handle, IdentHasher, ReplyId};
use conspectus_core::view::{
    ContentForm, MediaKind, MessageView, Part, PartKind, PartRef, Role, Texts,
};

use super::lower::{Shape, in_content, lower, shape};
use super::render::{block, picture_url, plain_thoughts};
use super::write::{Writer, is_object};
use super::{Answer, Block, BlockKind, Format, Label, Message, Speaker, Spelling, Transcript};

/// Texts of parts by handle, held in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryTexts {
    messages: Vec<Vec<Held>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    text: String,
    json: Option<String>,
}

impl Texts for MemoryTexts {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        Cow::Borrowed(self.held(at).map_or("", |held| held.text.as_str()))
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        let json = self.held(at)?.json.as_deref()?;
        Some(Cow::Borrowed(json))
    }
}

impl MemoryTexts {
    /// An empty store. Handles are given in order from 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message whose parts have these texts (with JSON source where it matters) and returns its view.
    pub fn add(
        &mut self,
        role: Role,
        parts: Vec<(PartKind, String, Option<String>)>,
    ) -> MessageView {
        let parts = parts
            .into_iter()
            .map(|(kind, text, json)| Loose {
                kind,
                text,
                json,
                inside: None,
            })
            .collect();
        self.push(role, parts)
    }

    /// Adds a message of one text and returns its view.
    pub fn say(&mut self, role: Role, text: &str) -> MessageView {
        self.add(role, vec![(PartKind::Text, text.to_owned(), None)])
    }

    fn push(&mut self, role: Role, loose: Vec<Loose>) -> MessageView {
        let handle =
            u32::try_from(self.messages.len()).expect("fewer than 2^32 messages in a test");
        let mut hash = IdentHasher::new();
        hash.field(format!("{role:?}").as_bytes());
        let (mut parts, mut held) = (Vec::new(), Vec::new());
        for Loose {
            kind,
            text,
            json,
            inside,
        } in loose
        {
            hash.field(format!("{kind:?}{inside:?}").as_bytes());
            hash.field(text.as_bytes());
            parts.push(match inside {
                Some(result) => Part::inside(kind, text.len(), result),
                None => Part::new(kind, text.len()),
            });
            held.push(Held { text, json });
        }
        self.messages.push(held);
        MessageView::new(Handle(handle), role, parts, hash.finish())
    }

    fn held(&self, at: PartRef) -> Option<&Held> {
        self.messages
            .get(at.message.0 as usize)?
            .get(usize::from(at.part))
    }
}

/// A part with its text, on its way into the store.
struct Loose {
    kind: PartKind,
    text: String,
    json: Option<String>,
    inside: Option<usize>,
}

impl Loose {
    fn new(kind: PartKind, text: &str, json: Option<String>) -> Self {
        Self {
            kind,
            text: text.to_owned(),
            json,
            inside: None,
        }
    }
}

impl Transcript {
    /// The conversation as `format` would show it to the core, its texts, and which abstract messages stand
    /// in each view. Handles are positions in that list; leading system messages that Anthropic holds outside
    /// are not in it. Only here can be seen which messages are pieces of one reply, and usage of all formats.
    pub fn views(&self, format: Format) -> (Vec<MessageView>, MemoryTexts, Vec<Vec<Label>>) {
        let mut texts = MemoryTexts::new();
        let (mut views, mut labels) = (Vec::new(), Vec::new());
        for lowered in lower(self, format).1 {
            views.push(view(&mut texts, &lowered.message, format));
            labels.push(lowered.labels);
        }
        (views, texts, labels)
    }
}

fn view(texts: &mut MemoryTexts, m: &Message, format: Format) -> MessageView {
    let role = match m.speaker {
        Speaker::System => Role::System,
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Tool => Role::Tool,
    };
    let mut view = texts.push(role, parts(m, format));
    view.form = match m.blocks.first().map(|b| &b.kind) {
        Some(BlockKind::Result { answer, .. }) if m.speaker == Speaker::Tool => match answer {
            Answer::Text(_) => ContentForm::Text,
            Answer::Blocks(_) => ContentForm::Blocks,
        },
        _ => match shape(m, format) {
            Shape::One(_) => ContentForm::Text,
            Shape::List => ContentForm::Blocks,
            Shape::Null | Shape::Missing => ContentForm::Absent,
        },
    };
    if format != Format::Anthropic {
        view.name = m.name.as_deref().map(Into::into);
    }
    view.flags = m.flags;
    view.reply = m.reply.map(ReplyId);
    view.usage.clone_from(&m.usage);
    view
}

/// The parts in the order in which the model reads them: formats that keep thoughts and calls in fields of
/// their own show thoughts first and calls last.
fn parts(m: &Message, format: Format) -> Vec<Loose> {
    let mut out = Vec::new();
    if format != Format::Anthropic
        && let Some(thoughts) = plain_thoughts(m)
    {
        out.push(Loose::new(
            PartKind::Reasoning { bound: false },
            &thoughts,
            None,
        ));
    }
    let beside = |b: &&Block| {
        let thought = matches!(
            b.kind,
            BlockKind::Redacted(_)
                | BlockKind::Thinking {
                    signature: Some(_),
                    ..
                }
        );
        thought && !in_content(b, format)
    };
    // An empty string is no part.
    let nothing = shape(m, format) == Shape::One("");
    let content = m
        .blocks
        .iter()
        .filter(|b| in_content(b, format) && !nothing);
    let calls = m.blocks.iter().filter(|b| {
        let own_field = matches!(b.kind, BlockKind::Call { .. } | BlockKind::Result { .. });
        own_field && !in_content(b, format)
    });
    for block in m.blocks.iter().filter(beside).chain(content).chain(calls) {
        push_block(&mut out, block, format, None);
    }
    out
}

fn push_block(out: &mut Vec<Loose>, b: &Block, format: Format, inside: Option<usize>) {
    let source = || {
        let spelling = Spelling::default();
        Some(block(Writer(spelling), b, format))
    };
    let call_id = |id: &Option<String>| CallId::from(id.as_deref().unwrap_or_default());
    let at = out.len();
    let mut loose = match &b.kind {
        BlockKind::Text(text) => Loose::new(PartKind::Text, text, source()),
        BlockKind::Thinking { text, signature } => {
            let bound = signature.is_some();
            Loose::new(PartKind::Reasoning { bound }, text, source())
        }
        BlockKind::Redacted(data) => {
            Loose::new(PartKind::Reasoning { bound: true }, data, source())
        }
        BlockKind::Call { id, tool, args } => {
            let (id, tool) = (call_id(id), tool.as_str().into());
            let json = is_object(args).then(|| args.clone());
            Loose::new(PartKind::Call { id, tool }, args, json)
        }
        BlockKind::Result {
            id,
            tool,
            answer,
            error,
        } => {
            let kind = PartKind::Result {
                id: call_id(id),
                tool: (format == Format::LangChain).then(|| tool.as_str().into()),
                error: *error && format != Format::OpenAi,
            };
            let text = match answer {
                Answer::Text(text) => text.as_str(),
                Answer::Blocks(_) => "",
            };
            Loose::new(kind, text, source())
        }
        BlockKind::Image(data) => {
            let text = match format {
                Format::Anthropic => data.clone(),
                Format::OpenAi | Format::LangChain => picture_url(data),
            };
            Loose::new(PartKind::Media(MediaKind::Image), &text, source())
        }
        BlockKind::Opaque { label, .. } => {
            let label = label.as_str().into();
            let json = source();
            Loose::new(
                PartKind::Opaque { label },
                json.as_deref().unwrap_or_default(),
                json.clone(),
            )
        }
    };
    loose.inside = inside;
    out.push(loose);
    if let BlockKind::Result {
        answer: Answer::Blocks(blocks),
        ..
    } = &b.kind
    {
        for block in blocks {
            push_block(out, block, format, Some(at));
        }
    }
}
