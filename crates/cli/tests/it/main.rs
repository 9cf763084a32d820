//! The whole program, as a user runs it.

#[cfg(feature = "models")]
mod asking;
mod bad_input;
#[cfg(feature = "threads")]
mod chat;
mod check;
mod compact;
mod config;
mod crash;
mod docs;
mod errors;
mod eval;
mod help;
mod inspect;
mod logs;
#[cfg(feature = "threads")]
mod mcp;
mod models;
#[cfg(not(feature = "models"))]
mod nobody;
mod outputs;
mod pages;
mod plan;
#[cfg(feature = "proxy")]
mod proxy;
mod redact;
#[cfg(feature = "threads")]
mod scripted;
#[cfg(feature = "serve")]
mod serve;
mod support;
#[cfg(feature = "threads")]
mod threads;
#[cfg(not(feature = "threads"))]
mod unthreaded;
