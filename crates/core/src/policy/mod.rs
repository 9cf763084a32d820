//! Policy: what was asked for ([`Options`]) and the numbers that follow ([`Policy`]).
//!
//! [`Policy::resolve`] is the one place where options become numbers. Everything after it reads numbers.

mod options;
mod presets;
mod prices;
mod problem;
mod resolve;
#[cfg(test)]
mod tests;
mod window;

pub use crate::summary::Fidelity;
pub use options::{
    AnswerForm, Clause, KeepOption, OnFailure, Options, Placement, Preset, PruneOption, PruneWhen,
    Rolling, Strategy, ToolResults, TriggerOption,
};
pub use presets::{
    ASSUMED_WINDOW, DefaultCounter, DefaultKeep, DefaultTrigger, EXPECTED_CALLS, PresetValues,
    SKILL_READ_TOOLS,
};
pub use prices::{PrefixCache, Prices, Rates};
pub use problem::{At, Conflict, Number, PolicyError, PolicyWarning, Unit};
pub use resolve::{CALL_TIMEOUT_MS, Resolved};
pub use window::MIN_WINDOW;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::redact::Redactor;

/// Where the size of the window is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// The host or the model's profile said so.
    Given,
    /// Learnt from an overflow error.
    Learnt,
    /// Nobody said: a conservative default.
    Assumed,
}

/// What is known about the model that the conversation runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelProfile {
    /// Its name, for records and messages.
    pub name: Option<Arc<str>>,
    /// The window in tokens.
    pub window: Option<u64>,
    /// The most that a request may hold, where that is less than the window without a reply's part.
    pub max_input: Option<u64>,
    /// The most it can write in one reply.
    pub max_output: Option<u64>,
    /// Whether `window` was learnt from an error.
    pub learnt: bool,
    /// What its tokens cost.
    pub prices: Option<Prices>,
    /// How its provider keeps prefixes.
    pub cache: Option<PrefixCache>,
    /// Its provider, as replies name it (`response_metadata.model_provider`).
    pub provider: Option<Arc<str>>,
}

/// A trigger clause in numbers: reached when all of its sizes are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Threshold {
    /// Tokens of what is counted.
    pub tokens: Option<u64>,
    /// Messages of the active window.
    pub messages: Option<u64>,
}

/// When a size counts as reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// At the threshold.
    AtLeast,
    /// Only above it.
    Above,
}

/// Which parts of the request a trigger counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// All that would be sent: system, tools, summary, durable data, messages, pending prompt.
    Request,
    /// The messages and the summary as one more message.
    MessagesAndSummary,
    /// The messages only.
    Messages,
}

/// How reported usage takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageRule {
    /// The last valid report anchors the size; only what came after it is estimated.
    Anchor,
    /// LangChain's scaling of the estimate by the last reported total ([`Scaling`](crate::count::Scaling)); the
    /// newest reply's own total reaches a trigger too, where the model's provider is known to have written it.
    Scale,
    /// Not at all.
    Ignore,
}

/// Which of the counters that need no vocabulary is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterChoice {
    /// Ours, aware of script.
    Estimator,
    /// LangChain's formula at this many tenths of a character a token (40, or 33 for Anthropic's models).
    LangChain {
        /// Tenths of a character a token.
        tenths: u16,
    },
    /// Bytes of text / 4, divided once.
    Bytes4,
}

/// How much of the end stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The smaller of a quarter of the conversation and a tenth of the window.
    Auto,
    /// This many messages, leading system messages not counted.
    Messages(u64),
    /// At most this many tokens.
    Tokens(u64),
}

/// Pruning in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prune {
    /// Only when a trigger is reached, or at every rendering.
    pub when: PruneWhen,
    /// A result longer than this many characters is shortened to its head and tail.
    pub max_result_chars: u64,
    /// An argument string of an old call longer than this many characters is shortened. 0 = never.
    pub max_argument_chars: u64,
    /// A result of more tokens than this is shortened likewise. 0 = no such limit.
    pub max_result_tokens: u64,
    /// When all results of a request together have more tokens than this, the oldest are masked. 0 = no such
    /// limit. In force at every rendering only.
    pub max_total_result_tokens: u64,
    /// Arguments of an old call that have more tokens than this are shortened. 0 = no such limit.
    pub max_argument_tokens: u64,
    /// Equal long results and media are sent once.
    pub duplicates: bool,
    /// The newest results that are left alone.
    pub keep_recent_results: u64,
    /// Before a summary is made, old results are masked together if that is enough and at least this share of
    /// the request is reclaimed, in thousandths. 0 = never. In force when a trigger is reached, not on command.
    pub mask_permille: u32,
}

/// `trim_tokens_to_summarize`, and who said it: the same number means less where nobody asked for it
/// ([`Policy::call_cap`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimTokens {
    /// As much as the window takes.
    Off,
    /// The preset's own number; nobody said anything.
    Preset(u64),
    /// A file, a flag, a variable or the caller said so.
    Asked(u64),
}

impl TrimTokens {
    /// The number, whoever said it.
    pub fn tokens(self) -> Option<u64> {
        match self {
            TrimTokens::Off => None,
            TrimTokens::Preset(tokens) | TrimTokens::Asked(tokens) => Some(tokens),
        }
    }
}

/// What one compaction may do about the summary, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SummaryPolicy {
    /// How the model is asked.
    pub strategy: Strategy,
    /// The name of another model, when one was named.
    pub model: Option<Arc<str>>,
    /// A prompt of the host's own, with `{messages}`.
    pub prompt: Option<Arc<str>>,
    /// The summary's own cap.
    pub max_tokens: u64,
    /// What one call of the summariser is given at most; the rest goes to further calls.
    pub trim_tokens: TrimTokens,
    /// Further tries after a failed call or a reply that is not accepted.
    pub max_retries: u32,
    /// Each call must answer within this time.
    pub call_timeout_ms: u64,
    /// The whole attempt must end within this time.
    pub deadline_ms: u64,
    /// Chunks that may be summarised at the same time.
    pub max_parallel: u32,
    /// After every model failed.
    pub on_failure: OnFailure,
    /// How tool results stand in a transcript.
    pub tool_results: ToolResults,
    /// What becomes of the summary so far.
    pub rolling: Rolling,
    /// How the model gives its answer.
    pub form: AnswerForm,
    /// What happens to a line of the summary that its source does not bear out.
    pub fidelity: Fidelity,
}

/// When repeated automatic failure stops further tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Breaker {
    /// Failed automatic attempts in a row that open it.
    pub failures: u32,
    /// How long it stays open.
    pub cooldown_ms: u64,
}

/// What calls cost, and what they may cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CostPolicy {
    /// The name of the model that the conversation runs on.
    pub model: Option<Arc<str>>,
    /// Prices of the model that the conversation runs on.
    pub prices: Option<Prices>,
    /// How its provider keeps prefixes.
    pub cache: Option<PrefixCache>,
    /// Prices of other models, which may write summaries, by name.
    pub others: Vec<(Arc<str>, Prices)>,
    /// How many more calls a conversation is expected to make: what is not even by then does not pay.
    pub expected_calls: u64,
    /// What summaries of one thread may cost, in micro-dollars.
    pub max_thread_micros: Option<u64>,
    /// What summaries of one thread may cost in a day, in micro-dollars.
    pub max_day_micros: Option<u64>,
}

impl CostPolicy {
    /// Prices of the model with this name; `None`: the one that the conversation runs on.
    pub fn prices_of(&self, model: Option<&str>) -> Option<Prices> {
        match (model, self.model.as_deref()) {
            (None, _) => self.prices,
            (Some(name), Some(run)) if name == run => self.prices,
            (Some(name), _) => {
                let other = self.others.iter().find(|(known, _)| **known == *name);
                other.map(|(_, prices)| *prices)
            }
        }
    }
}

/// Everything that decides a compaction, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Policy {
    /// Where the defaults came from.
    pub preset: Preset,
    /// Off means off in every path.
    pub enabled: bool,
    /// The window in tokens.
    pub window: u64,
    /// Where that is known from.
    pub window_source: WindowSource,
    /// Tokens of the window that belong to the reply.
    pub output_reserve: u64,
    /// Bytes that one request may have; `None`: whatever the server takes.
    pub max_request_bytes: Option<u64>,
    /// Any of these starts a compaction; empty: never by itself.
    pub triggers: Vec<Threshold>,
    /// From here on a compaction may run in the background.
    pub soft_tokens: Option<u64>,
    /// When a size counts as reached.
    pub reached: Reached,
    /// What is counted.
    pub counted: Counted,
    /// How reported usage takes part.
    pub usage: UsageRule,
    /// The model's provider, as replies name it.
    #[serde(default)]
    pub provider: Option<Arc<str>>,
    /// Its provider binds signed reasoning to everything before it: what stays behind a change goes without, but for
    /// the turn that is open.
    #[serde(default)]
    pub binds_reasoning: bool,
    /// The counter, unless the host gave one.
    pub counter: CounterChoice,
    /// What stays.
    pub keep: Keep,
    /// Pruning, if on.
    pub prune: Option<Prune>,
    /// The summary.
    pub summary: SummaryPolicy,
    /// Where the summary is shown.
    pub placement: Placement,
    /// A committed compaction gains at least this share of the size before, in thousandths.
    pub minimum_gain_permille: u32,
    /// The breaker.
    pub breaker: Breaker,
    /// Tools whose reads of skill files are recorded; empty turns it off.
    pub skill_read_tools: Vec<Arc<str>>,
    /// What it costs.
    pub cost: CostPolicy,
    /// Tools whose old results are never masked.
    pub exempt_tools: Vec<Arc<str>>,
    /// Takes secrets out of summary requests, summaries, records, failures and events. On in every preset.
    #[serde(default)]
    pub redact: Redactor,
    /// What the peer does even where it loses.
    pub strict_parity: bool,
}

impl Policy {
    /// Whether the preset's original is followed even where it loses.
    pub fn follows_peer(&self) -> bool {
        self.strict_parity && self.preset != Preset::Default
    }

    /// What one call of the summariser is given at most, beside its window: the cap that was asked for. A preset's own
    /// number is how its original loses the rest; here everything is given, so it would only make more calls.
    pub fn call_cap(&self) -> Option<u64> {
        match self.summary.trim_tokens {
            TrimTokens::Asked(tokens) => Some(tokens),
            TrimTokens::Preset(tokens) if self.follows_peer() => Some(tokens),
            TrimTokens::Preset(_) | TrimTokens::Off => None,
        }
    }

    /// The lowest token threshold of the triggers.
    pub fn trigger_tokens(&self) -> Option<u64> {
        self.triggers.iter().filter_map(|t| t.tokens).min()
    }

    /// What a compaction aims at: half the trigger threshold.
    pub fn target_tokens(&self) -> Option<u64> {
        self.trigger_tokens().map(|t| t / 2)
    }

    /// The most that a request may hold: the window without the output reserve.
    pub fn input_limit(&self) -> u64 {
        self.window.saturating_sub(self.output_reserve)
    }
}
