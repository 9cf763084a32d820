//! A compaction record: appended to the history, never a change of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::count::Weight;
use crate::id::{AttemptId, Ident, NodeId, RecordId};
use crate::ledger::Ledger;
use crate::outcome::{Measured, Moment, Reason};
use crate::patch::Patch;
use crate::policy::{Placement, Preset};
use crate::ranges::NodeRanges;

/// The version of the stored shape.
pub const RECORD_FORMAT: u16 = 1;

/// How the summary came to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A model, by name where it has one.
    Model(Option<Arc<str>>),
    /// The deterministic digest.
    Digest,
}

/// A summary.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Summary {
    /// Its text, as accepted. A field of its own, never a message.
    pub text: Arc<str>,
    /// Who wrote it.
    pub author: Author,
}

/// Patches by message.
pub type Patches = BTreeMap<NodeId, Arc<[Patch]>>;

/// What patched messages weigh, counted once when they were patched. A message that is not here weighs what
/// the branch says.
pub type Weights = BTreeMap<NodeId, Weight>;

/// One committed compaction, or one committed pruning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    /// Its id within the thread.
    pub id: RecordId,
    /// The attempt that made it: a commit whose acknowledgement was lost is found again by this.
    pub attempt: AttemptId,
    /// The record that was active before.
    pub parent: Option<RecordId>,
    /// [`RECORD_FORMAT`] when it was written.
    pub format: u16,
    /// The newest message it knows of; messages after it are shown as they are.
    pub upto: NodeId,
    /// Digest of the path up to and including `upto`.
    pub prefix: Ident,
    /// Everything folded so far, by this record and those before it.
    pub removed: NodeRanges,
    /// Everything shortened so far.
    pub patches: Patches,
    /// The summary so far; `None` when only pruning happened yet.
    pub summary: Option<Summary>,
    /// What code keeps beside the summary, as it is shown until the next record ([`crate::durable`]).
    #[serde(default = "nothing")]
    pub durable: Arc<str>,
    /// How the summary is shown.
    pub placement: Placement,
    /// The original whose losses it shows; only under `strict_parity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Preset>,
    /// What the conversation's own structure tells, at `upto`.
    pub ledger: Ledger,
    /// Sizes before and after.
    pub measured: Measured,
    /// When it happened.
    pub moment: Moment,
    /// Why it is as it is.
    pub why: Vec<Reason>,
    /// Committed summaries up to and including this one.
    pub summaries: u32,
}

impl Record {
    /// With what code keeps beside its summary.
    pub(crate) fn showing(self, durable: Option<Arc<str>>) -> Self {
        let durable = durable.unwrap_or_else(nothing);
        Self { durable, ..self }
    }
}

fn nothing() -> Arc<str> {
    "".into()
}
