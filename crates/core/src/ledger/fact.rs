//! The facts a ledger holds.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::report::Report;
use crate::id::CallId;

/// What happened to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileFact {
    /// Times read.
    pub reads: u32,
    /// Times changed, whole rewrites after the first included.
    pub edits: u32,
    /// Written whole before it was ever read.
    pub created: bool,
    /// Gone now.
    pub deleted: bool,
    /// Ordinal of the message that touched it last.
    pub last: u64,
}

/// The final state of a file, as far as the calls tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileState {
    /// Only looked at.
    Read,
    /// New.
    Created {
        /// Changes after it was written.
        edits: u32,
    },
    /// It existed and was changed.
    Edited {
        /// How often.
        edits: u32,
    },
    /// Removed or moved away.
    Deleted,
}

impl FileFact {
    /// The file was written whole.
    pub(super) fn written(&mut self) {
        if self.reads == 0 && self.edits == 0 && !self.created {
            self.created = true;
        } else {
            self.edits += 1;
        }
        self.deleted = false;
    }

    /// Its state now.
    pub fn state(&self) -> FileState {
        let edits = self.edits;
        match self {
            Self { deleted: true, .. } => FileState::Deleted,
            Self { created: true, .. } => FileState::Created { edits },
            Self { edits: 0, .. } => FileState::Read,
            _ => FileState::Edited { edits },
        }
    }

    /// Anything but read.
    pub fn is_changed(&self) -> bool {
        self.state() != FileState::Read
    }
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read => f.write_str("read"),
            Self::Created { edits: 0 } => f.write_str("new"),
            Self::Created { edits } => write!(f, "new, edited {edits}×"),
            Self::Edited { edits: 1 } => f.write_str("edited"),
            Self::Edited { edits } => write!(f, "edited {edits}×"),
            Self::Deleted => f.write_str("deleted"),
        }
    }
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommitFact {
    /// Its id, as far as the output showed it.
    pub id: Option<Arc<str>>,
    /// The first line of its message.
    pub subject: Arc<str>,
}

/// A test run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TestFact {
    /// The command that ran.
    pub command: Arc<str>,
    /// Whether it passed; `None` if the output does not tell.
    pub passed: Option<bool>,
    /// The runner's own summing-up line.
    pub summary: Option<Arc<str>>,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ErrorFact {
    /// Tool and what it ran or touched.
    pub call: Arc<str>,
    /// The most telling line of what it answered.
    pub text: Arc<str>,
    /// Ordinal of the message that called.
    pub message: u64,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Open,
    /// Being done.
    Active,
    /// Finished or given up.
    Done,
}

/// A step of the newest plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub text: Arc<str>,
    /// How far it is.
    pub state: TodoState,
}

/// Where delegated work stands, read from whether its call was answered, and from the fields of a result that is
/// a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelegationState {
    /// Not answered yet.
    Running,
    /// Answered.
    Done,
    /// The tool said that it failed.
    Failed,
}

/// Work given to another agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delegation {
    /// The call.
    pub call: CallId,
    /// The kind of agent, where named.
    pub agent: Option<Arc<str>>,
    /// The description given.
    pub task: Arc<str>,
    /// The id that the work goes by, from the call or its result.
    pub job: Option<Arc<str>>,
    /// Where it stands.
    pub state: DelegationState,
    /// It ended, and conditions that were set for it are not met: what the result names of them.
    pub unmet: Vec<Arc<str>>,
}

impl Delegation {
    /// A result tells of it.
    pub(super) fn told(&mut self, report: &Report, answered: DelegationState) {
        self.job = report.job.clone().or(self.job.take());
        self.state = report.state.unwrap_or(answered);
        self.unmet.clone_from(&report.unmet);
        if report.is_rejected && self.unmet.is_empty() {
            self.unmet.push("not accepted".into());
        }
    }

    /// No longer running.
    pub fn is_over(&self) -> bool {
        self.state != DelegationState::Running
    }
}
