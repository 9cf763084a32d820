//! A real model behind a URL, through the crates that everybody uses: what it was asked, what it answered, what
//! of that was accepted, and what came of it. `docs/real-models.md` has results.

mod names;
mod replayed;
mod rolling;
mod run;
mod watched;

pub use names::{names, share};
pub use replayed::{Replayed, replayed};
pub use rolling::{Rolled, Round, roll};
pub use run::{Ran, Setup, end_to_end};
pub use watched::{Asked, Watched};
