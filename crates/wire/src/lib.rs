//! Formats of providers and session files, to and from the core's views.

mod anthropic;
mod claude_code;
mod conversation;
mod document;
mod error;
mod format;
pub mod json;
mod langchain;
mod openai;
mod read;
mod source;
pub mod valid;
mod write;

pub use claude_code::RecordCounts;
pub use conversation::{Conversation, Fixed};
pub use document::{Document, OpenOptions, RenderContext};
pub use error::{Fault, ReadError, WriteError};
pub use format::{Format, UnknownFormatName};
