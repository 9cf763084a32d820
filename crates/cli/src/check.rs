//! `conspectus config`: what a configuration file comes to, a file to begin with, and the file's JSON Schema.

use std::path::Path;

use conspectus::core::policy::Rates;
use conspectus::{ModelProfile, Policy};
use conspectus_config::{
    Config, Model, Overrides, Place, ResolvedConfig, Secret, Symptom, Tip, example, schema,
};
use serde::Serialize;

use crate::Done;
use crate::args::{CheckArgs, ConfigCommand};
use crate::fail::{Exit, Fail};
use crate::job::{load, named_file};
use crate::models;
use crate::report::ErrorLine;
use crate::show;
use crate::ui::{self, Stream, Talk, Ui, write_out};

/// The JSON document of `config check`. What is secret is not in it.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    version: &'static str,
    exit_code: u8,
    /// None: no file was named, and the environment and the defaults say all.
    file: Option<String>,
    /// The model that conversations run on.
    model: Option<&'a ModelProfile>,
    policy: Option<&'a Policy>,
    models: Vec<ModelLine<'a>>,
    said: Vec<SaidLine<'a>>,
    warnings: Vec<String>,
    advice: Vec<AdviceLine>,
    errors: Vec<ErrorLine>,
}

/// A model of the list. Its headers by name only.
#[derive(Serialize)]
struct ModelLine<'a> {
    name: &'a str,
    provider: Option<&'a str>,
    model: &'a str,
    base_url: Option<&'a str>,
    api_key: Option<String>,
    window: Option<u64>,
    max_output: Option<u64>,
    /// In micro-dollars a million tokens, as said or as known.
    prices: Option<Rates>,
    headers: Vec<&'a str>,
    /// Environment variables that it needs and that are not set.
    unset: Vec<&'a str>,
}

impl<'a> From<&'a Model> for ModelLine<'a> {
    fn from(model: &'a Model) -> Self {
        Self {
            name: &model.name,
            provider: model.provider.as_deref(),
            model: &model.model,
            base_url: model.base_url.as_deref(),
            api_key: model.api_key.as_ref().map(ToString::to_string),
            window: model.window,
            max_output: model.max_output,
            prices: model.profile().prices.map(|prices| prices.rates),
            headers: model.headers.iter().map(|(name, _)| &**name).collect(),
            unset: unset(model).collect(),
        }
    }
}

/// Environment variables that a model needs and that are not set.
pub(crate) fn unset(model: &Model) -> impl Iterator<Item = &str> {
    let headers = model.headers.iter().map(|(_, value)| value);
    let secrets = model.api_key.iter().chain(headers);
    let is_unset = |name: &&str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    secrets.filter_map(Secret::variable).filter(is_unset)
}

/// Where an option was said.
#[derive(Serialize)]
struct SaidLine<'a> {
    option: &'a str,
    /// `config.yaml:7`, the environment variable or the flag.
    by: String,
}

impl<'a> From<(&'a str, &Place)> for SaidLine<'a> {
    fn from((option, place): (&'a str, &Place)) -> Self {
        let by = show::said_by(place);
        Self { option, by }
    }
}

#[derive(Serialize)]
struct AdviceLine {
    /// The problem that it answers, if it is one of the three.
    symptom: Option<&'static str>,
    text: String,
}

pub(crate) fn run(command: ConfigCommand) -> Done {
    match command {
        ConfigCommand::Check(args) => check(&args),
        ConfigCommand::Example { preset } => {
            write_out(example(preset).as_bytes())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Schema => {
            write_out(schema().as_bytes())?;
            Ok(Exit::Done)
        }
    }
}

/// What a file comes to.
struct Checked {
    config: Config,
    model: ModelProfile,
    resolved: ResolvedConfig,
}

fn check(args: &CheckArgs) -> Done {
    let ui = Ui::new(Stream::Out, false, Talk::Normal);
    let path = args.file.clone().or_else(named_file);
    let checked = checked(args, path.as_deref());
    let (exit, errors) = match &checked {
        Ok(_) => (Exit::Done, Vec::new()),
        Err(fail) => (fail.exit, vec![fail.into()]),
    };
    let file = path.map(|path| path.display().to_string());
    if args.json {
        let done = checked.as_ref().ok();
        ui.json(&Report {
            command: "config check",
            version: env!("CARGO_PKG_VERSION"),
            exit_code: exit.code(),
            file,
            model: done.map(|c| &c.model),
            policy: done.map(|c| &c.resolved.policy),
            models: done.map_or_else(Vec::new, |c| {
                c.config.models().iter().map(ModelLine::from).collect()
            }),
            said: done.map_or_else(Vec::new, |c| c.config.said().map(SaidLine::from).collect()),
            warnings: done.map_or_else(Vec::new, |c| {
                c.resolved
                    .warnings
                    .iter()
                    .map(ToString::to_string)
                    .collect()
            }),
            advice: done.map_or_else(Vec::new, |c| {
                let line = |advice: &conspectus_config::Advice| AdviceLine {
                    symptom: symptom(&advice.tip),
                    text: advice.to_string(),
                };
                c.resolved.advice.iter().map(line).collect()
            }),
            errors,
        })?;
        // The document says it all; people who look at the terminal are told as well.
        if let Err(fail) = &checked {
            ui::error(&fail.message());
        }
        return Ok(exit);
    }
    let Checked {
        config,
        model,
        resolved,
    } = checked?;
    ui.say(&show::numbers(
        file.as_deref().unwrap_or("no file"),
        &config,
        &model,
        &resolved.policy,
        ui.style,
    ))?;
    let warnings = resolved.warnings.iter().map(|w| format!("warning: {w}"));
    let advice = resolved.advice.iter().map(|a| format!("advice: {a}"));
    let notes: Vec<String> = warnings.chain(advice).collect();
    if !notes.is_empty() {
        ui.say(&format!("\n{}\n", notes.join("\n")))?;
    }
    Ok(Exit::Done)
}

fn checked(args: &CheckArgs, file: Option<&Path>) -> Result<Checked, Fail> {
    let fail = |error| Fail::new(Exit::Config, error);
    let flags = Overrides {
        max_context: args.max_context,
        ..Overrides::default()
    };
    let config = models::completed(load(file)?.with_overrides(&flags).map_err(fail)?);
    let model = models::run_model(&config, args.model.as_deref()).map_err(fail)?;
    let resolved = config.resolve(&model).map_err(fail)?;
    Ok(Checked {
        config,
        model,
        resolved,
    })
}

fn symptom(tip: &Tip) -> Option<&'static str> {
    Some(match tip.symptom()? {
        Symptom::LosesContext => "loses_context",
        Symptom::Slow => "slow",
        Symptom::StillTooLong => "still_too_long",
    })
}
