//! What code keeps beside a summary (invariant 45): the user's standing rules, whatever the summary says.

use std::collections::BTreeSet;

use conspectus_core::durable::{FACTS_SHARE, RULES_SHARE, read};
use conspectus_core::frame;
use conspectus_core::ledger::Ledger;
use conspectus_core::patch::{Patch, PatchCause};
use conspectus_core::projection::{BlockKind, Piece, Projection};
use conspectus_core::record::Record;

use super::scene::{Checked, Scene};

/// Tokens of the words around what is kept that no share is asked for: a heading, and how much is left out.
const SPARE: u64 = 64;
/// Tokens around one rule: where it was said, and by whom.
const AROUND_RULE: u64 = 24;

impl Scene<'_> {
    /// What a record keeps is in every request, is what the conversation says, and stays within its share.
    pub(super) fn kept(&mut self, record: &Record, request: &Projection) -> Checked {
        if record.summary.is_some() && !record.durable.is_empty() {
            shown(record, request)?;
        }
        if record.peer.is_some() || !self.looked_at.insert(record.id) {
            return Ok(());
        }
        self.told_anew(record)?;
        let parent = record.parent.and_then(|id| self.thread.record(id));
        if parent.is_some_and(|parent| parent.summaries == record.summaries) {
            return match parent.is_some_and(|parent| parent.durable == record.durable) {
                true => Ok(()),
                false => Err("45: pruning changes what is kept beside the summary".to_owned()),
            };
        }
        match record.summary {
            Some(_) => self.complete(record),
            None => Ok(()),
        }
    }

    /// A ledger that is made of the branch now says what the record's says. One that was made before a message was pinned
    /// does not know that it is.
    fn told_anew(&self, record: &Record) -> Checked {
        let branch = self.thread.branch();
        let Some(upto) = branch.position(record.upto).filter(|_| !self.pinned) else {
            return Ok(());
        };
        let redactor = &self.thread.policy().redact;
        let mut anew = Ledger::default();
        for view in &branch.views()[..=upto] {
            anew.fold_clear(view, self.src.texts, redactor);
        }
        match anew.redacted(redactor) == record.ledger {
            true => Ok(()),
            false => Err("45: the record's facts are not those of the conversation".to_owned()),
        }
    }

    /// Each standing rule whose message is gone is shown word for word, or counted where the room does not suffice.
    fn complete(&self, record: &Record) -> Checked {
        let (policy, counter) = (self.thread.policy(), self.src.counter);
        let size = |text: &str| counter.tokens(counter.text(text));
        let cap = policy.summary.max_tokens;
        let (long, most) = (
            size(&record.durable),
            cap * (RULES_SHARE + FACTS_SHARE) / 100,
        );
        if long > most + SPARE {
            return Err(format!("45: {long} tokens are kept, of a share of {most}"));
        }
        let path = self.thread.branch().path();
        let constraints = record.ledger.constraints();
        let is_gone = |message: u64| {
            let node = usize::try_from(message).ok().and_then(|at| path.get(at));
            node.is_none_or(|node| record.removed.contains(*node))
        };
        let gone = constraints.standing().iter().filter(|r| is_gone(r.message));
        let gone: Vec<&str> = gone.map(|rule| rule.text.as_ref()).collect();
        let said: BTreeSet<String> = read(&record.durable).into_iter().map(|(r, _)| r).collect();
        let missing: Vec<&&str> = gone.iter().filter(|rule| !said.contains(**rule)).collect();
        let counted = left_out(&record.durable);
        if missing.len() as u64 + constraints.dropped() != counted {
            return Err(format!(
                "45: {counted} rules are said to be left out, but {missing:?} are, and {} were dropped",
                constraints.dropped()
            ));
        }
        let needed: u64 = gone.iter().map(|rule| size(rule) + AROUND_RULE).sum();
        let share = cap * RULES_SHARE / 100;
        let fits = needed + SPARE <= share && constraints.dropped() == 0;
        match fits && !missing.is_empty() {
            true => Err(format!(
                "45: {missing:?} are left out, though {needed} tokens fit a share of {share}"
            )),
            false => Ok(()),
        }
    }
}

/// What is kept stands in the block of the summary.
fn shown(record: &Record, request: &Projection) -> Checked {
    let kept = frame::defused(&record.durable);
    let shows = |piece: &Piece| match piece {
        Piece::Insert(block) => block.kind == BlockKind::Summary && block.text.contains(&kept),
        Piece::Edit(_, patches) => patches.iter().any(|patch| match patch {
            Patch::Cut { marker, cause, .. } => {
                *cause == PatchCause::Summary && marker.contains(&kept)
            }
            Patch::Remove { .. } => false,
        }),
        Piece::Keep(_) => false,
    };
    match request.pieces().any(shows) {
        true => Ok(()),
        false => Err("45: what is kept beside the summary is not shown".to_owned()),
    }
}

/// How many rules the text says are left out.
fn left_out(durable: &str) -> u64 {
    let mut counted = durable.lines().filter_map(|line| {
        let (count, _) = line
            .strip_prefix("- (")?
            .split_once(" more rules left out")?;
        count.parse::<u64>().ok()
    });
    counted.next_back().unwrap_or(0)
}
