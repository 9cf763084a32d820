//! Ids and times of appended records, made from what is given: the same compaction gives the same bytes.

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

/// Milliseconds since 1970 as ISO 8601 in UTC, `2026-11-30T12:22:00.000Z`.
pub(super) fn iso_time(ms: u64) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date of a day since 1970. Years are counted from March, so that the leap day is the last one; after
/// Howard Hinnant, "chrono-compatible low-level date algorithms".
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + next, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |ms: u64, expect: &str| assert_eq!(iso_time(ms), expect);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(1_796_041_384_248, "2026-11-30T12:23:04.248Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }

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
