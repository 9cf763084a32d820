//! The four presets as data: what each option is unless it was said, and what its words mean.
//!
//! One column a preset, one row a question, as in `docs/configuration.md`. Nothing here is computed;
//! [`Policy::resolve`](super::Policy::resolve) reads the row and fills in the window.

use super::{
    AnswerForm, Counted, Fidelity, OnFailure, Options, Placement, Preset, Prune, PruneWhen,
    Reached, Strategy, UsageRule,
};

/// The window that is assumed when nobody knows the model's, in tokens.
pub const ASSUMED_WINDOW: u64 = 128_000;

/// Tool names whose reads of skill files are recorded unless said.
pub const SKILL_READ_TOOLS: [&str; 4] = ["read_file", "read", "view", "cat"];

/// What triggers a compaction unless said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultTrigger {
    /// 0.8 of the window without the output reserve.
    Auto,
    /// Nothing, and an enabled configuration must say something.
    Required,
    /// Nothing: only by hand.
    Never,
    /// This many tokens.
    Tokens(u64),
}

/// What stays unless said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultKeep {
    /// The smaller of a quarter of the conversation and a tenth of the window.
    Auto,
    /// This many messages.
    Messages(u64),
}

/// Whose characters a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultCounter {
    /// Ours.
    Estimator,
    /// LangChain's formula: 4 characters a token, 3.3 for Anthropic's models.
    LangChain,
    /// Bytes / 4.
    Bytes4,
}

/// One preset: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PresetValues {
    /// `enabled`.
    pub enabled: bool,
    /// `trigger`.
    pub trigger: DefaultTrigger,
    /// Whether a list of triggers may be empty, which then means never.
    pub empty_trigger_is_never: bool,
    /// When a size counts as reached.
    pub reached: Reached,
    /// What a trigger counts.
    pub counted: Counted,
    /// How reported usage takes part.
    pub usage: UsageRule,
    /// The counter.
    pub counter: DefaultCounter,
    /// Whether a fraction in `trigger` is of the window without the output reserve, or of all of it.
    pub fraction_leaves_reserve: bool,
    /// `keep`.
    pub keep: DefaultKeep,
    /// Whether `keep` may be nothing.
    pub keep_zero: bool,
    /// `prune`; its values also apply where pruning is off and one of its options is given.
    pub prune: Prune,
    /// Whether pruning is on.
    pub prune_on: bool,
    /// `trim_tokens_to_summarize`.
    pub trim_tokens: Option<u64>,
    /// `strategy`.
    pub strategy: Strategy,
    /// `placement`.
    pub placement: Placement,
    /// `on_failure`.
    pub on_failure: OnFailure,
    /// `form`.
    pub form: AnswerForm,
    /// `fidelity`.
    pub fidelity: Fidelity,
    /// The summary's cap before it is fitted to trigger and window.
    pub max_summary_tokens: u64,
    /// `max_retries`.
    pub max_retries: u32,
    /// Whether options that contradict each other are an error, or a warning because the peer takes them.
    pub strict: bool,
}

/// Eight thousand characters of a result, nothing else: as Nous prunes.
const RESULTS_ONLY: Prune = Prune {
    when: PruneWhen::Trigger,
    max_result_chars: 8192,
    max_argument_chars: 0,
    max_result_tokens: 0,
    max_total_result_tokens: 0,
    max_argument_tokens: 0,
    duplicates: false,
    keep_recent_results: 0,
};

/// Ours.
const DEFAULT: PresetValues = PresetValues {
    enabled: true,
    trigger: DefaultTrigger::Auto,
    empty_trigger_is_never: false,
    reached: Reached::AtLeast,
    counted: Counted::Request,
    usage: UsageRule::Anchor,
    counter: DefaultCounter::Estimator,
    fraction_leaves_reserve: true,
    keep: DefaultKeep::Auto,
    keep_zero: true,
    prune: Prune {
        max_argument_chars: 8192,
        duplicates: true,
        ..RESULTS_ONLY
    },
    prune_on: true,
    trim_tokens: None,
    strategy: Strategy::Auto,
    placement: Placement::Frozen,
    on_failure: OnFailure::Digest,
    form: AnswerForm::Fields,
    fidelity: Fidelity::Flag,
    max_summary_tokens: 4096,
    max_retries: 2,
    strict: true,
};

/// LangChain's middleware. Its `with_retry` makes three calls in all.
const LANGCHAIN: PresetValues = PresetValues {
    enabled: true,
    trigger: DefaultTrigger::Never,
    empty_trigger_is_never: true,
    reached: Reached::AtLeast,
    counted: Counted::Messages,
    usage: UsageRule::Scale,
    counter: DefaultCounter::LangChain,
    fraction_leaves_reserve: false,
    keep: DefaultKeep::Messages(20),
    keep_zero: false,
    prune: RESULTS_ONLY,
    prune_on: false,
    trim_tokens: Some(4000),
    strategy: Strategy::Transcript,
    placement: Placement::Message,
    on_failure: OnFailure::Error,
    form: AnswerForm::Sections,
    fidelity: Fidelity::Off,
    max_summary_tokens: 4096,
    max_retries: 2,
    strict: false,
};

/// deer-flow's subclass of it. It shows at most 6,000 characters of a summary, about 1,500 tokens, and
/// tries each model once.
const DEERFLOW: PresetValues = PresetValues {
    enabled: false,
    trigger: DefaultTrigger::Required,
    empty_trigger_is_never: false,
    counted: Counted::MessagesAndSummary,
    placement: Placement::Front,
    on_failure: OnFailure::Unchanged,
    max_summary_tokens: 1500,
    max_retries: 0,
    ..LANGCHAIN
};

/// Nous's plugin. Its summary call writes at most 1,000 tokens and is made once.
const NOUS: PresetValues = PresetValues {
    enabled: true,
    trigger: DefaultTrigger::Tokens(100_000),
    empty_trigger_is_never: false,
    reached: Reached::Above,
    counted: Counted::Messages,
    usage: UsageRule::Ignore,
    counter: DefaultCounter::Bytes4,
    fraction_leaves_reserve: false,
    keep: DefaultKeep::Messages(10),
    keep_zero: true,
    prune: RESULTS_ONLY,
    prune_on: true,
    trim_tokens: None,
    strategy: Strategy::Replay,
    placement: Placement::System,
    on_failure: OnFailure::Unchanged,
    form: AnswerForm::Sections,
    fidelity: Fidelity::Off,
    max_summary_tokens: 1000,
    max_retries: 0,
    strict: false,
};

impl Preset {
    /// All presets, ours first.
    pub const ALL: [Preset; 4] = [
        Preset::Default,
        Preset::Deerflow,
        Preset::Langchain,
        Preset::Nous,
    ];

    /// Its name in configuration files and flags.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Default => "default",
            Preset::Deerflow => "deerflow",
            Preset::Langchain => "langchain",
            Preset::Nous => "nous",
        }
    }

    /// Its column of the table.
    pub fn values(self) -> &'static PresetValues {
        match self {
            Preset::Default => &DEFAULT,
            Preset::Deerflow => &DEERFLOW,
            Preset::Langchain => &LANGCHAIN,
            Preset::Nous => &NOUS,
        }
    }
}

impl From<Preset> for Options {
    /// Nothing said but the preset.
    fn from(preset: Preset) -> Self {
        Options {
            preset,
            ..Options::default()
        }
    }
}
