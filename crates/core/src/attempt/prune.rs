//! The free rungs of the ladder, run over the window before any model is asked.

use crate::attempt::Snapshot;
use crate::record::Patches;
use crate::thread::Sources;

/// What pruning came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pruned {
    /// New patches by message, together with those the message already had.
    pub(super) patches: Patches,
    /// Tokens saved.
    pub(super) saved: u64,
    /// No summary is needed.
    pub(super) is_enough: bool,
}

impl Pruned {
    pub(super) fn of(_s: &Snapshot, _src: Sources<'_>) -> Self {
        Self::default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patches.is_empty()
    }
}
