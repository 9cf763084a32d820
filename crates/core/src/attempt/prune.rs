//! The free rungs of the ladder, run over the window before any model is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::attempt::Snapshot;
use crate::count::Weight;
use crate::outcome::Moment;
use crate::patch::Patch;
use crate::plan::Fate;
use crate::planted::{Bug, planted};
use crate::policy::{Preset, Prune};
use crate::prune::{Item, mask, plan, shorten_as_nous};
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
        let positions: Vec<Pos> = (0..s.branch.len())
            .filter(|at| !s.was_folded(*at))
            .collect();
        let already = |at: Pos| -> &[Patch] {
            if planted(Bug::PruneAgain) {
                return &[];
            }
            before.get(&s.branch.path()[at]).map_or(&[], |p| p)
        };
        let (new, saved) = if s.policy.strict_parity && s.policy.preset == Preset::Nous {
            as_nous(s, &positions, already, &limits, src)
        } else {
            let window: Vec<Item<'_>> = positions
                .iter()
                .map(|at| Item {
                    message: s.branch.view(*at),
                    already: already(*at),
                    weight: Some(s.branch.patched_weight(*at, &s.weights)),
                })
                .collect();
            // Nous shortens everything over its limit before it looks again.
            let stops_early = s.policy.preset != Preset::Nous;
            let enough = &mut |saved| stops_early && s.is_enough(saved, src);
            let pruned = plan(&window, src.texts, &limits, src.counter, enough);
            let new = pruned.patches.into_iter().zip(pruned.weights);
            let new: Vec<New> = new
                .map(|((i, p), weight)| (positions[i], p, weight))
                .collect();
            match masked(s, &new, pruned.saved, already, &limits, src) {
                Some(masked) => masked,
                None => (new, pruned.saved),
            }
        };
        let weights = new
            .iter()
            .map(|(at, _, weight)| (s.branch.path()[*at], *weight));
        let weights: Weights = weights.collect();
        let with_old = |(at, patches, _): New| {
            let all: Arc<[Patch]> = already(at).iter().cloned().chain(patches).collect();
            (s.branch.path()[at], all)
        };
        Self {
            is_enough: !new.is_empty() && s.is_enough(saved, src),
            weights,
            patches: new.into_iter().map(with_old).collect(),
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

/// The newest results that are never masked, whatever the policy keeps.
const SPARED: usize = 3;

/// Old results masked together, oldest first, instead of a summary: only results that a summary would fold, none of the
/// newest, none of exempt tools; only if the request is then small enough, the share that is asked for is reclaimed, and it
/// pays by the cache's prices. `None`: not so, and nothing changes.
fn masked<'p>(
    s: &Snapshot,
    before: &[New],
    saved_before: Weight,
    already: impl Fn(Pos) -> &'p [Patch],
    limits: &Prune,
    src: Sources<'_>,
) -> Option<(Vec<New>, Weight)> {
    let is_on = limits.mask_permille > 0 && !s.policy.strict_parity;
    if !is_on || s.moment == Moment::Manual || s.is_enough(saved_before, src) {
        return None;
    }
    let mut new: BTreeMap<Pos, (Vec<Patch>, Weight)> = before
        .iter()
        .map(|(at, patches, weight)| (*at, (patches.clone(), *weight)))
        .collect();
    let goal = src.counter.tokens(saved_before) + s.size.request.saturating_sub(s.goal.target);
    let mut saved = saved_before;
    for (at, part) in maskable(s, limits) {
        let view = s.branch.view(at);
        let old = already(at);
        let (patches, now) = match new.get(&at) {
            Some((patches, weight)) => (patches.as_slice(), *weight),
            None => (&[][..], s.branch.patched_weight(at, &s.weights)),
        };
        let Some(patches) = mask(view, part, src.texts, src.counter, old, patches, limits) else {
            continue;
        };
        let then = src
            .counter
            .patched(view, src.texts, &[old, &patches].concat());
        if then < now {
            saved += now - then;
            new.insert(at, (patches, then));
        }
        // One batch, down to the target: the next one is then far off.
        if src.counter.tokens(saved) >= goal {
            break;
        }
    }
    let reclaimed = src.counter.tokens(saved - saved_before);
    let floor = u128::from(s.size.request) * u128::from(limits.mask_permille) / 1000;
    if !s.is_enough(saved, src) || u128::from(reclaimed) < floor {
        return None;
    }
    let path = s.branch.path();
    let patches = new
        .iter()
        .map(|(at, (patches, _))| (path[*at], patches.clone().into()));
    let change = s.pruning_change(&patches.collect(), src.counter.tokens(saved), src);
    let calls = s.policy.cost.expected_calls;
    if s.pruning_cost(change)
        .is_some_and(|cost| !cost.pays_within(calls))
    {
        return None;
    }
    let new = new
        .into_iter()
        .map(|(at, (patches, weight))| (at, patches, weight));
    Some((new.collect(), saved))
}

/// Results that a summary would fold, the oldest first, without the newest and those of exempt tools.
fn maskable(s: &Snapshot, limits: &Prune) -> Vec<(Pos, usize)> {
    let spared = usize::try_from(limits.keep_recent_results).unwrap_or(usize::MAX);
    let units = s.branch.units();
    let is_exempt = |at: Pos, part: usize| {
        let tool = units.call_of(at, part).map(|call| &call.tool);
        tool.is_some_and(|tool| s.policy.exempt_tools.contains(tool))
    };
    let present = (0..s.branch.len()).rev().filter(|at| !s.was_folded(*at));
    let results = present.flat_map(|at| {
        let parts: Vec<_> = s
            .branch
            .view(at)
            .results()
            .map(|(part, _)| (at, part))
            .collect();
        parts.into_iter().rev()
    });
    let old = results.skip(spared.max(SPARED));
    let mut old: Vec<_> = old
        .filter(|(at, part)| s.plan.fates[*at] == Fate::Goes && !is_exempt(*at, *part))
        .collect();
    old.reverse();
    old
}
