//! The crate from outside: real files, formats, edits, validity.

mod anthropic;
mod openai;
mod shared;
mod support;
mod traps;
