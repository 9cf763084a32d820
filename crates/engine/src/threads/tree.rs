//! The tree of a thread: its branches as runs of messages, and the log of heads, in which undo, redo and rewind are moves.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::{NodeId, RecordId};
use serde::Serialize;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::meta::{Meta, Origin};
use super::state::Cause;
use crate::clock::Clock;
use crate::store::{StoredMessage, ThreadKey};

/// Messages beside the branch that are looked at; of longer ones the beginning is.
const MOST: u64 = 5_000;
/// Events that are looked through for the times of moves.
const EVENTS: u64 = 2_000;

/// A thread's tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tree {
    /// Runs of messages without a fork, by number.
    pub segments: Vec<Segment>,
    /// Changes of the head, oldest first.
    pub heads: Vec<HeadRow>,
    /// The thread that it was branched off.
    pub origin: Option<Origin>,
    /// The state now.
    pub checkpoint_id: CheckpointId,
}

/// Messages that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// The number of the first.
    pub first: u64,
    /// The number of the last.
    pub last: u64,
    /// The number of the message that it goes on from.
    pub parent: Option<u64>,
    /// It is on the branch that is shown now.
    pub current: bool,
    /// When the last was stored.
    pub ms: Millis,
    /// The last one's id.
    pub last_id: Option<Arc<str>>,
}

/// A change of the head.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadRow {
    /// What happened.
    pub cause: Cause,
    /// The record in force after it.
    pub record: Option<RecordId>,
    /// The number of the newest message after it.
    pub head: Option<u64>,
    /// The state after it.
    pub checkpoint_id: CheckpointId,
    /// When, where an event among the newest tells.
    pub ms: Option<Millis>,
}

impl<C: Clock> Threads<C> {
    /// A thread's tree. Costs the log of heads, and what lies beside the branch that is shown.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn tree(&self, key: &ThreadKey) -> Result<Tree, ThreadsError> {
        let head = self.head(key).await?;
        let meta = Meta::read(&head.meta);
        let Some(state) = &head.state else {
            return Ok(Tree {
                segments: Vec::new(),
                heads: Vec::new(),
                origin: meta.origin,
                checkpoint_id: CheckpointId::default(),
            });
        };
        let mut segments = Vec::new();
        let (mut next, mut parent) = (0, None);
        for (first, last) in state.path() {
            self.beside(key, next, first.0, &mut segments).await?;
            let end = self.store().messages(key, *last, *last).await?;
            segments.push(Segment {
                first: first.0,
                last: last.0,
                parent,
                current: true,
                ms: end.first().map_or(0, |end| end.stored_ms),
                last_id: end.into_iter().next().and_then(|m| m.message.native_id),
            });
            (next, parent) = (last.0 + 1, Some(last.0));
        }
        self.beside(key, next, head.nodes, &mut segments).await?;
        let times = self.times(key).await?;
        let log = self.store().head_log(key).await?;
        let heads = (1..).zip(&log).map(|(row, change)| {
            let checkpoint_id = CheckpointId::new(row, change.head);
            HeadRow {
                cause: change.cause.into(),
                record: change.record,
                head: change.head.map(|head| head.0),
                checkpoint_id,
                ms: times.get(&checkpoint_id).copied(),
            }
        });
        Ok(Tree {
            segments,
            heads: heads.collect(),
            origin: meta.origin,
            checkpoint_id: CheckpointId::new(state.knows().2, state.head()),
        })
    }

    /// The messages `from..to`, which are not on the branch.
    async fn beside(
        &self,
        key: &ThreadKey,
        from: u64,
        to: u64,
        segments: &mut Vec<Segment>,
    ) -> Result<(), ThreadsError> {
        if from >= to {
            return Ok(());
        }
        let last = NodeId(to.min(from + MOST) - 1);
        let messages = self.store().messages(key, NodeId(from), last).await?;
        segments.extend(runs(&messages));
        Ok(())
    }

    /// When the states of the newest events were made.
    async fn times(&self, key: &ThreadKey) -> Result<BTreeMap<CheckpointId, Millis>, ThreadsError> {
        let last = self.last_event(key).await?;
        let mut times = BTreeMap::new();
        let events = self.events(key, last.saturating_sub(EVENTS), EVENTS as u32);
        for told in events.await? {
            if let Some(
                ThreadEvent::Committed { checkpoint_id, .. }
                | ThreadEvent::Undone { checkpoint_id, .. }
                | ThreadEvent::Redone { checkpoint_id, .. }
                | ThreadEvent::Rewound { checkpoint_id },
            ) = told.known()
            {
                times.insert(checkpoint_id, told.ms);
            }
        }
        Ok(times)
    }
}

/// Messages by number, as runs in which each goes on from the one before.
fn runs(messages: &[StoredMessage]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for stored in messages {
        let parent = stored.message.known.parent.map(|parent| parent.0);
        match segments.last_mut() {
            Some(segment) if parent == Some(segment.last) => {
                segment.last = stored.node.0;
                segment.ms = stored.stored_ms;
                segment.last_id.clone_from(&stored.message.native_id);
            }
            _ => segments.push(Segment {
                first: stored.node.0,
                last: stored.node.0,
                parent,
                current: false,
                ms: stored.stored_ms,
                last_id: stored.message.native_id.clone(),
            }),
        }
    }
    segments
}
