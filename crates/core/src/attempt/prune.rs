//! The free rungs of the ladder, run over the window before any model is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::attempt::Snapshot;
use crate::attempt::reasoning::stripped;
use crate::count::Weight;
use crate::outcome::Moment;
use crate::patch::Patch;
use crate::plan::Fate;
use crate::planted::{Bug, planted};
use crate::policy::{Preset, Prune};
use crate::project::{self, Shape};
use crate::projection::Piece;
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
            let new: Vec<New> = new
                .map(|((i, p), weight)| (positions[i], p, weight))
                .collect();
            let weight = |at| match is_whole(at) {
                true => s.branch.patched_weight(at, &s.weights),
                false => src
                    .counter
                    .patched(s.branch.view(at), src.texts, already(at)),
            };
            let sent = Sent {
                positions: &positions,
                already: &already,
                weight: &weight,
            };
            let masked = masked(s, &sent, &new, pruned.saved, &limits, src);
            masked.unwrap_or((new, pruned.saved))
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

    /// Takes reasoning out behind the first message that was shortened, where it would no longer verify.
    pub(super) fn strip(&mut self, s: &Snapshot, src: Sources<'_>) {
        let path = s.branch.path();
        let Some(first) = path.iter().position(|n| self.patches.contains_key(n)) else {
            return;
        };
        let mut known = s.patches_before();
        known.extend(self.patches.iter().map(|(node, p)| (*node, p.clone())));
        let behind = (first + 1..path.len()).filter(|at| !s.was_folded(*at));
        let (patches, weights) = stripped(s, behind, &known, src);
        let mut saved = 0;
        for (node, lighter) in &weights {
            let before = match self.weights.get(node) {
                Some(weight) => *weight,
                None => s
                    .branch
                    .position(*node)
                    .map_or(0, |at| s.branch.patched_weight(at, &s.weights)),
            };
            saved += before.saturating_sub(*lighter);
        }
        self.saved += src.counter.tokens(saved);
        self.patches.extend(patches);
        self.weights.extend(weights);
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
        let redactor = &s.policy.redact;
        if let Some(patch) = shorten_as_nous(view, src.texts, limits.max_result_chars, redactor) {
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

/// What of the conversation is sent now.
struct Sent<'a, 'p> {
    /// The messages, ascending.
    positions: &'a [Pos],
    /// How each of them is edited.
    already: &'a dyn Fn(Pos) -> &'p [Patch],
    /// What it weighs so.
    weight: &'a dyn Fn(Pos) -> Weight,
}

/// Old results masked together, oldest first, instead of a summary: only results that a summary would fold, none of the
/// newest, none of exempt tools; only if the request is then small enough, the share that is asked for is reclaimed, and it
/// pays by the cache's prices. `None`: not so, and nothing changes.
fn masked(
    s: &Snapshot,
    sent: &Sent<'_, '_>,
    before: &[New],
    saved_before: Weight,
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
    for (at, part) in maskable(s, sent, limits) {
        let view = s.branch.view(at);
        let old = (sent.already)(at);
        let (patches, now) = match new.get(&at) {
            Some((patches, weight)) => (patches.as_slice(), *weight),
            None => (&[][..], (sent.weight)(at)),
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
fn maskable(s: &Snapshot, sent: &Sent<'_, '_>, limits: &Prune) -> Vec<(Pos, usize)> {
    let spared = usize::try_from(limits.keep_recent_results).unwrap_or(usize::MAX);
    let units = s.branch.units();
    let is_exempt = |at: Pos, part: usize| {
        let tool = units.call_of(at, part).map(|call| &call.tool);
        tool.is_some_and(|tool| s.policy.exempt_tools.contains(tool))
    };
    let results = sent.positions.iter().rev().flat_map(|at| {
        let at = *at;
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
