//! How large the window was, message after message, with what compactions and moves did to it.
//!
//! A request under a record is what that record left, and what came behind it; without a record it is the whole branch.
//! Both follow from what each message was weighed at, from the records and from the log of heads, so nothing is kept for
//! it. What was shortened since the last record is not in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::count::TokenCounter;
use conspectus_core::effect::Millis;
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::HeadChange;
use serde::Serialize;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::meta::Meta;
use super::settings::Asked;
use super::state::Cause;
use crate::clock::Clock;
use crate::store::{StoredMessage, ThreadKey};

/// The size of the window over a thread's life.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Sizes, oldest first.
    pub points: Vec<CurvePoint>,
    /// What changed it all at once, oldest first.
    pub marks: Vec<CurveMark>,
}

/// A size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CurvePoint {
    /// Messages that the thread had, over all branches.
    pub messages: u64,
    /// When the newest of them was stored.
    pub ms: Millis,
    /// Tokens of the request, by the thread's counter.
    pub tokens: u64,
    /// What the provider reported for the reply that is the newest message.
    pub reported: Option<u64>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveMark {
    /// Messages that the thread had.
    pub messages: u64,
    /// When the newest of them was stored.
    pub ms: Millis,
    /// What happened.
    pub cause: Cause,
    /// The record in force after it.
    pub record: Option<RecordId>,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
    /// The state after it.
    pub checkpoint_id: CheckpointId,
}

impl<C: Clock> Threads<C> {
    /// The size of the window in about so many points. Costs these and the records, not the thread.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn curve(&self, key: &ThreadKey, points: u32) -> Result<Curve, ThreadsError> {
        let head = self.head(key).await?;
        let nodes = head.nodes;
        let Some(state) = head.state.as_ref().filter(|_| nodes > 0) else {
            return Ok(Curve::default());
        };
        let run = self
            .settings()
            .run(&Meta::read(&head.meta), &Asked::default())?;
        let log = self.store().head_log(key).await?;
        let records = match head.records.checked_sub(1) {
            Some(last) => {
                let all = self.store().records(key, RecordId(0), RecordId(last));
                all.await?.into_iter().map(|r| (r.id, r)).collect()
            }
            None => BTreeMap::new(),
        };
        let mut asked: Vec<u64> = Vec::new();
        let step = nodes.div_ceil(u64::from(points.max(1)));
        asked.extend((0..nodes).step_by(usize::try_from(step).unwrap_or(usize::MAX)));
        asked.push(nodes - 1);
        asked.extend(log.iter().filter_map(|row| row.head.map(|head| head.0)));
        asked.extend(records.values().map(|record: &Arc<Record>| record.upto.0));
        asked.sort_unstable();
        asked.dedup();
        let read = self.sizes(key, &asked, nodes).await?;
        let counter = run.counter.as_ref();
        let drawn = Drawn {
            counter,
            seen: &read,
            records: &records,
            fixed: counter.tokens(state.fixed().weight),
        };
        Ok(drawn.draw(&log))
    }

    /// What is known of these messages; all are read at once where most are asked for.
    async fn sizes(
        &self,
        key: &ThreadKey,
        asked: &[u64],
        nodes: u64,
    ) -> Result<BTreeMap<u64, Seen>, ThreadsError> {
        let mut seen = BTreeMap::new();
        if asked.len() as u64 * 2 > nodes {
            let all = self.store().messages(key, NodeId(0), NodeId(nodes - 1));
            seen.extend(all.await?.iter().map(|m| (m.node.0, Seen::of(m))));
            return Ok(seen);
        }
        for node in asked {
            let one = self.store().messages(key, NodeId(*node), NodeId(*node));
            seen.extend(one.await?.iter().map(|m| (m.node.0, Seen::of(m))));
        }
        Ok(seen)
    }
}

/// What a message tells.
#[derive(Clone, Copy)]
struct Seen {
    cumulative: u64,
    ms: Millis,
    reported: Option<u64>,
}

impl Seen {
    fn of(stored: &StoredMessage) -> Self {
        let usage = stored.message.known.view.usage.as_ref();
        Self {
            cumulative: stored.cumulative,
            ms: stored.stored_ms,
            reported: usage.filter(|u| u.input > 0).map(|u| u.context()),
        }
    }
}

struct Drawn<'a> {
    counter: &'a dyn TokenCounter,
    seen: &'a BTreeMap<u64, Seen>,
    records: &'a BTreeMap<RecordId, Arc<Record>>,
    /// What stands outside the messages.
    fixed: u64,
}

impl Drawn<'_> {
    fn cumulative(&self, node: u64) -> u64 {
        let weight = self.seen.get(&node).map_or(0, |seen| seen.cumulative);
        self.counter.tokens(weight)
    }

    /// Tokens with this newest message and this record in force.
    fn tokens(&self, node: Option<u64>, record: Option<RecordId>) -> u64 {
        let here = node.map_or(0, |node| self.cumulative(node));
        let record = record.and_then(|id| self.records.get(&id));
        let left = record.and_then(|r| Some((r.measured.tokens_after?, r.upto.0)));
        match left {
            Some((after, upto)) => (after + here).saturating_sub(self.cumulative(upto)),
            None => here + self.fixed,
        }
    }

    fn draw(&self, log: &[HeadChange]) -> Curve {
        let mut curve = Curve::default();
        let mut seen = self.seen.iter().peekable();
        let (mut record, mut newest, mut here) = (None, None, None);
        for (row, change) in (1..).zip(log) {
            let upto = change.head.map(|head| head.0).max(newest);
            while let Some((node, at)) = seen.next_if(|(node, _)| Some(**node) <= upto) {
                curve.points.push(self.point(*node, *at, record));
                here = Some(*node);
            }
            newest = upto;
            let before = self.tokens(here, record);
            (record, here) = (change.record, change.head.map(|head| head.0));
            let mark = CurveMark {
                messages: newest.map_or(0, |node| node + 1),
                ms: newest.and_then(|n| self.seen.get(&n)).map_or(0, |s| s.ms),
                cause: change.cause.into(),
                record,
                before,
                after: self.tokens(here, record),
                checkpoint_id: CheckpointId::new(row, change.head),
            };
            curve.points.push(CurvePoint {
                messages: mark.messages,
                ms: mark.ms,
                tokens: mark.after,
                reported: None,
            });
            curve.marks.push(mark);
        }
        for (node, at) in seen {
            curve.points.push(self.point(*node, *at, record));
        }
        curve
    }

    fn point(&self, node: u64, at: Seen, record: Option<RecordId>) -> CurvePoint {
        CurvePoint {
            messages: node + 1,
            ms: at.ms,
            tokens: self.tokens(Some(node), record),
            reported: at.reported,
        }
    }
}
