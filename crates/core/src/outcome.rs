//! How an attempt ends, in one closed set used everywhere: library, HTTP, events, command line.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cost::{Change, Cost};
use crate::count::CounterId;
use crate::id::{CallId, RecordId};
use crate::way::Why;

/// When a compaction happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before the model's first call of a turn.
    PreTurn,
    /// Inside a tool loop.
    MidTurn,
    /// After the provider said that the request is too large.
    Overflow,
    /// Beside a running conversation.
    Background,
    /// Somebody asked for it.
    Manual,
}

impl Moment {
    /// The word used in every interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreTurn => "pre_turn",
            Self::MidTurn => "mid_turn",
            Self::Overflow => "overflow",
            Self::Background => "background",
            Self::Manual => "manual",
        }
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A summary was committed.
    Compacted,
    /// Shortening was enough; no model was called.
    Pruned,
    /// No trigger is met.
    Skipped,
    /// Asked or triggered, but nothing can be folded.
    NothingToCompact,
    /// The result was not better.
    Rejected,
    /// Every model failed.
    Failed,
    /// Stopped from outside.
    Cancelled,
    /// `enabled: false`.
    Disabled,
    /// The history changed below, or another attempt or run holds the thread.
    Conflict,
    /// The engine chose not to try now.
    Deferred,
    /// The configuration cannot work.
    ConfigError,
}

impl Outcome {
    /// The word used in every interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::Pruned => "pruned",
            Self::Skipped => "skipped",
            Self::NothingToCompact => "nothing_to_compact",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Disabled => "disabled",
            Self::Conflict => "conflict",
            Self::Deferred => "deferred",
            Self::ConfigError => "config_error",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A fact that explains an outcome or a decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// System text, tools and overhead reach the trigger without any message.
    FixedPartOverTrigger,
    /// The trigger is met, but what could still be folded brings nothing.
    Irreducible,
    /// The result was not smaller by the minimum gain.
    NotSmaller,
    /// It gained enough, but the target was missed; what stays is larger than it.
    TargetMissed,
    /// Even so the request is larger than the window leaves room for.
    OverLimit,
    /// This call was never answered: it was folded, or a stand-in was put for the model to read.
    DanglingCall(CallId),
    /// Repeated automatic failure; no attempt until the cooldown is over.
    BreakerOpen,
    /// Another attempt is running.
    AttemptRunning,
    /// A reply is still streaming.
    StillStreaming,
    /// Every model failed and the digest took the summary's place.
    DigestAfterFailure,
    /// It would throw a warm cache away and not be even within the calls that are expected; it waits until the cache
    /// is cold or the request has grown.
    WaitsForCache,
    /// Summaries of this thread have cost, or would cost, more than they may.
    SpendCap,
    /// So many names, numbers and quotations of the model's summary do not stand in the messages.
    Unfounded(u32),
    /// So many of its claims about the state of the work are not what the log shows.
    Overridden(u32),
    /// The model was given the conversation itself once more; what decided that.
    Replayed(Why),
    /// The model was given a transcript; what decided that.
    Transcribed(Why),
}

impl Reason {
    /// The word used in every interface.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::FixedPartOverTrigger => "fixed_part_over_trigger",
            Self::Irreducible => "irreducible",
            Self::NotSmaller => "not_smaller",
            Self::TargetMissed => "target_missed",
            Self::OverLimit => "over_limit",
            Self::DanglingCall(_) => "dangling_call",
            Self::BreakerOpen => "breaker_open",
            Self::AttemptRunning => "attempt_running",
            Self::StillStreaming => "still_streaming",
            Self::DigestAfterFailure => "digest_after_failure",
            Self::WaitsForCache => "waits_for_cache",
            Self::SpendCap => "spend_cap",
            Self::Unfounded(_) => "unfounded",
            Self::Overridden(_) => "overridden",
            Self::Replayed(_) => "replayed",
            Self::Transcribed(_) => "transcribed",
        }
    }
}

/// For people.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FixedPartOverTrigger => {
                "the system prompt and the tools alone reach the trigger; raise it or shorten them"
            }
            Self::Irreducible => "folding what may go would not make the conversation smaller",
            Self::NotSmaller => "the result was not smaller by the minimum gain of a tenth",
            Self::TargetMissed => {
                "what has to stay is larger than the target, so the next compaction comes sooner"
            }
            Self::OverLimit => "even so the conversation is larger than the window leaves room for",
            Self::DanglingCall(id) => {
                return write!(
                    f,
                    "call {:?} was never answered and is taken as given up",
                    id.as_str()
                );
            }
            Self::BreakerOpen => "earlier attempts failed; none is made until the cooldown is over",
            Self::AttemptRunning => "another attempt is running",
            Self::StillStreaming => "a reply is still streaming",
            Self::DigestAfterFailure => {
                "every model failed; the digest, made without a model, took the summary's place"
            }
            Self::WaitsForCache => {
                "the provider's cache is warm and it would not pay soon enough; it waits until the cache is cold or the conversation has grown"
            }
            Self::SpendCap => {
                "summaries of this thread may not cost more (max_spend), so no model is asked"
            }
            Self::Unfounded(n) => {
                return write!(
                    f,
                    "{n} names, numbers or quotations of the summary do not stand in the messages"
                );
            }
            Self::Overridden(n) => {
                return write!(
                    f,
                    "{n} claims of the summary about the work are not what the log shows"
                );
            }
            Self::Replayed(why) => match why {
                Why::Price => {
                    "the model was sent the conversation once more: most of it is in its cache, so that costs no more than a transcript"
                }
                Why::Cache => {
                    "the model was sent the conversation once more, which is in its cache"
                }
                _ => "the model was sent the conversation once more",
            },
            Self::Transcribed(why) => match why {
                Why::NotPossible => {
                    "the model was sent a transcript: there is no request of this conversation that could be sent to it once more"
                }
                Why::OtherModel => {
                    "the model was sent a transcript: it is not the one that the conversation runs on"
                }
                Why::TooLarge => {
                    "the model was sent a transcript: the whole conversation with the summary does not fit its window"
                }
                Why::Price => {
                    "the model was sent a transcript: that costs less than the whole conversation once more"
                }
                Why::Cache => {
                    "the model was sent a transcript: nobody knows that its cache holds the conversation"
                }
                Why::Refused => {
                    "the model was sent a transcript: it did not take the whole conversation"
                }
                Why::Told => "the model was sent a transcript",
            },
        })
    }
}

/// Sizes before and after, by one counter over the same parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Measured {
    /// The counter.
    pub counter: Option<CounterId>,
    /// Tokens of the request before.
    pub tokens_before: u64,
    /// Tokens of the request after; `None` when nothing was committed.
    pub tokens_after: Option<u64>,
    /// Messages of the active window before.
    pub messages_before: u64,
    /// Of these: folded.
    pub messages_removed: u64,
    /// Messages whose parts were shortened.
    pub messages_pruned: u64,
    /// Tokens that pruning alone saved.
    pub tokens_pruned: u64,
    /// Tokens of the summary as it is shown.
    pub summary_tokens: u64,
    /// What stays the same at the beginning of the request, and what stood and stands behind it; `None` when nothing
    /// was committed.
    #[serde(default)]
    pub change: Option<Change>,
    /// What that costs and saves, where the prices are known.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// What the models were paid for this attempt, in micro-dollars, where they tell their usage and the prices are
    /// known. Whoever drives attempts adds it to the thread by [`Thread::spend`](crate::thread::Thread::spend).
    #[serde(default)]
    pub spent_micros: u64,
}

impl Measured {
    /// Messages of the active window after.
    pub fn messages_after(&self) -> u64 {
        self.messages_before - self.messages_removed
    }
}

/// What an attempt or a check came to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The record, where one was committed.
    pub record: Option<RecordId>,
    /// Sizes.
    pub measured: Measured,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What went wrong, when something did.
    pub failure: Option<crate::effect::Failure>,
}

impl Report {
    /// A check that made no attempt.
    pub fn without_attempt(outcome: Outcome, measured: Measured, reasons: Vec<Reason>) -> Self {
        Self {
            outcome,
            record: None,
            measured,
            reasons,
            failure: None,
        }
    }
}
