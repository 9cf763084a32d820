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
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::LangChain,
        Self::Claude,
        Self::Responses,
        Self::Codex,
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
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`, use one of openai, anthropic, langchain, claude, responses, codex")]
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
