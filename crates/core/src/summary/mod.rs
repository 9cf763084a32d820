//! Asking a model for a summary: what it is told, what it is given, and what counts as an answer.

mod accept;
mod claims;
mod fidelity;
pub mod form;
mod prompt;
mod transcript;

pub use accept::accept;
pub use fidelity::{Checked, Fidelity, check};
pub(crate) use prompt::without_lines;
pub use prompt::{Ask, instruction};
pub(crate) use transcript::passages;
pub use transcript::{ASK, CLOSE, Chunk, OPEN, Passage, chunks, document, is_silent};
