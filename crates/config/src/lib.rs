//! The configuration of Conspectus: the YAML file, environment variables and flags over it, and errors that say
//! where and what.
//!
//! ```
//! use conspectus_config::{Config, Overrides};
//! use conspectus_core::policy::ModelProfile;
//!
//! let file = "summarization:\n  enabled: true\n  trigger: {type: tokens, value: 4000}\n";
//! let environment = [("CONSPECTUS_SUMMARIZATION_TRIGGER", "tokens=6000")];
//! let flags = Overrides { prune_over: Some(8192), ..Overrides::default() };
//! let config = Config::load("config.yaml", file)?;
//! let config = config.with_environment(environment)?.with_overrides(&flags)?;
//! let resolved = config.resolve(&ModelProfile::default())?;
//! assert_eq!(resolved.policy.trigger_tokens(), Some(6000));
//! # Ok::<(), conspectus_config::ConfigError>(())
//! ```
//!
//! A file with a section `summarization:` and no `preset` follows deer-flow; without the section, or without
//! a file, our own defaults hold. The list `models:` says which models there are, `agents:` which of them an agent runs
//! on, `mcp:` which servers give them tools, `server:` what the HTTP service needs, `proxy:` what the proxy does. Other sections
//! of the file belong to others and are passed over. See `docs/configuration.md` for every option.
//!
//! | to | take |
//! |---|---|
//! | read a file, with variables and flags over it | [`Config::load`], [`Config::with_environment`], [`Config::with_overrides`] |
//! | get the numbers that decide | [`Config::resolve`], with warnings and who said what in [`ResolvedConfig`] |
//! | know the models of the file | [`Config::models`], [`Model`] |
//! | know which model an agent runs on | [`Config::agents`] |
//! | know what agents are told, can do and may use | [`Config::agent_sections`], [`AgentSections`] |
//! | know the MCP servers of agents | [`Config::mcp`], [`McpServer`] |
//! | know how the service is to run | [`Config::server`], [`Server`] |
//! | know how the proxy is to run | [`Config::proxy`], [`Proxy`] |
//! | say what is usually done differently | [`Advice`] |
//! | give a file to begin with, or its JSON Schema | [`example`](example()), [`schema`](schema()) |
//!
//! No error and no `Debug` shows a value that may be a secret ([`Secret`]).

mod advice;
mod agents;
mod config;
mod environment;
mod error;
mod example;
mod flags;
mod mcp;
mod models;
mod options;
mod place;
mod proxy;
mod reader;
mod redact;
mod schema;
mod section;
mod server;
mod sizes;
mod suggest;
mod value;
mod yaml;

pub use advice::{Advice, Symptom, Tip};
pub use agents::{Agent, AgentSections, Memory, Skills, Subagents, Tools};
pub use config::{Config, ResolvedConfig};
pub use environment::FILE_VARIABLE;
pub use error::{ConfigError, ConfigWarning, Place, Problem};
pub use example::example;
pub use flags::{
    FlagError, Overrides, TriggerArg, parse_keep, parse_on_failure, parse_preset, parse_strategy,
    parse_trigger,
};
pub use mcp::{McpPlace, McpServer};
pub use models::{Model, Prices, Secret};
pub use proxy::{Proxy, Summarize, UpstreamSection};
pub use schema::schema;
pub use server::Server;
