//! What can go wrong with a run, by what a caller can do about it.

use std::sync::Arc;

use conspectus::core::effect::Failure;
use conspectus::threads::ThreadsError;

/// Why a run did not begin, or why it ended.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The thread is another run's, or a compaction is under way.
    #[error("Thread has a run in flight. Wait for it, or cancel it.")]
    Busy,
    /// There is no such run.
    #[error("there is no run {0:?} on this thread")]
    NoRun(Arc<str>),
    /// A run of that name is there.
    #[error("run {0:?} exists already; choose another id")]
    Exists(Arc<str>),
    /// There is nothing to resume.
    #[error("the last run of this thread ended; start another")]
    NothingToResume,
    /// It waits for an answer.
    #[error("the run waits for an answer; resume it with one")]
    AnswerMissing,
    /// There is no such agent.
    #[error("no agent is called {0:?}; add it to the agents")]
    NoAgent(Arc<str>),
    /// The model failed.
    #[error("the model failed: {0}")]
    Model(#[from] Failure),
    /// The thread's store failed.
    #[error(transparent)]
    Threads(ThreadsError),
    /// A middleware or a folder failed.
    #[error("{who}: {what}")]
    Middleware {
        /// Which.
        who: Arc<str>,
        /// What.
        what: Arc<str>,
    },
}

impl From<ThreadsError> for AgentError {
    fn from(error: ThreadsError) -> Self {
        match error {
            ThreadsError::Busy => Self::Busy,
            error => Self::Threads(error),
        }
    }
}
