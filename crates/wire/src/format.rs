//! The formats by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the messages of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Messages of OpenAI's chat completions and of everything that copies them.
    OpenAi,
    /// Anthropic's messages: content blocks, tool results in user messages.
    Anthropic,
    /// LangChain's messages as JSON: thread states, `dumpd`, `messages_to_dict`.
    LangChain,
    /// Claude Code's session files, one record a line.
    Claude,
    /// Items of OpenAI's Responses API.
    Responses,
    /// Codex's session files ("rollouts"), one record a line.
    Codex,
    /// Requests to Gemini's API: `contents` of parts.
    Gemini,
    /// Gemini CLI's chats, as one object or one record a line.
    #[serde(rename = "gemini-cli")]
    GeminiCli,
    /// Copilot CLI's sessions, one event a line.
    Copilot,
    /// Cline's sessions: Anthropic's messages with notes of its own.
    Cline,
    /// pi's sessions, one entry a line.
    Pi,
    /// OpenHands' events, as a list or in the lines of an evaluation.
    OpenHands,
    /// SWE-agent's trajectories.
    #[serde(rename = "swe-agent")]
    SweAgent,
    /// mini-swe-agent's trajectories: chat messages.
    #[serde(rename = "mini-swe-agent")]
    MiniSweAgent,
    /// Inspect's logs.
    Inspect,
    /// goose's sessions, one message a line or exported as one object.
    Goose,
    /// Our own form for what has no other: role and parts. `docs/formats.md` describes it.
    Neutral,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 17] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::LangChain,
        Self::Claude,
        Self::Responses,
        Self::Codex,
        Self::Gemini,
        Self::GeminiCli,
        Self::Copilot,
        Self::Cline,
        Self::Pi,
        Self::OpenHands,
        Self::SweAgent,
        Self::MiniSweAgent,
        Self::Inspect,
        Self::Goose,
        Self::Neutral,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::LangChain => "langchain",
            Self::Claude => "claude",
            Self::Responses => "responses",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::GeminiCli => "gemini-cli",
            Self::Copilot => "copilot",
            Self::Cline => "cline",
            Self::Pi => "pi",
            Self::OpenHands => "openhands",
            Self::SweAgent => "swe-agent",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::Inspect => "inspect",
            Self::Goose => "goose",
            Self::Neutral => "neutral",
        }
    }

    /// The names of all, for messages to people.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Whether a file of this format can be written again with a compaction in it. The others are logs of what was
    /// said: nobody sends them anywhere, so what comes of them is written in another form ([`crate::Target`]).
    pub fn is_written_in_place(self) -> bool {
        !matches!(
            self,
            Self::GeminiCli
                | Self::Copilot
                | Self::Pi
                | Self::OpenHands
                | Self::SweAgent
                | Self::Inspect
                | Self::Goose
        )
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`, use one of {names}", names = Format::names())]
pub struct UnknownFormatName(String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormatName(name.to_owned()))
    }
}
