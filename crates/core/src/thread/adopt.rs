//! A compaction that another program made, as a record of this thread: conversations that come from elsewhere bring their
//! summaries with them.

use std::sync::Arc;

use crate::id::{AttemptId, NodeId, RecordId};
use crate::outcome::Moment;
use crate::plan::{Fate, PlanRules, plan};
use crate::policy::Placement;
use crate::ranges::NodeRanges;
use crate::record::{Author, Patches, RECORD_FORMAT, Record, Summary};
use crate::unit::Pos;

use super::{Sources, Thread};

impl Thread {
    /// Puts a summary in force that somebody else made of the messages for which `folded` holds. What must stay stays
    /// here too, though it went there: calls are not parted from their answers, and neither the system prompt nor the
    /// current request goes. `None`: nothing of it can go, and nothing changes.
    ///
    /// O(n). What it saves is measured, not asked for.
    pub fn adopt(
        &mut self,
        folded: &dyn Fn(NodeId) -> bool,
        summary: &str,
        src: Sources<'_>,
    ) -> Option<RecordId> {
        let goes = self.adoptable(folded);
        let active = self.active().cloned();
        let text = self.policy.redact.redact(summary);
        let is_said =
            |record: &Arc<Record>| record.summary.as_ref().is_none_or(|s| *s.text == *text);
        // The same messages may be stood for by other words.
        if !goes.contains(&true) && active.as_ref().is_none_or(is_said) {
            return None;
        }
        let before = self.measured(src);
        let was_folded = |at: Pos| self.is_folded(at);
        let removed = NodeRanges::collect(self.branch.path(), |at| goes[at] || was_folded(at));
        let earlier = active.as_ref().map(|record| record.patches.clone());
        let live = self.live_patches.iter().map(|(node, p)| (*node, p.clone()));
        let patches = earlier.unwrap_or_default().into_iter().chain(live);
        let patches: Patches = patches
            .filter(|(node, _)| !removed.contains(*node))
            .collect();
        let mut record = Record {
            id: self.next_record(),
            attempt: AttemptId(self.next_attempt),
            parent: self.active,
            format: RECORD_FORMAT,
            upto: self.branch.head()?,
            prefix: self.branch.prefix(),
            removed,
            patches,
            summary: Some(Summary {
                text: text.into(),
                author: Author::Model(None),
            }),
            durable: "".into(),
            placement: Placement::Frozen,
            peer: None,
            ledger: self.ledger.redacted(&self.policy.redact),
            measured: before,
            moment: Moment::Manual,
            why: Vec::new(),
            summaries: active.map_or(0, |record| record.summaries) + 1,
        };
        // What it comes to is seen where it is in force.
        let mut tried = self.clone();
        tried.commit(&record, tried.expect(), src);
        let after = tried.size(src);
        record.measured.tokens_after = Some(after.told(after.request));
        record.measured.messages_removed = goes.iter().filter(|goes| **goes).count() as u64;
        record.measured.summary_tokens = src.counter.tokens(src.counter.text(summary));
        self.next_attempt += 1;
        self.commit(&record, self.expect(), src);
        (self.active == Some(record.id)).then_some(record.id)
    }

    /// Which positions go, of those that are asked for: whole units of what no rule of structure holds.
    fn adoptable(&self, folded: &dyn Fn(NodeId) -> bool) -> Vec<bool> {
        let rules = PlanRules {
            pending: Some(&self.pending),
            // The newest turn may be long: it went there, so it may go here.
            cut_signed_turn: true,
            ..PlanRules::default()
        };
        let present = |at| !self.is_folded(at);
        let plan = plan(&self.branch, &present, &|_| 0, &rules);
        let path = self.branch.path();
        let is_asked = |at: Pos| plan.fates[at] == Fate::Goes && folded(path[at]);
        let mut goes: Vec<bool> = (0..path.len()).map(is_asked).collect();
        for unit in self.branch.units().iter() {
            if unit.members().iter().any(|at| present(*at) && !goes[*at]) {
                unit.members().iter().for_each(|at| goes[*at] = false);
            }
        }
        goes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lines::{Conversation, QuarterBytes};
    use crate::policy::{ModelProfile, Options, Policy};

    /// A conversation, what went elsewhere, and what goes here.
    fn check(lines: &[&str], went: &[u64], goes: &[usize]) {
        let talk = Conversation::parse(lines);
        let policy = Policy::resolve(&Options::default(), &ModelProfile::default());
        let mut thread = Thread::new(Arc::new(policy.expect("defaults resolve").policy));
        let src = Sources {
            texts: &talk,
            counter: &QuarterBytes,
        };
        thread.append(talk.views().to_vec(), src);
        let before = thread.clone();
        let record = thread.adopt(&|node| went.contains(&node.0), "What was said.", src);
        let folded: Vec<usize> = (0..thread.branch().len())
            .filter(|at| thread.is_folded(*at))
            .collect();
        assert_eq!(folded, goes, "{went:?}");
        let again = thread.adopt(&|node| went.contains(&node.0), "What was said.", src);
        assert_eq!(again, None, "it is in force");
        match record {
            None => assert_eq!(thread, before),
            Some(_) => {
                let record = thread.active().expect("in force");
                assert_eq!(record.measured.messages_removed, goes.len() as u64);
                assert_eq!(record.summaries, 1);
                let other = thread.adopt(&|_| false, "In other words.", src);
                assert!(other.is_some() && thread.active().expect("in force").summaries == 2);
            }
        }
    }

    #[test]
    fn what_must_stay_stays() {
        let talk = [
            "s You tend a garden",
            "u one",
            "a call c1",
            "t c1 seen",
            "a done",
            "u two",
            "a so it is",
            "u three",
        ];
        check(&talk, &[1, 2, 3, 4], &[1, 2, 3, 4]);
        check(&talk, &[0, 1, 2, 3, 4, 5], &[1, 2, 3, 4, 5]);
        // A call is not parted from its answer.
        check(&talk, &[1, 2], &[1]);
        check(&talk, &[3, 4], &[4]);
        // The current request was lost there.
        check(&talk, &[0, 1, 2, 3, 4, 5, 6, 7], &[1, 2, 3, 4, 5, 6]);
        check(&talk, &[7], &[]);
        check(&talk, &[0, 99], &[]);
    }
}
