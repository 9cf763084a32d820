//! The records that an attempt commits, measured by one counter over the same parts.

use std::sync::Arc;

use crate::attempt::{Attempt, Snapshot};
use crate::count::Weight;
use crate::frame;
use crate::id::NodeId;
use crate::outcome::{Measured, Reason};
use crate::parity;
use crate::patch::Patch;
use crate::plan::{Fate, Stay};
use crate::policy::{Placement, Preset};
use crate::project::{self, Shape, dangling, in_prompt};
use crate::projection::Piece;
use crate::ranges::NodeRanges;
use crate::record::{Patches, RECORD_FORMAT, Record, Summary};
use crate::thread::Sources;
use crate::unit::Pos;
use crate::view::Role;

impl Snapshot {
    /// Patches in force when the attempt began.
    pub(super) fn patches_before(&self) -> Patches {
        let mut patches = self
            .active
            .as_ref()
            .map(|r| r.patches.clone())
            .unwrap_or_default();
        patches.extend(self.live.iter().map(|(node, p)| (*node, p.clone())));
        patches
    }

    /// What showing a summary weighs, with what code keeps beside it.
    pub(super) fn summary_weight(
        &self,
        summary: &str,
        durable: &str,
        placement: Placement,
        src: Sources<'_>,
    ) -> Weight {
        let shown = frame::all_blocks(&self.shown(summary), durable, placement);
        let stays = |at: Pos| matches!(self.plan.fates[at], Fate::Stays(_));
        let prompt = in_prompt(&self.branch, &shown, placement);
        if let Some((at, patch)) = prompt.filter(|(at, _)| stays(*at)) {
            let view = self.branch.view(at);
            let alone = src.counter.message(view, src.texts);
            let with = src.counter.patched(view, src.texts, &[patch]);
            return with.saturating_sub(alone);
        }
        let weights = shown.iter().map(|b| src.counter.added_message(&b.text));
        weights.sum()
    }

    /// What is shown when `summary` is in force: it alone, but for what `strict_parity` brings back.
    fn shown(&self, summary: &str) -> Vec<Arc<str>> {
        let peer = self.peer();
        let earlier = match peer {
            Some(Preset::Nous) => self.summaries.as_slice(),
            _ => &[],
        };
        let shown = |text: &Arc<str>| parity::shown(text, peer);
        earlier.iter().chain([&summary.into()]).map(shown).collect()
    }

    /// The original that is followed even where it loses.
    pub(super) fn peer(&self) -> Option<Preset> {
        let preset = self.policy.preset;
        self.policy.follows_peer().then_some(preset)
    }

    /// Whether answers to a call at `at` are left out when the request is made, as the record in force asks.
    pub(super) fn is_left_behind(&self, at: Pos) -> bool {
        let is_peer = self.active.as_ref().is_some_and(|r| r.peer.is_some());
        self.was_folded(at) && !is_peer
    }

    /// Whether the message at `at` was folded before.
    pub(super) fn was_folded(&self, at: Pos) -> bool {
        self.active
            .as_ref()
            .is_some_and(|r| r.removed.contains(self.branch.path()[at]))
    }
}

impl Attempt {
    pub(super) fn patches_at(&self, at: Pos) -> &[Patch] {
        self.patches
            .get(&self.s.branch.path()[at])
            .map_or(&[], |p| p)
    }

    /// A record of pruning alone: list, summary and ledger are those of before.
    pub(super) fn pruning_record(&self, src: Sources<'_>) -> Record {
        let active = self.s.active.as_deref();
        let summary = active.and_then(|r| r.summary.clone());
        let saved = self.pruned.saved;
        let change = self.s.pruning_change(&self.pruned.patches, saved, src);
        let measured = Measured {
            tokens_after: Some(self.s.size.told(self.s.size.request.saturating_sub(saved))),
            tokens_pruned: saved,
            change: Some(change),
            cost: self.s.pruning_cost(change),
            ..self.measured_before()
        };
        let summaries = active.map_or(0, |r| r.summaries);
        let removed = active.map(|r| r.removed.clone()).unwrap_or_default();
        let placement = active.map_or(self.s.policy.placement, |r| r.placement);
        self.record(
            summary,
            placement,
            removed,
            self.shortened.clone(),
            measured,
            Vec::new(),
            summaries,
        )
        .showing(active.map(|r| r.durable.clone()))
    }

    /// A record of a new summary.
    pub(super) fn compaction_record(&self, summary: Summary, src: Sources<'_>) -> Record {
        let s = &self.s;
        let path = s.branch.path();
        let goes = |at: Pos| s.plan.fates[at] == Fate::Goes;
        let removed = NodeRanges::collect(path, |at| goes(at) || s.was_folded(at));
        let patches = self
            .patches
            .iter()
            .filter(|(node, _)| !removed.contains(**node));
        let patches: Patches = patches.map(|(node, p)| (*node, p.clone())).collect();
        let placement = self.placement();
        let after = self.tokens_after(&summary.text, src);
        let shown = s.summary_weight(&summary.text, &self.durable, placement, src);
        let folded = s
            .plan
            .going()
            .filter(|at| !s.branch.view(*at).flags.summary)
            .count() as u64;
        let change = self.summary_change(after, src);
        let written = src.counter.tokens(src.counter.text(&summary.text));
        let measured = Measured {
            change: Some(change),
            cost: self.summary_cost(change, &summary.author, written, src),
            tokens_after: Some(s.size.told(after)),
            messages_removed: folded,
            tokens_pruned: self.pruned.saved,
            summary_tokens: src.counter.tokens(shown),
            ..self.measured_before()
        };
        let mut why = self.reasons.clone();
        let closed = dangling(&s.branch, &s.pending).filter(|c| !s.was_folded(c.at));
        let closed = closed.filter(|_| s.peer().is_none());
        why.extend(closed.map(|c| Reason::DanglingCall(c.id.clone())));
        if after > s.goal.target {
            why.push(Reason::TargetMissed);
        }
        if after > s.goal.limit {
            why.push(Reason::OverLimit);
        }
        let summaries = s.active.as_ref().map_or(0, |r| r.summaries) + 1;
        self.record(
            Some(summary),
            placement,
            removed,
            patches,
            measured,
            why,
            summaries,
        )
        .showing(Some(self.durable.clone()))
    }

    #[expect(clippy::too_many_arguments, reason = "one place that fills a record")]
    fn record(
        &self,
        summary: Option<Summary>,
        placement: Placement,
        removed: NodeRanges,
        patches: Patches,
        measured: Measured,
        why: Vec<Reason>,
        summaries: u32,
    ) -> Record {
        let upto = self.s.branch.head().unwrap_or(NodeId(0));
        Record {
            id: self.next_record,
            attempt: self.s.attempt,
            parent: self.parent,
            format: RECORD_FORMAT,
            upto,
            prefix: self.s.branch.prefix(),
            removed,
            patches,
            summary,
            durable: "".into(),
            placement,
            peer: self.s.peer(),
            ledger: self.s.ledger.redacted(&self.s.policy.redact),
            measured,
            moment: self.s.moment,
            why,
            summaries,
        }
    }

    /// How the summary is shown. As a system message only where a user speaks first behind it: no provider takes
    /// a conversation that the assistant begins.
    pub(super) fn placement(&self) -> Placement {
        let s = &self.s;
        let first = s
            .plan
            .staying()
            .find(|(_, why)| *why != Stay::LeadingSystem);
        let user_first = first.is_none_or(|(at, _)| s.branch.view(at).role == Role::User);
        match s.policy.placement {
            Placement::System | Placement::SystemEnd if !user_first && !s.policy.strict_parity => {
                Placement::Message
            }
            placement => placement,
        }
    }

    /// The estimate of the request with `summary` in force.
    pub(super) fn tokens_after(&self, summary: &str, src: Sources<'_>) -> u64 {
        let shown = self
            .s
            .summary_weight(summary, &self.durable, self.placement(), src);
        src.counter
            .tokens(self.s.fixed.weight + self.staying_weight(src) + shown)
    }

    /// What stays whatever the summary says, stand-ins for answers that never came included.
    pub(super) fn staying_weight(&self, src: Sources<'_>) -> Weight {
        let s = &self.s;
        let shape = Shape {
            is_folded: &|at| !matches!(s.plan.fates[at], Fate::Stays(_)),
            patches: &self.patches,
            summaries: &[],
            placement: s.policy.placement,
            repairs: s.peer().is_none(),
            durable: "",
            pending: &s.pending,
        };
        // As it will be rendered: without answers that nothing asked for.
        let mut positions = 0..s.branch.len();
        let mut position = |handle| positions.find(|at| s.branch.view(*at).handle == handle);
        let pieces = project::frozen(&s.branch, s.branch.len(), &shape);
        let weight = |piece: &Piece| match piece {
            Piece::Insert(block) => src.counter.added_message(&block.text),
            Piece::Keep(handle) => position(*handle).map_or(0, |at| s.branch.weight(at, at + 1)),
            Piece::Edit(handle, edits) => {
                position(*handle).map_or(0, |at| match self.patches.get(&s.branch.path()[at]) {
                    Some(known) if known == edits => s.branch.patched_weight(at, &self.weights),
                    _ => src.counter.patched(s.branch.view(at), src.texts, edits),
                })
            }
        };
        pieces.iter().map(weight).sum()
    }
}
