//! Gemini's API: `contents` of parts, a system instruction beside them.
//!
//! Calls and responses may come without ids; then a response answers by its place among the responses of its turn,
//! and the ids that the core sees are made up ([`ids`]). Signatures of thoughts stand on parts of any kind and stay
//! where they are.

mod ids;
mod read;
mod turns;
mod write;

pub(crate) use read::{Gemini, part, response_text};
