//! What can go wrong with stored threads, by what a caller can do about it.

use std::sync::Arc;

use conspectus_core::policy::PolicyError;
use conspectus_core::thread::RestoreError;

use super::checkpoint::CheckpointId;
use crate::purge::PurgeError;
use crate::store::StoreError;

/// Why nothing was done. How a compaction ended is no error: it is in its report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadsError {
    /// There is no such thread.
    #[error("Thread {0} not found")]
    NotFound(Arc<str>),
    /// There is one of that name.
    #[error("thread {0} exists already; choose another id")]
    Exists(Arc<str>),
    /// A name that no thread can have.
    #[error("thread id {0:?} is not 1 to 64 letters, digits, `_` or `-`")]
    BadId(Arc<str>),
    /// A message that is none. Nothing of the list was stored.
    #[error("message {index} is {found}, expected {expected}")]
    BadMessage {
        /// Its place in the list, from 0.
        index: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A message with that id but other content is there.
    #[error(
        "message id {0:?} stands for another message already; leave the id out or choose another"
    )]
    IdTaken(Arc<str>),
    /// There is no such message.
    #[error("there is no message {0:?} in this thread")]
    NoMessage(Arc<str>),
    /// There is no such checkpoint.
    #[error("there is no checkpoint {0} in this thread")]
    NoCheckpoint(CheckpointId),
    /// Something that is no checkpoint id.
    #[error("{0:?} is no checkpoint id; take one from the thread's history")]
    BadCheckpoint(Arc<str>),
    /// There is no such preview.
    #[error("there is no preview {0:?}; make one with a dry run")]
    NoPreview(Arc<str>),
    /// What the preview was made of is not what is there now.
    #[error("the history changed since preview {0:?} was made; make another")]
    Stale(Arc<str>),
    /// The key was used for something else.
    #[error("idempotency key {0:?} was used for something else; use a new one")]
    KeyReused(Arc<str>),
    /// Nothing can be taken back, or be put in force again.
    #[error("there is no compaction to {0}")]
    NothingTo(&'static str),
    /// An attempt or a run has the thread.
    #[error("Thread has a run in flight. Compact after the run finishes.")]
    Busy,
    /// The thread's own policy, or what it makes of the server's, cannot work.
    #[error("the policy cannot work: {0}")]
    Policy(#[from] PolicyError),
    /// The thread's own policy is not one.
    #[error("policy: {0}")]
    BadPolicy(String),
    /// It cannot be taken out.
    #[error(transparent)]
    Purge(#[from] PurgeError),
    /// A file that is no export of a thread.
    #[error("line {line}: {what}")]
    BadExport {
        /// From 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Others wrote all the time.
    #[error("others write to the thread all the time; try again")]
    Contended,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is stored cannot be opened.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}

impl ThreadsError {
    /// Whether the same may work in a moment.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Contended | Self::Busy => true,
            Self::Store(store) => store.is_retryable(),
            _ => false,
        }
    }
}
