//! Programs that measure Conspectus, and what they share.

pub mod parts;
