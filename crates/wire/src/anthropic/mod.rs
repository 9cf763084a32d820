//! Anthropic's messages: content blocks, tool results in user messages, the system prompt beside the list.
//! Cline's session files hold the same messages.

mod read;
mod turns;
mod write;

pub(crate) use read::{Anthropic, body};
