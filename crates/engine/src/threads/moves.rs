//! Taking a compaction back, putting it in force again, rewinding: the head moves, and nothing is lost.

use std::sync::Arc;

use conspectus_core::id::{NodeId, RecordId};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::note::Note;
use super::open::{Much, Opened, moved};
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::{ThreadKey, Write, Written};

/// A place in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Behind the message with this id.
    Message(Arc<str>),
    /// A state by its name.
    Checkpoint(CheckpointId),
    /// Behind so many messages of the branch.
    Count(u64),
}

/// Where a thread stands after a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The record that was taken back or put in force.
    pub record: Option<RecordId>,
    /// The state now.
    pub checkpoint_id: CheckpointId,
}

impl<C: Clock> Threads<C> {
    /// Takes the compaction in force back: the window is what it was before, and what came since. An attempt under way
    /// ends in a conflict.
    ///
    /// # Errors
    /// When there is none, or no such thread.
    pub async fn undo(&self, key: &ThreadKey) -> Result<Moved, ThreadsError> {
        self.move_by(key, |opened| {
            let (thread, src) = opened.parts();
            let record = thread.undo(src).ok_or(ThreadsError::NothingTo("undo"))?;
            Ok(Some(record))
        })
        .await
    }

    /// Puts the compaction that was taken back last in force again.
    ///
    /// # Errors
    /// When there is none, or it does not fit what came since.
    pub async fn redo(&self, key: &ThreadKey) -> Result<Moved, ThreadsError> {
        self.move_by(key, |opened| {
            let (thread, src) = opened.parts();
            let record = thread.redo(src).ok_or(ThreadsError::NothingTo("redo"))?;
            Ok(Some(record))
        })
        .await
    }

    /// Makes an earlier message the newest: what came behind it stays in the thread, on a branch of its own.
    ///
    /// # Errors
    /// When there is no such place.
    pub async fn rewind(&self, key: &ThreadKey, to: &Place) -> Result<Moved, ThreadsError> {
        self.move_by(key, |opened| {
            let head = node_at(opened, to)?;
            let (thread, src) = opened.parts();
            let (here, last) = (thread.branch().head(), thread.head_log().last());
            if here.is_some() && last.is_none_or(|row| row.head != here) {
                // The log tells of the state that is left, too.
                thread.move_head(here, src);
            }
            match thread.move_head(head, src) {
                true => Ok(None),
                false => Err(nowhere(to)),
            }
        })
        .await
    }

    async fn move_by(
        &self,
        key: &ThreadKey,
        change: impl Fn(&mut Opened) -> Result<Option<RecordId>, ThreadsError> + Send,
    ) -> Result<Moved, ThreadsError> {
        for _ in 0..Self::TRIES {
            let mut opened = self.open(key, Much::Whole, &Asked::default()).await?;
            let rows = opened.thread.head_log().len();
            let record = change(&mut opened)?;
            let checkpoint_id = opened.checkpoint();
            let moved = moved(&opened.thread, rows);
            let event = match (record, moved.last().map(|row| row.cause)) {
                (Some(record), Some(conspectus_core::thread::HeadCause::Undo)) => {
                    ThreadEvent::Undone {
                        record,
                        checkpoint_id,
                    }
                }
                (Some(record), _) => ThreadEvent::Redone {
                    record,
                    checkpoint_id,
                },
                (None, _) => ThreadEvent::Rewound { checkpoint_id },
            };
            // What an agent made of messages that are no longer on the branch does not hold.
            let is_rewound = record.is_none() && !opened.meta.note.is_empty();
            opened.meta.note = Note {
                run: opened.meta.note.run.take(),
                children: std::mem::take(&mut opened.meta.note.children),
                ..Note::default()
            };
            let write = Write {
                revision: opened.head.revision,
                meta: is_rewound.then(|| opened.meta.to_text()),
                moved,
                state: Some(Arc::new(opened.thread.state())),
                events: vec![event.to_text()],
                now: self.now(),
                ..Write::default()
            };
            if let Written::Done(_) = self.write(key, write).await? {
                return Ok(Moved {
                    record,
                    checkpoint_id,
                });
            }
        }
        Err(ThreadsError::Contended)
    }
}

/// The message of a place, of a thread that was read whole.
fn node_at(opened: &Opened, place: &Place) -> Result<Option<NodeId>, ThreadsError> {
    match place {
        Place::Message(id) => {
            let node = opened.shelf.find(id);
            node.map(Some).ok_or_else(|| nowhere(place))
        }
        Place::Checkpoint(at) => match at.head() {
            Some(node) if opened.thread.history().node(node).is_none() => Err(nowhere(place)),
            head => Ok(head),
        },
        Place::Count(count) => {
            let last = usize::try_from(*count).ok().and_then(|n| n.checked_sub(1));
            let node = last.map(|at| opened.thread.branch().path().get(at).copied());
            match node {
                None => Ok(None),
                Some(Some(node)) => Ok(Some(node)),
                Some(None) => Err(nowhere(place)),
            }
        }
    }
}

pub(super) fn nowhere(place: &Place) -> ThreadsError {
    match place {
        Place::Message(id) => ThreadsError::NoMessage(id.clone()),
        Place::Checkpoint(at) => ThreadsError::NoCheckpoint(*at),
        Place::Count(count) => ThreadsError::NoMessage(count.to_string().into()),
    }
}
