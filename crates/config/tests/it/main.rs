//! The configuration file from outside: what loads, what it means, and every message word by word.

mod advice;
mod bad_files;
mod environment;
mod examples;
mod layers;
mod models;
mod options;
mod random;

use conspectus_config::{Config, ConfigError};
use conspectus_core::policy::{Clause, ModelProfile, Options, Threshold};

/// A model of 100,000 tokens that writes 16,000 at most.
fn model() -> ModelProfile {
    ModelProfile {
        name: Some("run-model".into()),
        window: Some(100_000),
        max_output: Some(16_000),
        learnt: false,
        provider: None,
    }
}

fn options(text: &str) -> Options {
    let config = Config::load("config.yaml", text).expect("loads");
    assert_eq!(config.warnings(), [], "{text}");
    config.options().clone()
}

/// The error of loading a file and resolving it for [`model`].
fn error(text: &str) -> String {
    let resolved = Config::load("config.yaml", text).and_then(|c| c.resolve(&model()));
    resolved.map_or_else(
        |e: ConfigError| e.to_string(),
        |r| format!("no error: {r:?}"),
    )
}

fn warnings(text: &str) -> Vec<String> {
    let config = Config::load("config.yaml", text).expect("loads");
    let resolved = config.resolve(&model()).expect("resolves");
    resolved.warnings.iter().map(ToString::to_string).collect()
}

fn tokens(n: u64) -> Clause {
    Clause {
        tokens: Some(n),
        ..Clause::default()
    }
}

fn messages(n: u64) -> Clause {
    Clause {
        messages: Some(n),
        ..Clause::default()
    }
}

fn fraction(f: f64) -> Clause {
    Clause {
        fraction: Some(f),
        ..Clause::default()
    }
}

fn at_tokens(n: u64) -> Threshold {
    Threshold {
        tokens: Some(n),
        messages: None,
    }
}

fn at_messages(n: u64) -> Threshold {
    Threshold {
        tokens: None,
        messages: Some(n),
    }
}
