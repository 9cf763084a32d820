//! Reasoning behind a change, where the provider binds it to everything that stood before.
//!
//! Such a provider refuses, or silently drops, signed reasoning whose past has changed. So what stays behind a
//! compaction goes without it, whole runs at a time; only the turn that is still open keeps it, since the model's
//! newest reply must be sent as it was written.

use crate::attempt::Snapshot;
use crate::reasoning::{open_turn, without_reasoning};
use crate::record::{Patches, Weights};
use crate::thread::Sources;
use crate::unit::Pos;

/// The messages of `positions` without their reasoning, and what they then weigh. `known`: the patches in force.
pub(super) fn stripped(
    s: &Snapshot,
    positions: impl Iterator<Item = Pos>,
    known: &Patches,
    src: Sources<'_>,
) -> (Patches, Weights) {
    let (mut patches, mut weights) = (Patches::new(), Weights::new());
    if !s.policy.binds_reasoning || s.peer().is_some() {
        return (patches, weights);
    }
    let open = open_turn(&s.branch);
    for at in positions.filter(|at| *at < open) {
        let (node, view) = (s.branch.path()[at], s.branch.view(at));
        let before = known.get(&node).map_or(&[][..], |p| p);
        if let Some(all) = without_reasoning(view, before) {
            weights.insert(node, src.counter.patched(view, src.texts, &all));
            patches.insert(node, all);
        }
    }
    (patches, weights)
}
