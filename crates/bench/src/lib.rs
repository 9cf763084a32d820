//! Made-up conversations of any length for measurements, and how a thread takes a turn.
//!
//! The same size gives the same bytes. A round is a request, a call with its result, and a reply; every tenth
//! result is long and every fiftieth is one that was seen before, so that pruning has something to do.

mod talk;
mod turn;

pub use talk::{Shape, claude_code, openai};
pub use turn::{Bench, UNREACHED};
