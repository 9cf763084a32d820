//! Formats of providers and session files, to and from the core's views.
//!
//! A [`Document`] is one file: a request body, a benchmark's log, a thread state, a session. It is opened from bytes
//! (the [`Format`] is found by content), shows each [`Conversation`] as the core's views, and is rendered again from
//! edit scripts. Nothing in between is parsed into values and printed anew: what a script does not touch comes
//! back byte for byte, unknown fields, number spellings and signatures included.
//!
//! ```
//! use std::sync::Arc;
//!
//! use conspectus_core::id::Handle;
//! use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
//! use conspectus_core::view::Role;
//! use conspectus_wire::{Document, Format, OpenOptions, RenderContext};
//!
//! let file = br#"{"model": "m", "messages": [
//!   {"role": "user", "content": "a long story"},
//!   {"role": "assistant", "content": "I see", "cost": 1.50},
//!   {"role": "user", "content": "go on"}
//! ]}"#;
//! let document = Document::open(file.to_vec(), &OpenOptions::default())?;
//! assert_eq!(document.format(), Format::OpenAi);
//! assert_eq!(document.conversations()[0].views().len(), 3);
//!
//! // Put a summary where the first message was.
//! let summary = Block { kind: BlockKind::Summary, role: Role::User, text: "a story".into() };
//! let script = Projection {
//!     frozen: Arc::from([Piece::Insert(summary)]),
//!     tail: vec![Piece::Keep(Handle(1)), Piece::Keep(Handle(2))].into(),
//! };
//! let bytes = document.render(&[(0, &script)], &RenderContext::default())?;
//! assert_eq!(std::str::from_utf8(&bytes)?, r#"{"model": "m", "messages": [
//!   {"role":"user","content":"a story"},
//!   {"role": "assistant", "content": "I see", "cost": 1.50},
//!   {"role": "user", "content": "go on"}
//! ]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/formats.md` says what is seen of each format.
//!
//! - [`json`] lists, cuts and splices JSON in place; the formats are built on it.
//! - [`valid`] judges a request by its provider's rules, independently of everything else here.
//! - [`replay`] writes the request that asks a conversation's own model for a summary, behind the bytes it has seen.
//! - [`failure`] tells what an error of a provider means; [`sse`] decodes its streams.
//! - Each format has a folder with a reader (messages to views) and a writer (blocks of ours to messages); session
//!   files, which are logs that a compaction is appended to, read and write the whole file.
//! - Logs of programs that nobody resumes are only read; [`Document::convert`] writes any document as chat messages or
//!   in our own form ([`Target`]).

mod anthropic;
mod claude_code;
mod cline;
mod codex;
mod conversation;
mod convert;
mod copilot;
mod document;
mod error;
pub mod failure;
mod format;
mod gemini;
mod gemini_cli;
mod goose;
mod inspect;
pub mod json;
mod langchain;
mod lines;
mod log;
mod model;
mod neutral;
mod openai;
mod openhands;
mod pi;
mod read;
pub mod replay;
mod responses;
mod source;
pub mod sse;
mod swe_agent;
mod time;
mod usage;
pub mod valid;
mod write;

pub use claude_code::RecordCounts;
pub use conversation::{Conversation, Fixed};
pub use convert::Target;
pub use document::{Document, OpenOptions, RenderContext, message_format};
pub use error::{Fault, ReadError, WriteError};
pub use format::{Format, UnknownFormatName};
pub use time::iso_time;
pub use usage::{anthropic_usage, openai_usage, responses_usage};
