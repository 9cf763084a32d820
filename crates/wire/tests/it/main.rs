//! The crate from outside: real files, formats, edits, validity.

mod claude;
mod claude_soup;
mod openai;
mod shared;
mod support;
mod traps;
