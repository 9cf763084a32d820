//! What was asked for: a configuration file, flags or a caller's arguments, before any number is known.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::redact::RedactOption;
use crate::summary::Fidelity;

/// A set of defaults and meanings. See `docs/configuration.md` for the whole table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Ours.
    #[default]
    Default,
    /// deer-flow's summarization.
    Deerflow,
    /// LangChain's `SummarizationMiddleware`.
    Langchain,
    /// Nous's Summarization plugin.
    Nous,
}

/// An AND clause of a trigger: reached when everything it names is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clause {
    /// Tokens of what is counted.
    pub tokens: Option<u64>,
    /// Messages of the active window.
    pub messages: Option<u64>,
    /// A share of the window (the preset says of which part of it).
    pub fraction: Option<f64>,
}

/// When to compact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerOption {
    /// Not said: the preset decides.
    #[default]
    Unset,
    /// From the window.
    Auto,
    /// `null`: no automatic compaction.
    Never,
    /// Any of these clauses.
    Any(Vec<Clause>),
}

/// How much of the end stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepOption {
    /// The smaller of a quarter of the conversation and a tenth of the window.
    Auto,
    /// This many messages.
    Messages(u64),
    /// This many tokens.
    Tokens(u64),
    /// This share of the window.
    Fraction(f64),
}

/// When limits for results are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruneWhen {
    /// Once a trigger is reached; what was shortened stays so.
    Trigger,
    /// At every rendering.
    Always,
}

/// Pruning as asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneOption {
    /// When the limits are in force.
    pub when: Option<PruneWhen>,
    /// Characters of one result; 0 turns pruning off.
    pub max_result_chars: Option<u64>,
    /// Characters of one argument string of an old call; 0 turns that off.
    pub max_argument_chars: Option<u64>,
    /// Tokens of one result, by the conversation's counter; 0 = no such limit.
    pub max_result_tokens: Option<u64>,
    /// Tokens of all results together; 0 = no such limit.
    pub max_total_result_tokens: Option<u64>,
    /// Tokens of the arguments of one old call; 0 = no such limit.
    pub max_argument_tokens: Option<u64>,
    /// Equal results and media are sent once.
    pub duplicates: Option<bool>,
    /// The newest results that are left alone.
    pub keep_recent_results: Option<u64>,
}

/// How a model is asked for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Whichever of the two is cheaper and allowed.
    Auto,
    /// The conversation's own bytes with the instruction as the last user turn.
    Replay,
    /// A transcript in one document.
    Transcript,
    /// No model: the deterministic digest.
    Digest,
}

/// Where summary and durable data are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// A data message of user rank, the same bytes until the next compaction.
    Frozen,
    /// Authority rules as a system message and a data message, rendered anew for every call.
    Front,
    /// A user message of the list.
    Message,
    /// A system message in the place of what it replaces.
    System,
    /// At the end of the system prompt; where there is none, a system message of its own. For targets that
    /// take one system message only.
    SystemEnd,
}

/// What happens after every model failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The deterministic digest takes the summary's place.
    Digest,
    /// Nothing changes; what was pruned stays pruned.
    Unchanged,
    /// Nothing changes and the caller gets the error.
    Error,
}

/// How tool results stand in a transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResults {
    /// As they are (shortened where they were shortened).
    #[default]
    Include,
    /// The beginning and the end of long ones.
    Excerpt,
    /// Only that there was one, and how long it was.
    Omit,
}

/// What becomes of the summary so far when more is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rolling {
    /// It is read with everything since, and written anew.
    #[default]
    Rewrite,
    /// It stays as it is and a further segment is added; written anew only when both would be too long.
    Segments,
}

/// How the model gives its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// As named fields where the model can be held to a JSON schema, else as sections of text.
    #[default]
    Fields,
    /// As sections of text.
    Sections,
}

/// Everything that can be asked for. Every field may be left out; the preset fills it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Whose defaults.
    pub preset: Preset,
    /// On or off.
    pub enabled: Option<bool>,
    /// When to compact.
    pub trigger: TriggerOption,
    /// What stays.
    pub keep: Option<KeepOption>,
    /// The model that writes summaries; `None`: the one that the run executes with.
    pub model: Option<Arc<str>>,
    /// A prompt of the host's own.
    pub summary_prompt: Option<Arc<str>>,
    /// What one call of the summariser is given at most: `None` = the preset decides, `Some(None)` = no limit.
    pub trim_tokens: Option<Option<u64>>,
    /// How the model is asked.
    pub strategy: Option<Strategy>,
    /// How tool results stand in a transcript.
    pub tool_results: Option<ToolResults>,
    /// What becomes of the summary so far.
    pub rolling: Option<Rolling>,
    /// How the model gives its answer.
    pub form: Option<AnswerForm>,
    /// What happens to a line of the summary that its source does not bear out.
    pub fidelity: Option<Fidelity>,
    /// Pruning.
    pub prune: PruneOption,
    /// Where the summary is shown.
    pub placement: Option<Placement>,
    /// After every model failed.
    pub on_failure: Option<OnFailure>,
    /// The summary's own cap.
    pub max_summary_tokens: Option<u64>,
    /// Further tries after a failed call or a reply that is not accepted; 0 = one call.
    pub max_retries: Option<u32>,
    /// Each call of the summariser must answer within this time.
    pub call_timeout_ms: Option<u64>,
    /// The whole attempt must end within this time.
    pub deadline_ms: Option<u64>,
    /// Chunks that may be summarised at the same time.
    pub max_parallel: Option<u32>,
    /// Failed automatic attempts in a row that open the breaker.
    pub breaker_failures: Option<u32>,
    /// How long the breaker stays open; 0 = it never holds anything back.
    pub breaker_cooldown_ms: Option<u64>,
    /// The window, where the host knows better than the model's profile.
    pub max_context: Option<u64>,
    /// Bytes that one request may have.
    pub max_request_bytes: Option<u64>,
    /// Tokens of the window that belong to the reply.
    pub output_reserve: Option<u64>,
    /// Tools whose reads of skill files are recorded.
    pub skill_read_tools: Option<Vec<Arc<str>>>,
    /// The model's provider counts Anthropic's way (3.3 characters a token in the parity presets).
    pub anthropic: bool,
    /// What counts as a secret.
    pub redact: RedactOption,
    /// What the peer does even where it loses.
    pub strict_parity: bool,
}
