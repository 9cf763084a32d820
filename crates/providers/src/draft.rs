//! A reply while it comes in, the same for every API.

use std::collections::BTreeMap;

use conspectus::core::effect::{Failure, Finish, Reply};
use conspectus::core::view::Usage;
use conspectus::{Delta, Turn, TurnCall};
use serde_json::Value;

/// No text of a cap is longer than this many bytes a token, so a model that passes it does not keep to its cap.
const MOST_BYTES_A_TOKEN: u64 = 16;
const LEAST_CAP: u64 = 64 << 10;

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The text alone: reasoning and tool calls are not put here.
    pub(crate) text: String,
    /// How it ended, when it said so.
    pub(crate) end: Option<End>,
    pub(crate) usage: Option<Usage>,
    /// Reasoning that is told apart from the text.
    pub(crate) reasoning: String,
    /// Tool calls, by their number in the reply.
    pub(crate) calls: BTreeMap<usize, Calling>,
    /// Blocks that must come back as they are, by their number in the reply: signed reasoning.
    pub(crate) blocks: BTreeMap<usize, Value>,
    /// The model, as it names itself.
    pub(crate) model: Option<String>,
    /// What came since somebody looked.
    pub(crate) news: Vec<Delta>,
    /// There was a tool call.
    pub(crate) has_call: bool,
    /// There was a refusal in a field of its own.
    pub(crate) has_refusal: bool,
    /// Nothing comes any more.
    pub(crate) is_complete: bool,
}

/// A tool call while it comes in.
#[derive(Debug, Default)]
pub(crate) struct Calling {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// How a reply ended, in the words of all APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Finish(Finish),
    /// The window was full before it was done: the request was too large.
    WindowFull,
    /// The server gave up.
    Error,
}

impl End {
    /// A finish or stop reason. Unknown ones mean that it ended by itself: servers invent them.
    pub(crate) fn of(reason: &str) -> Self {
        Self::Finish(match reason {
            "length" | "max_tokens" | "model_length" => Finish::Length,
            "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
            "content_filter" | "refusal" | "safety" => Finish::Refused,
            "model_context_window_exceeded" => return Self::WindowFull,
            "error" => return Self::Error,
            _ => Finish::Stop,
        })
    }
}

impl Draft {
    /// Text goes on.
    pub(crate) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.news.push(Delta::Text(text.into()));
        }
    }

    /// Reasoning goes on.
    pub(crate) fn think(&mut self, text: &str) {
        if !text.is_empty() {
            self.reasoning.push_str(text);
            self.news.push(Delta::Reasoning(text.into()));
        }
    }

    /// A call begins or goes on.
    pub(crate) fn call(&mut self, at: usize, id: &str, name: &str, arguments: &str) {
        self.has_call = true;
        let call = self.calls.entry(at).or_default();
        let begins = |known: &mut String, new: &str| {
            let begins = known.is_empty() && !new.is_empty();
            if begins {
                new.clone_into(known);
            }
            begins.then(|| new.into())
        };
        let (id, name) = (begins(&mut call.id, id), begins(&mut call.name, name));
        call.arguments.push_str(arguments);
        let index = self.calls.range(..at).count();
        self.news.push(Delta::Call {
            index,
            id,
            name,
            arguments: arguments.into(),
        });
    }

    /// Whether it is longer than the model was allowed to write: nothing good comes of reading on.
    pub(crate) fn is_over(&self, max_output_tokens: u64) -> bool {
        let most = max_output_tokens.saturating_mul(MOST_BYTES_A_TOKEN);
        let calls = self.calls.values().map(|call| call.arguments.len());
        let all = self.text.len() + self.reasoning.len() + calls.sum::<usize>();
        all as u64 > most.max(LEAST_CAP)
    }

    /// It is cut off here.
    pub(crate) fn cut(&mut self) {
        self.end = Some(End::Finish(Finish::Length));
        self.is_complete = true;
    }

    /// The reply of an agent's model. Calls without an id get one.
    pub(crate) fn end_turn(self) -> Result<Turn, Failure> {
        let calls = self.calls.values().enumerate().map(|(n, call)| TurnCall {
            id: match call.id.as_str() {
                "" => format!("call_{n}").into(),
                id => id.into(),
            },
            name: call.name.as_str().into(),
            arguments: call.arguments.as_str().into(),
        });
        let calls: Vec<TurnCall> = calls.filter(|call| !call.name.is_empty()).collect();
        let (blocks, model) = (self.blocks.values().cloned().collect(), self.model.clone());
        let reply = self.end()?;
        Ok(Turn {
            text: reply.text,
            blocks,
            finish: match reply.finish {
                Finish::Stop if !calls.is_empty() => Finish::ToolCalls,
                finish => finish,
            },
            calls,
            usage: reply.usage,
            model: model.map(Into::into),
        })
    }

    /// The reply.
    pub(crate) fn end(self) -> Result<Reply, Failure> {
        let finish = match self.end {
            Some(End::WindowFull) => return Err(Failure::TOO_LARGE),
            Some(End::Error) => {
                return Err(Failure::Unavailable {
                    message: "the server gave the reply up".into(),
                    retry_after_ms: None,
                });
            }
            Some(End::Finish(finish)) => finish,
            None => Finish::Stop,
        };
        let text = without_thinking(&self.text);
        let finish = match finish {
            Finish::Stop if self.has_refusal && text.is_empty() => Finish::Refused,
            Finish::Stop if self.has_call && text.is_empty() => Finish::ToolCalls,
            finish => finish,
        };
        Ok(Reply {
            text: text.into(),
            finish,
            usage: self.usage,
        })
    }
}

/// Local servers that know nothing of reasoning put it before the text, in a block of its own. One without an end is
/// reasoning to the last word.
fn without_thinking(text: &str) -> &str {
    let Some(thought) = text.trim_start().strip_prefix("<think>") else {
        return text;
    };
    match thought.split_once("</think>") {
        Some((_, said)) => said.trim_start(),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends() {
        let check = |text: &str, reason: &str, call: bool, expect: (&str, Finish)| {
            let draft = Draft {
                text: text.into(),
                end: Some(End::of(reason)),
                has_call: call,
                ..Draft::default()
            };
            let reply = draft.end().expect("it is a reply");
            assert_eq!((&*reply.text, reply.finish), expect, "{text} {reason}");
        };
        check("a", "stop", false, ("a", Finish::Stop));
        check("a", "eos_token", false, ("a", Finish::Stop));
        check("a", "max_tokens", false, ("a", Finish::Length));
        check("", "stop", true, ("", Finish::ToolCalls));
        check("a", "stop", true, ("a", Finish::Stop));
        check("a", "refusal", false, ("a", Finish::Refused));
        check(
            "\n<think>no\n</think>\n\nyes",
            "stop",
            false,
            ("yes", Finish::Stop),
        );
        check("<think>on and on", "length", false, ("", Finish::Length));
        check(
            "a <think>b</think>",
            "stop",
            false,
            ("a <think>b</think>", Finish::Stop),
        );
    }
}
