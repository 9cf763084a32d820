//! The section `summarization:` as [`Options`]: deer-flow's names, Nous's names and our own.

use std::sync::Arc;

use conspectus_core::policy::{
    AnswerForm, Clause, Fidelity, KeepOption, OnFailure, Options, Placement, Preset, PruneOption,
    PruneWhen, Rolling, Strategy, ToolResults, TriggerOption,
};

use crate::error::{ConfigError, ConfigWarning, Place, Problem};
use crate::models::micros;
use crate::place::{Places, SECTION};
use crate::reader::{Reader, below, entry};
use crate::value::{boolean, nullable, one_of, real, small, text, whole, word, wrong};
use crate::yaml::{Entry, Node, Value};

/// Every option of the section.
pub(crate) const OPTIONS: [&str; 34] = [
    "preset",
    "enabled",
    "model_name",
    "summary_model",
    "trigger",
    "max_context_tokens",
    "keep",
    "keep_recent",
    "trim_tokens_to_summarize",
    "summary_prompt",
    "skill_file_read_tool_names",
    "prune",
    "max_result_chars",
    "strategy",
    "tool_results",
    "rolling",
    "form",
    "fidelity",
    "placement",
    "on_failure",
    "max_summary_tokens",
    "max_context",
    "max_request_bytes",
    "output_reserve",
    "max_retries",
    "call_timeout_ms",
    "deadline_ms",
    "max_parallel",
    "breaker",
    "max_spend",
    "expected_calls",
    "exempt_tools",
    "redact",
    "strict_parity",
];

/// Two names of one option: the seed's and Nous's.
pub(crate) const SAME: [(&str, &str); 3] = [
    ("keep", "keep_recent"),
    ("trigger", "max_context_tokens"),
    ("model_name", "summary_model"),
];

pub(crate) const PRUNE: [&str; 9] = [
    "when",
    "max_result_chars",
    "max_argument_chars",
    "max_result_tokens",
    "max_total_result_tokens",
    "max_argument_tokens",
    "duplicates",
    "keep_recent_results",
    "mask",
];

pub(crate) const MAX_SPEND: [&str; 2] = ["thread", "day"];
pub(crate) const BREAKER: [&str; 2] = ["failures", "cooldown_ms"];

/// Presets by name.
pub(crate) const PRESETS: [(&str, Preset); 4] = [
    ("default", Preset::Default),
    ("deerflow", Preset::Deerflow),
    ("langchain", Preset::Langchain),
    ("nous", Preset::Nous),
];

/// What a section says.
pub(crate) struct Section {
    pub(crate) options: Options,
    pub(crate) places: Places,
    pub(crate) warnings: Vec<ConfigWarning>,
}

/// Reads the section. Without a preset of its own it follows deer-flow, whose file it then is.
pub(crate) fn read(file: &Arc<str>, section: &Entry) -> Result<Section, ConfigError> {
    let mut reader = Reader {
        preset: Preset::Deerflow,
        places: Places::of_file(file, Some(section.line)),
        warnings: Vec::new(),
    };
    let entries = match &section.node.value {
        Value::Null => &[],
        Value::Map(entries) => entries.as_slice(),
        _ => {
            return Err(ConfigError::Option {
                place: Place {
                    option: SECTION.to_owned(),
                    ..reader.places.in_file(section.line, "")
                },
                problem: wrong(&section.node, "a map of options such as enabled: true"),
            });
        }
    };
    reader.once(entries, "")?;
    reader.not_twice_by_name(entries)?;
    if let Some(entry) = entry(entries, "preset") {
        reader.preset = reader.value(entry, "preset", |n| word(n, &PRESETS))?;
    }
    let mut options = Options::from(reader.preset);
    for entry in entries {
        reader.option(entry, &mut options)?;
    }
    reader.legacy(entries);
    Ok(Section {
        options,
        places: reader.places,
        warnings: reader.warnings,
    })
}

impl Reader {
    /// Reads one option of the section over what is known so far.
    pub(crate) fn option(
        &mut self,
        entry: &Entry,
        options: &mut Options,
    ) -> Result<(), ConfigError> {
        let key = entry.key.as_str();
        if OPTIONS.contains(&key) {
            let place = self.places.in_file(entry.line, key);
            self.places.set(core_name(key), place);
        }
        match key {
            "preset" => {}
            "enabled" => options.enabled = Some(self.value(entry, key, boolean)?),
            "model_name" | "summary_model" => {
                let name = |n: &Node| text(n, "a model's name or null");
                options.model = self
                    .value(entry, key, |n| nullable(n, name))?
                    .map(Arc::from);
            }
            "trigger" => options.trigger = self.trigger(&entry.node)?,
            "max_context_tokens" => {
                let tokens = self.value(entry, key, |n| whole(n, 1))?;
                options.trigger = TriggerOption::Any(vec![Clause {
                    tokens: Some(tokens),
                    ..Clause::default()
                }]);
            }
            "keep" => options.keep = Some(self.keep(&entry.node)?),
            "keep_recent" => {
                let messages = self.value(entry, key, |n| whole(n, 0))?;
                options.keep = Some(KeepOption::Messages(messages));
            }
            "trim_tokens_to_summarize" => {
                let tokens = self.value(entry, key, |n| nullable(n, |n| whole(n, 1)))?;
                options.trim_tokens = Some(tokens);
            }
            "summary_prompt" => options.summary_prompt = self.prompt(entry)?,
            "skill_file_read_tool_names" => options.skill_read_tools = Some(self.names(entry)?),
            "prune" => self.prune(entry, &mut options.prune)?,
            "max_result_chars" => {
                options.prune.max_result_chars = Some(self.value(entry, key, |n| whole(n, 0))?);
            }
            "strategy" => options.strategy = self.word(entry, &STRATEGIES)?,
            "tool_results" => options.tool_results = self.word(entry, &TOOL_RESULTS)?,
            "rolling" => options.rolling = self.word(entry, &ROLLING)?,
            "form" => options.form = self.word(entry, &FORMS)?,
            "fidelity" => options.fidelity = self.word(entry, &FIDELITY)?,
            "placement" => options.placement = self.word(entry, &PLACEMENTS)?,
            "on_failure" => options.on_failure = self.word(entry, &ON_FAILURE)?,
            "max_summary_tokens" => options.max_summary_tokens = self.number(entry, 1)?,
            "max_context" => options.max_context = self.number(entry, 1)?,
            "max_request_bytes" => options.max_request_bytes = self.number(entry, 1)?,
            "output_reserve" => options.output_reserve = self.number(entry, 0)?,
            "max_retries" => options.max_retries = self.count(entry, 0)?,
            "call_timeout_ms" => options.call_timeout_ms = self.number(entry, 1)?,
            "deadline_ms" => options.deadline_ms = self.number(entry, 1)?,
            "max_parallel" => options.max_parallel = self.count(entry, 1)?,
            "breaker" => self.breaker(entry, options)?,
            "max_spend" => self.max_spend(entry, options)?,
            "expected_calls" => options.expected_calls = self.number(entry, 1)?,
            "exempt_tools" => options.exempt_tools = self.names(entry)?,
            "redact" => self.redact(entry, &mut options.redact)?,
            "strict_parity" => options.strict_parity = self.value(entry, key, boolean)?,
            "summary_count" | "compaction_in_progress" => {
                let place = self.places.in_file(entry.line, key);
                self.warnings.push(ConfigWarning::ReadOnly { place });
            }
            key if is_legacy(key) => {}
            _ => self.unknown(entry, "", &OPTIONS)?,
        }
        Ok(())
    }

    fn prune(&mut self, entry: &Entry, prune: &mut PruneOption) -> Result<(), ConfigError> {
        let entries = match &entry.node.value {
            Value::Map(entries) => entries,
            Value::Null => return Ok(()),
            _ => {
                let on = boolean(&entry.node).map_err(|_| {
                    let expected = format!("true, false or a map of {}", one_of(&PRUNE));
                    self.fail(entry.node.line, "prune", wrong(&entry.node, &expected))
                })?;
                if on {
                    prune.when = Some(PruneWhen::Trigger);
                } else {
                    prune.max_result_chars = Some(0);
                }
                return Ok(());
            }
        };
        self.once(entries, "prune")?;
        for entry in entries {
            let key = entry.key.as_str();
            let path = below("prune", key);
            if PRUNE.contains(&key) {
                let place = self.places.in_file(entry.line, &path);
                self.places.set(&path, place);
            }
            match key {
                "when" => {
                    let words = [
                        ("trigger", PruneWhen::Trigger),
                        ("always", PruneWhen::Always),
                    ];
                    prune.when = Some(self.value(entry, &path, |n| word(n, &words))?);
                }
                "max_result_chars" => {
                    prune.max_result_chars = Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                "max_argument_chars" => {
                    prune.max_argument_chars = Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                "max_result_tokens" => {
                    prune.max_result_tokens = Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                "max_total_result_tokens" => {
                    prune.max_total_result_tokens =
                        Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                "max_argument_tokens" => {
                    prune.max_argument_tokens = Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                "duplicates" => prune.duplicates = Some(self.value(entry, &path, boolean)?),
                "keep_recent_results" => {
                    prune.keep_recent_results = Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                "mask" => prune.mask = Some(self.value(entry, &path, boolean)?),
                _ => self.unknown(entry, "prune", &PRUNE)?,
            }
        }
        Ok(())
    }

    fn breaker(&mut self, entry: &Entry, options: &mut Options) -> Result<(), ConfigError> {
        let Value::Map(entries) = &entry.node.value else {
            let problem = wrong(&entry.node, "a map of failures and cooldown_ms");
            return Err(self.fail(entry.node.line, "breaker", problem));
        };
        self.once(entries, "breaker")?;
        for entry in entries {
            let path = below("breaker", &entry.key);
            let place = self.places.in_file(entry.node.line, &path);
            match entry.key.as_str() {
                "failures" => {
                    options.breaker_failures = Some(self.value(entry, &path, |n| small(n, 1))?);
                }
                "cooldown_ms" => {
                    options.breaker_cooldown_ms = Some(self.value(entry, &path, |n| whole(n, 0))?);
                }
                _ => {
                    self.unknown(entry, "breaker", &BREAKER)?;
                    continue;
                }
            }
            self.places.set(&path, place);
        }
        Ok(())
    }

    /// Dollars.
    fn max_spend(&mut self, entry: &Entry, options: &mut Options) -> Result<(), ConfigError> {
        let entries = match &entry.node.value {
            Value::Map(entries) => entries,
            Value::Null => return Ok(()),
            _ => {
                let problem = wrong(&entry.node, "a map of thread and day, each in dollars");
                return Err(self.fail(entry.node.line, "max_spend", problem));
            }
        };
        self.once(entries, "max_spend")?;
        for entry in entries {
            let path = below("max_spend", &entry.key);
            let dollars = |n: &Node| {
                let dollars = real(n).filter(|d| d.is_finite() && *d >= 0.0);
                dollars.ok_or_else(|| wrong(n, "dollars, a number >= 0"))
            };
            let field = match entry.key.as_str() {
                "thread" => &mut options.max_thread_micros,
                "day" => &mut options.max_day_micros,
                _ => {
                    self.unknown(entry, "max_spend", &MAX_SPEND)?;
                    continue;
                }
            };
            *field = Some(micros(self.value(entry, &path, dollars)?));
        }
        Ok(())
    }

    fn prompt(&mut self, entry: &Entry) -> Result<Option<Arc<str>>, ConfigError> {
        let read = |n: &Node| text(n, "a text with {messages} in it, or null");
        let prompt = self.value(entry, "summary_prompt", |n| nullable(n, read))?;
        if prompt.as_ref().is_some_and(|p| !p.contains("{messages}")) {
            let place = self.places.in_file(entry.line, "summary_prompt");
            self.warnings
                .push(ConfigWarning::PromptWithoutMessages { place });
        }
        Ok(prompt.map(Arc::from))
    }

    fn names(&self, entry: &Entry) -> Result<Vec<Arc<str>>, ConfigError> {
        let path = entry.key.as_str();
        let Value::List(items) = &entry.node.value else {
            let problem = wrong(&entry.node, "a list of tool names, [] for none");
            return Err(self.fail(entry.node.line, path, problem));
        };
        let names = items.iter().enumerate().map(|(index, item)| {
            text(item, "a tool's name")
                .map(Arc::from)
                .map_err(|problem| self.fail(item.line, &format!("{path}[{index}]"), problem))
        });
        names.collect()
    }

    /// No option stands under two names.
    fn not_twice_by_name(&self, entries: &[Entry]) -> Result<(), ConfigError> {
        let prune_limit = entry(entries, "prune").and_then(|prune| match &prune.node.value {
            Value::Map(inner) => entry(inner, "max_result_chars"),
            _ => None,
        });
        let mut pairs: Vec<_> = SAME
            .iter()
            .map(|(a, b)| (*a, entry(entries, a), *b, entry(entries, b)))
            .collect();
        pairs.push((
            "prune.max_result_chars",
            prune_limit,
            "max_result_chars",
            entry(entries, "max_result_chars"),
        ));
        for (name_a, a, name_b, b) in pairs {
            let (Some(a), Some(b)) = (a, b) else {
                continue;
            };
            let (first, line, second) = if a.line <= b.line {
                (name_a, a.line, (name_b, b.line))
            } else {
                (name_b, b.line, (name_a, a.line))
            };
            let problem = Problem::Both {
                other: format!("{SECTION}.{first}"),
                line: Some(line),
            };
            return Err(self.fail(second.1, second.0, problem));
        }
        Ok(())
    }

    /// One warning, however many there are.
    fn legacy(&mut self, entries: &[Entry]) {
        let mut legacy = entries.iter().filter(|e| is_legacy(&e.key));
        if let Some(first) = legacy.next() {
            self.warnings.push(ConfigWarning::Legacy {
                place: self.places.in_file(first.line, &first.key),
                several: legacy.next().is_some(),
            });
        }
    }
}

pub(crate) const STRATEGIES: [(&str, Strategy); 4] = [
    ("auto", Strategy::Auto),
    ("replay", Strategy::Replay),
    ("transcript", Strategy::Transcript),
    ("digest", Strategy::Digest),
];

const TOOL_RESULTS: [(&str, ToolResults); 3] = [
    ("include", ToolResults::Include),
    ("excerpt", ToolResults::Excerpt),
    ("omit", ToolResults::Omit),
];

const ROLLING: [(&str, Rolling); 2] = [
    ("rewrite", Rolling::Rewrite),
    ("segments", Rolling::Segments),
];

pub(crate) const FORMS: [(&str, AnswerForm); 2] = [
    ("fields", AnswerForm::Fields),
    ("sections", AnswerForm::Sections),
];

const FIDELITY: [(&str, Fidelity); 3] = [
    ("flag", Fidelity::Flag),
    ("cut", Fidelity::Cut),
    ("off", Fidelity::Off),
];

const PLACEMENTS: [(&str, Placement); 5] = [
    ("frozen", Placement::Frozen),
    ("front", Placement::Front),
    ("message", Placement::Message),
    ("system", Placement::System),
    ("system_end", Placement::SystemEnd),
];

pub(crate) const ON_FAILURE: [(&str, OnFailure); 3] = [
    ("digest", OnFailure::Digest),
    ("unchanged", OnFailure::Unchanged),
    ("error", OnFailure::Error),
];

/// The core's name of an option, where it differs.
pub(crate) fn core_name(key: &str) -> &str {
    match key {
        "model_name" | "summary_model" => "model",
        "keep_recent" => "keep",
        "max_context_tokens" => "trigger",
        key => key,
    }
}

fn is_legacy(key: &str) -> bool {
    key.starts_with("preserve_recent_skill_")
}
