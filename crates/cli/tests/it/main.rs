//! The whole program, as a user runs it.

mod bad_input;
mod check;
mod compact;
mod config;
mod crash;
mod docs;
mod errors;
mod help;
mod inspect;
mod outputs;
mod plan;
mod redact;
mod support;
