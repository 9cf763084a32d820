//! Every option of the file: its name, what it may hold, and what it is for.

/// What an option may hold.
pub(super) enum Kind {
    Boolean,
    /// A whole number of at least this.
    Whole(u64),
    /// The same, or null for "not said".
    WholeOrNull(u64),
    /// A text that is not blank.
    Text,
    TextOrNull,
    Words(&'static [&'static str]),
    WordsOrNull(&'static [&'static str]),
    Texts,
    TextsOrNull,
    BooleanOrNull,
    /// A map of agents.
    Agents,
    /// Dollars.
    Price,
    /// A map of header names and values.
    Headers,
    Map(&'static [Row]),
    MapOrNull(&'static [Row]),
    /// A map of upstreams, each a URL or a map.
    Upstreams(&'static [Row]),
    /// Servers by name.
    Servers(&'static [Row]),
    /// All, nothing, or some of these words.
    SomeOf(&'static [&'static str]),
    /// On, off, or a name.
    TextOrBoolean,
    /// [`Kind::Map`], or on or off.
    MapOrBoolean(&'static [Row]),
    Trigger,
    Keep,
}

pub(super) type Row = (&'static str, Kind, &'static str);

pub(super) const SECTION_ROWS: &[Row] = &[
    (
        "preset",
        Kind::Words(&["default", "deerflow", "langchain", "nous"]),
        "Whose defaults and meanings; deerflow unless said.",
    ),
    ("enabled", Kind::Boolean, "Off is off in every path."),
    (
        "model_name",
        Kind::TextOrNull,
        "The model that writes summaries; null: the one that the conversation runs on.",
    ),
    (
        "summary_model",
        Kind::TextOrNull,
        "Another name of model_name.",
    ),
    (
        "trigger",
        Kind::Trigger,
        "When to compact: a size, a list of which any fires, auto, or null for never.",
    ),
    (
        "max_context_tokens",
        Kind::Whole(1),
        "Another name of a trigger in tokens.",
    ),
    (
        "keep",
        Kind::Keep,
        "What stays at the end: one size or auto.",
    ),
    (
        "keep_recent",
        Kind::Whole(0),
        "Another name of keep in messages.",
    ),
    (
        "trim_tokens_to_summarize",
        Kind::WholeOrNull(1),
        "What one call of the summariser is given at most, in tokens; null: no limit.",
    ),
    (
        "summary_prompt",
        Kind::TextOrNull,
        "A prompt of your own with {messages} in it; null: ours.",
    ),
    (
        "skill_file_read_tool_names",
        Kind::Texts,
        "Tools whose reads of SKILL.md files are remembered; []: none.",
    ),
    (
        "prune",
        Kind::MapOrBoolean(PRUNE_ROWS),
        "Shortening without a model.",
    ),
    (
        "max_result_chars",
        Kind::Whole(0),
        "Another place of prune.max_result_chars.",
    ),
    (
        "strategy",
        Kind::WordsOrNull(&["auto", "replay", "transcript", "digest"]),
        "How a model is asked for a summary; digest: not at all.",
    ),
    (
        "tool_results",
        Kind::WordsOrNull(&["include", "excerpt", "omit"]),
        "How tool results stand in the transcript that a model is given.",
    ),
    (
        "rolling",
        Kind::WordsOrNull(&["rewrite", "segments"]),
        "What becomes of the summary so far when more is folded.",
    ),
    (
        "form",
        Kind::WordsOrNull(&["fields", "sections"]),
        "Named fields where the model takes a JSON schema, or sections of text.",
    ),
    (
        "fidelity",
        Kind::WordsOrNull(&["flag", "cut", "off"]),
        "What happens to a line of the summary that its source does not bear out.",
    ),
    (
        "placement",
        Kind::WordsOrNull(&["frozen", "front", "message", "system", "system_end"]),
        "Where the summary stands.",
    ),
    (
        "on_failure",
        Kind::WordsOrNull(&["digest", "unchanged", "error"]),
        "After every model failed.",
    ),
    (
        "max_summary_tokens",
        Kind::WholeOrNull(1),
        "The summary's cap in tokens.",
    ),
    (
        "max_context",
        Kind::WholeOrNull(16),
        "The model's window in tokens; null: what is known of the model.",
    ),
    (
        "max_request_bytes",
        Kind::WholeOrNull(1),
        "Bytes that one request may have; null: whatever the server takes.",
    ),
    (
        "output_reserve",
        Kind::WholeOrNull(0),
        "Tokens of the window for the reply.",
    ),
    (
        "max_retries",
        Kind::WholeOrNull(0),
        "Further tries after a failed call.",
    ),
    (
        "call_timeout_ms",
        Kind::WholeOrNull(1),
        "A call that has not answered by then has failed.",
    ),
    (
        "deadline_ms",
        Kind::WholeOrNull(1),
        "All calls of one compaction together.",
    ),
    (
        "max_parallel",
        Kind::WholeOrNull(1),
        "Chunks summarised at the same time.",
    ),
    (
        "breaker",
        Kind::Map(BREAKER_ROWS),
        "When failures in a row stop further tries for a while.",
    ),
    (
        "max_spend",
        Kind::MapOrNull(MAX_SPEND_ROWS),
        "What summaries may cost, in dollars.",
    ),
    (
        "expected_calls",
        Kind::WholeOrNull(1),
        "Calls that a conversation is expected to go on for; what is not even by then does not pay.",
    ),
    (
        "exempt_tools",
        Kind::Texts,
        "Tools whose old results are never masked.",
    ),
    (
        "redact",
        Kind::MapOrBoolean(REDACT_ROWS),
        "Secrets are taken out of summary requests, summaries, records and messages; on unless said.",
    ),
    (
        "strict_parity",
        Kind::Boolean,
        "Do what the preset's original does even where it loses; for comparison.",
    ),
];

pub(super) const PRUNE_ROWS: &[Row] = &[
    (
        "when",
        Kind::Words(&["trigger", "always"]),
        "Once a trigger is reached, or at every rendering.",
    ),
    (
        "max_result_chars",
        Kind::Whole(0),
        "Longer tool results are cut to head and tail; 0 turns pruning off.",
    ),
    (
        "max_argument_chars",
        Kind::Whole(0),
        "Longer text arguments of old calls are shortened; 0: never.",
    ),
    (
        "max_result_tokens",
        Kind::Whole(0),
        "Tool results of more tokens are cut to head and tail; 0: no such limit.",
    ),
    (
        "max_total_result_tokens",
        Kind::Whole(0),
        "With when: always, the oldest results are masked while all together have more tokens; 0: no such limit.",
    ),
    (
        "max_argument_tokens",
        Kind::Whole(0),
        "Arguments of old calls that have more tokens are shortened; 0: no such limit.",
    ),
    (
        "duplicates",
        Kind::Boolean,
        "Equal long results and media are sent once.",
    ),
    (
        "keep_recent_results",
        Kind::Whole(0),
        "Newest results that are left alone.",
    ),
    (
        "mask",
        Kind::Boolean,
        "Old results are masked together before a summary is made, where that is enough and pays.",
    ),
];

pub(super) const MAX_SPEND_ROWS: &[Row] = &[
    ("thread", Kind::Price, "Of one thread, in all."),
    ("day", Kind::Price, "Of one thread, in a day."),
];

pub(super) const BREAKER_ROWS: &[Row] = &[
    (
        "failures",
        Kind::Whole(1),
        "Failed automatic compactions in a row that open it.",
    ),
    ("cooldown_ms", Kind::Whole(0), "How long it stays open."),
];

pub(super) const REDACT_ROWS: &[Row] = &[
    ("enabled", Kind::Boolean, "On or off."),
    (
        "patterns",
        Kind::Texts,
        "Regular expressions of further secrets.",
    ),
    (
        "allow",
        Kind::Texts,
        "Regular expressions: what one matches as a whole is no secret.",
    ),
];

pub(super) const MODEL_ROWS: &[Row] = &[
    ("name", Kind::Text, "What model_name and --model call it."),
    (
        "provider",
        Kind::TextOrNull,
        "Whose API it speaks: openai, anthropic and so on.",
    ),
    (
        "use",
        Kind::TextOrNull,
        "deer-flow's name of its class; tells the provider where that is not said.",
    ),
    (
        "model",
        Kind::TextOrNull,
        "What its provider calls it; the name unless said.",
    ),
    (
        "base_url",
        Kind::TextOrNull,
        "Where it is reached; without user and password.",
    ),
    (
        "api_key",
        Kind::TextOrNull,
        "$NAME of the environment variable that holds the key.",
    ),
    ("window", Kind::WholeOrNull(1), "The window in tokens."),
    ("context", Kind::WholeOrNull(1), "Another name of window."),
    (
        "max_output",
        Kind::WholeOrNull(1),
        "The most it can write in one reply, in tokens.",
    ),
    (
        "max_tokens",
        Kind::WholeOrNull(1),
        "Another name of max_output.",
    ),
    (
        "prices",
        Kind::MapOrNull(PRICE_ROWS),
        "Dollars a million tokens.",
    ),
    (
        "headers",
        Kind::Headers,
        "Further headers of each request; $NAME for what is secret.",
    ),
    (
        "form",
        Kind::WordsOrNull(&["fields", "sections"]),
        "fields: its server holds it to a JSON schema; sections: it does not.",
    ),
];

pub(super) const PRICE_ROWS: &[Row] = &[
    ("input", Kind::Price, "Of what is sent."),
    ("output", Kind::Price, "Of what is written."),
    (
        "cache_read",
        Kind::Price,
        "Of what is sent and was in the cache.",
    ),
    ("cache_write", Kind::Price, "Of what is put into the cache."),
];

pub(super) const SERVER_ROWS: &[Row] = &[
    (
        "listen",
        Kind::TextOrNull,
        "Address and port; beyond the loopback tokens are needed.",
    ),
    (
        "store",
        Kind::TextOrNull,
        "sqlite:PATH, postgres://…, memory, or $NAME of the variable that holds one.",
    ),
    (
        "tokens",
        Kind::TextOrNull,
        "The file with the digests of tokens and their tenants.",
    ),
    (
        "hosts",
        Kind::Texts,
        "Names that the server is reached under beside the loopback's, without port.",
    ),
    (
        "origins",
        Kind::Texts,
        "Origins of web pages that may ask, such as https://chat.example.com.",
    ),
    (
        "max_body_bytes",
        Kind::WholeOrNull(1),
        "The largest body of a request.",
    ),
    (
        "max_page",
        Kind::WholeOrNull(1),
        "The most entries of one page.",
    ),
    (
        "request_timeout_ms",
        Kind::WholeOrNull(1),
        "What a request may take that waits for no model.",
    ),
    (
        "heartbeat_ms",
        Kind::WholeOrNull(1),
        "How often a stream of events says that it lives.",
    ),
    (
        "shutdown_ms",
        Kind::WholeOrNull(0),
        "What compactions under way are given to end when the server stops.",
    ),
    (
        "lease_ms",
        Kind::WholeOrNull(1_000),
        "For so long a process that was killed holds the threads that it worked on.",
    ),
];

pub(super) const PROXY_ROWS: &[Row] = &[
    (
        "listen",
        Kind::TextOrNull,
        "Address and port; beyond the loopback tokens are needed.",
    ),
    (
        "tokens",
        Kind::TextOrNull,
        "The file with the digests of tokens and their tenants; null: the service's.",
    ),
    (
        "upstreams",
        Kind::Upstreams(UPSTREAM_ROWS),
        "Where requests go, by name; the first one where a path names none.",
    ),
    (
        "summarize",
        Kind::TextOrBoolean,
        "Summaries by the conversation's own model, or by this one of the same upstream, with the client's key.",
    ),
    (
        "observe",
        Kind::BooleanOrNull,
        "Changes nothing, and says what would have been done.",
    ),
    (
        "headers",
        Kind::BooleanOrNull,
        "Whether answers carry headers x-conspectus-….",
    ),
    (
        "keep_alive_ms",
        Kind::WholeOrNull(0),
        "After so long a stream that waits for a compaction begins with signs of life; 0: never.",
    ),
    (
        "wait_ms",
        Kind::WholeOrNull(1),
        "So long a request waits for a compaction, then it goes as it came.",
    ),
    (
        "max_body_bytes",
        Kind::WholeOrNull(1),
        "The largest body of a request.",
    ),
    (
        "keep_days",
        Kind::WholeOrNull(0),
        "For so many days a thread is kept that nobody goes on with; 0: for ever.",
    ),
    (
        "keep_threads",
        Kind::WholeOrNull(0),
        "So many threads of a tenant are kept, the newest; 0: any number.",
    ),
];

pub(super) const UPSTREAM_ROWS: &[Row] = &[
    ("url", Kind::Text, "Where it is; without user and password."),
    (
        "strict",
        Kind::SomeOf(&["turns", "one_system", "after_tool", "short_ids"]),
        "What its servers insist on beyond the API of chat completions.",
    ),
    (
        "drop_block",
        Kind::BooleanOrNull,
        "Whether Anthropic's API is asked to drop thinking that does not verify; null: once it refused some.",
    ),
];

pub(super) const MCP_ROWS: &[Row] = &[
    ("command", Kind::Text, "The program to begin."),
    ("args", Kind::Texts, "Its arguments."),
    (
        "env",
        Kind::Headers,
        "Variables of its environment; $NAME takes one of ours.",
    ),
    (
        "url",
        Kind::Text,
        "Or its address, spoken to by streamable HTTP; without user and password.",
    ),
    (
        "headers",
        Kind::Headers,
        "Headers of every request; $NAME takes an environment variable.",
    ),
    (
        "tools",
        Kind::TextsOrNull,
        "The tools of it that agents have, by its own names; null: all.",
    ),
    (
        "start_ms",
        Kind::WholeOrNull(1),
        "The time for beginning it.",
    ),
    ("timeout_ms", Kind::WholeOrNull(1), "The time for one call."),
    (
        "max_result_chars",
        Kind::WholeOrNull(1),
        "Characters of a result beyond which its middle is left out.",
    ),
];

pub(super) const AGENT_ROWS: &[Row] = &[
    (
        "description",
        Kind::TextOrNull,
        "What it is for, as an agent that gives it work is told.",
    ),
    ("system_prompt", Kind::TextOrNull, "What it is told."),
    (
        "model",
        Kind::TextOrNull,
        "The model of the list models: that it runs on; null: the run's, else the first.",
    ),
    (
        "tools",
        Kind::TextsOrNull,
        "Its tools by name; null: all that it can have.",
    ),
    (
        "max_model_calls",
        Kind::WholeOrNull(1),
        "Model calls of one run.",
    ),
    (
        "max_tokens",
        Kind::WholeOrNull(1),
        "Tokens of all model calls of one run.",
    ),
    (
        "max_output_tokens",
        Kind::WholeOrNull(1),
        "Tokens of one reply.",
    ),
];

pub(super) const SUBAGENTS_ROWS: &[Row] = &[
    ("max_parallel", Kind::WholeOrNull(1), "So many run at once."),
    (
        "timeout_ms",
        Kind::WholeOrNull(1),
        "The time for one piece of work.",
    ),
    ("types", Kind::Agents, "The kinds that there are."),
];

pub(super) const SKILLS_ROWS: &[Row] = &[
    ("path", Kind::TextOrNull, "The folder that they are in."),
    (
        "container_path",
        Kind::TextOrNull,
        "How paths in calls name that folder.",
    ),
];

pub(super) const MEMORY_ROWS: &[Row] = &[(
    "enabled",
    Kind::BooleanOrNull,
    "Whether facts are remembered beyond a thread.",
)];

pub(super) const TOOLS_ROWS: &[Row] = &[
    (
        "workspaces",
        Kind::TextOrNull,
        "The folder under which each thread has its own; null: agents have no files.",
    ),
    ("timeout_ms", Kind::WholeOrNull(1), "The time for one call."),
    (
        "max_parallel",
        Kind::WholeOrNull(1),
        "Calls of one reply that run at once.",
    ),
    (
        "max_result_chars",
        Kind::WholeOrNull(1),
        "Characters of a result beyond which its middle is left out.",
    ),
];
