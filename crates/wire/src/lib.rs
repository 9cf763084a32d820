//! Formats of providers and session files, to and from the core's views.

mod error;
mod format;
pub mod json;
mod source;

pub use error::{Fault, ReadError, WriteError};
pub use format::Format;
