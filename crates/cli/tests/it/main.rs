//! The whole program, as a user runs it.

mod compact;
mod config;
mod docs;
mod errors;
mod help;
mod inspect;
mod outputs;
mod plan;
mod support;
