//! Our own form, for what has no other that can be written: messages of a role and parts.
//!
//! Parts are the content blocks that all formats share, by one name each (`docs/formats.md` lists them). What a
//! format has beside them (signatures, flags, usage) has its place here too, so that nothing is lost in it.

mod read;
mod write;

pub(crate) use read::Neutral;
pub(crate) use write::message as neutral_message;
