//! The HTTP service of Conspectus: threads that live on a server and are compacted there.
//!
//! It is a shell over [`Threads`](conspectus::threads::Threads): requests become calls, what comes back becomes JSON,
//! and nothing about a conversation is decided here. What does stand here is what a service needs around that: who may
//! ask ([`Tokens`]), under which names and from which pages, within which limits ([`Settings`]), how it stops, and what
//! it tells about itself ([`Metrics`], [`Log`]).
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use conspectus::Clock;
//! use conspectus::threads::Threads;
//! use conspectus_config::Config;
//! use conspectus_server::{Log, Metrics, Server, Settings, Tokens};
//!
//! async fn serve(threads: Arc<Threads<Arc<dyn Clock>>>) -> std::io::Result<()> {
//!     let config = Config::default();
//!     let settings = Settings::new(config.server(), Tokens::default()).expect("it listens on the loopback");
//!     let server = Server::bind(settings, threads, Metrics::new(), Log::none()).await?;
//!     server.run(std::future::pending()).await;
//!     Ok(())
//! }
//! ```
//!
//! Paths and shapes are those of LangGraph's server where its SDKs have the same call, and deer-flow's for manual
//! compaction; `docs/service.md` shows every route, `/api/openapi.json` describes them to programs.

mod answer;
mod app;
mod frames;
mod guard;
mod health;
mod log;
mod metrics;
mod openapi;
mod origin;
mod page;
mod parts;
mod problem;
mod read;
mod record;
mod router;
mod routes;
mod runs;
mod serve;
mod server;
mod settings;
mod shapes;
mod stop;
mod tokens;
#[cfg(feature = "tracing")]
mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "untraced.rs"]
mod trace;
mod watch;

pub use guard::ALONE;
pub use log::Log;
pub use metrics::Metrics;
pub use origin::{Allowed, Asked};
pub use server::{Server, instance};
pub use settings::{DEFAULT_LISTEN, Settings, SettingsError};
pub use tokens::{Holder, Role, Tokens, TokensError};
