//! Models over HTTP: OpenAI-compatible chat and Anthropic's Messages.
//!
//! Both are [`ChatModel`](conspectus::ChatModel)s, for summaries, and [`AgentModel`](conspectus::AgentModel)s, with tools. They ask once and say what came of it, in the core's own words:
//! whether to ask again, in smaller pieces or another model is decided elsewhere. `docs/models.md` says how to point
//! at each kind of server.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use conspectus::{ChatModel, Compactor, Models};
//! use conspectus_providers::{AnthropicMessages, Endpoint, OpenAiChat, TokioClock};
//!
//! let local = OpenAiChat::new(&Endpoint::new("http://127.0.0.1:8080/v1", "local"));
//! let hosted = AnthropicMessages::new(&Endpoint::anthropic("claude-haiku-5-5"));
//! let models = Models::new()
//!     // One that cannot be made is a failed call, and the next in the chain is asked.
//!     .with("local", local.map(|m| Arc::new(m) as Arc<dyn ChatModel>))
//!     .with_run(hosted.map(|m| Arc::new(m) as Arc<dyn ChatModel>));
//! let compactor = Compactor::new(models, TokioClock::new());
//! ```
//!
//! Routes say which of them is asked, in which order, and what each takes; `examples/compact.rs` shows a whole run.
//!
//! - Keys come from the environment or a file, are printed as `****` and stand in no error.
//! - There is a limit for connecting, the first byte, silence between bytes and the whole call, and one for size.
//! - No redirect is followed: the key goes where the configuration says, or nowhere.

mod answer;
mod anthropic;
mod body;
mod client;
mod clock;
mod dialect;
mod draft;
mod endpoint;
mod error;
mod messages;
mod openai;
mod secret;
mod stream;
mod transport;

pub use anthropic::AnthropicMessages;
pub use client::http_client;
pub use clock::TokioClock;
pub use endpoint::{Auth, Endpoint, OutputCap, Proxy, Timeouts};
pub use error::BuildError;
pub use openai::OpenAiChat;
pub use secret::{Key, Secret};

/// The code of the page on models compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/models.md")]
struct Models;
