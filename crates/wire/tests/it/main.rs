//! The crate from outside: real files, formats, edits, validity.

mod openai;
mod shared;
mod support;
mod traps;
