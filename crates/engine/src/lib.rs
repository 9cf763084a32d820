//! Conversation compaction for LLM agents.
//!
//! Conspectus keeps a long conversation inside the model's context window without losing the thread: it
//! shortens oversized tool results for free, replaces the older part by a summary when that is not enough,
//! and keeps by code what must survive: the system prompt, the current request, pins, pending calls, whole
//! units of call and answer.
//!
//! # A conversation in a file
//!
//! ```
//! use conspectus::{CompactRequest, Document, Embedded, OpenOptions, Options, compact};
//!
//! let long = "tea and more tea. ".repeat(400);
//! let file = format!(
//!     r#"[{{"role":"user","content":"Make tea. {long}"}},{{"role":"assistant","content":"Done. {long}"}},
//!        {{"role":"user","content":"And coffee?"}}]"#
//! );
//! let document = Document::open(file.into_bytes(), &OpenOptions::default())?;
//! let request = CompactRequest::command(Options::default());
//! let compaction = compact(&document.conversations()[0], &request, &mut Embedded::default())?;
//!
//! assert_eq!(compaction.report.outcome.as_str(), "compacted");
//! let smaller = document.render(&[(0, &compaction.projection())], &Default::default())?;
//! assert!(String::from_utf8(smaller)?.contains("And coffee?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A conversation that goes on
//!
//! Keep a [`Thread`]: append what arrives, ask [`Thread::before_call`] before each model call, run what it
//! starts with [`drive`], and send [`Thread::projection`]. The core knows no clock and no network: a [`Host`]
//! is what performs.

mod compact;
mod drive;
mod inspect;
mod shortened;
mod text;
mod units;

pub use compact::{CompactRequest, Compaction, Error, OpenThread, compact, open_thread};
pub use conspectus_core as core;
pub use conspectus_core::count::TokenCounter;
pub use conspectus_core::outcome::{Measured, Moment, Outcome, Reason, Report};
pub use conspectus_core::policy::{ModelProfile, Options, Policy, Preset};
pub use conspectus_core::projection::Projection;
pub use conspectus_core::thread::{Decision, Manual, Sources, Thread};
pub use conspectus_tokens as tokens;
pub use conspectus_wire as wire;
pub use conspectus_wire::{
    Conversation, Document, Format, OpenOptions, ReadError, RenderContext, WriteError,
};
pub use drive::{Embedded, Host, drive};
pub use inspect::{Inspection, LargeMessage, LargeResult, Share, TriggerState, inspect};
pub use shortened::{Shortened, shortened};
pub use units::{StayShare, UnitLine, stays, units};

/// The code of the project's first page compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
