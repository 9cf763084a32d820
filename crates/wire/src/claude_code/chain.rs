//! Which records the model would see: the chain from the newest one back to the last boundary, with what the
//! boundary keeps in sight, and with the answers that stand on a fork of the chain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::order::{merge, together};
use super::record::{Parent, Preserved, Record, RecordKind};

/// The records in sight, by index in the file's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Active {
    /// In the order in which the model reads them; records that are no messages stand among them.
    pub(super) sequence: Vec<usize>,
    /// Of these, the ones that a boundary kept: what they report of usage is out of date.
    pub(super) kept: BTreeSet<usize>,
    /// The newest record, which the next one will follow.
    pub(super) leaf: Option<usize>,
    /// It is a sub-agent's file.
    pub(super) of_sidechain: bool,
}

/// Finds what is in sight.
///
/// Ids that do not work are worked around: a parent that is missing, unknown or the record itself is taken to
/// be the message before it in the file, and so is every parent when no record at all has one. The same id
/// on several records means the nearest one before.
pub(super) fn active(records: &[Record]) -> Active {
    let links = Links::new(records);
    let Some(leaf) = links.leaf() else {
        return Active::default();
    };
    let chain = links.back_from(leaf, None);
    let boundary = chain
        .first()
        .copied()
        .filter(|first| links.boundary(*first).is_some());
    let list = boundary.and_then(|boundary| links.lists.get(&boundary));
    let kept: BTreeSet<usize> = list.into_iter().flatten().copied().collect();
    let forks = links.forks(&chain, &kept, boundary);
    Active {
        sequence: together(records, merge(&chain, forks), &kept),
        kept,
        leaf: Some(leaf),
        of_sidechain: links.of_sidechain,
    }
}

/// The records with what is needed to walk from one to another.
struct Links<'a> {
    records: &'a [Record],
    by_uuid: BTreeMap<&'a str, Vec<usize>>,
    /// The messages that this file is about: a sub-agent's file is all sidechain, others leave it out.
    of_sidechain: bool,
    /// For each record the message of this side that stands before it.
    before: Vec<Option<usize>>,
    /// For each record the number of the user's messages up to it.
    turns: Vec<usize>,
    /// Some message has a parent that exists.
    chained: bool,
    /// What each boundary keeps in sight.
    lists: BTreeMap<usize, Vec<usize>>,
    /// Parents of kept records: the one before in the list, or the list's anchor.
    relinked: BTreeMap<usize, usize>,
    /// What follows an anchor follows the last record of its list.
    tails: BTreeMap<usize, usize>,
}

impl<'a> Links<'a> {
    fn new(records: &'a [Record]) -> Self {
        let mut by_uuid: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, record) in records.iter().enumerate() {
            if let Some(uuid) = &record.uuid {
                by_uuid.entry(uuid).or_default().push(index);
            }
        }
        let mut messages = records.iter().filter(|r| r.is_message()).peekable();
        let of_sidechain = messages.peek().is_some() && messages.all(|r| r.sidechain);
        let mut last = None;
        let before = records
            .iter()
            .enumerate()
            .map(|(index, record)| {
                let previous = last;
                if record.is_message() && record.sidechain == of_sidechain {
                    last = Some(index);
                }
                previous
            })
            .collect();
        let mut turn = 0;
        let turns = records
            .iter()
            .map(|record| {
                turn += usize::from(record.is_prompt());
                turn
            })
            .collect();
        let mut links = Self {
            records,
            by_uuid,
            of_sidechain,
            before,
            turns,
            chained: false,
            lists: BTreeMap::new(),
            relinked: BTreeMap::new(),
            tails: BTreeMap::new(),
        };
        links.chained = (0..records.len())
            .any(|index| records[index].is_message() && links.named_parent(index).is_some());
        links.relink();
        links
    }

    /// Puts what boundaries keep behind their anchors, as the client does. A later boundary has the last word;
    /// a mere segment counts for the last boundary only, since segments of many could overlap without end.
    fn relink(&mut self) {
        let newest = (0..self.records.len()).rfind(|index| self.boundary(*index).is_some());
        for boundary in 0..self.records.len() {
            let Some(preserved) = self.boundary(boundary) else {
                continue;
            };
            if preserved.uuids.is_none() && Some(boundary) != newest {
                continue;
            }
            let list = self.preserved(boundary, preserved);
            let Some(tail) = list.last().copied() else {
                continue;
            };
            let mut before = self.anchor(boundary, preserved, &list);
            self.tails.insert(before, tail);
            for index in &list {
                self.relinked.insert(*index, before);
                before = *index;
            }
            self.lists.insert(boundary, list);
        }
    }

    /// The record with this id that is nearest before `index`, or the first of them.
    fn find(&self, uuid: &str, index: usize) -> Option<usize> {
        let all = self.by_uuid.get(uuid)?;
        let before = all.partition_point(|other| *other < index);
        all.get(before.saturating_sub(1))
            .copied()
            .filter(|found| *found != index)
    }

    fn named_parent(&self, index: usize) -> Option<usize> {
        match &self.records[index].parent {
            Parent::Is(uuid) => self.find(uuid, index),
            Parent::Absent | Parent::Null => None,
        }
    }

    fn parent(&self, index: usize) -> Option<usize> {
        if let Some(parent) = self.relinked.get(&index) {
            return Some(*parent);
        }
        let parent = self.written_parent(index)?;
        Some(self.tails.get(&parent).copied().unwrap_or(parent))
    }

    fn written_parent(&self, index: usize) -> Option<usize> {
        let record = &self.records[index];
        match &record.parent {
            _ if self.boundary(index).is_some() => None,
            Parent::Is(_) => self.named_parent(index).or(self.before[index]),
            Parent::Absent => self.before[index],
            // A reply or an answer is never the first of a conversation.
            Parent::Null if self.chained && !self.is_follower(record) => None,
            Parent::Null => self.before[index],
        }
    }

    fn is_follower(&self, record: &Record) -> bool {
        matches!(record.kind, RecordKind::Assistant { .. }) || record.is_answer()
    }

    fn boundary(&self, index: usize) -> Option<&'a Preserved> {
        match &self.records[index].kind {
            RecordKind::Boundary(preserved) => Some(preserved),
            _ => None,
        }
    }

    /// The newest record that the model sees, or a boundary. When that is where a boundary's list hangs, the
    /// list's last record is the newest.
    fn leaf(&self) -> Option<usize> {
        let newest = self
            .records
            .iter()
            .rposition(|record| record.sidechain == self.of_sidechain && record.is_in_talk())?;
        let (boundary, list) = match self.lists.last_key_value() {
            Some((boundary, list)) if *boundary <= newest => (*boundary, list),
            _ => return Some(newest),
        };
        let hangs_here =
            self.tails.contains_key(&newest) || list.contains(&newest) || newest == boundary;
        list.last().copied().filter(|_| hangs_here).or(Some(newest))
    }

    /// The chain that ends with `leaf`, oldest first, back to a root, a boundary, or `until`.
    fn back_from(&self, leaf: usize, until: Option<usize>) -> Vec<usize> {
        let mut seen = vec![false; self.records.len()];
        let mut chain = Vec::new();
        let mut next = Some(leaf);
        while let Some(index) = next.filter(|index| !seen[*index]) {
            seen[index] = true;
            chain.push(index);
            next = if Some(index) == until {
                None
            } else {
                self.parent(index)
            };
        }
        chain.reverse();
        chain
    }

    /// Records beside `chain` that belong to it: further blocks of its replies, then answers to calls that
    /// have none in the chain. Each with the position in the chain that it belongs to. Ids of replies and
    /// calls count within a turn, since not everybody makes them unique.
    ///
    /// What a boundary `kept` is complete by itself: the client adds nothing to it.
    fn forks(
        &self,
        chain: &[usize],
        kept: &BTreeSet<usize>,
        boundary: Option<usize>,
    ) -> Vec<(usize, usize)> {
        let inside: BTreeSet<usize> = chain.iter().chain(kept).copied().collect();
        let mut replies: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let mut open: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let own = |(_, index): &(usize, &usize)| !kept.contains(index);
        for (position, index) in chain.iter().enumerate().filter(own) {
            let record = &self.records[*index];
            let turn = self.turns[*index];
            replies.extend(
                record
                    .reply
                    .iter()
                    .map(|id| ((turn, id.as_ref()), position)),
            );
            open.extend(
                record
                    .calls
                    .iter()
                    .map(|id| ((turn, id.as_ref()), position)),
            );
        }
        let candidates =
            || (boundary.unwrap_or(0)..self.records.len()).filter(|index| !inside.contains(index));
        let mut found = Vec::new();
        for index in candidates() {
            let (record, turn) = (&self.records[index], self.turns[index]);
            let reply = record.reply.as_deref();
            if let Some(position) = reply.and_then(|id| replies.get(&(turn, id))) {
                found.push((*position, index));
                open.extend(
                    record
                        .calls
                        .iter()
                        .map(|id| ((turn, id.as_ref()), *position)),
                );
            }
        }
        for index in chain {
            for id in &self.records[*index].results {
                open.remove(&(self.turns[*index], id.as_ref()));
            }
        }
        for index in candidates() {
            let (results, turn) = (&self.records[index].results, self.turns[index]);
            let answered = results.iter().find_map(|id| open.get(&(turn, id.as_ref())));
            if let Some(position) = answered.copied() {
                found.push((position, index));
                for id in results {
                    open.remove(&(turn, id.as_ref()));
                }
            }
        }
        found
    }

    /// What `boundary` keeps in sight, in order. An id that is not in the file makes the client keep nothing.
    fn preserved(&self, boundary: usize, preserved: &Preserved) -> Vec<usize> {
        let list = match preserved {
            Preserved {
                uuids: Some(uuids), ..
            } => uuids
                .iter()
                .map(|uuid| self.find(uuid, boundary))
                .collect::<Option<Vec<_>>>(),
            Preserved {
                head: Some(head),
                tail: Some(tail),
                ..
            } => self
                .find(head, boundary)
                .zip(self.find(tail, boundary))
                .map(|(head, tail)| {
                    let chain = self.back_from(tail, Some(head));
                    let first = chain.iter().min().copied();
                    let forks = self.forks(&chain, &BTreeSet::new(), first);
                    let before = |(_, index): &(usize, usize)| *index < boundary;
                    let list = merge(&chain, forks.into_iter().filter(before).collect());
                    together(self.records, list, &BTreeSet::new())
                }),
            _ => None,
        };
        let mut seen = BTreeSet::new();
        let mut list = list.unwrap_or_default();
        list.retain(|index| *index != boundary && seen.insert(*index));
        list
    }

    /// What the list of a boundary hangs on: the record that it names, else the summary, else itself.
    fn anchor(&self, boundary: usize, preserved: &Preserved, list: &[usize]) -> usize {
        let fits = |index: &usize| !list.contains(index);
        let named = preserved
            .anchor
            .as_ref()
            .and_then(|id| self.after(id, boundary));
        let summary = (boundary + 1..self.records.len())
            .take_while(|index| self.boundary(*index).is_none())
            .find(|index| self.records[*index].kind == RecordKind::User { summary: true });
        named
            .filter(fits)
            .or_else(|| summary.filter(fits))
            .unwrap_or(boundary)
    }

    /// The record with this id at `index` or behind it.
    fn after(&self, uuid: &str, index: usize) -> Option<usize> {
        let all = self.by_uuid.get(uuid)?;
        all.get(all.partition_point(|other| *other < index))
            .copied()
    }
}

/// The id of a record that no other record has: one that a boundary can name.
pub(super) fn unique_ids(records: &[Record]) -> BTreeMap<Arc<str>, bool> {
    let mut ids = BTreeMap::new();
    for uuid in records.iter().filter_map(|r| r.uuid.clone()) {
        ids.entry(uuid)
            .and_modify(|unique| *unique = false)
            .or_insert(true);
    }
    ids
}
