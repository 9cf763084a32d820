//! How a scripted model behaves, as the cases spell it.

use conspectus_core::effect::Finish;
use conspectus_core::view::Usage;
use serde_json::Value;

use super::{Answer, Ask, Said, finish};

/// How a scripted model behaves. Calls are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Behaviour {
    /// This text; `Finish::Length` = cut off at the output limit.
    Text {
        /// The text.
        text: String,
        /// How it ends.
        finish: Finish,
        /// What the provider reports for the call.
        usage: Option<Usage>,
    },
    /// The same text in this many chunks.
    Stream {
        /// The text.
        text: String,
        /// How many.
        chunks: usize,
    },
    /// An error.
    Error {
        /// HTTP status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// `then`, after a time.
    Slow {
        /// How long.
        ms: u64,
        /// What then.
        then: Box<Self>,
    },
    /// No answer, ever.
    NeverReturns,
    /// Some text, then nothing.
    StreamThenStall(String),
    /// Some text, then the stream breaks.
    StreamThenError {
        /// The text.
        text: String,
        /// What the error says.
        message: String,
    },
    /// The summariser itself dies.
    Panic,
    /// Tool calls.
    ToolCalls(Value),
    /// Content blocks.
    Blocks(Value),
    /// Several choices.
    Choices(Value),
    /// What it was given, joined by line feeds.
    EchoInput,
    /// What it said last, and this.
    EchoPreviousPlus(String),
    /// Item 1 for call 1 and so on; the last one repeats.
    Sequence(Vec<Self>),
    /// Call `n` fails with 500, the others are `then`.
    FailCall {
        /// The number of the call.
        n: usize,
        /// The others.
        then: Box<Self>,
    },
    /// An overflow error when the request is over the limit, else `then`.
    RejectIfOver {
        /// The limit by the judge's estimate.
        limit_tokens: u64,
        /// What the error says.
        error: String,
        /// Below the limit.
        then: Box<Self>,
    },
    /// Error 400 when `max_output_tokens` is over the limit, else `then`.
    RejectIfMaxOutputOver {
        /// The limit.
        limit_tokens: u64,
        /// Below the limit.
        then: Box<Self>,
    },
    /// An error when there is a picture, sound or file, else `then`.
    ErrorIfMedia {
        /// HTTP status.
        status: u16,
        /// What it says.
        message: String,
        /// Without media.
        then: Box<Self>,
    },
    /// `text` when none of `beginnings` is in the request, else `otherwise`.
    AskIfEmpty {
        /// What it says to an empty request.
        text: String,
        /// The first letters and digits of the messages of the conversation.
        beginnings: Vec<String>,
        /// To a request that holds something.
        otherwise: Box<Self>,
    },
}

impl Behaviour {
    /// This text, ended by itself.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            finish: Finish::Stop,
            usage: None,
        }
    }

    /// The `summarizer` of a case, its generated values already put in. `beginnings`: the first 12 letters and
    /// digits of the messages. `None` when it names a behaviour that is not known.
    pub fn from_case(case: &Value, beginnings: &[String]) -> Option<Self> {
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| case[key].as_u64().unwrap_or_default();
        let status = || u16::try_from(number("status")).unwrap_or(500);
        let nested = |key: &str| Self::from_case(&case[key], beginnings).map(Box::new);
        Some(match case["behaviour"].as_str()? {
            "text" => Self::Text {
                text: text("text"),
                finish: finish(case["finish_reason"].as_str()),
                usage: usage(&case["usage"]),
            },
            "stream" => Self::Stream {
                text: text("text"),
                chunks: usize::try_from(number("chunks")).unwrap_or(1),
            },
            "empty" => Self::text(""),
            "whitespace" => Self::text(text("text")),
            "error" => Self::Error {
                status: status(),
                message: text("message"),
            },
            "slow" => Self::Slow {
                ms: number("ms"),
                then: nested("then")?,
            },
            "never_returns" => Self::NeverReturns,
            "stream_then_stall" => Self::StreamThenStall(text("text")),
            "stream_then_error" => Self::StreamThenError {
                text: text("text"),
                message: text("message"),
            },
            "panic" => Self::Panic,
            "tool_calls" => Self::ToolCalls(case["calls"].clone()),
            "blocks" => Self::Blocks(case["blocks"].clone()),
            "choices" => Self::Choices(case["choices"].clone()),
            "echo_input" => Self::EchoInput,
            "echo_previous_plus" => Self::EchoPreviousPlus(text("text")),
            "sequence" => {
                let items = case["items"].as_array()?.iter();
                let items = items.map(|item| Self::from_case(item, beginnings));
                Self::Sequence(items.collect::<Option<_>>()?)
            }
            "fail_call_number" => Self::FailCall {
                n: usize::try_from(number("n")).ok()?,
                then: nested("then")?,
            },
            "reject_if_over" | "reject_first_over" => Self::RejectIfOver {
                limit_tokens: number("limit_tokens"),
                error: case["error"]
                    .as_str()
                    .unwrap_or("context_length_exceeded")
                    .to_owned(),
                then: nested("then")?,
            },
            "reject_if_max_output_over" => Self::RejectIfMaxOutputOver {
                limit_tokens: number("limit_tokens"),
                then: nested("then")?,
            },
            "error_if_images" => Self::ErrorIfMedia {
                status: status(),
                message: text("message"),
                then: nested("then")?,
            },
            "ask_for_input_if_empty" => Self::AskIfEmpty {
                text: text("text"),
                beginnings: beginnings.to_vec(),
                otherwise: nested("else")?,
            },
            _ => return None,
        })
    }

    /// What it does at call number `call`, having said `previous` last.
    pub(super) fn answer(&self, call: usize, previous: &str, ask: &Ask) -> Answer {
        let error = |status, message: &str| {
            Answer::from(Said::Error {
                status: Some(status),
                message: message.to_owned(),
            })
        };
        match self {
            Self::Text {
                text,
                finish,
                usage,
            } => Said::Text {
                text: text.clone(),
                finish: *finish,
                usage: usage.clone(),
            }
            .into(),
            Self::Stream { text, chunks } => Answer {
                chunks: cut(text, *chunks),
                ..Said::text(text).into()
            },
            Self::Error { status, message } => error(*status, message),
            Self::Slow { ms, then } => {
                let mut answer = then.answer(call, previous, ask);
                answer.after_ms += ms;
                answer
            }
            Self::NeverReturns => Said::Nothing.into(),
            Self::StreamThenStall(text) => Answer {
                chunks: vec![text.clone()],
                ..Said::Nothing.into()
            },
            Self::StreamThenError { text, message } => {
                let said = Said::Error {
                    status: None,
                    message: message.clone(),
                };
                Answer {
                    chunks: vec![text.clone()],
                    ..said.into()
                }
            }
            Self::Panic => Said::Panic.into(),
            Self::ToolCalls(calls) => Said::ToolCalls(calls.clone()).into(),
            Self::Blocks(blocks) => Said::Blocks(blocks.clone()).into(),
            Self::Choices(choices) => Said::Choices(choices.clone()).into(),
            Self::EchoInput => Said::text(ask.texts.join("\n")).into(),
            Self::EchoPreviousPlus(text) => Said::text([previous, text].concat()).into(),
            Self::Sequence(items) => match items.get(call - 1).or(items.last()) {
                Some(item) => item.answer(call, previous, ask),
                None => Said::text("").into(),
            },
            Self::FailCall { n, .. } if *n == call => error(500, "call failed as scripted"),
            Self::RejectIfOver {
                limit_tokens,
                error: message,
                ..
            } if ask.tokens() > *limit_tokens => {
                let known = message.contains("context");
                let code = if known {
                    ""
                } else {
                    "context_length_exceeded: "
                };
                error(400, &[code, message].concat())
            }
            Self::RejectIfMaxOutputOver { limit_tokens, .. }
                if ask.max_output_tokens.is_some_and(|max| max > *limit_tokens) =>
            {
                error(400, "max_tokens is too large")
            }
            Self::ErrorIfMedia {
                status, message, ..
            } if ask.media > 0 => error(*status, message),
            Self::AskIfEmpty {
                text, beginnings, ..
            } if !beginnings.iter().any(|b| shows(ask, b)) => Said::text(text).into(),
            Self::FailCall { then, .. }
            | Self::RejectIfOver { then, .. }
            | Self::RejectIfMaxOutputOver { then, .. }
            | Self::ErrorIfMedia { then, .. }
            | Self::AskIfEmpty {
                otherwise: then, ..
            } => then.answer(call, previous, ask),
        }
    }
}

/// What a provider reports, in either spelling.
fn usage(case: &Value) -> Option<Usage> {
    let number = |keys: [&str; 2]| keys.iter().find_map(|key| case[*key].as_u64());
    Some(Usage {
        input: number(["input_tokens", "prompt_tokens"])?,
        output: number(["output_tokens", "completion_tokens"]).unwrap_or(0),
        ..Usage::default()
    })
}

/// Whether the request shows a message that begins with these letters and digits, escaped as it may be.
fn shows(ask: &Ask, beginning: &str) -> bool {
    let letters = |text: &str| -> String {
        let plain = text.replace("&lt;", "<").replace("&gt;", ">");
        let plain = plain.replace("&amp;", "&");
        plain.chars().filter(|c| c.is_alphanumeric()).collect()
    };
    !beginning.is_empty() && ask.texts.iter().any(|t| letters(t).contains(beginning))
}

/// `text` in `n` pieces, as even as characters allow.
fn cut(text: &str, n: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let size = chars.len().div_ceil(n.max(1)).max(1);
    chars
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use conspectus_core::effect::Failure;
    use serde_json::json;

    use super::*;
    use crate::model::ScriptedModel;

    fn ask(text: &str) -> Ask {
        Ask {
            texts: vec![text.to_owned()],
            messages: 1,
            max_output_tokens: Some(2_000),
            ..Ask::default()
        }
    }

    /// What a case's summariser says, call by call.
    #[track_caller]
    fn check(case: &Value, asks: &[Ask], expect: &[Said]) {
        let beginnings = ["Hello".to_owned()];
        let behaviour = Behaviour::from_case(case, &beginnings).expect("a known behaviour");
        let mut model = ScriptedModel::new(behaviour).after("Before.");
        let said: Vec<_> = asks.iter().map(|a| model.answer(a).said).collect();
        assert_eq!(said, expect, "{case}");
        assert_eq!(model.calls(), asks.len());
    }

    fn error(status: u16, message: &str) -> Said {
        let message = message.to_owned();
        Said::Error {
            status: Some(status),
            message,
        }
    }

    #[test]
    fn behaviours_of_the_cases() {
        let twice = [ask("Hel-lo"), ask("other")];
        let text = |t: &str| json!({"behaviour": "text", "text": t});
        check(&text("A"), &twice, &[Said::text("A"), Said::text("A")]);
        check(
            &json!({"behaviour": "empty"}),
            &twice[..1],
            &[Said::text("")],
        );
        let cut_off = Said::Text {
            text: "Half".to_owned(),
            finish: Finish::Length,
            usage: None,
        };
        check(
            &json!({"behaviour": "text", "text": "Half", "finish_reason": "length"}),
            &twice[..1],
            &[cut_off],
        );
        check(
            &json!({"behaviour": "sequence", "items": [text("A"), {"behaviour": "echo_input"}]}),
            &[ask("x"), ask("y"), ask("z")],
            &[Said::text("A"), Said::text("y"), Said::text("z")],
        );
        check(
            &json!({"behaviour": "echo_previous_plus", "text": "+"}),
            &twice,
            &[Said::text("Before.+"), Said::text("Before.++")],
        );
        check(
            &json!({"behaviour": "fail_call_number", "n": 2, "then": text("A")}),
            &twice,
            &[Said::text("A"), error(500, "call failed as scripted")],
        );
        check(
            &json!({"behaviour": "reject_if_over", "limit_tokens": 20, "then": text("A")}),
            &[ask("short"), ask(&"long ".repeat(40))],
            &[Said::text("A"), error(400, "context_length_exceeded")],
        );
        check(
            &json!({"behaviour": "reject_if_max_output_over", "limit_tokens": 1000, "then": text("A")}),
            &twice[..1],
            &[error(400, "max_tokens is too large")],
        );
        check(
            &json!({"behaviour": "ask_for_input_if_empty", "text": "What?", "else": text("A")}),
            &twice,
            &[Said::text("A"), Said::text("What?")],
        );
        let pictures = json!({"behaviour": "error_if_images", "status": 422, "message": "no", "then": text("A")});
        let with_picture = Ask {
            media: 1,
            ..ask("x")
        };
        check(
            &pictures,
            &[ask("x"), with_picture],
            &[Said::text("A"), error(422, "no")],
        );
        assert_eq!(
            Behaviour::from_case(&json!({"behaviour": "dance"}), &[]),
            None
        );
    }

    #[test]
    fn time_and_chunks() {
        let slow = Behaviour::Slow {
            ms: 40,
            then: Box::new(Behaviour::Stream {
                text: "añb".to_owned(),
                chunks: 2,
            }),
        };
        let answer = ScriptedModel::new(slow).answer(&ask("x"));
        assert_eq!(answer.after_ms, 40);
        assert_eq!(answer.chunks, ["añ", "b"]);
        assert_eq!(answer.said, Said::text("añb"));
    }

    #[test]
    fn what_the_core_is_told() {
        let overflow = Failure::TOO_LARGE;
        for (said, expect) in [
            (error(400, "context_length_exceeded"), overflow),
            (
                error(429, "slow down"),
                Failure::Unavailable {
                    message: "status 429: slow down".into(),
                    retry_after_ms: None,
                },
            ),
            (
                error(401, "who"),
                Failure::Unusable {
                    message: "status 401: who".into(),
                },
            ),
        ] {
            assert_eq!(said.outcome(), Some(Err(expect)));
        }
        let blocks = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}]);
        let reply = Said::Blocks(blocks).outcome().and_then(Result::ok);
        assert_eq!(
            reply.map(|r| (r.text.to_string(), r.finish)),
            Some(("A".to_owned(), Finish::Stop))
        );
        assert_eq!(Said::Nothing.outcome(), None);
    }

    #[test]
    fn every_case_is_understood() {
        let Some(files) = crate::shared::path("cases").and_then(|p| std::fs::read_dir(p).ok())
        else {
            println!("shared data not found, 1 check left out");
            return;
        };
        let mut read = 0;
        for file in files.filter_map(Result::ok) {
            let name = file.file_name().to_string_lossy().into_owned();
            let is_case = name.as_bytes()[0].is_ascii_digit() && name.ends_with(".json");
            if !is_case {
                continue;
            }
            let text = std::fs::read(file.path()).expect("a readable case");
            let case: Value = serde_json::from_slice(&text).expect("JSON");
            if !case["summarizer"].is_null() {
                let known = Behaviour::from_case(&case["summarizer"], &[]);
                assert!(known.is_some(), "{name}: {}", case["summarizer"]);
                read += 1;
            }
        }
        assert!(read > 50, "{read} cases");
    }
}
