//! The pure core of Conspectus. No I/O, clock, randomness or async.

pub mod count;
pub mod digest;
pub mod id;
pub mod json;
pub mod ledger;
pub mod patch;
pub mod policy;
pub mod projection;
pub mod view;
