//! Tools of MCP servers for agents, and tools of ours for MCP clients ([`serve`]).
//!
//! A server is a program that is begun here and spoken to by its standard input and output, or an address that is spoken
//! to by HTTP. [`McpServers::connect`] asks each for its tools once; they are [`Tool`](conspectus_agent::Tool)s from then
//! on, under names that no two share (`mcp__SERVER__TOOL`). What is wrong with a server is a result that its caller's
//! model reads, never the end of a run: one that died is begun anew by the next call.
//!
//! ```no_run
//! # async fn run(mut profile: conspectus_agent::Profile) {
//! use conspectus_mcp::{McpServers, McpSettings, Place};
//!
//! let files = Place::command("npx", ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]);
//! let servers = McpServers::new([McpSettings::new("files", files)]);
//! for listed in servers.connect().await {
//!     match listed.tools {
//!         Ok(tools) => profile.tools = profile.tools.with_all(tools),
//!         Err(why) => eprintln!("{}: {why}", listed.name),
//!     }
//! }
//! // … runs …
//! servers.end().await;
//! # }
//! ```
//!
//! What a server says is a text of others: it is capped, and it decides nothing. Which tools there are is asked once, so
//! that the beginning of requests stays the same; a server that changes its list is heard after the next start.

mod connection;
mod content;
mod name;
mod offer;
mod server;
mod settings;
mod tool;

pub use offer::{Offered, Offers, serve};
pub use server::{Listed, McpServers};
pub use settings::{McpError, McpSettings, Place};
pub use tool::McpTool;
