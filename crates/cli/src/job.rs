//! What is to be done: the arguments with their files read and their contradictions refused.

use std::path::{Path, PathBuf};

use conspectus::core::policy::{Options, PolicyWarning, TriggerOption};
use conspectus::{CompactRequest, Format, ModelProfile, OpenOptions};
use conspectus_config::{Config, ConfigError, ConfigWarning, FILE_VARIABLE, Overrides};

use crate::args::{CompactArgs, LookArgs, PolicyArgs, ReadArgs};
use crate::fail::{Exit, Fail, io_words};
use crate::inputs::{Inputs, expand};
use crate::latest;
use crate::target::Destination;

/// `compact`.
pub(crate) struct CompactJob {
    /// What to read.
    pub(crate) inputs: Inputs,
    /// How.
    pub(crate) read: OpenOptions,
    /// Where to.
    pub(crate) destination: Destination,
    /// An existing output is replaced.
    pub(crate) overwrite: bool,
    /// Nothing is written.
    pub(crate) dry_run: bool,
    /// The report is a JSON document.
    pub(crate) json: bool,
    /// When and how.
    pub(crate) policy: PolicyJob,
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

/// The policy, before the format of a file is known.
pub(crate) struct PolicyJob {
    options: Options,
    model: ModelProfile,
    below_keep: bool,
    /// Nothing says whether compaction is on, so the command does.
    enable: bool,
    /// What its owner should be told.
    pub(crate) warnings: Vec<String>,
    /// What is usually done differently.
    pub(crate) advice: Vec<String>,
}

impl PolicyJob {
    /// The request for a file of this format.
    pub(crate) fn request(&self, format: Format) -> CompactRequest {
        let options = Options {
            anthropic: self.options.anthropic
                || matches!(format, Format::Anthropic | Format::Claude),
            ..self.options.clone()
        };
        let mut request = CompactRequest::command(options);
        request.model = self.model.clone();
        request.manual.below_keep = self.below_keep;
        request.enable = self.enable;
        request
    }
}

pub(crate) fn compact(args: CompactArgs) -> Result<CompactJob, Fail> {
    let policy = policy(args.policy)?;
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
        overwrite: args.overwrite,
        dry_run: args.dry_run,
        json: args.json,
        policy,
    })
}

pub(crate) fn look(args: LookArgs) -> Result<LookJob, Fail> {
    let policy = policy(args.policy)?;
    let (inputs, read) = inputs(&args.read)?;
    Ok(LookJob {
        inputs,
        read,
        conversation: args.conversation,
        json: args.json,
        policy,
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

fn policy(args: PolicyArgs) -> Result<PolicyJob, Fail> {
    let file = args.config.or_else(named_file);
    let config = load(file.as_deref())?;
    let flags = Overrides {
        preset: args.preset,
        trigger: args.trigger,
        keep: args.keep,
        max_context: args.max_context,
        prune_over: args.prune_over,
        strict_parity: args.strict_parity.then_some(true),
        ..Overrides::default()
    };
    let is_bare = file.is_none();
    let config_error = |error: ConfigError| {
        Fail::new(
            Exit::Config,
            anyhow::anyhow!(as_flags(error.to_string(), is_bare)),
        )
    };
    let config = config.with_overrides(&flags).map_err(config_error)?;
    let model = config
        .run_model(args.model.as_deref())
        .map_err(config_error)?;
    let resolved = config.resolve(&model).map_err(config_error)?;
    let options = config.options_for(&model);
    let no_check = options.trigger == TriggerOption::Unset;
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
        no_check && about_window
    };
    let warnings = resolved.warnings.iter().filter(|w| !is_idle(w));
    // Advice is about a file that stays; flags are for this time.
    let advice = resolved.advice.iter().filter(|_| !is_bare);
    let advice = advice.filter(|advice| advice.place.file.is_some());
    Ok(PolicyJob {
        advice: advice.map(ToString::to_string).collect(),
        options,
        model,
        below_keep: args.below_keep,
        enable: is_bare,
        warnings: warnings.map(|w| as_flags(w.to_string(), is_bare)).collect(),
    })
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
