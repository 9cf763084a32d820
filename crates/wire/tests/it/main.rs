//! The crate from outside: real files, formats, edits, validity.

mod anthropic;
mod claude;
mod claude_soup;
mod langchain;
mod openai;
mod shared;
mod support;
mod traps;
