//! Validity as an automaton: what every provider demands of the order of calls and answers.
//!
//! Fed message by message, so a check of a grown request costs what is new: the state at the end of the
//! frozen prefix is kept and only the tail is fed. Rules of single providers (adjacency, roles in turn) are
//! `wire`'s, which judges rendered bytes on its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::CallId;
use crate::patch::Patch;
use crate::projection::{Block, BlockKind};
use crate::view::{MessageView, PartKind, Role};

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invalid {
    /// An answer without its call before it.
    OrphanAnswer(CallId),
    /// A call whose answer is missing although the conversation went on.
    UnansweredCall(CallId),
    /// The summary stands between a call and its answer.
    SummaryInsideCall,
    /// A block of our own of system rank stands after other messages.
    LateSystem,
}

/// The automaton. `Clone` it at the end of a frozen prefix and feed the tail to the copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Validator {
    open: BTreeMap<CallId, u32>,
    answered: BTreeMap<CallId, u32>,
    faults: Vec<Invalid>,
    /// Calls that were open when a new reply of the model began: nobody waited for them.
    passed: Vec<CallId>,
    beyond_system: bool,
}

impl Validator {
    /// The next message as it is sent.
    pub fn message(&mut self, message: &MessageView, patches: &[Patch]) {
        let removed = |part: usize| {
            patches.iter().any(
                |p| matches!(p, Patch::Remove { part: gone, .. } if usize::from(*gone) == part),
            )
        };
        self.beyond_system |= message.role != Role::System;
        for (index, part) in message.parts.iter().enumerate() {
            match &part.kind {
                PartKind::Result { id, .. } if !removed(index) => self.answer(id),
                PartKind::Call { id, .. } if !removed(index) => {
                    *self.open.entry(id.clone()).or_default() += 1
                }
                _ => {}
            }
        }
        if message.is_user_request() {
            self.passed.extend(self.open.keys().cloned());
        }
    }

    /// The next block of our own.
    pub fn block(&mut self, block: &Block) {
        match &block.kind {
            BlockKind::Answer { id, .. } => self.answer(id),
            BlockKind::Summary if !self.open.is_empty() => {
                self.faults.push(Invalid::SummaryInsideCall)
            }
            BlockKind::Rules if self.beyond_system => self.faults.push(Invalid::LateSystem),
            _ => {}
        }
        self.beyond_system |= block.role != Role::System;
    }

    fn answer(&mut self, id: &CallId) {
        let closed = match self.open.get_mut(id) {
            Some(1) => self.open.remove(id).is_some(),
            Some(n) => {
                *n -= 1;
                true
            }
            // An answer without an id closes whatever is open: order stands in for the id.
            None if id.as_str().is_empty() => self.open.pop_last().is_some(),
            None => false,
        };
        if closed {
            *self.answered.entry(id.clone()).or_default() += 1;
        } else if !self.answered.contains_key(id) {
            self.faults.push(Invalid::OrphanAnswer(id.clone()));
        }
    }

    /// Everything wrong so far, in order; calls that the conversation passed by without an answer included,
    /// except those that `is_awaited` says the host still waits for.
    pub fn faults(&self, is_awaited: impl Fn(&CallId) -> bool) -> Vec<Invalid> {
        let mut passed: Vec<_> = self
            .passed
            .iter()
            .filter(|id| self.open.contains_key(id) && !is_awaited(id))
            .collect();
        passed.dedup();
        self.faults
            .iter()
            .cloned()
            .chain(passed.into_iter().cloned().map(Invalid::UnansweredCall))
            .collect()
    }
}
