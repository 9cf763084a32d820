//! Reasoning behind a change, where the provider binds it to everything that stood before.
//!
//! Such a provider refuses, or silently drops, signed reasoning whose past has changed. So what stays behind a
//! compaction goes without it, whole runs at a time; only the turn that is still open keeps it, since the model's
//! newest reply must be sent as it was written.

use std::sync::Arc;

use crate::attempt::Snapshot;
use crate::patch::{Patch, PatchCause};
use crate::prune::is_sealed;
use crate::record::{Patches, Weights};
use crate::thread::Sources;
use crate::unit::Pos;
use crate::view::{MessageView, PartKind, Role};

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
    let open = open_turn(s);
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

/// Where the turn begins that waits for the model to go on after its calls; the end where none is open.
fn open_turn(s: &Snapshot) -> Pos {
    let views = s.branch.views();
    let begin = views
        .iter()
        .rposition(|view| view.is_user_request())
        .map_or(0, |request| request + 1);
    let newest = (begin..views.len())
        .rev()
        .find(|at| views[*at].role == Role::Assistant);
    let is_open = newest.is_some_and(|reply| {
        let unit = s.branch.units().of(reply);
        let calls = unit.members.iter().flat_map(|at| views[*at].calls());
        calls.count() > 0
    });
    if is_open { begin } else { views.len() }
}

/// `before` and the removal of all reasoning; `None` where that removes nothing, or nothing signed.
fn without_reasoning(view: &MessageView, before: &[Patch]) -> Option<Arc<[Patch]>> {
    if !is_sealed(view) {
        return None;
    }
    let is_gone = |part: u16| {
        let removes = |p: &Patch| matches!(p, Patch::Remove { part: gone, .. } if *gone == part);
        before.iter().any(removes)
    };
    let reasoning = view.parts.iter().zip(0..).filter(|(part, at)| {
        matches!(part.kind, PartKind::Reasoning { .. }) && part.inside.is_none() && !is_gone(*at)
    });
    let gone: Vec<(bool, u16)> = reasoning
        .map(|(part, at)| (matches!(part.kind, PartKind::Reasoning { bound: true }), at))
        .collect();
    if !gone.iter().any(|(bound, _)| *bound) {
        return None;
    }
    let stays = |patch: &&Patch| gone.iter().all(|(_, part)| *part != patch.part());
    let removes = gone.iter().map(|(_, part)| Patch::Remove {
        part: *part,
        cause: PatchCause::Reasoning,
    });
    Some(
        before
            .iter()
            .filter(stays)
            .cloned()
            .chain(removes)
            .collect(),
    )
}
