//! Limits that are in force at every rendering (`when: always`): a result is decided once, when it is first
//! rendered and no longer among the newest ones that the policy leaves alone, and keeps its bytes from then on.

use std::sync::Arc;

use super::{Sources, Thread};
use crate::policy::PruneWhen;
use crate::project::tail_piece;
use crate::projection::Piece;
use crate::prune::shorten;
use crate::record::{Patches, Weights};
use crate::unit::Pos;

/// What was decided since the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Live {
    /// Positions with results that are not decided yet, oldest first.
    waiting: std::collections::VecDeque<Pos>,
    /// The first position that was not looked at yet.
    seen: Pos,
    /// What the decisions save, in weight.
    pub(super) saved: i64,
    /// What the shortened messages weigh.
    pub(super) weights: Weights,
}

impl Thread {
    /// Decides what was appended. Costs what is new.
    pub(super) fn prune_live(&mut self, src: Sources<'_>) {
        let Some(limits) = self.policy.prune.filter(|p| p.when == PruneWhen::Always) else {
            return;
        };
        let has_results = |at: &Pos| self.branch.view(*at).results().next().is_some();
        let new: Vec<Pos> = (self.live.seen..self.branch.len())
            .filter(has_results)
            .collect();
        self.live.waiting.extend(new);
        self.live.seen = self.branch.len();
        let keep = usize::try_from(limits.keep_recent_results).unwrap_or(usize::MAX);
        while self.live.waiting.len() > keep {
            let Some(at) = self.live.waiting.pop_front() else {
                break;
            };
            let view = self.branch.view(at).clone();
            // What is not sent saves nothing when it is shorter.
            let edits =
                match tail_piece(&self.branch, at, &|at| self.is_folded(at), &Patches::new()) {
                    None => continue,
                    Some(Piece::Edit(_, edits)) => edits.to_vec(),
                    Some(_) => Vec::new(),
                };
            let mut patches = shorten(&view, src.texts, &limits, &[]);
            patches.retain(|p| edits.iter().all(|edit| edit.part() != p.part()));
            if !patches.is_empty() {
                let node = self.branch.path()[at];
                let weigh = |patches: &[_]| src.counter.patched(&view, src.texts, patches);
                let both = [edits.as_slice(), &patches].concat();
                // Some counters find a short text with a marker heavier than a longer one without.
                self.live.saved += weigh(&edits).cast_signed() - weigh(&both).cast_signed();
                self.live.weights.insert(node, weigh(&patches));
                self.live_patches.insert(node, Arc::from(patches));
                self.show_again(at);
            }
        }
    }

    /// Starts over behind the record after it or the head changed.
    pub(super) fn restart_live(&mut self, src: Sources<'_>) {
        if !self.live_patches.is_empty() {
            self.live_patches.clear();
            self.show_tail();
        }
        self.live = Live {
            seen: self.frozen.end,
            ..Live::default()
        };
        self.prune_live(src);
    }
}
