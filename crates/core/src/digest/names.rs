//! Names that may be needed again, listed without a sentence around them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::render::NAMES;
use super::select::{Item, MAX_MISSES, Selection, quantised};
use super::sentence::rough_size;
use crate::count::Weight;

/// Names that are less likely to be needed are not listed.
const MIN_NAME_VALUE: f64 = 0.03;

impl Selection<'_> {
    /// Names by value for each token, while they are worth listing.
    pub(super) fn names(&mut self, tokens: u64) {
        let mut limit = self.limit(tokens);
        self.list(&mut limit);
        limit += self.drop_repeated_names();
        self.list(&mut limit);
    }

    /// Takes back the names that another item shows by now (a file that is part of a listed path, a name in
    /// a line chosen later). Returns the weight that is free again.
    pub(super) fn drop_repeated_names(&mut self) -> Weight {
        let mut elsewhere: BTreeSet<u32> = BTreeSet::new();
        let pool = self.pool;
        for item in &self.items {
            let (text, itself): (&str, _) = match item {
                Item::Line(at) => (pool.lines[*at].text, None),
                Item::Row(at) => (&self.rows[*at].text, None),
                Item::Name(id) => (&pool.entities[*id as usize].name, Some(*id)),
                Item::ShortRow(_) | Item::Rule(_) => continue,
            };
            pool.seen_in(text, &mut |id| {
                if itself != Some(id) {
                    elsewhere.insert(id);
                }
            });
        }
        let mut freed = 0;
        let counter = self.counter;
        self.items.retain(|item| match item {
            Item::Name(id) if elsewhere.contains(id) => {
                freed += counter.text(&format!("{}, ", pool.entities[*id as usize].name));
                false
            }
            _ => true,
        });
        self.used = self.used.saturating_sub(freed);
        freed
    }

    fn list(&mut self, limit: &mut Weight) {
        let mut order: Vec<(u64, Reverse<u32>)> = Vec::new();
        for (id, entity) in (0u32..).zip(&self.pool.entities) {
            let value = self.pool.entity_value(id);
            if !self.shown[id as usize] && value >= MIN_NAME_VALUE {
                let size = f64::from(rough_size(&entity.name)) + 2.0;
                order.push((quantised(value / size), Reverse(id)));
            }
        }
        order.sort_unstable();
        let mut misses = 0;
        while let Some((_, Reverse(id))) = order.pop() {
            if self.shown[id as usize] {
                continue;
            }
            let text = format!("{}, ", self.pool.entities[id as usize].name);
            if self.take(Item::Name(id), &text, NAMES, limit) {
                self.see(&text);
                misses = 0;
            } else {
                misses += 1;
                if misses > MAX_MISSES {
                    break;
                }
            }
        }
    }
}
