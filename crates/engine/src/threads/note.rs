//! What an agent keeps with a thread beside its messages: its channels, what stands beside every summary, its run.

use std::sync::Arc;

use conspectus_core::durable::Beside;
use conspectus_core::effect::{Fence, Millis};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Threads;
use super::error::ThreadsError;
use super::meta::{Meta, Metadata};
use crate::clock::Clock;
use crate::store::ThreadKey;

/// What is kept. Whoever holds the thread ([`Threads::hold`]) writes it with the messages that it belongs to, so both
/// are there or neither is ([`Append::note`](super::Append::note)). A rewind takes it away: what follows from messages
/// is made anew from those that are left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// State by name, such as delegations.
    pub channels: Metadata,
    /// What every compaction from now on shows beside its summary, whoever asks for it.
    pub beside: Option<Beside>,
    /// The run that has the thread, or had it last.
    pub run: Option<RunMark>,
    /// Threads that exist for this one alone, such as those of subagents: they are deleted with it.
    pub children: Vec<Arc<str>>,
}

impl Note {
    /// Nothing is kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A run of an agent on a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMark {
    /// Its name.
    pub run_id: Arc<str>,
    /// Where it stands.
    pub status: RunStatus,
    /// The lease that it runs under. One whose lease is another's by now was killed.
    pub fence: Fence,
    /// When it was begun, or taken up again.
    pub since_ms: Millis,
    /// What else the agent needs to take it up again.
    pub details: Value,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is under way, or was when its process died.
    Running,
    /// It waits for an answer.
    Interrupted,
    /// It ended.
    Success,
    /// It failed.
    Error,
    /// It was stopped.
    Cancelled,
}

impl RunStatus {
    /// Nothing comes of it any more unless it is taken up again.
    pub fn is_over(self) -> bool {
        self != Self::Running
    }
}

impl<C: Clock> Threads<C> {
    /// What an agent keeps with the thread. One row.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn note(&self, key: &ThreadKey) -> Result<Note, ThreadsError> {
        Ok(Meta::read(&self.head(key).await?.meta).note)
    }
}
