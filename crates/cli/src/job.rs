//! What is to be done: the arguments with their files read and their contradictions refused.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use conspectus::core::policy::{Options, PolicyError, PolicyWarning, TriggerOption};
use conspectus::wire::Target;
use conspectus::{
    CompactRequest, Compaction, Conversation, Document, Format, ModelProfile, OpenOptions,
};
use conspectus_config::{
    Advice, Config, ConfigError, ConfigWarning, FILE_VARIABLE, Overrides, Tip,
};

use crate::args::{CompactArgs, EvalArgs, LookArgs, PolicyArgs, ReadArgs, SummaryArgs, To};
use crate::asked::Asked;
use crate::asking::{Asking, Telling};
use crate::fail::{Exit, Fail, io_words};
use crate::inputs::{Inputs, expand};
use crate::latest;
use crate::models;
use crate::target::Destination;
use crate::ui;

/// `compact`.
pub(crate) struct CompactJob {
    /// What to read.
    pub(crate) inputs: Inputs,
    /// How.
    pub(crate) read: OpenOptions,
    /// Where to.
    pub(crate) destination: Destination,
    /// In another form than the input's.
    pub(crate) to: Option<Target>,
    /// An existing output is replaced.
    pub(crate) overwrite: bool,
    /// Nothing is written.
    pub(crate) dry_run: bool,
    /// The report is a JSON document.
    pub(crate) json: bool,
    /// There is no report.
    pub(crate) quiet: bool,
    /// When and how.
    pub(crate) policy: PolicyJob,
    /// By whom the summary is written.
    asking: Asking,
    /// What it should pay attention to.
    focus: Option<Arc<str>>,
}

impl CompactJob {
    /// The request for a conversation in a file of this format.
    pub(crate) fn request(
        &self,
        format: Format,
        conversation: &Conversation,
    ) -> Result<CompactRequest, Fail> {
        let mut request = self.policy.request(format, conversation)?;
        self.asking.complete(&self.policy.config, &mut request);
        request.manual.focus = self.focus.clone();
        Ok(request)
    }

    /// Compacts the conversation of a document with this index, by models where there are some.
    pub(crate) fn compact(
        &self,
        conversation: (&Document, usize),
        request: &CompactRequest,
        telling: &Telling,
    ) -> Result<(Compaction, Option<Asked>), Fail> {
        self.asking
            .compact(&self.policy.config, conversation, request, telling)
    }
}

/// `inspect` and `plan`.
pub(crate) struct LookJob {
    /// What to read.
    pub(crate) inputs: Inputs,
    /// How.
    pub(crate) read: OpenOptions,
    /// Only this one.
    pub(crate) conversation: Option<String>,
    /// The report is a JSON document.
    pub(crate) json: bool,
    /// When and how.
    pub(crate) policy: PolicyJob,
}

/// `eval`.
pub(crate) struct EvalJob {
    /// What to read.
    pub(crate) inputs: Inputs,
    /// How.
    pub(crate) read: OpenOptions,
    /// In percent of what there is before a cut.
    pub(crate) budgets: Vec<u32>,
    /// How many compactions one after the other, beside one.
    pub(crate) rounds: usize,
    /// The report is a JSON document.
    pub(crate) json: bool,
    /// Where the figures go as comma-separated values.
    pub(crate) csv: Option<PathBuf>,
    /// Where the chart goes.
    pub(crate) svg: Option<PathBuf>,
    /// Files that are there may be replaced.
    pub(crate) overwrite: bool,
}

/// The policy, before the format of a file is known.
pub(crate) struct PolicyJob {
    config: Config,
    model: ModelProfile,
    /// Whether somebody said which model it is; else a session may.
    is_model_said: bool,
    /// Why the options cannot work without a window; a session may name a model that has one.
    unresolved: Option<String>,
    below_keep: bool,
    /// Whether a trigger has to be reached, where that was said; else the options decide.
    only_if_triggered: Option<bool>,
    /// Nothing says whether compaction is on, so the command does.
    enable: bool,
    /// What its owner should be told. More may come with each session.
    pub(crate) warnings: RefCell<Vec<String>>,
    /// What is usually done differently.
    pub(crate) advice: Vec<String>,
}

#[cfg(feature = "threads")]
impl PolicyJob {
    /// The configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// What one call of a model may take.
    pub(crate) fn call_timeout_ms(&self) -> u64 {
        const USUAL: u64 = 120_000;
        let resolved = self.config.resolve(&self.model);
        resolved.map_or(USUAL, |r| r.policy.summary.call_timeout_ms)
    }

    /// What threads of a store run with.
    pub(crate) fn thread_settings(
        &self,
        instance: String,
        listed: Vec<conspectus::threads::RunModel>,
    ) -> conspectus::threads::Settings {
        let mut settings = conspectus::threads::Settings::new(instance);
        settings.options = self.config.options().clone();
        if self.enable {
            settings.options.enabled.get_or_insert(true);
        }
        settings.models = listed;
        settings.agents.clone_from(self.config.agents());
        settings
    }
}

impl PolicyJob {
    /// The request for a conversation in a file of this format. Unless somebody said which model it is, it is the one
    /// that the session names.
    pub(crate) fn request(
        &self,
        format: Format,
        conversation: &Conversation,
    ) -> Result<CompactRequest, Fail> {
        let named = conversation.model().filter(|_| !self.is_model_said);
        let of_session = named.and_then(|name| models::of_session(&self.config, &name));
        let model = of_session.unwrap_or_else(|| self.model.clone());
        if let Some(why) = self.unresolved.as_ref().filter(|_| model.window.is_none()) {
            return Err(Fail::new(Exit::Config, anyhow::anyhow!(why.clone())));
        }
        let options = self.config.options_for(&model);
        let options = Options {
            anthropic: options.anthropic
                || matches!(format, Format::Anthropic | Format::Claude | Format::Cline),
            ..options
        };
        if !self.is_model_said && options.trigger != TriggerOption::Unset {
            self.tell(&model)?;
        }
        let mut request = CompactRequest::command(options);
        request.model = model;
        request.manual.below_keep = self.below_keep;
        request.only_if_triggered = self.only_if_triggered.unwrap_or(request.only_if_triggered);
        request.enable = self.enable;
        Ok(request)
    }

    /// Warns, once, of what only the session's model shows.
    fn tell(&self, model: &ModelProfile) -> Result<(), Fail> {
        let is_bare = self.enable;
        let resolved = self.config.resolve(model).map_err(|error| {
            let text = as_flags(error.to_string(), is_bare);
            Fail::new(Exit::Config, anyhow::anyhow!(text))
        })?;
        for warning in &resolved.warnings {
            let text = as_flags(warning.to_string(), is_bare);
            let mut told = self.warnings.borrow_mut();
            if !told.contains(&text) {
                ui::warning(&text);
                told.push(text);
            }
        }
        Ok(())
    }
}

pub(crate) fn compact(args: CompactArgs) -> Result<CompactJob, Fail> {
    if let Some(flag) = args.place.said() {
        let why = "says where threads are; name one with --thread";
        return Err(Fail::about(Exit::Usage, flag, why));
    }
    let summary = args.summary;
    let policy = PolicyJob {
        only_if_triggered: match (args.force, args.if_due) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        },
        ..policy(args.policy, summary.model.as_deref(), &summary)?
    };
    let asking = Asking::prepare(&policy.config, &summary)?;
    policy.warnings.borrow_mut().extend(asking.warning());
    let (inputs, read) = inputs(&args.read)?;
    let destination = Destination::choose(args.out.as_deref(), &inputs)?;
    if args.json && destination == Destination::Stdout && !args.dry_run {
        return Err(Fail::about(
            Exit::Usage,
            "--json",
            "standard output already takes the conversation; give --out a file, or add --dry-run",
        ));
    }
    Ok(CompactJob {
        inputs,
        read,
        destination,
        to: args.to.map(|to| match to {
            To::OpenAi => Target::OpenAi,
            To::Neutral => Target::Neutral,
        }),
        overwrite: args.overwrite,
        dry_run: args.dry_run,
        json: args.json,
        quiet: args.quiet,
        policy,
        asking,
        focus: summary.focus.map(Into::into),
    })
}

pub(crate) fn look(args: LookArgs) -> Result<LookJob, Fail> {
    let policy = policy(args.policy, args.model.as_deref(), &SummaryArgs::default())?;
    let (inputs, read) = inputs(&args.read)?;
    Ok(LookJob {
        inputs,
        read,
        conversation: args.conversation,
        json: args.json,
        policy,
    })
}

pub(crate) fn eval(args: EvalArgs) -> Result<EvalJob, Fail> {
    let (inputs, read) = inputs(&args.read)?;
    let mut budgets = args.budget;
    budgets.sort_unstable();
    budgets.dedup();
    Ok(EvalJob {
        inputs,
        read,
        budgets,
        rounds: args.compactions,
        json: args.json,
        csv: args.csv,
        svg: args.svg,
        overwrite: args.overwrite,
    })
}

fn inputs(args: &ReadArgs) -> Result<(Inputs, OpenOptions), Fail> {
    let newest;
    let paths: &[PathBuf] = match args.latest {
        None => &args.inputs,
        Some(program) => {
            newest = [latest::session(program)?];
            &newest
        }
    };
    let read = OpenOptions {
        format: args.format,
        lenient: args.lenient,
    };
    Ok((expand(paths)?, read))
}

/// The policy of flags, environment and file.
///
/// # Errors
/// When they cannot be meant, or cannot work.
pub(crate) fn policy(
    args: PolicyArgs,
    model: Option<&str>,
    summary: &SummaryArgs,
) -> Result<PolicyJob, Fail> {
    let file = args.config.or_else(named_file);
    let config = load(file.as_deref())?;
    let flags = Overrides {
        preset: args.preset,
        trigger: args.trigger,
        keep: args.keep,
        max_context: args.max_context,
        prune_over: args.prune_over,
        strict_parity: args.strict_parity.then_some(true),
        model: summary.summary_model.as_deref().map(Into::into),
        strategy: summary.strategy,
        on_failure: summary.on_failure,
        ..Overrides::default()
    };
    let is_bare = file.is_none();
    let config_error = |error: ConfigError| {
        Fail::new(
            Exit::Config,
            anyhow::anyhow!(as_flags(error.to_string(), is_bare)),
        )
    };
    let config = models::completed(config.with_overrides(&flags).map_err(config_error)?);
    let is_model_said = model.is_some();
    let model = models::run_model(&config, model).map_err(config_error)?;
    let job = PolicyJob {
        is_model_said,
        unresolved: None,
        below_keep: args.below_keep,
        only_if_triggered: None,
        enable: is_bare,
        warnings: RefCell::default(),
        advice: Vec::new(),
        model,
        config,
    };
    let resolved = match job.config.resolve(&job.model) {
        Ok(resolved) => resolved,
        Err(error) if !is_model_said && needs_window(&error) => {
            return Ok(PolicyJob {
                unresolved: Some(as_flags(error.to_string(), is_bare)),
                ..job
            });
        }
        Err(error) => return Err(config_error(error)),
    };
    let no_check = job.config.options().trigger == TriggerOption::Unset;
    // The window of a trigger that nobody asked for: compacting by hand needs none, and `inspect` says what
    // it assumes.
    let is_idle = |warning: &ConfigWarning| {
        let about_window = matches!(
            warning,
            ConfigWarning::Policy {
                problem: PolicyWarning::WindowAssumed { .. },
                ..
            }
        );
        // A session may still name its model.
        about_window && (no_check || !is_model_said)
    };
    let warnings = resolved.warnings.iter().filter(|w| !is_idle(w));
    // Advice is about a file that stays; flags are for this time. Where the conversation goes is told in any case,
    // unless a flag has just said it.
    let is_told = |advice: &&Advice| match advice.tip {
        Tip::SentElsewhere { .. } => summary.summary_model.is_none(),
        _ => !is_bare && advice.place.file.is_some(),
    };
    let advice = resolved.advice.iter().filter(is_told);
    let warnings = warnings.map(|w| as_flags(w.to_string(), is_bare)).collect();
    let advice = advice.map(ToString::to_string).collect();
    Ok(PolicyJob {
        warnings: RefCell::new(warnings),
        advice,
        ..job
    })
}

/// Whether an option is a share of a window that nobody knows.
fn needs_window(error: &ConfigError) -> bool {
    match error {
        ConfigError::Policy { problem, .. } => {
            matches!(**problem, PolicyError::UnknownWindow { .. })
        }
        _ => false,
    }
}

/// Without a file, the way to say an option is its flag.
fn as_flags(message: String, is_bare: bool) -> String {
    match is_bare {
        true => message.replace("max_context", "--max-context"),
        false => message,
    }
}

/// The file that the environment names.
pub(crate) fn named_file() -> Option<PathBuf> {
    let path = std::env::var_os(FILE_VARIABLE)?;
    (!path.is_empty()).then(|| path.into())
}

/// The file, if there is one, and the environment over it.
pub(crate) fn load(path: Option<&Path>) -> Result<Config, Fail> {
    let config_error = |error| Fail::new(Exit::Config, error);
    let config = match path {
        None => Config::default(),
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|error| Fail::about(Exit::Config, &name, &io_words(&error)))?;
            Config::load(&name, &text).map_err(config_error)?
        }
    };
    config
        .with_environment(std::env::vars_os())
        .map_err(config_error)
}
