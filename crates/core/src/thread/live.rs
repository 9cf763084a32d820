//! Limits that are in force at every rendering: a part is decided once, when it is first rendered.

use super::{Sources, Thread};

impl Thread {
    /// Decides what was appended.
    pub(super) fn prune_live(&mut self, _src: Sources<'_>) {}

    /// Starts over after the head or the record changed.
    pub(super) fn restart_live(&mut self, src: Sources<'_>) {
        self.live_saved = 0;
        self.live_decided = 0;
        self.prune_live(src);
    }
}
