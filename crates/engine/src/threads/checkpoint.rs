//! The name of a state that a thread had.

use std::fmt;
use std::str::FromStr;

use conspectus_core::id::NodeId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::ThreadsError;

/// A state of a thread: after so many changes of its head, with this newest message. The same name always means the
/// same state, and later states have larger ones, as text too. Its form is that of a UUID (version 8, whose bits are the
/// maker's own), which is what clients of LangGraph's API expect to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId {
    /// Rows of the log of heads up to it.
    pub row: u64,
    /// The number of its newest message plus one; 0 without messages.
    pub end: u64,
}

impl CheckpointId {
    /// The newest message.
    pub fn head(self) -> Option<NodeId> {
        self.end.checked_sub(1).map(NodeId)
    }

    /// The state after `row` changes of the head, with this newest message.
    pub(crate) fn new(row: u64, head: Option<NodeId>) -> Self {
        let end = head.map_or(0, |head| head.0 + 1);
        Self { row, end }
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, end) = (self.row & 0xffff_ffff_ffff, self.end);
        write!(
            f,
            "{:08x}-{:04x}-8{:03x}-8{:03x}-{:012x}",
            row >> 16,
            row & 0xffff,
            end >> 60,
            (end >> 48) & 0xfff,
            end & 0xffff_ffff_ffff,
        )
    }
}

impl FromStr for CheckpointId {
    type Err = ThreadsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ThreadsError::BadCheckpoint(text.chars().take(64).collect::<String>().into());
        let parts: Vec<&str> = text.split('-').collect();
        let [a, b, c, d, e] = parts.as_slice() else {
            return Err(bad());
        };
        let hex = |text: &str, digits: usize| {
            let is_hex = text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u64::from_str_radix(text, 16).ok();
            value.filter(|_| is_hex).ok_or_else(bad)
        };
        let (c, d) = (c.strip_prefix('8'), d.strip_prefix('8'));
        let (c, d) = (c.ok_or_else(bad)?, d.ok_or_else(bad)?);
        let high = hex(c, 3)?;
        if high > 0xf {
            return Err(bad());
        }
        Ok(Self {
            row: (hex(a, 8)? << 16) | hex(b, 4)?,
            end: (high << 60) | (hex(d, 3)? << 48) | hex(e, 12)?,
        })
    }
}

impl Serialize for CheckpointId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CheckpointId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_states_do_and_are_read_again() {
        let ends = [0, 1, 41, 0xffff, 1 << 48, (1 << 60) + 5, u64::MAX];
        let rows = [0, 1, 9, 10, 0xffff, 0x10000, (1 << 48) - 1];
        let mut last = String::new();
        for row in rows {
            for end in ends {
                let id = CheckpointId { row, end };
                let text = id.to_string();
                assert_eq!(text.len(), 36, "{text}");
                assert!(text > last, "{text} after {last}");
                assert_eq!(text.parse(), Ok(id));
                last = text;
            }
        }
        assert_eq!(
            CheckpointId::new(2, Some(NodeId(16))).to_string(),
            "00000000-0002-8000-8000-000000000011"
        );
    }

    #[test]
    fn what_is_no_checkpoint_is_refused() {
        for text in [
            "",
            "1",
            "00000000-0002-4000-8000-000000000011",
            "00000000-0002-8fff-8000-000000000011",
            "+0000000-0002-8000-8000-000000000011",
            "00000000-0002-8000-8000-00000000001g",
        ] {
            assert!(text.parse::<CheckpointId>().is_err(), "{text}");
        }
    }
}
