//! Partial summaries by content, so that a second attempt does not pay for what the first one got.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use conspectus_core::id::Ident;

/// All texts together stay under this; the oldest go first.
const MOST_BYTES: usize = 8 << 20;

/// Texts that models were paid for, by what they were made of.
#[derive(Debug, Default)]
pub struct Partials {
    texts: BTreeMap<Ident, Arc<str>>,
    oldest_first: VecDeque<Ident>,
    bytes: usize,
}

impl Partials {
    /// The text under `key`.
    pub fn get(&self, key: Ident) -> Option<Arc<str>> {
        self.texts.get(&key).cloned()
    }

    /// Keeps a text.
    pub fn put(&mut self, key: Ident, text: Arc<str>) {
        self.bytes += text.len();
        match self.texts.insert(key, text) {
            Some(before) => self.bytes -= before.len(),
            None => self.oldest_first.push_back(key),
        }
        while self.bytes > MOST_BYTES {
            let Some(oldest) = self.oldest_first.pop_front() else {
                return;
            };
            self.bytes -= self.texts.remove(&oldest).map_or(0, |text| text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let mut kept = Partials::default();
        let text: Arc<str> = "x".repeat(MOST_BYTES / 3).into();
        let key = |n: usize| Ident::of(&n.to_string());
        for n in 0..3 {
            kept.put(key(n), text.clone());
        }
        kept.put(key(0), text.clone());
        let there = |kept: &Partials| {
            (0..4)
                .map(|n| kept.get(key(n)).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(there(&kept), [true, true, true, false]);
        kept.put(key(3), text);
        assert_eq!(there(&kept), [false, true, true, true]);
        kept.put(key(9), "y".repeat(MOST_BYTES + 1).into());
        assert_eq!(
            (kept.texts.len(), kept.oldest_first.len(), kept.bytes),
            (0, 0, 0)
        );
    }
}
