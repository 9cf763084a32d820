//! [`Config`]: a file, the environment and flags over it, and the policy that follows.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::Arc;

use conspectus_core::policy::{At, ModelProfile, Options, Policy, Preset};

use crate::advice::{Advice, advise};
use crate::agents::{self, AGENTS, AgentSections, MEMORY, SKILLS, SUBAGENTS, TOOLS};
use crate::environment;
use crate::error::{ConfigError, ConfigWarning, Place, Problem, shown};
use crate::flags::{Overrides, TriggerArg, any_of};
use crate::mcp::{self, MCP, McpServer};
use crate::models::{self, MODELS, Model, Models};
use crate::place::{Places, SECTION};
use crate::proxy::{self, PROXY, Proxy};
use crate::section::{self, OPTIONS};
use crate::server::{self, SERVER, Server};
use crate::suggest::is_near;
use crate::value::{one_of, wrong};
use crate::yaml::{self, Entry, Value};

/// What was asked for, and where. [`Config::default`] is no file at all: our own defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    options: Options,
    places: Places,
    models: Vec<Model>,
    agents: AgentSections,
    /// What of it says models.
    agent_models: BTreeMap<Arc<str>, Arc<str>>,
    mcp: Vec<McpServer>,
    server: Server,
    proxy: Proxy,
    warnings: Vec<ConfigWarning>,
}

/// A policy, and what its owner should be told once.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedConfig {
    /// The numbers.
    pub policy: Policy,
    /// The file's warnings, then those of the numbers.
    pub warnings: Vec<ConfigWarning>,
    /// What is usually done differently.
    pub advice: Vec<Advice>,
}

impl Config {
    /// Reads a file's text. `file` is its name for messages; nothing is opened.
    ///
    /// # Errors
    /// The first thing that is wrong, with file, line, option, what was found and what is allowed. What
    /// depends on the model is found by [`Config::resolve`].
    pub fn load(file: &str, text: &str) -> Result<Config, ConfigError> {
        let file: Arc<str> = Arc::from(file);
        let root = yaml::parse(text).map_err(|fault| ConfigError::Syntax {
            file: file.clone(),
            line: fault.line,
            column: fault.column,
            reason: fault.reason,
        })?;
        let entries = match &root.value {
            Value::Null => &[],
            Value::Map(entries) => entries.as_slice(),
            _ => {
                let place = top(&file, root.line, "the file");
                let problem = wrong(&root, "a map of sections such as summarization:");
                return Err(ConfigError::Option { place, problem });
            }
        };
        let mut config = match the_section(&file, entries)? {
            Some(entry) => {
                let section = section::read(&file, entry)?;
                Config {
                    options: section.options,
                    places: section.places,
                    warnings: section.warnings,
                    ..Config::default()
                }
            }
            None => Config {
                places: Places::of_file(&file, None),
                ..Config::default()
            },
        };
        if let Some(list) = only(&file, entries, MODELS)? {
            let Models { all, warnings } = models::read(&file, list, config.options.preset)?;
            config.models = all;
            config.warnings.extend(warnings);
        }
        let found =
            [AGENTS, SUBAGENTS, SKILLS, MEMORY, TOOLS].map(|name| only(&file, entries, name));
        let [agents, subagents, skills, memory, tools] = found;
        let sections = [agents?, subagents?, skills?, memory?, tools?];
        let (agents, warnings) =
            agents::read(&file, sections, &config.models, config.options.preset)?;
        config.agent_models = agents.models();
        config.agents = agents;
        config.warnings.extend(warnings);
        if let Some(entry) = only(&file, entries, MCP)? {
            config.mcp = mcp::read(&file, entry)?;
        }
        if let Some(entry) = only(&file, entries, SERVER)? {
            config.server = server::read(&file, entry)?;
        }
        if let Some(entry) = only(&file, entries, PROXY)? {
            config.proxy = proxy::read(&file, entry)?;
        }
        Ok(config)
    }

    /// Lays environment variables over the file: what they say wins, preset included. `CONSPECTUS_SUMMARIZATION_`
    /// and an option's path in capitals, joined by `_`, is that option; one that is blank says nothing. Call it
    /// before [`Config::with_overrides`], since flags win over both. Pass all of `std::env::vars_os()`: variables
    /// of others are passed over, one that is nearly an option becomes a warning.
    ///
    /// # Errors
    /// A value that is none of the option's, the same option under two names, and a name that begins like an
    /// option's and is none. The variable is named.
    pub fn with_environment<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Config, ConfigError> {
        environment::lay_over(
            variables,
            &mut self.options,
            &mut self.places,
            &mut self.warnings,
        )?;
        Ok(self)
    }

    /// Lays flags over the file and the environment: what they say wins, preset included.
    ///
    /// # Errors
    /// `--trigger auto` or `--trigger never` beside another `--trigger`.
    pub fn with_overrides(mut self, flags: &Overrides) -> Result<Config, ConfigError> {
        let options = &mut self.options;
        let places = &mut self.places;
        let mut from_flag = |option: &str, flag: &str| {
            places.forget(option);
            places.set(option, of_flag(flag));
        };
        if let Some(preset) = flags.preset {
            options.preset = preset;
            from_flag("preset", "--preset");
        }
        if !flags.trigger.is_empty() {
            options.trigger = any_of(&flags.trigger).map_err(|word| ConfigError::Option {
                place: of_flag("--trigger"),
                problem: Problem::Found {
                    found: format!("{word} beside another trigger"),
                    expected: "one of them alone".to_owned(),
                },
            })?;
            from_flag("trigger", "--trigger");
            let clauses = flags.trigger.iter().enumerate();
            for (index, _) in clauses.filter(|(_, t)| matches!(t, TriggerArg::Clause(_))) {
                from_flag(&format!("trigger[{index}]"), "--trigger");
            }
        }
        if flags.keep.is_some() {
            options.keep = flags.keep;
            from_flag("keep", "--keep");
        }
        if flags.prune_over.is_some() {
            options.prune.max_result_chars = flags.prune_over;
            from_flag("prune.max_result_chars", "--prune-over");
        }
        if let Some(strict) = flags.strict_parity {
            options.strict_parity = strict;
            from_flag("strict_parity", "--strict-parity");
        }
        over(&mut options.enabled, flags.enabled, || {});
        over(&mut options.max_context, flags.max_context, || {
            from_flag("max_context", "--max-context");
        });
        over(&mut options.output_reserve, flags.output_reserve, || {
            from_flag("output_reserve", "--output-reserve");
        });
        over(&mut options.model, flags.model.clone(), || {
            from_flag("model", "--summary-model");
        });
        over(&mut options.strategy, flags.strategy, || {
            from_flag("strategy", "--strategy");
        });
        over(&mut options.placement, flags.placement, || {
            from_flag("placement", "--placement");
        });
        over(&mut options.on_failure, flags.on_failure, || {
            from_flag("on_failure", "--on-failure");
        });
        over(
            &mut options.max_summary_tokens,
            flags.max_summary_tokens,
            || {
                from_flag("max_summary_tokens", "--max-summary-tokens");
            },
        );
        Ok(self)
    }

    /// What was asked for.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The options that were said, by name, and where: in the file, a variable or a flag.
    pub fn said(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.places.said()
    }

    /// The file's list of models.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// Which model of the list an agent's conversations run on, for agents that say so.
    pub fn agents(&self) -> &BTreeMap<Arc<str>, Arc<str>> {
        &self.agent_models
    }

    /// The file's sections about agents: what they are told, what they can do, what they may use.
    pub fn agent_sections(&self) -> &AgentSections {
        &self.agents
    }

    /// Servers whose tools agents have.
    pub fn mcp(&self) -> &[McpServer] {
        &self.mcp
    }

    /// How the proxy is to run.
    pub fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    /// The file's section for the HTTP service.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Adds what is known of the list's models from elsewhere, such as a catalog. `complete` is told what the file
    /// says, which should win.
    pub fn complete_models(mut self, complete: impl Fn(&Model) -> ModelProfile) -> Config {
        for model in &mut self.models {
            model.completed = Some(complete(model));
        }
        self
    }

    /// The model of the list with this name.
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| &*model.name == name)
    }

    /// What is known of the model that the conversation runs on: the one that is named, else the first of the
    /// list. Where there is no list, a name is all that is known.
    ///
    /// # Errors
    /// The list does not have the name.
    pub fn run_model(&self, name: Option<&str>) -> Result<ModelProfile, ConfigError> {
        match name {
            None => Ok(self.models.first().map(Model::profile).unwrap_or_default()),
            Some(name) if self.models.is_empty() => Ok(ModelProfile {
                name: Some(name.into()),
                ..ModelProfile::default()
            }),
            Some(name) => match self.model(name) {
                Some(model) => Ok(model.profile()),
                None => Err(self.no_such_model(of_flag("--model"), name)),
            },
        }
    }

    /// The options for a conversation that runs on this model.
    pub fn options_for(&self, run: &ModelProfile) -> Options {
        let model = run.name.as_deref().and_then(|name| self.model(name));
        let mut options = self.options.clone();
        options.anthropic |= model.is_some_and(Model::is_anthropic);
        options
            .others
            .extend(self.models.iter().map(Model::profile));
        options
    }

    fn no_such_model(&self, place: Place, name: &str) -> ConfigError {
        let names: Vec<&str> = self.models.iter().map(|m| &*m.name).collect();
        let problem = Problem::Found {
            found: match name.len() <= 60 && !name.starts_with("sk-") {
                true => format!("{name:?}"),
                false => shown(name),
            },
            expected: format!("a name of the list models: {}", one_of(&names)),
        };
        ConfigError::Option { place, problem }
    }

    /// What the file gives reason to say. [`Config::resolve`] repeats it.
    pub fn warnings(&self) -> &[ConfigWarning] {
        &self.warnings
    }

    /// The policy for a model.
    ///
    /// # Errors
    /// What [`Policy::resolve`] refuses, with the line or flag that it comes from; a model for summaries that the
    /// file's list of models does not have.
    pub fn resolve(&self, model: &ModelProfile) -> Result<ResolvedConfig, ConfigError> {
        if let Some(name) = &self.options.model
            && !self.models.is_empty()
            && self.model(name).is_none()
        {
            return Err(self.no_such_model(self.places.find(At::option("model")), name));
        }
        let options = self.options_for(model);
        let resolved = Policy::resolve(&options, model).map_err(|problem| ConfigError::Policy {
            place: self.places.find(problem.at()),
            problem: Box::new(problem),
        })?;
        let mut warnings = self.warnings.clone();
        warnings.extend(
            resolved
                .warnings
                .into_iter()
                .map(|problem| ConfigWarning::Policy {
                    place: self.places.find(problem.at()),
                    problem,
                }),
        );
        let advice = advise(
            &options,
            &resolved.policy,
            model,
            &self.models,
            &self.places,
        );
        Ok(ResolvedConfig {
            policy: resolved.policy,
            warnings,
            advice,
        })
    }
}

impl From<Preset> for Config {
    /// A preset and nothing else.
    fn from(preset: Preset) -> Self {
        Config {
            options: preset.into(),
            ..Config::default()
        }
    }
}

/// The section among the others.
///
/// Where there is none, a name that is nearly ours, or an option outside of a section, would be passed over
/// and our defaults would hold in silence: both are errors.
fn the_section<'n>(
    file: &Arc<str>,
    entries: &'n [Entry],
) -> Result<Option<&'n Entry>, ConfigError> {
    let fail = |entry: &Entry, problem| {
        Err(ConfigError::Option {
            place: top(file, entry.line, &entry.key),
            problem,
        })
    };
    if let Some(section) = only(file, entries, SECTION)? {
        return Ok(Some(section));
    }
    for entry in entries {
        if OPTIONS.contains(&entry.key.as_str()) {
            return fail(entry, Problem::Outside);
        }
        if is_near(&entry.key, SECTION, 2) {
            let suggestion = Some(SECTION.to_owned());
            return fail(entry, Problem::Unknown { suggestion });
        }
    }
    Ok(None)
}

/// The section with this name, if there is one.
fn only<'n>(
    file: &Arc<str>,
    entries: &'n [Entry],
    name: &str,
) -> Result<Option<&'n Entry>, ConfigError> {
    let mut sections = entries.iter().filter(|e| e.key == name);
    let first = sections.next();
    match (first, sections.next()) {
        (Some(first), Some(again)) => Err(ConfigError::Option {
            place: top(file, again.line, name),
            problem: Problem::Twice { first: first.line },
        }),
        _ => Ok(first),
    }
}

fn over<T>(option: &mut Option<T>, flag: Option<T>, said: impl FnOnce()) {
    if flag.is_some() {
        *option = flag;
        said();
    }
}

fn top(file: &Arc<str>, line: usize, option: &str) -> Place {
    Place {
        file: Some(file.clone()),
        line: Some(line),
        option: option.to_owned(),
    }
}

fn of_flag(flag: &str) -> Place {
    Place {
        file: None,
        line: None,
        option: flag.to_owned(),
    }
}
