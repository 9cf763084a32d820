//! The crate from outside: real files, formats, edits, validity.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod anthropic;
mod claude;
mod claude_soup;
mod codex;
mod codex_soup;
mod containers;
mod failure;
mod gemini;
mod langchain;
mod logs;
mod model;
mod openai;
mod replay;
mod responses;
mod shared;
mod source_counts;
mod splice;
mod support;
mod traps;
mod valid;
