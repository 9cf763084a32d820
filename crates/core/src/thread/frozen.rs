//! The part of the request that stays the same from one compaction to the next, made once from history and record.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::scale::Scale;
use super::{Sources, Thread};
use crate::count::Weight;
use crate::id::CallId;
use crate::parity;
use crate::patch::{self, Patch};
use crate::planted::{Bug, planted};
use crate::project::{self, Shape};
use crate::projection::Piece;
use crate::record::Weights;
use crate::unit::Pos;
use crate::validity::Validator;

/// The frozen part, and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Frozen {
    pub(super) pieces: Arc<[Piece]>,
    pub(super) end: Pos,
    /// Messages of the branch when it was computed: whether a call counts as unanswered depends on them.
    pub(super) seen: Pos,
    pub(super) messages: u64,
    pub(super) weight: Weight,
    /// What its patched messages weigh.
    pub(super) weights: Weights,
    /// Ids of the calls in it.
    pub(super) calls: BTreeSet<CallId>,
    pub(super) summary_weight: Weight,
    /// Bytes of its texts, the summary's included.
    pub(super) bytes: u64,
    pub(super) scale: Scale,
    pub(super) validator: Validator,
}

impl Thread {
    /// Whether the newest message is the first to answer a call of the frozen part: its stand-in gives way.
    pub(super) fn answers_frozen(&self) -> bool {
        let Some(at) = self.branch.len().checked_sub(1) else {
            return false;
        };
        let is_first = |part: usize| {
            let call = self.branch.units().call_of(at, part);
            call.is_some_and(|c| c.at < self.frozen.end && c.answers.first() == Some(&(at, part)))
        };
        self.active.is_some()
            && self
                .branch
                .view(at)
                .results()
                .any(|(part, _)| is_first(part))
    }

    /// Computes the frozen part anew from history and record. O(n): at commits and when the head moves.
    pub(super) fn refreeze(&mut self, src: Sources<'_>) {
        self.freeze(src);
        self.show_rest(src);
    }

    /// The frozen part alone.
    pub(super) fn freeze(&mut self, src: Sources<'_>) {
        let Some(record) = self.active().cloned() else {
            self.frozen = Frozen::default();
            return;
        };
        let end = self.branch.position(record.upto).map_or(0, |at| at + 1);
        let folded = |at: Pos| record.removed.contains(self.branch.path()[at]);
        let summaries = self.summaries_in_force();
        let shown: Vec<_> = summaries
            .iter()
            .map(|text| parity::shown(text, record.peer))
            .collect();
        let shape = Shape {
            is_folded: &folded,
            patches: &record.patches,
            summaries: &shown,
            placement: record.placement,
            repairs: record.peer.is_none(),
            durable: &record.durable,
            pending: &self.pending,
        };
        let pieces = project::frozen(&self.branch, end, &shape);
        let mut frozen = Frozen {
            end,
            seen: self.branch.len(),
            ..Frozen::default()
        };
        let by_handle: BTreeMap<_, _> = (0..end)
            .filter(|at| !folded(*at))
            .map(|at| (self.branch.view(at).handle, at))
            .collect();
        for piece in &pieces {
            let (handle, edits): (_, &[Patch]) = match piece {
                Piece::Insert(block) => {
                    frozen.bytes += block.text.len() as u64;
                    frozen.summary_weight += src.counter.added_message(&block.text);
                    frozen.validator.block(block);
                    continue;
                }
                Piece::Keep(handle) => (handle, &[]),
                Piece::Edit(handle, edits) => (handle, edits),
            };
            let Some(at) = by_handle.get(handle).copied() else {
                continue;
            };
            let view = self.branch.view(at);
            frozen.messages += 1;
            frozen.bytes += patch::bytes(view, edits);
            let weight = match edits {
                [] => self.branch.weight(at, at + 1),
                edits => src.counter.patched(view, src.texts, edits),
            };
            frozen.weight += weight;
            let takes_report = record.peer.is_some();
            frozen.scale.push(at, view, weight, takes_report);
            frozen.validator.message(view, edits);
            frozen
                .calls
                .extend(view.calls().map(|(_, id, _)| id.clone()));
        }
        for (node, edits) in &record.patches {
            if let Some(at) = self.branch.position(*node).filter(|at| *at < end) {
                let weight = src.counter.patched(self.branch.view(at), src.texts, edits);
                frozen.weights.insert(*node, weight);
            }
        }
        frozen.pieces = Arc::from(pieces);
        if planted(Bug::LateMessageLost) {
            frozen.end = self.branch.len();
        }
        self.frozen = frozen;
    }

    /// What follows from the frozen part and the messages behind it.
    pub(super) fn show_rest(&mut self, src: Sources<'_>) {
        let behind = match self.active {
            Some(_) => self.frozen.end..self.branch.len(),
            None => 0..0,
        };
        self.unsent = behind.map(|at| self.unsent_of(at, src)).sum();
        self.anchor = self.newest_report();
        self.show_tail();
        self.scale_tail(src);
    }
}
