//! The names of things: messages in the tree, surfaces' payloads, content digests.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A message of a thread. Nodes are numbered in the order they were appended, over all branches,
/// so along one branch the numbers ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u64);

/// The surface's own payload for a message: a span of bytes, a Python object, a file record.
/// The core hands it back unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle(pub u32);

/// A committed compaction record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId(pub u64);

/// One try to compact a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId(pub u64);

/// All messages that one reply of the model was split into (Claude Code writes one record a block,
/// the Responses API one item a block). They are kept or removed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReplyId(pub u32);

/// A tool call's id as the provider gave it. Not unique: some servers restart their numbering.
/// Empty when the provider gave none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId(pub Arc<str>);

impl CallId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

/// A digest of what a message says, cache markers left out: equal for the same message sent again,
/// also when a client moved its cache markers or wrote a string as one text block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ident(pub [u8; 32]);

impl Ident {
    /// The digest of nothing: what an empty prefix has.
    pub const EMPTY: Self = Self([0; 32]);

    /// The digest of a prefix that ends with `next`, from the digest of what lies before.
    pub fn then(self, next: Self) -> Self {
        let mut hash = IdentHasher::new();
        hash.field(&self.0);
        hash.field(&next.0);
        hash.finish()
    }

    /// The digest of one text.
    pub fn of(text: &str) -> Self {
        let mut hash = IdentHasher::new();
        hash.field(text.as_bytes());
        hash.finish()
    }

    /// The first `digits` hexadecimal digits, for references that people and models read.
    pub fn short(&self, digits: usize) -> String {
        self.0
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .take(digits)
            .map(|nibble| char::from_digit(u32::from(nibble), 16).unwrap_or('0'))
            .collect()
    }
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ident({})", self.short(8))
    }
}

/// Builds an [`Ident`] from fields; each field is framed by its length, so `ab`+`c` is not `a`+`bc`.
#[derive(Clone, Debug, Default)]
pub struct IdentHasher(Sha256);

impl IdentHasher {
    /// A hasher that has seen no field.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one field.
    pub fn field(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The digest of the fields so far.
    pub fn finish(self) -> Ident {
        Ident(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_framed() {
        let of = |fields: &[&str]| {
            let mut hash = IdentHasher::new();
            fields.iter().for_each(|f| hash.field(f.as_bytes()));
            hash.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
