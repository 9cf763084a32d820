//! A thread of which something was taken out for good.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Known, RestoreError, State, Stored};
use crate::id::{Ident, NodeId, RecordId};
use crate::ledger::Ledger;
use crate::patch::Patch;
use crate::policy::Policy;
use crate::record::{Patches, Record};
use crate::redact::Redactor;
use crate::thread::{HeadCause, Sources, Thread, live};

impl Thread {
    /// The thread after the messages in `changed` say something else. `stored` is all of it as it is from now on: their
    /// views, the texts of records; `active` is the record in force from now on. What follows from that is made anew:
    /// digests of paths, weights, ledgers, what is shown. Whoever planned on the thread as it was gets a conflict.
    ///
    /// Messages that were shortened and are changed come back whole: nobody knows where to cut them now. O(n) for each
    /// record that stands on a branch of its own.
    ///
    /// # Errors
    /// When `stored` is not all of it, or does not fit together.
    pub fn purged(
        policy: Arc<Policy>,
        state: State,
        mut stored: Stored,
        changed: &BTreeSet<NodeId>,
        active: Option<RecordId>,
        src: Sources<'_>,
    ) -> Result<Self, RestoreError> {
        let mut prefixes = BTreeMap::new();
        for (node, known) in &mut stored.messages {
            let before = match known.parent {
                None => Ident::EMPTY,
                Some(parent) => *prefixes.get(&parent).ok_or(RestoreError::Missing(parent))?,
            };
            known.prefix = before.then(known.view.ident);
            prefixes.insert(*node, known.prefix);
            if changed.contains(node) {
                known.weight = None;
            }
        }
        let messages: BTreeMap<NodeId, &Known> =
            stored.messages.iter().map(|(n, k)| (*n, k)).collect();
        let mut told = Told::new(&messages, &policy.redact);
        for record in &mut stored.records {
            let upto = record.upto;
            let prefix = *prefixes.get(&upto).ok_or(RestoreError::Missing(upto))?;
            let ledger = told.at(upto, src)?.redacted(&policy.redact);
            *record = Arc::new(Record {
                prefix,
                ledger,
                patches: uncut(&record.patches, changed),
                ..record.as_ref().clone()
            });
        }
        let in_force = stored.records.iter().find(|r| Some(r.id) == active);
        stored.ledger = in_force.map(|r| r.ledger.clone()).unwrap_or_default();
        let state = State {
            active,
            undone: Vec::new(),
            live_patches: Patches::new(),
            live: live::Live::default(),
            ..state
        };
        let mut thread = Self::restore(policy, state, stored, src)?;
        if let Some(absent) = thread.absent {
            let nowhere = NodeId(absent.until as u64);
            return Err(RestoreError::Missing(nowhere));
        }
        thread.changed(HeadCause::Move, src);
        Ok(thread)
    }
}

/// Ledgers along the branches. One that goes on where the one before ended costs what is new.
struct Told<'a> {
    messages: &'a BTreeMap<NodeId, &'a Known>,
    redactor: &'a Redactor,
    at: Option<NodeId>,
    ledger: Ledger,
}

impl<'a> Told<'a> {
    fn new(messages: &'a BTreeMap<NodeId, &'a Known>, redactor: &'a Redactor) -> Self {
        Self {
            messages,
            redactor,
            at: None,
            ledger: Ledger::default(),
        }
    }

    fn at(&mut self, upto: NodeId, src: Sources<'_>) -> Result<&Ledger, RestoreError> {
        let mut path = Vec::new();
        let mut next = Some(upto);
        while let Some(node) = next.filter(|_| next != self.at) {
            let known = self
                .messages
                .get(&node)
                .ok_or(RestoreError::Missing(node))?;
            path.push(*known);
            next = known.parent;
        }
        if next != self.at {
            self.ledger = Ledger::default();
        }
        for known in path.into_iter().rev() {
            self.ledger
                .fold_clear(&known.view, src.texts, self.redactor);
        }
        self.at = Some(upto);
        Ok(&self.ledger)
    }
}

/// Without cuts of messages whose text is another one.
fn uncut(patches: &Patches, changed: &BTreeSet<NodeId>) -> Patches {
    let mut all = patches.clone();
    all.retain(|node, patches| {
        if changed.contains(node) {
            let is_whole = |p: &&Patch| matches!(p, Patch::Remove { .. });
            *patches = patches.iter().filter(is_whole).cloned().collect();
        }
        !patches.is_empty()
    });
    all
}
