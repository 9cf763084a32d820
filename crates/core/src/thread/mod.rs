//! One conversation: what happened, what is shown, and whether something must be done before the next call.
//!
//! [`Thread`] owns every decision that spans more than one compaction: trigger, single flight, breaker,
//! overflow, late messages, undo. It has no clock, no bytes and no I/O: time, texts and the counter are
//! arguments. It never compacts by itself; it starts an [`Attempt`](crate::attempt::Attempt), which a driver
//! runs, and takes the attempt's record in [`Thread::commit`].

mod adopt;
mod bound;
mod calibrate;
mod carry;
mod commit;
mod decide;
mod frozen;
mod guard;
mod limits;
mod live;
mod resumed;
mod saved;
mod scale;
mod size;
mod spending;
mod tail;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use calibrate::Calibration;
pub use decide::{Decision, Due, Manual, Mode};
pub use guard::{BreakerState, Recovery};
pub use limits::{Learnt, Limits};
pub use saved::{Known, Reported, RestoreError, STATE_FORMAT, State, Stored};
pub use size::Size;
pub use spending::Spent;

use frozen::Frozen;

use crate::count::{TokenCounter, Weight};
use crate::durable::Beside;
use crate::effect::{Expect, Fence, Millis, Version};
use crate::history::History;
use crate::id::{AttemptId, CallId, Ident, NodeId, RecordId};
use crate::ledger::Ledger;
use crate::parity;
use crate::patch::Patch;
use crate::planted::{Bug, planted};
use crate::policy::Policy;
use crate::project;
use crate::projection::{Piece, Projection};
use crate::record::{Patches, Record, Weights};
use crate::unit::Pos;
use crate::validity::Validator;
use crate::view::{MessageView, Texts, Usage};
use crate::window::Branch;

/// What the core reads through while it works: the surface's texts and the counter.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Decoded text on demand.
    pub texts: &'a dyn Texts,
    /// The counter.
    pub counter: &'a dyn TokenCounter,
}

/// What stands in every request outside the messages: system text, tools, and what the host adds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fixed {
    /// Its weight by the thread's counter.
    pub weight: Weight,
    /// Its digest: a change is a conflict for an attempt that is under way.
    pub ident: Ident,
}

impl Default for Fixed {
    fn default() -> Self {
        Self {
            weight: 0,
            ident: Ident::EMPTY,
        }
    }
}

impl Fixed {
    /// The fixed part made of these texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>, counter: &dyn TokenCounter) -> Self {
        let mut fixed = Self::default();
        for text in texts.into_iter().filter(|t| !t.is_empty()) {
            fixed.weight += counter.text(text);
            fixed.ident = fixed.ident.then(Ident::of(text));
        }
        fixed
    }
}

/// Why the head or the active record changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadCause {
    /// A record was committed.
    Commit,
    /// A compaction was taken back.
    Undo,
    /// It was put in force again.
    Redo,
    /// The client rewound, edited or branched.
    Move,
}

/// One entry of the log of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeadChange {
    /// The head after it.
    pub head: Option<NodeId>,
    /// The active record after it.
    pub record: Option<RecordId>,
    /// Why.
    pub cause: HeadCause,
}

/// An attempt that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Running {
    attempt: AttemptId,
    mode: Mode,
    manual: bool,
}

/// One conversation. Cloning it copies pointers, not messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    history: History,
    branch: Arc<Branch>,
    ledger: Ledger,
    records: Vec<Arc<Record>>,
    active: Option<RecordId>,
    undone: Vec<RecordId>,
    log: Vec<HeadChange>,
    /// Rows of the log before those.
    log_from: u64,
    version: Version,
    fence: Fence,
    policy: Arc<Policy>,
    fixed: Fixed,
    /// What the host keeps beside the summary. The host says it anew whenever it opens the thread.
    beside: Option<Arc<Beside>>,
    pending: Arc<BTreeSet<CallId>>,
    /// Parts shortened after the record, when limits are in force at every rendering.
    live_patches: Patches,
    live: live::Live,
    /// Weight of the messages after the record that is not sent.
    unsent: Weight,
    frozen: Frozen,
    tail: tail::Tail,
    scale: scale::Scale,
    /// The newest message with a valid report of its size.
    anchor: Option<Pos>,
    /// Under which record each report of a size came: it measured what that record showed.
    reports: BTreeMap<NodeId, Option<RecordId>>,
    running: Option<Running>,
    breaker: BreakerState,
    overflowed: bool,
    /// The size of the request that was refused last, where the error stated it and nothing happened since.
    refused: Option<u64>,
    learnt: Learnt,
    calibrator: calibrate::Calibrator,
    /// Under which record the request was sent that is not answered yet, where the host tells.
    sent_under: Option<Option<RecordId>>,
    /// No automatic attempt below this size: one was found not to pay, or the last one could not get below the
    /// trigger.
    quiet_until: Option<u64>,
    next_attempt: u64,
    /// The limit became smaller since the last commit: another model, or one that was learnt.
    shrunk: bool,
    /// When the last request was sent, where the host tells.
    last_request: Option<Millis>,
    spent: Spent,
    /// What of it is not here: see [`saved`].
    absent: Option<saved::Absent>,
}

impl Thread {
    /// A thread without messages.
    pub fn new(policy: Arc<Policy>) -> Self {
        Self {
            history: History::default(),
            branch: Arc::default(),
            ledger: Ledger::default(),
            records: Vec::new(),
            active: None,
            undone: Vec::new(),
            log: Vec::new(),
            log_from: 0,
            version: Version::default(),
            fence: Fence::default(),
            policy,
            fixed: Fixed::default(),
            beside: None,
            pending: Arc::default(),
            live_patches: Patches::new(),
            live: live::Live::default(),
            unsent: 0,
            frozen: Frozen::default(),
            tail: tail::Tail::default(),
            scale: scale::Scale::default(),
            anchor: None,
            reports: BTreeMap::new(),
            running: None,
            breaker: BreakerState::default(),
            overflowed: false,
            refused: None,
            learnt: Learnt::default(),
            calibrator: calibrate::Calibrator::default(),
            sent_under: None,
            quiet_until: None,
            next_attempt: 0,
            shrunk: false,
            last_request: None,
            spent: Spent::default(),
            absent: None,
        }
    }

    /// Adds messages at the head. Each costs what it is itself.
    pub fn append(
        &mut self,
        messages: impl IntoIterator<Item = MessageView>,
        src: Sources<'_>,
    ) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for view in messages {
            let weight = src.counter.message(&view, src.texts);
            let view = Arc::new(view);
            let node = self.history.append(self.branch.head(), view.clone());
            self.ledger
                .fold_clear(&view, src.texts, &self.policy.redact);
            if self.goes_on_with_absent(self.branch.len(), &view) {
                self.needs_whole();
            }
            let answers = self.asks(node, &view, src.counter);
            if let Some(usage) = &view.usage {
                self.reports.entry(node).or_insert(self.active);
                if usage.input > 0 && answers == self.active {
                    self.anchor = Some(self.branch.len());
                    self.told(self.branch.len(), usage.input);
                }
            }
            Arc::make_mut(&mut self.branch).push(node, view, weight);
            self.look_for_calls(self.branch.len() - 1);
            if self.answers_frozen() {
                self.needs_whole();
                self.refreeze(src);
            } else {
                let at = self.branch.len() - 1;
                self.unsent += self.unsent_of(at, src);
                self.show(at);
                self.scale(at, src);
            }
            nodes.push(node);
        }
        if !nodes.is_empty() {
            self.overflowed = false;
            self.refused = None;
            self.prune_live(src);
        }
        nodes
    }

    /// Weight of a message after the record that is not sent: answers to calls that were folded before.
    fn unsent_of(&self, at: Pos, src: Sources<'_>) -> Weight {
        let weight = self.branch.weight(at, at + 1);
        if planted(Bug::UnsentCounted) {
            return 0;
        }
        match project::tail_piece(
            &self.branch,
            at,
            &|at| self.is_left_behind(at),
            &Patches::new(),
        ) {
            None => weight,
            Some(Piece::Edit(_, edits)) => {
                weight.saturating_sub(src.counter.patched(self.branch.view(at), src.texts, &edits))
            }
            Some(_) => 0,
        }
    }

    /// System text and tools as they are now.
    pub fn set_fixed(&mut self, fixed: Fixed) {
        if self.fixed != fixed {
            self.fixed = fixed;
            self.version.0 += 1;
        }
    }

    /// What the host keeps beside the summary: attempts that begin from now on show it.
    pub fn set_beside(&mut self, beside: Option<Arc<Beside>>) {
        self.beside = beside;
    }

    /// What stands outside the messages.
    pub fn fixed(&self) -> &Fixed {
        &self.fixed
    }

    /// The numbers that decide from now on, as for another model. If it takes less, the next check may fold more than
    /// `keep` allows: what was just compacted for the other model may not fit this one.
    pub fn set_policy(&mut self, policy: Arc<Policy>) {
        self.shrunk |= policy.input_limit() < self.policy.input_limit();
        if policy != self.policy {
            // Another model counts in another way.
            self.calibrator = calibrate::Calibrator::default();
        }
        self.policy = policy;
        self.quiet_until = None;
    }

    /// The policy.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Calls that the host still waits for; they stay, whatever answers came so far.
    pub fn set_pending(&mut self, pending: BTreeSet<CallId>, src: Sources<'_>) {
        let before = std::mem::replace(&mut self.pending, Arc::new(pending));
        let mut changed = before.symmetric_difference(&self.pending);
        // Only what is awaited in the frozen part changes what is shown there.
        if changed.any(|id| self.frozen.calls.contains(id)) {
            self.refreeze(src);
        }
    }

    /// Keeps a message for good.
    pub fn pin(&mut self, node: NodeId) {
        self.annotate(node, |view| view.flags.pinned = true);
    }

    /// It may be folded again.
    pub fn unpin(&mut self, node: NodeId) {
        self.annotate(node, |view| view.flags.pinned = false);
    }

    /// What the provider reported for the newest reply.
    pub fn usage(&mut self, usage: Usage) {
        let newest = (0..self.branch.len())
            .rev()
            .find(|at| self.branch.view(*at).role == crate::view::Role::Assistant);
        if let Some(at) = newest {
            let node = self.branch.path()[at];
            let input = usage.input;
            self.annotate(node, |view| view.usage = Some(usage));
            let under = *self.reports.entry(node).or_insert(self.active);
            let says_something = input > 0 || planted(Bug::EmptyReport);
            let measures = at >= self.frozen.end && under == self.active && says_something;
            if measures {
                self.anchor = Some(at);
                self.told(at, input);
            } else if self.anchor == Some(at) {
                // It said something else before.
                self.anchor = self.newest_report();
            }
            let is_valid = self.takes_report(at);
            self.scale.reported(&self.branch, at, is_valid);
            if at < self.frozen.end {
                self.frozen.scale.reported(&self.branch, at, is_valid);
            }
        }
    }

    fn annotate(&mut self, node: NodeId, change: impl FnOnce(&mut MessageView)) {
        self.history.annotate(node, change);
        if let (Some(at), Some(known)) = (self.branch.position(node), self.history.node(node)) {
            let view = known.view.clone();
            Arc::make_mut(&mut self.branch).replace_view(at, view);
        }
    }

    /// The request that would be sent now. O(1): both parts are shared.
    pub fn projection(&self) -> Projection {
        Projection {
            frozen: self.frozen.pieces.clone(),
            tail: self.tail.pieces.clone(),
        }
    }

    fn tail_piece(&self, at: Pos) -> Option<Piece> {
        project::tail_piece(
            &self.branch,
            at,
            &|at| self.is_left_behind(at),
            &self.live_patches,
        )
    }

    /// The validity automaton at the end of the request that would be sent now. Costs what is new.
    pub fn checked(&self) -> Validator {
        let mut state = self.frozen.validator.clone();
        for at in self.frozen.end..self.branch.len() {
            match self.tail_piece(at) {
                Some(Piece::Edit(_, edits)) => state.message(self.branch.view(at), &edits),
                Some(_) => state.message(self.branch.view(at), &[]),
                None => {}
            }
        }
        state
    }

    /// The branch from the root to the head.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// The whole tree, whatever was compacted.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Parts that were shortened after the record in force.
    pub(crate) fn live_patches(&self) -> &Patches {
        &self.live_patches
    }

    /// The record in force.
    pub fn active(&self) -> Option<&Arc<Record>> {
        self.active.and_then(|id| self.record(id))
    }

    /// Whether a compaction was taken back that can be put in force again.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// A record by id.
    pub fn record(&self, id: RecordId) -> Option<&Arc<Record>> {
        let found = self.records.get(usize::try_from(id.0).ok()?);
        found.filter(|record| record.id == id)
    }

    /// All records, oldest first.
    pub fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// The log of heads.
    pub fn head_log(&self) -> &[HeadChange] {
        &self.log
    }

    /// How many rows the log of heads has, those that were not read included.
    pub fn rows(&self) -> u64 {
        self.log_from + self.log.len() as u64
    }

    /// What the conversation's own structure tells, at the head.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What a commit that is planned now must find unchanged.
    pub fn expect(&self) -> Expect {
        Expect {
            version: self.version,
            fence: self.fence,
        }
    }

    /// Whether the message at `at` was folded.
    pub fn is_folded(&self, at: Pos) -> bool {
        at < self.frozen.end
            && self
                .active()
                .is_some_and(|r| r.removed.contains(self.branch.path()[at]))
    }

    /// Whether answers to a call at `at` have nothing left that they could answer. A peer sends them all the same.
    pub(super) fn is_left_behind(&self, at: Pos) -> bool {
        self.is_folded(at) && self.active().is_some_and(|r| r.peer.is_none())
    }

    /// The summaries in force, oldest first: one, or several where a peer's pile up.
    pub(super) fn summaries_in_force(&self) -> Vec<Arc<str>> {
        let parent = |record: &Record| Some(self.record(record.parent?)?.as_ref());
        self.active()
            .map(|record| parity::in_force(record, parent))
            .unwrap_or_default()
    }

    /// The patches of the message at `at`.
    pub fn patches_at(&self, at: Pos) -> &[Patch] {
        let node = &self.branch.path()[at];
        let known = if at < self.frozen.end {
            self.active().map(|r| &r.patches)
        } else {
            Some(&self.live_patches)
        };
        known.and_then(|p| p.get(node)).map_or(&[], |p| p)
    }

    /// What the message at `at` weighs with its patches. No text is read.
    pub fn weight_at(&self, at: Pos) -> Weight {
        let patched = if at < self.frozen.end {
            &self.frozen.weights
        } else {
            &self.live.weights
        };
        self.branch.patched_weight(at, patched)
    }

    /// What all patched messages weigh.
    fn weights(&self) -> Weights {
        let mut weights = self.frozen.weights.clone();
        weights.extend(&self.live.weights);
        weights
    }

    /// The newest report that measured what is shown now. One from before a commit did not, nor did one from
    /// before an undo, also where its message stands behind the record in force.
    fn newest_report(&self) -> Option<Pos> {
        let from = if planted(Bug::StaleUsage) {
            0
        } else {
            self.frozen.end
        };
        (from..self.branch.len()).rev().find(|at| {
            let under = self.reports.get(&self.branch.path()[*at]);
            let usage = self.branch.view(*at).usage.as_ref();
            let is_stale = under != Some(&self.active) && !planted(Bug::StaleUsage);
            usage.is_some_and(|u| u.input > 0) && !is_stale
        })
    }
}
