//! The free rungs of the ladder, run over the window before any model is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::attempt::Snapshot;
use crate::count::Weight;
use crate::patch::Patch;
use crate::planted::{Bug, planted};
use crate::policy::{Preset, Prune};
use crate::project::{self, Shape};
use crate::projection::Piece;
use crate::prune::{Item, plan, shorten_as_nous};
use crate::record::{Patches, Weights};
use crate::thread::Sources;
use crate::unit::Pos;

/// A message, its new patches, and what it weighs with them.
type New = (Pos, Vec<Patch>, Weight);

/// What pruning came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pruned {
    /// The patches of each message that got new ones, together with those it already had.
    pub(super) patches: Patches,
    /// What these messages then weigh.
    pub(super) weights: Weights,
    /// Tokens saved.
    pub(super) saved: u64,
    /// No summary is needed.
    pub(super) is_enough: bool,
}

impl Pruned {
    /// Prunes what the snapshot shows, as far as its goal asks for.
    pub(super) fn of(s: &Snapshot, src: Sources<'_>) -> Self {
        let Some(limits) = s.policy.prune else {
            return Self::default();
        };
        let before = s.patches_before();
        // What is not sent, an answer to a call that is gone, cannot save anything and is nobody's copy.
        let shape = Shape {
            is_folded: &|at| s.was_folded(at),
            patches: &before,
            summaries: &[],
            placement: s.policy.placement,
            repairs: s.peer().is_none(),
            durable: "",
            pending: &s.pending,
        };
        let shown: BTreeMap<Pos, Piece> =
            project::shown(&s.branch, s.branch.len(), &shape).collect();
        let positions: Vec<Pos> = shown.keys().copied().collect();
        let already = |at: Pos| -> &[Patch] {
            match &shown[&at] {
                Piece::Edit(_, edits) if !planted(Bug::PruneAgain) => edits,
                _ => &[],
            }
        };
        let recorded = |at: Pos| before.get(&s.branch.path()[at]).map_or(&[][..], |p| p);
        let is_whole = |at: Pos| already(at) == recorded(at);
        let (new, saved) = if s.policy.strict_parity && s.policy.preset == Preset::Nous {
            as_nous(s, &positions, already, &limits, src)
        } else {
            let window: Vec<Item<'_>> = positions
                .iter()
                .map(|at| Item {
                    message: s.branch.view(*at),
                    already: already(*at),
                    weight: is_whole(*at).then(|| s.branch.patched_weight(*at, &s.weights)),
                })
                .collect();
            // Nous shortens everything over its limit before it looks again.
            let stops_early = s.policy.preset != Preset::Nous;
            let enough = &mut |saved| stops_early && s.is_enough(saved, src);
            let pruned = plan(&window, src.texts, &limits, src.counter, enough);
            let new = pruned.patches.into_iter().zip(pruned.weights);
            (
                new.map(|((i, p), weight)| (positions[i], p, weight))
                    .collect(),
                pruned.saved,
            )
        };
        let with_old = |(at, patches, _): &New| {
            let all: Arc<[Patch]> = recorded(*at).iter().chain(patches).cloned().collect();
            (s.branch.path()[*at], all)
        };
        let patches: Patches = new.iter().map(with_old).collect();
        // Weights are of whole messages with their patches, also where some of it is not sent.
        let weight = |(at, _, weight): &New| {
            let node = s.branch.path()[*at];
            let anew = || {
                src.counter
                    .patched(s.branch.view(*at), src.texts, &patches[&node])
            };
            (node, if is_whole(*at) { *weight } else { anew() })
        };
        let weights: Weights = new.iter().map(weight).collect();
        Self {
            is_enough: !patches.is_empty() && s.is_enough(saved, src),
            weights,
            patches,
            saved: src.counter.tokens(saved),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patches.is_empty()
    }
}

impl Snapshot {
    /// Whether the request is small enough once it has lost `saved`.
    fn is_enough(&self, saved: Weight, src: Sources<'_>) -> bool {
        let left = self.size.request.saturating_sub(src.counter.tokens(saved));
        self.goal.pruned_enough.is_some_and(|enough| left <= enough)
    }
}

/// The peer's own cut of every message over the limit, also where the result is longer.
fn as_nous<'p>(
    s: &Snapshot,
    positions: &[Pos],
    already: impl Fn(Pos) -> &'p [Patch],
    limits: &Prune,
    src: Sources<'_>,
) -> (Vec<New>, Weight) {
    let mut saved: Weight = 0;
    let mut new = Vec::new();
    for at in positions
        .iter()
        .copied()
        .filter(|at| already(*at).is_empty())
    {
        let view = s.branch.view(at);
        if let Some(patch) = shorten_as_nous(view, src.texts, limits.max_result_chars) {
            let patches = vec![patch];
            let weight = src.counter.patched(view, src.texts, &patches);
            saved += s.branch.weight(at, at + 1).saturating_sub(weight);
            new.push((at, patches, weight));
        }
    }
    (new, saved)
}
