//! What is printed: a trace, as the judge reads it.

use std::borrow::Cow;

use serde::Serialize;

use super::json::Json;
use super::proxied::Http;

/// The whole trace.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Trace {
    /// The case needs what is not built yet.
    Skip {
        /// What.
        skip: String,
    },
    /// What happened.
    Run {
        /// One a step of the case.
        steps: Vec<Step>,
        /// What the construction said.
        warnings: Vec<String>,
        /// Tokens of each message by the engine's counter.
        estimates: Json,
    },
}

/// A wire message and where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Labels of messages, `$summary`, `$stub`, `$other`.
    pub from: Vec<String>,
    /// The message.
    pub message: Json,
}

/// The request that would be sent now.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    /// The system prompt beside the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Json>,
    /// The messages.
    pub messages: Vec<Entry>,
    /// The tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Json>,
    /// The texts around the summary.
    pub frame: Frame,
}

/// Two texts that stand around data.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Frame {
    /// In front.
    pub open: &'static str,
    /// Behind.
    pub close: &'static str,
}

/// One step.
#[derive(Debug, Default, Serialize)]
pub struct Step {
    /// The op.
    pub op: String,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// How each op of a `concurrent` step ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Vec<&'static str>>,
    /// What went wrong.
    pub error: Option<Error>,
    /// The active window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<Vec<Entry>>,
    /// The summary so far.
    pub summary: Option<String>,
    /// What code keeps of the thread, whatever the summary says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durable: Option<Durable>,
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// Sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Calls of the summariser.
    pub summary_calls: Vec<Json>,
    /// What is shortened in `request`.
    pub pruned: Vec<Pruned>,
    /// Names of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Cow<'static, str>>>,
    /// What the user is told.
    pub warnings: Vec<String>,
    /// What processes that died left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crashes: Option<Vec<Crash>>,
    /// The record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    /// What a fresh reader finds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Stored>,
    /// What was written to the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<Archive>,
    /// What went through the proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<Http>,
    /// What reached the user's stream: nothing of the engine does.
    pub user_stream: Vec<Json>,
    /// Milliseconds of the virtual clock.
    pub wall_ms: u64,
}

/// What code keeps.
#[derive(Clone, Debug, Serialize)]
pub struct Durable {
    /// Delegated work.
    pub tasks: Vec<Task>,
    /// The user's standing rules.
    pub constraints: Vec<Constraint>,
}

/// Delegated work.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    /// Its own id, or that of the call.
    pub id: String,
    /// Where it stands.
    pub status: &'static str,
    /// Conditions that are not met.
    pub unmet: Vec<String>,
}

/// A standing rule.
#[derive(Clone, Debug, Serialize)]
pub struct Constraint {
    /// In the user's words.
    pub text: String,
    /// The label of the message that says it.
    pub from: String,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize)]
pub struct Error {
    /// In a word.
    pub code: String,
    /// For people.
    pub message: String,
}

/// Sizes of the request.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tokens {
    /// At the start of the step.
    pub before: u64,
    /// After it, if anything was committed.
    pub after: Option<u64>,
}

/// A message that is shortened.
#[derive(Clone, Debug, Serialize)]
pub struct Pruned {
    /// Its label.
    pub id: String,
    /// What was put in.
    pub marker: String,
}

/// One record a check.
#[derive(Clone, Debug, Serialize)]
pub struct Telemetry {
    /// How it ended.
    pub outcome: &'static str,
    /// `auto`, `manual` or `overflow`.
    pub trigger: &'static str,
    /// Size before.
    pub tokens_before: u64,
    /// Size after, if anything was committed.
    pub tokens_after: Option<u64>,
    /// Messages of the active window before.
    pub messages_before: u64,
    /// Of these: folded.
    pub messages_removed: u64,
    /// Messages after.
    pub messages_after: u64,
    /// What the summariser reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarizer_input_tokens: Option<u64>,
    /// Codes.
    pub reasons: Vec<&'static str>,
}

/// What a process that died left in the store.
#[derive(Clone, Debug, Serialize)]
pub struct Crash {
    /// The case's name of the point.
    pub point: String,
    /// The step of the commit at which the process died; `None`: it came to none and died when all was done.
    pub died: Option<String>,
    /// The active window, as the next process finds it.
    pub active: Vec<Entry>,
    /// The summary, as the next process finds it.
    pub summary: Option<String>,
    /// How the next compaction ended.
    pub retry: &'static str,
}

/// What a fresh reader finds in the store.
#[derive(Clone, Debug, Serialize)]
pub struct Stored {
    /// The active window.
    pub ids: Vec<String>,
    /// The summary.
    pub summary: Option<String>,
    /// Whether there is a record of a finished compaction.
    pub boundary: bool,
}

/// What was written to the archive.
#[derive(Clone, Debug, Serialize)]
pub struct Archive {
    /// The messages.
    pub messages: Vec<Entry>,
    /// When.
    pub written_at: u64,
    /// When the record was committed.
    pub committed_at: Option<u64>,
}
