//! What an attempt asks of the outside, and what it is told.
//!
//! An [`crate::attempt::Attempt`] performs nothing itself. A driver (async, blocking, Python, simulator) takes
//! its effects one by one and feeds inputs back, in any order and at any time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, CallId, Ident, NodeId, RecordId};
use crate::outcome::{Measured, Moment, Outcome};
use crate::projection::Piece;
use crate::ranges::NodeRanges;
use crate::record::Record;
use crate::view::Usage;

/// Milliseconds on the driver's clock; only differences matter.
pub type Millis = u64;

/// One call of a summariser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallNumber(pub u32);

/// The version of a thread's state that a commit was planned on. Appended messages do not change it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Version(pub u64);

/// The fence of a lease: a holder whose lease was taken over has an older one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Fence(pub u64);

/// What a commit compares. Never the head: messages that came late are no conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expect {
    /// The state version at the snapshot.
    pub version: Version,
    /// The lease's fence at the snapshot.
    pub fence: Fence,
}

/// Which model is asked, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Route {
    /// The model's name; `None`: the one that the run executes with.
    pub model: Option<Arc<str>>,
    /// The host can send the conversation's own bytes once more, extended. Whether that is done instead of one transcript
    /// document is decided by [`way::replays`](crate::way::replays); the route of a call says what was decided.
    pub replay: bool,
    /// The largest request it takes, in tokens.
    pub max_input: u64,
    /// The most it writes in one reply.
    pub max_output: u64,
    /// It can be held to a JSON schema.
    pub takes_schema: bool,
}

/// The input of one summary call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryInput {
    /// One document: `system` holds the instruction, `document` the framed and escaped transcript.
    Transcript {
        /// The instruction.
        system: Arc<str>,
        /// The data.
        document: Arc<str>,
    },
    /// The conversation as it was last sent, with `instruction` as the last user turn.
    Replay {
        /// The conversation.
        conversation: Arc<[Piece]>,
        /// The instruction.
        instruction: Arc<str>,
    },
}

/// A request for a summary.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// What the model is given.
    pub input: SummaryInput,
    /// Its size by the thread's counter.
    pub input_tokens: u64,
    /// The cap of the reply.
    pub max_output_tokens: u64,
    /// The reply is to be an object of the schema [`form::SCHEMA`](crate::summary::form::SCHEMA).
    pub as_fields: bool,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// By itself.
    Stop,
    /// At the output limit.
    Length,
    /// It wanted to call tools.
    ToolCalls,
    /// Refused or filtered.
    Refused,
}

impl Finish {
    /// The word used in every interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Refused => "refused",
        }
    }
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reply {
    /// The text parts, joined; reasoning and tool calls are already left out.
    pub text: Arc<str>,
    /// How it ended.
    pub finish: Finish,
    /// What it cost, where the provider says.
    pub usage: Option<Usage>,
}

/// Why a call gave no usable reply, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The request does not fit the model: ask in smaller pieces.
    #[error("the request is too large for the model{}", limit.map_or(String::new(), |l| format!(" (limit {l} tokens)")))]
    ContextOverflow {
        /// The limit, where the error says it.
        limit: Option<u64>,
        /// The tokens of the request, where the error says them.
        #[serde(default)]
        actual: Option<u64>,
    },
    /// The request holds more bytes than the server takes: ask in smaller pieces.
    #[error("the request holds more bytes than the server takes")]
    TooManyBytes,
    /// Worth another try, after `retry_after_ms` if given.
    #[error("the model is not available right now: {message}")]
    Unavailable {
        /// What the other side said, shortened, without secrets.
        message: Arc<str>,
        /// How long to wait.
        retry_after_ms: Option<u64>,
    },
    /// Asking again changes nothing: wrong key, unknown model, invalid request.
    #[error("the model cannot be used: {message}")]
    Unusable {
        /// What the other side said, shortened, without secrets.
        message: Arc<str>,
    },
    /// No answer within the time allowed.
    #[error("no answer within {after_ms} ms")]
    TimedOut {
        /// The time allowed.
        after_ms: u64,
    },
    /// It answered, but not with a summary.
    #[error("the answer is not a summary: {0}")]
    NotASummary(Refusal),
    /// The store did not take the commit.
    #[error("the store failed: {message}")]
    Store {
        /// What it said.
        message: Arc<str>,
    },
    /// The call would cost more than summaries of the thread may.
    #[error("the call would cost more than summaries of this thread may (max_spend)")]
    SpendCap,
    /// The summariser itself broke.
    #[error("the summariser broke: {message}")]
    Broken {
        /// What is known.
        message: Arc<str>,
    },
}

impl Failure {
    /// The request does not fit, and the error does not say by how much.
    pub const TOO_LARGE: Self = Self::ContextOverflow {
        limit: None,
        actual: None,
    };

    /// The request does not fit into so many tokens.
    pub fn over(limit: u64) -> Self {
        Self::ContextOverflow {
            limit: Some(limit),
            actual: None,
        }
    }

    /// Whether the same call may be tried again.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. } | Self::TimedOut { .. } | Self::NotASummary(_)
        )
    }

    /// The word used in every interface.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ContextOverflow { .. } => "context_overflow",
            Self::TooManyBytes => "too_many_bytes",
            Self::Unavailable { .. } => "unavailable",
            Self::Unusable { .. } => "unusable",
            Self::TimedOut { .. } => "timed_out",
            Self::NotASummary(_) => "not_a_summary",
            Self::Store { .. } => "store",
            Self::SpendCap => "spend_cap",
            Self::Broken { .. } => "broken",
        }
    }

    /// Whether the request was too large.
    pub fn is_context_overflow(&self) -> bool {
        matches!(self, Self::ContextOverflow { .. } | Self::TooManyBytes)
    }
}

/// Why a reply is no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No text.
    #[error("it is empty: there is no text in it")]
    Blank,
    /// Cut off at the output limit.
    #[error("it was truncated at the output limit")]
    CutOff,
    /// The model refused.
    #[error("the model refused")]
    Refused,
    /// A tool call instead of text.
    #[error("it is a tool call")]
    ToolCall,
    /// Markup of tool calls or reasoning in the text.
    #[error("it holds the markup of a tool call")]
    Markup,
    /// It repeats itself or its input.
    #[error("it repeats itself or what it was given")]
    Echo,
    /// It was to be a JSON object with given fields.
    #[error("it is not the JSON object that was asked for, or nothing stands in it")]
    NotTheForm,
    /// It has nothing in common with what it was given.
    #[error("it has nothing in common with what it should sum up")]
    Unrelated,
    /// Over the cap.
    #[error("it is longer than the summary may be")]
    TooLong,
    /// Not smaller than what it replaces by the minimum gain.
    #[error("it is not smaller than what it replaces")]
    NotSmaller,
}

impl Refusal {
    /// It is a summary, but not one that makes the request small enough.
    pub fn is_about_size(self) -> bool {
        matches!(self, Self::TooLong | Self::NotSmaller)
    }
}

/// Places where the host may act before messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hook {
    /// A summary exists; messages are about to go.
    BeforeRemoval,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Call a model; feed `Reply` or `Failed`, `Progress` as often as bytes arrive, `Usage` when it is reported before the
    /// end.
    Call {
        /// The call.
        call: CallNumber,
        /// What to ask.
        request: Box<SummaryRequest>,
        /// Whom.
        route: Route,
        /// When to give up.
        deadline: Millis,
    },
    /// Stop a call; nothing needs to be fed.
    Abort(CallNumber),
    /// Look a partial result up; feed `Cached`.
    CacheGet(Ident),
    /// Keep a partial result; nothing needs to be fed.
    CachePut(Ident, Arc<str>),
    /// Poll again at this time.
    WakeAt(Millis),
    /// Run the host's hooks; feed `HookDone`. A failing hook is logged, never fatal.
    Hook(Hook, NodeRanges),
    /// Make these messages retrievable; feed `Archived`.
    Archive(NodeRanges),
    /// Write the record if nothing changed below; feed `Committed`.
    Commit(Box<Record>, Expect),
    /// Find out whether this record of the attempt was written; feed `Found`.
    LookUp(AttemptId, RecordId),
    /// Tell whoever listens.
    Emit(Event),
}

/// What happened outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A call is alive.
    Progress(CallNumber),
    /// What a call has been reported to cost so far, also one that fails or is stopped later. Of several reports the
    /// highest counts, the one in the reply included.
    Usage(CallNumber, Usage),
    /// A call ended with a reply.
    Reply(CallNumber, Reply),
    /// A call failed.
    Failed(CallNumber, Failure),
    /// What the cache holds.
    Cached(Ident, Option<Arc<str>>),
    /// The hooks ran.
    HookDone(Hook),
    /// The archive answered.
    Archived(Result<(), Failure>),
    /// The store answered a commit.
    Committed(CommitAck),
    /// Whether the record that was looked up is there.
    Found(bool),
    /// Messages arrived in the thread.
    Appended(Delta),
    /// Stop.
    Cancel,
}

/// The store's answer to a commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitAck {
    /// Written; this is the version now.
    Ok(Version),
    /// Not written: something changed below.
    Conflict,
    /// Not written: the store failed.
    Failed(Failure),
    /// The acknowledgement was lost; it may or may not be written.
    Unknown,
}

/// What arrived in the thread while an attempt was running, as far as it matters to it: messages alone do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delta {
    /// Messages whose calls were answered meanwhile.
    pub answered: Vec<NodeId>,
    /// Messages that were pinned meanwhile.
    pub pinned: Vec<NodeId>,
    /// Calls that became pending meanwhile.
    pub pending: Vec<CallId>,
    /// System text, tools or model changed.
    pub frame_changed: bool,
}

/// What is told to whoever listens. One `Started` and exactly one `Stopped` an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// An attempt begins.
    Started {
        /// The attempt.
        attempt: AttemptId,
        /// When it happens.
        moment: Moment,
        /// Messages of the active window.
        messages: u64,
        /// Tokens of the request.
        tokens: u64,
    },
    /// A part of the work is done.
    Progress {
        /// The attempt.
        attempt: AttemptId,
        /// Chunks done.
        done: u32,
        /// Chunks in all.
        of: u32,
    },
    /// A model was passed over.
    ModelFailed {
        /// The attempt.
        attempt: AttemptId,
        /// The model.
        model: Option<Arc<str>>,
        /// Why.
        failure: Failure,
    },
    /// An attempt ended.
    Stopped {
        /// The attempt.
        attempt: AttemptId,
        /// How.
        outcome: Outcome,
        /// Whether a model was called.
        model_called: bool,
        /// Whether a summary was committed.
        summarized: bool,
        /// Sizes.
        measured: Measured,
    },
}
