//! Channels: state that outlives the messages that it came from, each with a reducer of its own.
//!
//! A reducer is a pure function of what was known and what is new. What is captured comes from structured data only;
//! what a tool answered in words is never parsed.

pub mod delegation;
pub mod render;
pub mod scope;
pub mod skill;
