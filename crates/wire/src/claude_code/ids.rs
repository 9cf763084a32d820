//! Ids of appended records, made from what is given: the same compaction gives the same bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus_core::id::IdentHasher;

/// Makes record ids that no record of the file has.
pub(super) struct Ids {
    taken: BTreeSet<Arc<str>>,
    base: IdentHasher,
    count: u64,
}

impl Ids {
    /// Ids for a file that has `taken`. Another seed or another place to go on from gives other ids.
    pub(super) fn new(taken: BTreeSet<Arc<str>>, seed: u64, after: &str) -> Self {
        let mut base = IdentHasher::new();
        base.field(b"claude code record");
        base.field(&seed.to_le_bytes());
        base.field(after.as_bytes());
        Self {
            taken,
            base,
            count: 0,
        }
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Arc<str> {
        loop {
            self.count += 1;
            let mut hash = self.base.clone();
            hash.field(&self.count.to_le_bytes());
            let id: Arc<str> = uuid(&hash.finish().0).into();
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// The first 16 bytes as a UUID of version 5 (made from a name) in RFC 9562's variant.
fn uuid(digest: &[u8; 32]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in digest.iter().take(16).enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let byte = match index {
            6 => byte & 0x0f | 0x50,
            8 => byte & 0x3f | 0x80,
            _ => *byte,
        };
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_their_own() {
        let mut ids = Ids::new(BTreeSet::new(), 7, "x");
        let (first, second) = (ids.next(), ids.next());
        assert_ne!(first, second);
        assert_eq!(first.len(), 36);
        assert_eq!(&first[14..15], "5");
        assert!("89ab".contains(&first[19..20]));
        assert_eq!(Ids::new(BTreeSet::new(), 7, "x").next(), first);
        assert_ne!(Ids::new(BTreeSet::new(), 8, "x").next(), first);
        assert_ne!(Ids::new(BTreeSet::new(), 7, "y").next(), first);
        assert_eq!(Ids::new([first].into(), 7, "x").next(), second);
    }
}
