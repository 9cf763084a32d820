//! The events, in Nous's shape: measurements are numbers, metadata says of what.

use std::sync::Arc;

use conspectus_core::effect::{Failure, Millis};
use conspectus_core::id::{AttemptId, RecordId};
use conspectus_core::outcome::{Moment, Outcome, Reason};
use conspectus_core::view::Usage;
use serde::{Deserialize, Serialize};

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name")]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "two an attempt are made, and passed by reference"
)]
pub enum Event {
    /// An attempt begins.
    #[serde(rename = "compaction.start")]
    Start(Start),
    /// It ended in one of the ways that were foreseen.
    #[serde(rename = "compaction.stop")]
    Stop(Stop),
    /// It ended in another way: a panic, or nobody waited for it any more.
    #[serde(rename = "compaction.exception")]
    Exception(Exception),
}

impl Event {
    /// The name in three parts, as Nous spells it with itself in front.
    pub fn name(&self) -> [&'static str; 3] {
        let last = match self {
            Self::Start(_) => "start",
            Self::Stop(_) => "stop",
            Self::Exception(_) => "exception",
        };
        ["conspectus", "compaction", last]
    }

    /// The attempt.
    pub fn attempt(&self) -> AttemptId {
        match self {
            Self::Start(start) => start.metadata.attempt,
            Self::Stop(stop) => stop.metadata.start.attempt,
            Self::Exception(exception) => exception.metadata.start.attempt,
        }
    }

    /// Whether it ends its attempt.
    pub fn is_end(&self) -> bool {
        !matches!(self, Self::Start(_))
    }
}

/// Whose compaction it is, as far as the host says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The agent.
    pub agent_name: Option<Arc<str>>,
    /// The tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Arc<str>>,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Arc<str>>,
    /// What is made is kept and not put in force.
    #[serde(default)]
    pub dry_run: bool,
}

/// An attempt begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Numbers.
    pub measurements: StartMeasurements,
    /// Of what.
    pub metadata: StartMetadata,
}

/// Numbers of a [`Start`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartMeasurements {
    /// Milliseconds since 1970 where the clock shows those, else the same as `monotonic_time`.
    pub system_time: Millis,
    /// Milliseconds on the driver's clock.
    pub monotonic_time: Millis,
    /// Tokens of the request, by the thread's counter or the provider's report.
    pub tokens_before: u64,
    /// Bytes of its texts.
    pub bytes_before: u64,
}

/// Of what a [`Start`] is. The events that follow repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartMetadata {
    /// Whose.
    #[serde(flatten)]
    pub labels: Labels,
    /// Messages of the active window.
    pub messages_before: u64,
    /// The attempt.
    pub attempt: AttemptId,
    /// When in a conversation it happens.
    pub moment: Moment,
}

/// An attempt ended as foreseen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Numbers.
    pub measurements: StopMeasurements,
    /// Of what.
    pub metadata: StopMetadata,
}

/// Numbers of a [`Stop`]. What only a change has is `None` where nothing was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopMeasurements {
    /// Milliseconds since the start.
    pub duration: Millis,
    /// Bytes of the request's texts at the start.
    pub bytes_before: u64,
    /// The same now.
    pub bytes_after: Option<u64>,
    /// Tokens of the request before, by the counter of `tokens_after`.
    pub tokens_before: u64,
    /// Tokens of it now.
    pub tokens_after: Option<u64>,
    /// Tokens at the beginning that stay the same, so that the provider's cache goes on holding them.
    pub tokens_kept_cached: Option<u64>,
    /// Tokens behind them: what the cache holds of them is of no use any more.
    pub tokens_invalidated: Option<u64>,
    /// Micro-dollars paid to models for this attempt, where that is known.
    pub spent_micros: u64,
    /// Micro-dollars that it costs in all by the next request; below nothing means saved.
    pub cost_micros: Option<i64>,
    /// Micro-dollars that each request after that saves.
    pub saved_micros: Option<i64>,
    /// After how many calls that is even, in tenths of a call.
    pub break_even_tenths: Option<u64>,
}

/// Of what a [`Stop`] is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopMetadata {
    /// As at the start.
    #[serde(flatten)]
    pub start: StartMetadata,
    /// Messages of the active window now; `None` where nothing was changed.
    pub messages_after: Option<u64>,
    /// Whether a model was called.
    pub llm_called: bool,
    /// Whether a summary was committed.
    pub summarized: bool,
    /// Who was called.
    #[serde(flatten)]
    pub called: Called,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<Reason>,
    /// How the summary came to be.
    pub strategy: Option<Way>,
    /// What went wrong, when something did. Secrets are taken out.
    pub failure: Option<Failure>,
    /// The record that was committed.
    pub record: Option<RecordId>,
}

/// Sizes after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// Bytes of the request's texts.
    pub bytes: u64,
    /// Messages of the active window.
    pub messages: u64,
}

/// What models did in an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// The provider of the model that answered last, where it is known.
    pub provider: Option<Arc<str>>,
    /// The model that answered last; `None`: the one that the run executes with, or none did.
    pub model: Option<Arc<str>>,
    /// What all calls reported, added up.
    pub usage: Option<Usage>,
}

/// How a summary came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The model was sent the conversation once more.
    Replay,
    /// The model was sent a transcript.
    Transcript,
    /// Without a model.
    Digest,
    /// There is none: shortening was enough.
    Prune,
}

impl Way {
    /// The word used in every interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Transcript => "transcript",
            Self::Digest => "digest",
            Self::Prune => "prune",
        }
    }
}

/// An attempt ended in a way that nobody foresaw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Numbers.
    pub measurements: ExceptionMeasurements,
    /// Of what.
    pub metadata: ExceptionMetadata,
}

/// Numbers of an [`Exception`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionMeasurements {
    /// Milliseconds since the start.
    pub duration: Millis,
}

/// Of what an [`Exception`] is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionMetadata {
    /// As at the start.
    #[serde(flatten)]
    pub start: StartMetadata,
    /// Nothing was changed, as far as is known: always `None`.
    pub messages_after: Option<u64>,
    /// Whether a model was called.
    pub llm_called: bool,
    /// `error` for a panic, `exit` for an attempt that was dropped.
    pub kind: Arc<str>,
    /// What is known. Secrets are taken out.
    pub reason: Arc<str>,
    /// What it came from, the nearest cause first, without secrets: the sources of the error that a panic carried
    /// (`std::panic::panic_any` with a boxed error). Of other panics nothing is known here; where they happened is told
    /// to the program's panic hook, and a log of the service names that place.
    pub stacktrace: Vec<Arc<str>>,
}
