//! A record of one thread as a record of another that has the same beginning: a branch keeps its compaction.
//!
//! A record says something of what it folded. As long as all of that is on the branch, it holds there, whatever came
//! behind. What it also read of messages that the branch does not have (files, open work) is read again without them.

use std::sync::Arc;

use super::{Sources, Thread};
use crate::durable::{self, Beside, Budget, Next};
use crate::id::NodeId;
use crate::ranges::NodeRanges;
use crate::record::Record;

impl Thread {
    /// `record`, made on another thread, as the next record of this one, which has the same messages up to its head.
    /// `there`: the numbers that they have there, from the first to the last one that both share of what the record
    /// knows. `None`: this thread has no message, or not as many.
    ///
    /// Whoever calls it sees to it that nothing is folded that is not in `there`.
    pub fn carried(&self, record: &Record, there: &[NodeId], src: Sources<'_>) -> Option<Record> {
        let path = self.branch.path();
        let upto = *path.last().filter(|_| path.len() == there.len())?;
        let removed = NodeRanges::collect(path, |at| record.removed.contains(there[at]));
        let pairs = path.iter().zip(there);
        let patches = pairs.filter_map(|(here, there)| {
            let patches = record.patches.get(there)?;
            Some((*here, patches.clone()))
        });
        let mut carried = Record {
            id: self.next_record(),
            parent: self.active,
            upto,
            prefix: self.branch.prefix(),
            removed,
            patches: patches.collect(),
            ..record.clone()
        };
        if there.last() != Some(&record.upto) {
            carried.ledger = self.ledger.redacted(&self.policy.redact);
            if carried.ledger.rows() != record.ledger.rows() {
                carried.durable = self.kept_without(record, &carried, src);
            }
        }
        Some(carried)
    }

    /// What code keeps beside the summary, without the messages that are not here; no larger than it was.
    fn kept_without(&self, record: &Record, carried: &Record, src: Sources<'_>) -> Arc<str> {
        if record.durable.is_empty() {
            return record.durable.clone();
        }
        let path = self.branch.path();
        let is_gone = |ordinal: u64| {
            let at = usize::try_from(ordinal).ok();
            let node = at.and_then(|at| path.get(at));
            node.is_none_or(|node| carried.removed.contains(*node))
        };
        let redact = &self.policy.redact;
        let beside = self.beside.as_ref().map(|beside| Beside {
            text: redact.redact_arc(&beside.text),
            tells_delegations: beside.tells_delegations,
        });
        let source = durable::Source {
            ledger: &carried.ledger,
            is_gone: &is_gone,
            beside: beside.as_ref(),
            next: Next::of(&self.branch, &self.ledger),
        };
        let most = src.counter.tokens(src.counter.text(&record.durable));
        let budget = Budget {
            rules: most,
            facts: most,
            shared: most,
        };
        durable::render(&source, budget, src.counter).into()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::effect::CommitAck;
    use crate::lines::{Conversation, QuarterBytes};
    use crate::memory::{Memory, call, result, text};
    use crate::policy::{ModelProfile, Options, Policy};
    use crate::view::Role;

    const LINES: [&str; 9] = [
        "u please mend the valve",
        "a call c1",
        "t c1 seen",
        "a it is mended",
        "u and the other one",
        "a call c2",
        "t c2 seen too",
        "a that as well",
        "u thanks",
    ];

    fn thread() -> Thread {
        let policy = Policy::resolve(&Options::default(), &ModelProfile::default());
        Thread::new(Arc::new(policy.expect("defaults resolve").policy))
    }

    /// Of a thread whose first `folded` messages were folded, a branch that has the first `shared`.
    fn check(folded: u64, shared: usize) {
        let talk = Conversation::parse(&LINES);
        let src = Sources {
            texts: &talk,
            counter: &QuarterBytes,
        };
        let mut trunk = thread();
        trunk.append(talk.views().to_vec(), src);
        trunk.adopt(&|node| node.0 < folded, "Valves were mended.", src);
        let record = trunk.active().expect("in force").clone();
        let there = &trunk.branch().path()[..shared];
        let mut branch = thread();
        assert_eq!(
            branch.carried(&record, there, src),
            None,
            "it has nothing yet"
        );
        branch.append(talk.views()[..shared].to_vec(), src);
        let carried = branch.carried(&record, there, src).expect("as many");
        assert_eq!(carried.removed, record.removed);
        assert_eq!(carried.summary, record.summary);
        assert_eq!(carried.upto, there[shared - 1]);
        // What it tells of the conversation ends where the branch does.
        assert_eq!(carried.ledger.messages(), shared as u64);
        if shared == LINES.len() {
            assert_eq!(*record, carried);
        }
        let ack = branch.commit(&carried, branch.expect(), src);
        assert!(matches!(ack, CommitAck::Ok(_)), "{ack:?}");
        // What comes behind is shown behind the same summary.
        let before = branch.projection();
        assert_eq!(before.frozen.first(), trunk.projection().frozen.first());
        branch.append(talk.views()[8..].to_vec(), src);
        assert_eq!(branch.projection().frozen, before.frozen);
        assert_eq!(branch.projection().tail.len(), 1);
    }

    #[test]
    fn a_record_holds_where_all_that_it_folded_is() {
        for shared in 4..=8 {
            check(4, shared);
        }
        check(1, 3);
        check(4, 9);
    }

    #[test]
    fn what_was_read_of_messages_that_are_not_here_is_not_told() {
        let mut memory = Memory::new();
        let mut said = Vec::new();
        for file in ["a.rs", "b.rs"] {
            let args = format!(r#"{{"file_path":"src/{file}","content":"new"}}"#);
            said.push(memory.message(Role::User, vec![text("go on")]));
            said.push(memory.message(Role::Assistant, vec![call(file, "write_file", &args)]));
            said.push(memory.message(Role::Tool, vec![result(file, "written")]));
            said.push(memory.message(Role::Assistant, vec![text("it is there")]));
        }
        let src = Sources {
            texts: &memory,
            counter: &QuarterBytes,
        };
        let mut trunk = thread();
        trunk.append(said.clone(), src);
        trunk.adopt(&|node| node.0 < 4, "A file was written.", src);
        let path = trunk.branch().path().to_vec();
        let record = trunk.active().expect("in force");
        let source = durable::Source {
            ledger: &record.ledger,
            is_gone: &|ordinal| ordinal < 4,
            beside: None,
            next: Next::User,
        };
        let budget = Budget::new(4_000, 4_000, 4_000);
        let record = Record {
            durable: durable::render(&source, budget, src.counter).into(),
            ..record.as_ref().clone()
        };
        assert!(record.durable.contains("b.rs"), "{}", record.durable);
        for shared in [4, 5, 7, 8] {
            let mut branch = thread();
            branch.append(said[..shared].to_vec(), src);
            let carried = branch.carried(&record, &path[..shared], src);
            let durable = carried.expect("as many").durable;
            assert!(durable.contains("a.rs"), "{durable}");
            assert_eq!(durable.contains("b.rs"), shared > 5, "{shared}: {durable}");
            assert!(durable.len() <= record.durable.len());
        }
    }
}
