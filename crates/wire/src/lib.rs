//! Formats of providers and session files, to and from the core's views.

mod anthropic;
mod conversation;
mod document;
mod error;
mod format;
pub mod json;
mod openai;
mod read;
mod source;
mod write;

pub use conversation::{Conversation, Fixed};
pub use document::{Document, OpenOptions, RenderContext};
pub use error::{Fault, ReadError, WriteError};
pub use format::{Format, UnknownFormatName};
