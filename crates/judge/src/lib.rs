//! Programs that measure Conspectus, and what they share.

pub mod compact;
pub mod parts;
pub mod sessions;
