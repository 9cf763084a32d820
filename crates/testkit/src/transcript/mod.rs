//! Random conversations of agents, as nasty as the field makes them.
//!
//! A [`Transcript`] is abstract: messages of content blocks with labels. It renders to the bytes of three
//! formats ([`Transcript::render`]) and to the core's own views ([`Transcript::views`]). It is made from
//! a seed and [`Knobs`]; the same seed and knobs give the same bytes.

mod base;
mod check;
mod content;
mod detect;
mod lower;
mod memory;
mod nasty;
mod places;
mod render;
mod strategy;
mod structure;
mod words;
mod write;

use std::sync::Arc;

use conspectus_core::view::{Flags, Usage};

use crate::rng::Rng;

pub use check::{Strict, violations};
pub use content::{SECRET_END, SECRET_START};
pub use detect::Coverage;
pub use memory::MemoryTexts;
pub use nasty::{Knobs, Nasty};
pub use render::{Rendered, RenderedMessage};
pub use strategy::{TranscriptStrategy, TranscriptTree, transcripts};

/// By which tests name a message: `m0`, `m1`, … in the order of generation. Stays with its message when
/// others are left out.
pub type Label = Arc<str>;

/// The formats a transcript renders to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// OpenAI chat completions.
    OpenAi,
    /// Anthropic Messages: results stand in user messages, the leading system messages outside.
    Anthropic,
    /// LangChain's flat JSON dump.
    LangChain,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::LangChain];

    /// Its name, as the cases spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::LangChain => "langchain",
        }
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The host's rules.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Tools: such a message holds exactly one [`BlockKind::Result`].
    Tool,
}

/// How the content is written, where the format has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One string when the blocks allow it.
    Text,
    /// A list of blocks.
    Blocks,
    /// `null`, when there is no block that would stand in the content.
    Null,
    /// The field is missing, when there is no block that would stand in the content.
    Missing,
}

/// What a tool's answer holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// One string.
    Text(String),
    /// A list of texts and pictures.
    Blocks(Vec<Block>),
}

/// What a content block is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Plain text.
    Text(String),
    /// The model's thoughts.
    Thinking {
        /// What it thought; may be empty when signed.
        text: String,
        /// The provider's signature.
        signature: Option<String>,
    },
    /// Encrypted thoughts.
    Redacted(String),
    /// A tool call.
    Call {
        /// Its id; `None` = the field is missing.
        id: Option<String>,
        /// The tool's name.
        tool: String,
        /// The arguments as JSON text (or what a model wrote instead).
        args: String,
    },
    /// A tool's answer.
    Result {
        /// The id of the call; `None` = the field is missing.
        id: Option<String>,
        /// The tool's name.
        tool: String,
        /// What it says.
        answer: Answer,
        /// The tool said that it failed.
        error: bool,
    },
    /// A PNG as base64.
    Image(String),
    /// A block that nobody knows.
    Opaque {
        /// Its type.
        label: String,
        /// One field `data` of it, as JSON text.
        json: String,
    },
}

/// A content block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// A cache marker stands on it.
    pub marker: bool,
}

impl From<BlockKind> for Block {
    fn from(kind: BlockKind) -> Self {
        Self {
            kind,
            marker: false,
        }
    }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        BlockKind::Text(text.into()).into()
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// By which tests name it.
    pub label: Label,
    /// Who speaks.
    pub speaker: Speaker,
    /// What it says.
    pub blocks: Vec<Block>,
    /// How the content is written.
    pub form: Form,
    /// The author's name.
    pub name: Option<String>,
    /// What surface and host say about it.
    pub flags: Flags,
    /// LangChain: the message has an id.
    pub has_id: bool,
    /// Anthropic: stands in the same user message as the results before it.
    pub joined: bool,
    /// Messages with the same number are pieces of one reply of the model.
    pub reply: Option<u32>,
    /// What the provider reported.
    pub usage: Option<Usage>,
    /// Fields that no format knows, as JSON text.
    pub extras: Vec<(String, String)>,
}

impl Message {
    /// A message without anything special.
    pub fn new(speaker: Speaker, blocks: Vec<Block>) -> Self {
        Self {
            label: "".into(),
            speaker,
            blocks,
            form: Form::Text,
            name: None,
            flags: Flags::default(),
            has_id: true,
            joined: false,
            reply: None,
            usage: None,
            extras: Vec::new(),
        }
    }

    /// A message of one text.
    pub fn text(speaker: Speaker, text: impl Into<String>) -> Self {
        Self::new(speaker, vec![Block::text(text)])
    }

    /// The ids of its calls; `None` where the field is missing.
    pub fn calls(&self) -> impl Iterator<Item = Option<&str>> {
        self.blocks.iter().filter_map(|b| match &b.kind {
            BlockKind::Call { id, .. } => Some(id.as_deref()),
            _ => None,
        })
    }

    /// The id of its result, if it is one; the inner `None` = the field is missing.
    pub fn result(&self) -> Option<Option<&str>> {
        self.blocks.iter().find_map(|b| match &b.kind {
            BlockKind::Result { id, .. } => Some(id.as_deref()),
            _ => None,
        })
    }

    /// All texts of it: texts, thoughts, arguments, answers. Not pictures.
    pub fn texts(&self) -> Vec<&str> {
        let mut out = Vec::new();
        for block in &self.blocks {
            match &block.kind {
                BlockKind::Text(text) | BlockKind::Thinking { text, .. } => out.push(text.as_str()),
                BlockKind::Call { args, .. } => out.push(args),
                BlockKind::Result { answer, .. } => match answer {
                    Answer::Text(text) => out.push(text),
                    Answer::Blocks(blocks) => out.extend(blocks.iter().filter_map(|b| {
                        if let BlockKind::Text(text) = &b.kind {
                            Some(text.as_str())
                        } else {
                            None
                        }
                    })),
                },
                _ => {}
            }
        }
        out
    }
}

/// How JSON is spelled; its meaning is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spelling {
    /// Spaces after commas and colons, line feeds between messages.
    pub spaced: bool,
    /// Everything beyond ASCII as `\uXXXX`, slashes as `\/`.
    pub escaped: bool,
}

/// A random conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transcript {
    /// The seed it was made from.
    pub seed: u64,
    /// Its messages, leading system messages included.
    pub messages: Vec<Message>,
    /// Call ids whose answer the host still waits for.
    pub pending: Vec<String>,
    /// Made-up secrets that stand in texts and look like `DEMO-KEY-…`.
    pub secrets: Vec<String>,
    /// How its JSON is spelled.
    pub spelling: Spelling,
}

/// What a host would tell beside the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Messages the host wants kept for good.
    pub pinned: Vec<Label>,
    /// Messages not typed by a person.
    pub hidden: Vec<Label>,
    /// Dynamic-context reminders.
    pub reminders: Vec<Label>,
    /// Earlier summaries that stand in the list.
    pub summaries: Vec<Label>,
    /// Messages that are still streaming.
    pub partial: Vec<Label>,
    /// Call ids whose answer the host still waits for.
    pub pending: Vec<String>,
    /// The newest message that a person typed.
    pub current_request: Option<Label>,
    /// The leading system messages.
    pub leading_system: Vec<Label>,
}

impl Transcript {
    /// The conversation of a seed.
    pub fn generate(seed: u64, knobs: &Knobs) -> Self {
        let mut rng = Rng::new(seed);
        let mut draft = base::calm(&mut rng, knobs);
        nasty::spoil(&mut draft, &mut rng);
        draft.finish(seed)
    }

    /// The conversations of `seeds`, for long campaigns.
    pub fn campaign(
        seeds: impl IntoIterator<Item = u64>,
        knobs: &Knobs,
    ) -> impl Iterator<Item = Self> {
        seeds.into_iter().map(|seed| Self::generate(seed, knobs))
    }

    /// The same conversation with only the messages for which `keep` (by position) holds.
    pub fn retain(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut out = self.clone();
        let mut position = 0;
        out.messages.retain(|_| {
            position += 1;
            keep(position - 1)
        });
        out.settle();
        out
    }

    /// What a host would tell beside the messages.
    pub fn facts(&self) -> Facts {
        let with = |test: fn(&Flags) -> bool| {
            let hits = self.messages.iter().filter(|m| test(&m.flags));
            hits.map(|m| m.label.clone()).collect()
        };
        let is_request = |m: &&Message| {
            m.speaker == Speaker::User && !(m.flags.hidden || m.flags.reminder || m.flags.summary)
        };
        Facts {
            pinned: with(|f| f.pinned),
            hidden: with(|f| f.hidden),
            reminders: with(|f| f.reminder),
            summaries: with(|f| f.summary),
            partial: with(|f| f.partial),
            pending: self.pending.clone(),
            current_request: self
                .messages
                .iter()
                .rfind(is_request)
                .map(|m| m.label.clone()),
            leading_system: self.messages[..self.leading_system()]
                .iter()
                .map(|m| m.label.clone())
                .collect(),
        }
    }

    /// How many system messages stand at the start.
    pub fn leading_system(&self) -> usize {
        let mut run = self.messages.iter();
        run.position(|m| m.speaker != Speaker::System)
            .unwrap_or(self.messages.len())
    }

    /// What is nasty about it, found by looking.
    pub fn nasties(&self) -> Vec<Nasty> {
        detect::nasties(self)
    }

    /// Drops facts about what is no longer there.
    fn settle(&mut self) {
        let messages = &self.messages;
        self.pending
            .retain(|id| messages.iter().any(|m| m.calls().any(|c| c == Some(id))));
        self.secrets.retain(|secret| {
            messages
                .iter()
                .any(|m| m.texts().iter().any(|t| t.contains(secret.as_str())))
        });
    }
}
