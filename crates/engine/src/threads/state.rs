//! The states of a thread: the newest, and those before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadCause, HeadChange};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::meta::Meta;
use super::shelf::Shelf;
use super::values::{Values, values};
use crate::clock::Clock;
use crate::store::{Head, StoredMessage, ThreadKey, window};

/// A state of a thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadState {
    /// What it shows.
    pub values: Values,
    /// Its name.
    pub checkpoint_id: CheckpointId,
    /// The state before it.
    pub parent: Option<CheckpointId>,
    /// What led to it.
    pub cause: Cause,
    /// The record in force.
    pub record: Option<RecordId>,
    /// When its newest message was stored, or the thread was made.
    pub created_ms: Millis,
    /// Its place among the states, from 0.
    pub step: u64,
}

/// What led to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Messages came.
    Input,
    /// A record was put in force.
    Compaction,
    /// It was taken back.
    Undo,
    /// It was put in force again.
    Redo,
    /// The head moved: a rewind, or a thread was branched off.
    Move,
}

impl From<HeadCause> for Cause {
    fn from(cause: HeadCause) -> Self {
        match cause {
            HeadCause::Commit => Self::Compaction,
            HeadCause::Undo => Self::Undo,
            HeadCause::Redo => Self::Redo,
            HeadCause::Move => Self::Move,
        }
    }
}

impl<C: Clock> Threads<C> {
    /// A state: the newest, or one by its name. The newest costs what is in the window.
    ///
    /// # Errors
    /// When there is no such thread, or it never was in such a state.
    pub async fn state(
        &self,
        key: &ThreadKey,
        at: Option<CheckpointId>,
    ) -> Result<ThreadState, ThreadsError> {
        match at {
            None => self.newest(key).await,
            Some(at) => {
                let past = self.past(key).await?;
                past.state(at).ok_or(ThreadsError::NoCheckpoint(at))
            }
        }
    }

    async fn newest(&self, key: &ThreadKey) -> Result<ThreadState, ThreadsError> {
        let Some(read) = window(self.store(), key).await? else {
            return Ok(empty(&self.head(key).await?));
        };
        let (rows, head) = (read.state.knows().2, read.state.head());
        let record = read.stored.records.last().map(AsRef::as_ref);
        let record = record.filter(|record| Some(record.id) == read.state.active());
        let messages: Vec<&StoredMessage> = read.messages.iter().collect();
        let shelf = Shelf::of(&read.messages);
        let meta = Meta::read(&read.head.meta);
        let mut values = values(&meta, record, &messages, &shelf);
        values.compaction_in_progress = read.head.mark;
        let checkpoint_id = CheckpointId::new(rows, head);
        let log = match rows {
            0 => Vec::new(),
            _ => self.store().head_log(key).await?,
        };
        let made = log.last().filter(|row| row.head == head);
        Ok(ThreadState {
            values,
            checkpoint_id,
            parent: parent(&log, checkpoint_id),
            cause: made.map_or(Cause::Input, |row| row.cause.into()),
            record: read.state.active(),
            created_ms: read
                .messages
                .last()
                .map_or(read.head.created_ms, |m| m.stored_ms),
            step: step(&log, checkpoint_id),
        })
    }

    /// States, newest first: one for each change of what is shown, the newest, and the one before the first change.
    /// `before`: only those before this one. Reads the whole thread.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn history(
        &self,
        key: &ThreadKey,
        limit: u32,
        before: Option<CheckpointId>,
    ) -> Result<Vec<ThreadState>, ThreadsError> {
        let past = self.past(key).await?;
        let names = past.names();
        let asked = names
            .into_iter()
            .filter(|id| before.is_none_or(|before| *id < before));
        Ok(asked
            .filter_map(|id| past.state(id))
            .take(limit as usize)
            .collect())
    }

    /// Everything that was.
    pub(crate) async fn past(&self, key: &ThreadKey) -> Result<Past, ThreadsError> {
        let head = self.head(key).await?;
        let messages = match head.nodes.checked_sub(1) {
            Some(last) => self.store().messages(key, NodeId(0), NodeId(last)).await?,
            None => Vec::new(),
        };
        let records = match head.records.checked_sub(1) {
            Some(last) => {
                self.store()
                    .records(key, RecordId(0), RecordId(last))
                    .await?
            }
            None => Vec::new(),
        };
        Ok(Past {
            shelf: Shelf::of(&messages),
            messages: messages.into_iter().map(|m| (m.node, m)).collect(),
            records: records.into_iter().map(|r| (r.id, r)).collect(),
            log: self.store().head_log(key).await?,
            meta: Meta::read(&head.meta),
            head,
        })
    }
}

/// A thread with everything that ever was in it.
pub(crate) struct Past {
    pub(crate) head: Head,
    pub(crate) meta: Meta,
    pub(crate) messages: BTreeMap<NodeId, StoredMessage>,
    pub(crate) records: BTreeMap<RecordId, Arc<Record>>,
    pub(crate) log: Vec<HeadChange>,
    pub(crate) shelf: Shelf,
}

impl Past {
    /// The names of the states that are told of, newest first.
    pub(crate) fn names(&self) -> Vec<CheckpointId> {
        let mut names: Vec<CheckpointId> = Vec::new();
        names.extend(
            self.log
                .first()
                .map(|first| CheckpointId::new(0, first.head)),
        );
        let rows = (1..).zip(&self.log);
        names.extend(rows.map(|(row, change)| CheckpointId::new(row, change.head)));
        names.extend(self.newest());
        names.dedup();
        names.reverse();
        names
    }

    /// The newest state; `None` before the first message.
    pub(crate) fn newest(&self) -> Option<CheckpointId> {
        let state = self.head.state.as_ref()?;
        Some(CheckpointId::new(state.knows().2, state.head()))
    }

    /// The record in force after so many rows, if there are as many.
    pub(crate) fn record(&self, row: u64) -> Option<Option<&Arc<Record>>> {
        let Some(at) = row.checked_sub(1) else {
            return Some(None);
        };
        let change = self.log.get(usize::try_from(at).ok()?)?;
        match change.record {
            None => Some(None),
            Some(id) => self.records.get(&id).map(Some),
        }
    }

    /// The branch that ends with this message, oldest first; `None`: there is no such message.
    pub(crate) fn path(&self, head: Option<NodeId>) -> Option<Vec<&StoredMessage>> {
        let mut path = Vec::new();
        let mut next = head;
        while let Some(node) = next {
            let stored = self.messages.get(&node)?;
            next = stored.message.known.parent.filter(|parent| *parent < node);
            path.push(stored);
        }
        path.reverse();
        Some(path)
    }

    /// A state by its name. `None`: the thread never was in it.
    pub(crate) fn state(&self, at: CheckpointId) -> Option<ThreadState> {
        let record = self.record(at.row)?;
        let path = self.path(at.head())?;
        // After a row only messages behind its head come, and before the next row none that it does not have.
        let row = self.row(at.row);
        let has = |head: NodeId| path.iter().any(|m| m.node == head);
        if row.and_then(|row| row.head).is_some_and(|head| !has(head)) {
            return None;
        }
        let next = usize::try_from(at.row)
            .ok()
            .and_then(|row| self.log.get(row));
        let last = next.filter(|next| next.cause != HeadCause::Move);
        let last = last.and_then(|next| CheckpointId::new(at.row, next.head).head());
        if last.is_some_and(|last| at.head().is_some_and(|head| head > last)) {
            return None;
        }
        let is_newest = self.newest() == Some(at);
        let mut values = values(&self.meta, record.map(AsRef::as_ref), &path, &self.shelf);
        values.compaction_in_progress = self.head.mark.filter(|_| is_newest);
        let made = row.filter(|row| row.head == at.head());
        Some(ThreadState {
            values,
            checkpoint_id: at,
            parent: parent(&self.log, at),
            cause: made.map_or(Cause::Input, |row| row.cause.into()),
            record: record.map(|record| record.id),
            created_ms: path.last().map_or(self.head.created_ms, |m| m.stored_ms),
            step: step(&self.log, at),
        })
    }

    fn row(&self, row: u64) -> Option<&HeadChange> {
        let at = row.checked_sub(1)?;
        self.log.get(usize::try_from(at).ok()?)
    }
}

/// The state before this one.
fn parent(log: &[HeadChange], at: CheckpointId) -> Option<CheckpointId> {
    let row = usize::try_from(at.row).ok()?;
    let change = row.checked_sub(1).and_then(|before| log.get(before))?;
    let made = CheckpointId::new(at.row, change.head);
    if at != made {
        return Some(made);
    }
    match row.checked_sub(2).and_then(|before| log.get(before)) {
        Some(before) => Some(CheckpointId::new(at.row - 1, before.head)),
        None => Some(CheckpointId::new(0, change.head)),
    }
}

fn step(log: &[HeadChange], at: CheckpointId) -> u64 {
    let row = usize::try_from(at.row)
        .ok()
        .and_then(|row| row.checked_sub(1));
    let made = row.and_then(|row| log.get(row));
    match made {
        Some(made) if CheckpointId::new(at.row, made.head) == at => at.row,
        Some(_) => at.row + 1,
        None => 0,
    }
}

/// A thread to which nothing was ever written.
fn empty(head: &Head) -> ThreadState {
    let meta = Meta::read(&head.meta);
    ThreadState {
        values: values(&meta, None, &[], &Shelf::default()),
        checkpoint_id: CheckpointId::default(),
        parent: None,
        cause: Cause::Input,
        record: None,
        created_ms: head.created_ms,
        step: 0,
    }
}
