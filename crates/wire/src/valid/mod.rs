//! Strict validators: would the provider take these messages?
//!
//! They judge what the rest of this project writes, so they share nothing with it: they parse the bytes anew, into
//! values, and know only the providers' rules. A finding says which rule a message breaks; whether that is a
//! fault of ours or was there before is for the caller to compare.
//!
//! ```
//! use conspectus_wire::{Format, valid};
//!
//! let orphan = br#"[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"x","content":"r"}]"#;
//! let faults = valid::check(Format::OpenAi, orphan);
//! assert_eq!(faults[0].rule, valid::Rule::Orphan);
//! assert_eq!(faults[0].message, Some(1));
//! ```

mod anthropic;
mod gemini;
mod langchain;
mod lists;
mod openai;
mod responses;

use std::fmt;

use serde_json::Value;

use crate::format::Format;

/// A rule that a provider enforces, or that its strictest known server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The bytes are JSON and hold lists of messages.
    Shape,
    /// The role is one that the provider knows.
    Role,
    /// The first message is one that may come first.
    First,
    /// The last message is one that may come last.
    Last,
    /// Roles take turns, for chat templates that demand it.
    Alternation,
    /// System messages stand where they may.
    System,
    /// Every call is answered directly behind it.
    Unanswered,
    /// Every answer has its call directly before it.
    Orphan,
    /// An id names one call and one answer of a turn.
    Repeated,
    /// Results stand in front of anything else.
    ResultsFirst,
    /// Content is there and not empty.
    Empty,
    /// Arguments are JSON of the kind that the provider takes.
    Arguments,
    /// Ids have the provider's form.
    Id,
    /// At most four cache breakpoints, where they may be, longer ones first.
    Cache,
    /// Thinking is signed, and followed by what it led to.
    Thinking,
    /// Messages that use tools come with tool definitions.
    Tools,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Index of the conversation in the file.
    pub conversation: usize,
    /// Index of the message, unless the fault is of the request as a whole.
    pub message: Option<usize>,
    /// The rule.
    pub rule: Rule,
    /// What breaks it.
    pub detail: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message {
            Some(message) => write!(f, "conversation {}, message {message}: ", self.conversation)?,
            None => write!(f, "conversation {}: ", self.conversation)?,
        }
        write!(f, "{} ({:?})", self.detail, self.rule)
    }
}

/// What is wrong with the conversations of a file, by the rules of the format's provider. Session files are no
/// requests; nothing is checked in them.
pub fn check(format: Format, bytes: &[u8]) -> Vec<Fault> {
    each(bytes, |request, messages, out| match format {
        Format::OpenAi | Format::MiniSweAgent => openai::check(messages, out),
        Format::Anthropic | Format::Cline => anthropic::check(request, messages, out),
        Format::Gemini => gemini::check(messages, out),
        Format::LangChain => langchain::check(messages, out),
        Format::Responses => responses::check(request, messages, out),
        Format::Claude
        | Format::Codex
        | Format::GeminiCli
        | Format::Copilot
        | Format::Pi
        | Format::OpenHands
        | Format::SweAgent
        | Format::Inspect
        | Format::Goose
        | Format::Neutral => {}
    })
}

/// What is wrong for the strictest servers behind OpenAI's interface, whose chat templates want one system message in
/// front, users and assistants taking turns, and a user's or a tool's message at the end.
pub fn check_strict_template(bytes: &[u8]) -> Vec<Fault> {
    each(bytes, |_, messages, out| {
        openai::check_template(messages, out);
    })
}

/// Collects the faults of one conversation.
struct Faults {
    conversation: usize,
    found: Vec<Fault>,
}

impl Faults {
    fn add(&mut self, message: usize, rule: Rule, detail: impl Into<String>) {
        self.push(Some(message), rule, detail);
    }

    fn of_request(&mut self, rule: Rule, detail: impl Into<String>) {
        self.push(None, rule, detail);
    }

    fn push(&mut self, message: Option<usize>, rule: Rule, detail: impl Into<String>) {
        self.found.push(Fault {
            conversation: self.conversation,
            message,
            rule,
            detail: detail.into(),
        });
    }
}

fn each(bytes: &[u8], mut check: impl FnMut(&Value, &[Value], &mut Faults)) -> Vec<Fault> {
    let mut out = Faults {
        conversation: 0,
        found: Vec::new(),
    };
    let Some(file) = lists::parse(bytes) else {
        out.of_request(Rule::Shape, "no JSON, or nested deeper than 128 levels");
        return out.found;
    };
    let conversations = lists::conversations(&file);
    if conversations.is_empty() {
        out.of_request(Rule::Shape, "no list of messages");
    }
    for (index, (request, messages)) in conversations.into_iter().enumerate() {
        out.conversation = index;
        check(request, messages, &mut out);
    }
    out.found
}

/// The string at `key`, empty when there is none.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The list at `key`, empty when there is none.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
