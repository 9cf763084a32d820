//! Everything that was said, for people, with folds where something was compacted.

use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::record::{Author, Record};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::json::Json;
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::store::{StoredMessage, ThreadKey};

/// Which part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Page {
    /// At most so many messages.
    pub limit: u32,
    /// The newest of those before this place; `None`: the newest of all, unless `after` is said.
    pub before: Option<u64>,
    /// The oldest of those behind this place.
    pub after: Option<u64>,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            limit: 100,
            before: None,
            after: None,
        }
    }
}

/// A page of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Visible {
    /// Messages, oldest first, all of them as they came.
    pub messages: Vec<VisibleMessage>,
    /// What of this page was folded, in runs.
    pub folds: Vec<Fold>,
    /// Places of everything that is folded, on this page or not, in runs: first and last.
    pub folded: Vec<(u64, u64)>,
    /// Messages of the whole conversation.
    pub total: u64,
    /// There is more before the first one.
    pub has_before: bool,
    /// There is more behind the last one.
    pub has_after: bool,
    /// The state that it is of.
    pub checkpoint_id: CheckpointId,
}

/// A message as people see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VisibleMessage {
    /// Its place in the conversation, from 0.
    pub position: u64,
    /// Its id.
    pub id: Option<Arc<str>>,
    /// The message.
    pub message: Json,
    /// When it was stored.
    pub stored_ms: Millis,
    /// A compaction folded it: the model sees the summary instead.
    pub folded: bool,
    /// Parts of it are shortened for the model.
    pub shortened: bool,
    /// It is kept for good.
    pub pinned: bool,
    /// The host hides it from people.
    pub hidden: bool,
}

/// A run of folded messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fold {
    /// The place of the first.
    pub first: u64,
    /// The place of the last.
    pub last: u64,
    /// The record in force.
    pub record: RecordId,
    /// The summary that stands for them and for everything else that is folded.
    pub summary_text: Option<Arc<str>>,
    /// Who wrote it.
    pub author: Option<Author>,
}

impl<C: Clock> Threads<C> {
    /// A page of the whole conversation. Costs what is on the page.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn visible(&self, key: &ThreadKey, page: &Page) -> Result<Visible, ThreadsError> {
        let head = self.head(key).await?;
        let Some(state) = &head.state else {
            return Ok(Visible {
                messages: Vec::new(),
                folds: Vec::new(),
                folded: Vec::new(),
                total: 0,
                has_before: false,
                has_after: false,
                checkpoint_id: CheckpointId::default(),
            });
        };
        let record = match state.active() {
            Some(id) => self.store().records(key, id, id).await?.pop(),
            None => None,
        };
        let runs = state.path();
        let total = runs.iter().map(|(first, last)| last.0 - first.0 + 1).sum();
        let limit = u64::from(page.limit);
        let (from, to) = match (page.after, page.before) {
            (Some(after), before) => {
                let from = after.saturating_add(1).min(total);
                let to = from
                    .saturating_add(limit)
                    .min(before.unwrap_or(total))
                    .min(total);
                (from, to.max(from))
            }
            (None, before) => {
                let to = before.unwrap_or(total).min(total);
                (to.saturating_sub(limit), to)
            }
        };
        let mut messages = Vec::new();
        for (first, last) in between(runs, from, to) {
            messages.extend(self.store().messages(key, first, last).await?);
        }
        let shelf = Shelf::of(&messages);
        let record = record.as_deref();
        let shown = (from..).zip(&messages);
        let messages: Vec<VisibleMessage> = shown
            .map(|(position, stored)| visible(position, stored, record, &shelf))
            .collect();
        Ok(Visible {
            folds: folds(&messages, record),
            folded: record.map_or_else(Vec::new, |record| folded(runs, record)),
            has_before: from > 0 && total > 0,
            has_after: to < total,
            messages,
            total,
            checkpoint_id: CheckpointId::new(state.knows().2, state.head()),
        })
    }
}

/// The numbers of the messages at the places `from..to` of a branch in runs.
fn between(runs: &[(NodeId, NodeId)], from: u64, to: u64) -> Vec<(NodeId, NodeId)> {
    let mut at = 0;
    let mut found = Vec::new();
    for (first, last) in runs {
        let count = last.0 - first.0 + 1;
        let (begin, end) = (from.max(at), to.min(at + count));
        if begin < end {
            let node = |place: u64| NodeId(first.0 + (place - at));
            found.push((node(begin), node(end - 1)));
        }
        at += count;
    }
    found
}

/// Places of a branch in runs that the record folds, neighbours joined.
fn folded(runs: &[(NodeId, NodeId)], record: &Record) -> Vec<(u64, u64)> {
    let mut at = 0;
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (first, last) in runs {
        for (from, to) in record.removed.iter() {
            let (from, to) = (from.max(*first), to.min(*last));
            if from > to {
                continue;
            }
            let (from, to) = (at + from.0 - first.0, at + to.0 - first.0);
            match found.last_mut() {
                Some(before) if before.1 + 1 == from => before.1 = to,
                _ => found.push((from, to)),
            }
        }
        at += last.0 - first.0 + 1;
    }
    found
}

fn visible(
    position: u64,
    stored: &StoredMessage,
    record: Option<&Record>,
    shelf: &Shelf,
) -> VisibleMessage {
    let flags = stored.message.known.view.flags;
    let folded = record.is_some_and(|record| record.removed.contains(stored.node));
    VisibleMessage {
        position,
        id: stored.message.native_id.clone(),
        message: shelf
            .json(stored.node)
            .unwrap_or_else(|| Json::trusted("null")),
        stored_ms: stored.stored_ms,
        folded,
        shortened: !folded && record.is_some_and(|r| r.patches.contains_key(&stored.node)),
        pinned: flags.pinned,
        hidden: flags.hidden,
    }
}

fn folds(messages: &[VisibleMessage], record: Option<&Record>) -> Vec<Fold> {
    let Some(record) = record else {
        return Vec::new();
    };
    let mut folds: Vec<Fold> = Vec::new();
    for message in messages.iter().filter(|message| message.folded) {
        match folds.last_mut() {
            Some(fold) if fold.last + 1 == message.position => fold.last = message.position,
            _ => folds.push(Fold {
                first: message.position,
                last: message.position,
                record: record.id,
                summary_text: record.summary.as_ref().map(|s| s.text.clone()),
                author: record.summary.as_ref().map(|s| s.author.clone()),
            }),
        }
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_numbers() {
        let run = |a, b| (NodeId(a), NodeId(b));
        let runs = [run(0, 3), run(7, 7), run(9, 12)];
        assert_eq!(between(&runs, 0, 9), runs);
        assert_eq!(between(&runs, 2, 6), [run(2, 3), run(7, 7), run(9, 9)]);
        assert_eq!(between(&runs, 5, 7), [run(9, 10)]);
        assert_eq!(between(&runs, 4, 4), []);
        assert_eq!(between(&runs, 8, 100), [run(12, 12)]);
    }
}
