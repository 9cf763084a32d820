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
#[cfg(test)]
mod lines;
pub mod outcome;
pub mod patch;
pub mod plan;
pub mod policy;
pub mod project;
pub mod projection;
pub mod ranges;
pub mod record;
pub mod summary;
pub mod thread;
pub mod unit;
pub mod validity;
pub mod view;
pub mod window;
