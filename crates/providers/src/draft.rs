//! A reply while it comes in, the same for every API.

use conspectus::core::effect::{Failure, Finish, Reply};
use conspectus::core::view::Usage;

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
    /// There was a tool call.
    pub(crate) has_call: bool,
    /// There was a refusal in a field of its own.
    pub(crate) has_refusal: bool,
    /// Nothing comes any more.
    pub(crate) is_complete: bool,
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
    /// Whether it is longer than the model was allowed to write: nothing good comes of reading on.
    pub(crate) fn is_over(&self, max_output_tokens: u64) -> bool {
        let most = max_output_tokens.saturating_mul(MOST_BYTES_A_TOKEN);
        self.text.len() as u64 > most.max(LEAST_CAP)
    }

    /// It is cut off here.
    pub(crate) fn cut(&mut self) {
        self.end = Some(End::Finish(Finish::Length));
        self.is_complete = true;
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
