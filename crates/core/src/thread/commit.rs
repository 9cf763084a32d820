//! Commits and moves: the only ways in which what is shown changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{HeadCause, HeadChange, Sources, Thread};
use crate::effect::{CommitAck, Delta, Expect, Failure};
use crate::id::{AttemptId, NodeId, RecordId};
use crate::ledger::Ledger;
use crate::planted::{Bug, planted};
use crate::record::{RECORD_FORMAT, Record};
use crate::unit::Pos;
use crate::window::Branch;

impl Thread {
    /// Puts a record in force, if what it was planned on still holds. Messages that came late are no conflict
    /// unless they answer something that it removed; nor are pins and calls that became pending elsewhere.
    pub fn commit(&mut self, record: &Record, expect: Expect, src: Sources<'_>) -> CommitAck {
        if record.format > RECORD_FORMAT {
            let message = format!(
                "record format {} is newer than this version knows",
                record.format
            )
            .into();
            return CommitAck::Failed(Failure::Store { message });
        }
        if expect != self.expect()
            || record.parent != self.active
            || record.id != self.next_record()
        {
            return CommitAck::Conflict;
        }
        let Some(end) = self.branch.position(record.upto).map(|at| at + 1) else {
            return CommitAck::Conflict;
        };
        if self
            .history
            .node(record.upto)
            .is_none_or(|n| n.prefix != record.prefix)
            || self.is_touched(record, end)
        {
            return CommitAck::Conflict;
        }
        self.records.push(Arc::new(record.clone()));
        self.active = Some(record.id);
        self.undone.clear();
        self.changed(HeadCause::Commit, src);
        self.shrunk = false;
        self.quiet_until = self.quiet_after_commit(src);
        CommitAck::Ok(self.version)
    }

    /// The id of the next record.
    pub fn next_record(&self) -> RecordId {
        RecordId(self.records.len() as u64)
    }

    /// Whether an attempt wrote this record, for acknowledgements that were lost.
    pub fn has_record(&self, attempt: AttemptId, record: RecordId) -> bool {
        self.record(record).is_some_and(|r| r.attempt == attempt)
    }

    /// Whether a message after `end` answers a call that the record removed, or a removed message was pinned
    /// or belongs to a call that became pending.
    fn is_touched(&self, record: &Record, end: usize) -> bool {
        let path = self.branch.path();
        let units = self.branch.units();
        let answered = (end..path.len()).any(|at| {
            units
                .of(at)
                .members()
                .iter()
                .any(|m| *m < end && record.removed.contains(path[*m]))
        });
        let is_removed = |at: usize| at < end && record.removed.contains(path[at]);
        answered
            || (0..end).any(|at| {
                self.branch.view(at).flags.pinned && is_removed(at) && !planted(Bug::LostPin)
            })
            || units
                .calls()
                .iter()
                .any(|call| self.pending.contains(&call.id) && is_removed(call.at))
    }

    /// What happened since the branch had `seen` messages, for an attempt that is under way.
    pub fn delta(&self, seen: usize) -> Delta {
        let path = self.branch.path();
        let units = self.branch.units();
        let new = (seen..path.len()).flat_map(|at| {
            let parts = self.branch.view(at).results().map(|(part, _)| part);
            parts.filter_map(move |part| units.call_of(at, part))
        });
        let answered: BTreeSet<(Pos, usize)> = new
            .filter(|call| call.at < seen)
            .map(|call| (call.at, call.part))
            .collect();
        Delta {
            answered: answered.into_iter().map(|(at, _)| path[at]).collect(),
            ..Delta::default()
        }
    }

    /// Takes the active record back: its parent is in force again. Nothing is lost; [`Thread::redo`] undoes it.
    pub fn undo(&mut self, src: Sources<'_>) -> Option<RecordId> {
        let record = self.active().cloned()?;
        self.undone.push(record.id);
        self.active = record.parent;
        self.changed(HeadCause::Undo, src);
        Some(record.id)
    }

    /// Puts the record that was taken back last in force again, if it still fits the branch.
    pub fn redo(&mut self, src: Sources<'_>) -> Option<RecordId> {
        let id = self.undone.pop()?;
        let record = self.record(id)?;
        let end = self.branch.position(record.upto)? + 1;
        if record.parent != self.active || self.is_touched(record, end) {
            return None;
        }
        self.active = Some(id);
        self.changed(HeadCause::Redo, src);
        Some(id)
    }

    /// Moves the head to another message of the tree (`None`: before the first): rewind, edit, retry, branch.
    /// The newest record that knows nothing beyond the new head stays in force. Unknown nodes change nothing.
    pub fn move_head(&mut self, head: Option<NodeId>, src: Sources<'_>) -> bool {
        if head.is_some_and(|h| self.history.node(h).is_none()) {
            return false;
        }
        self.branch = Arc::new(Branch::to(&self.history, head, src.texts, src.counter));
        self.ledger = Ledger::default();
        for view in self.branch.views() {
            self.ledger.fold_clear(view, src.texts, &self.policy.redact);
        }
        while let Some(record) = self.active().cloned()
            && self.branch.position(record.upto).is_none()
        {
            self.active = record.parent;
        }
        self.undone.clear();
        self.overflowed = false;
        self.quiet_until = None;
        self.changed(HeadCause::Move, src);
        true
    }

    pub(super) fn changed(&mut self, cause: HeadCause, src: Sources<'_>) {
        self.version.0 += 1;
        self.log.push(HeadChange {
            head: self.branch.head(),
            record: self.active,
            cause,
        });
        self.refused = None;
        self.refreeze(src);
        self.restart_live(src);
    }
}
