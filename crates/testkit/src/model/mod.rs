//! A summariser that does as it is told: the behaviours of the cases, and numbered calls.
//!
//! [`ScriptedModel`] is a pure value. It looks at an [`Ask`] and gives an [`Answer`] that says what comes back
//! and after how long; waiting, cancelling and panicking are the caller's.

mod agent;
mod behaviour;
mod chat;
mod estimate;

use conspectus_core::effect::{Failure, Finish, Reply, SummaryInput, SummaryRequest};
use conspectus_core::view::Usage;
use serde_json::Value;

pub use agent::{AgentReply, ScriptedAgent};
pub use behaviour::Behaviour;
pub use chat::ScriptedChat;
pub use estimate::estimate;

/// What a request for a summary shows to a scripted model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// The system prompt, if any.
    pub system: String,
    /// The texts of the messages, in order.
    pub texts: Vec<String>,
    /// How many messages the texts stand in (for the estimate).
    pub messages: usize,
    /// Pictures, sounds and files in the messages.
    pub media: usize,
    /// The cap of the reply.
    pub max_output_tokens: Option<u64>,
}

impl Ask {
    /// Its size by the judge's estimate.
    pub fn tokens(&self) -> u64 {
        let texts = self.texts.iter().chain([&self.system]).map(String::as_str);
        estimate(texts, self.messages, self.media)
    }
}

impl From<&SummaryRequest> for Ask {
    /// A transcript is seen in full; of a replayed conversation only the instruction is.
    fn from(request: &SummaryRequest) -> Self {
        let (system, texts, messages) = match &request.input {
            SummaryInput::Transcript { system, document } => {
                (system.to_string(), vec![document.to_string()], 1)
            }
            SummaryInput::Replay {
                conversation,
                instruction,
            } => (
                String::new(),
                vec![instruction.to_string()],
                conversation.len() + 1,
            ),
        };
        Self {
            system,
            texts,
            messages,
            media: 0,
            max_output_tokens: Some(request.max_output_tokens),
        }
    }
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// How it ended.
        finish: Finish,
        /// What the provider reports for the call.
        usage: Option<Usage>,
    },
    /// An error of the provider.
    Error {
        /// Its HTTP status; `None`: the stream broke.
        status: Option<u16>,
        /// What it says.
        message: String,
    },
    /// Nothing, for ever.
    Nothing,
    /// The summariser itself dies.
    Panic,
    /// Tool calls instead of text.
    ToolCalls(Value),
    /// Content blocks of several kinds.
    Blocks(Value),
    /// Several choices.
    Choices(Value),
}

/// What comes back, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How long it takes.
    pub after_ms: u64,
    /// Texts that are streamed before the end.
    pub chunks: Vec<String>,
    /// What comes back.
    pub said: Said,
}

impl From<Said> for Answer {
    fn from(said: Said) -> Self {
        Self {
            after_ms: 0,
            chunks: Vec::new(),
            said,
        }
    }
}

impl Said {
    /// Text that ended by itself.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            finish: Finish::Stop,
            usage: None,
        }
    }

    /// What a driver tells the core; `None`: nothing ever comes.
    pub fn outcome(&self) -> Option<Result<Reply, Failure>> {
        let reply = |text: &str, finish| {
            Ok(Reply {
                text: text.into(),
                finish,
                usage: None,
            })
        };
        Some(match self {
            Self::Nothing => return None,
            Self::Text {
                text,
                finish,
                usage,
            } => Ok(Reply {
                text: text.as_str().into(),
                finish: *finish,
                usage: usage.clone(),
            }),
            Self::Error { status, message } => Err(failure(*status, message)),
            Self::Panic => Err(Failure::Broken {
                message: "the summariser panicked".into(),
            }),
            Self::ToolCalls(_) => reply("", Finish::ToolCalls),
            Self::Blocks(blocks) => {
                let blocks = || blocks.as_array().into_iter().flatten();
                let texts = blocks().filter(|b| b["type"] == "text");
                let text: String = texts.filter_map(|b| b["text"].as_str()).collect();
                let calls = blocks().any(|b| b["type"] == "tool_use");
                reply(
                    &text,
                    if calls {
                        Finish::ToolCalls
                    } else {
                        Finish::Stop
                    },
                )
            }
            Self::Choices(choices) => {
                // The first that says something.
                let text = |choice: &Value| -> String {
                    let text = choice["message"]["content"].as_str();
                    let text = text.or(choice["text"].as_str()).or(choice.as_str());
                    text.unwrap_or_default().to_owned()
                };
                let mut candidates = choices.as_array().into_iter().flatten();
                let said = candidates.find(|c| !text(c).trim().is_empty());
                let said = said.unwrap_or(&choices[0]);
                reply(&text(said), finish(said["finish_reason"].as_str()))
            }
        })
    }
}

/// The provider's word for the end of a reply.
fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("length" | "max_tokens") => Finish::Length,
        Some("tool_calls" | "tool_use") => Finish::ToolCalls,
        Some("content_filter" | "refusal") => Finish::Refused,
        _ => Finish::Stop,
    }
}

fn failure(status: Option<u16>, message: &str) -> Failure {
    let overflow = message.contains("context_length_exceeded")
        || message.contains("maximum context length")
        || message.contains("prompt is too long");
    let said = match status {
        Some(status) => format!("status {status}: {message}"),
        None => message.to_owned(),
    };
    match status {
        Some(400 | 413) if overflow => Failure::TOO_LARGE,
        None | Some(408 | 409 | 425 | 429 | 500..) => Failure::Unavailable {
            message: said.into(),
            retry_after_ms: None,
        },
        Some(_) => Failure::Unusable {
            message: said.into(),
        },
    }
}

/// A model that behaves as scripted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedModel {
    behaviour: Behaviour,
    calls: usize,
    previous: String,
}

impl ScriptedModel {
    /// A model that behaves like this from its first call on.
    pub fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            calls: 0,
            previous: String::new(),
        }
    }

    /// A model that always says this.
    pub fn saying(text: impl Into<String>) -> Self {
        Self::new(Behaviour::text(text))
    }

    /// The summary that there is before the first call, for [`Behaviour::EchoPreviousPlus`].
    pub fn after(mut self, summary: impl Into<String>) -> Self {
        self.previous = summary.into();
        self
    }

    /// Calls so far, failed ones included.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// The next call.
    pub fn answer(&mut self, ask: &Ask) -> Answer {
        self.calls += 1;
        let answer = self.behaviour.answer(self.calls, &self.previous, ask);
        if let Said::Text { text, .. } = &answer.said {
            self.previous.clone_from(text);
        }
        answer
    }
}
