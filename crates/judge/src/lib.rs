//! Programs that measure Conspectus, and what they share.

pub mod cases;
pub mod compact;
pub mod parts;
pub mod sessions;
