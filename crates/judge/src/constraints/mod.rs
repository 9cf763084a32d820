//! How well standing rules are found and kept: on the labelled sample of real messages, on the constraints of
//! COMPINT, and through ten compactions of real sessions with those put in.

mod inject;
mod sample;

pub use inject::{Injected, Survival, compint, inject, is_found, sessions, survive};
pub use sample::{Labelled, Tally, labelled, measure};
