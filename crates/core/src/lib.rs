//! The pure core of Conspectus. No I/O, clock, randomness or async.

pub mod attempt;
pub mod count;
pub mod digest;
pub mod effect;
pub mod frame;
pub mod history;
pub mod id;
pub mod json;
pub mod ledger;
pub mod outcome;
pub mod parity;
pub mod patch;
pub mod plan;
#[doc(hidden)]
pub mod planted;
pub mod policy;
pub mod project;
pub mod projection;
pub mod prune;
pub mod ranges;
pub mod record;
pub mod summary;
pub mod thread;
pub mod unit;
pub mod validity;
pub mod view;
pub mod window;

#[cfg(test)]
mod lines;
#[cfg(test)]
mod memory;
