//! A thread that goes on from a place in another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::{CommitAck, Expect};
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::ranges::NodeRanges;
use conspectus_core::record::Record;
use conspectus_core::thread::{Sources, Thread};

use super::Threads;
use super::append::terms;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::info::{CreateThread, ThreadInfo};
use super::message::placed;
use super::meta::{Meta, Origin};
use super::moves::{Place, nowhere};
use super::open::{moved, new_message};
use super::settings::Asked;
use super::shelf::Shelf;
use super::state::Past;
use crate::clock::Clock;
use crate::store::{Commit, StoredMessage, ThreadKey, Write, Written};

impl<C: Clock> Threads<C> {
    /// Makes a thread that has everything up to a place of `from`, compactions included, under the same message ids, and
    /// goes on by itself. `place`: `None` for the newest state.
    ///
    /// # Errors
    /// When there is no such place, or there is a thread of the new name.
    pub async fn branch(
        &self,
        from: &ThreadKey,
        place: Option<&Place>,
        to: &ThreadKey,
        create: CreateThread,
    ) -> Result<ThreadInfo, ThreadsError> {
        let past = self.past(from).await?;
        let (path, chain) = cut(&past, place)?;
        let asked = CreateThread {
            title: create.title.or_else(|| past.meta.title.clone()),
            agent_name: create.agent_name.or_else(|| past.meta.agent.clone()),
            policy: create.policy.or_else(|| past.meta.policy.clone()),
            ..create
        };
        self.create(to, asked).await?;
        match self
            .copy(from, &path, &chain, past.meta.skills.clone(), to)
            .await
        {
            Ok(()) => self.get(to).await,
            Err(why) => {
                // Nothing half made is left.
                let _ = self.store().delete(to).await;
                Err(why)
            }
        }
    }

    async fn copy(
        &self,
        from: &ThreadKey,
        path: &[&StoredMessage],
        chain: &[Arc<Record>],
        skills: Vec<serde_json::Value>,
        to: &ThreadKey,
    ) -> Result<(), ThreadsError> {
        let head = self.head(to).await?;
        let mut meta = Meta::read(&head.meta);
        let run = self.settings().run(&meta, &Asked::default())?;
        meta.counter = Some(run.counter.id());
        meta.skills = skills;
        meta.origin = Some(Origin {
            thread: from.thread.clone(),
            message: path.last().and_then(|m| m.message.native_id.clone()),
        });
        let mut shelf = Shelf::default();
        for (node, stored) in numbered(path) {
            let message = &stored.message;
            shelf.put(node, message.bytes.clone(), message.native_id.clone());
        }
        let src = Sources {
            texts: &shelf,
            counter: run.counter.as_ref(),
        };
        let mut thread = Thread::new(run.policy.clone());
        let views = numbered(path).map(|(node, m)| placed(&m.message.known.view, node));
        thread.append(views, src);
        let messages = numbered(path).map(|(node, stored)| {
            let id = stored.message.native_id.clone();
            let id = id.unwrap_or_else(|| "".into());
            new_message(&thread, node, stored.message.bytes.clone(), id)
        });
        let messages: Vec<_> = messages.collect();
        let mut revision = head.revision;
        let first = Write {
            revision,
            search: terms(&messages, 0, &shelf),
            messages,
            state: Some(Arc::new(thread.state())),
            meta: Some(meta.to_text()),
            events: vec![ThreadEvent::Imported.to_text()],
            now: self.now(),
            ..Write::default()
        };
        let mut writes = vec![first];
        let map: BTreeMap<NodeId, NodeId> =
            numbered(path).map(|(node, m)| (m.node, node)).collect();
        for record in chain {
            let expect = thread.expect();
            let rows = thread.head_log().len();
            let record = renumbered(record, &map, &thread);
            // One that messages behind it have outdated since stands in nobody's way.
            let CommitAck::Ok(_) = thread.commit(&record, expect, src) else {
                break;
            };
            writes.push(Write {
                moved: moved(&thread, rows),
                state: Some(Arc::new(thread.state())),
                commit: Some(Commit {
                    record: Arc::new(record),
                    expect: Expect {
                        fence: head.fence,
                        ..expect
                    },
                }),
                now: self.now(),
                ..Write::default()
            });
        }
        for write in writes {
            let write = Write { revision, ..write };
            match self.write(to, write).await? {
                Written::Done(now) => revision = now,
                _ => return Err(ThreadsError::Contended),
            }
        }
        Ok(())
    }
}

fn numbered<'a>(
    path: &'a [&'a StoredMessage],
) -> impl Iterator<Item = (NodeId, &'a StoredMessage)> + 'a {
    (0..).map(NodeId).zip(path.iter().copied())
}

/// The messages up to a place, and the records in force there, oldest first.
fn cut<'a>(
    past: &'a Past,
    place: Option<&Place>,
) -> Result<(Vec<&'a StoredMessage>, Vec<Arc<Record>>), ThreadsError> {
    let newest = past.newest().unwrap_or_default();
    let (row, head) = match place {
        None => (newest.row, newest.head()),
        Some(Place::Checkpoint(at)) => {
            let there = past.state(*at).ok_or(ThreadsError::NoCheckpoint(*at))?;
            (there.checkpoint_id.row, there.checkpoint_id.head())
        }
        Some(place @ Place::Message(id)) => {
            let node = past.shelf.find(id).ok_or_else(|| nowhere(place))?;
            (newest.row, Some(node))
        }
        Some(place @ Place::Count(count)) => {
            let path = past.path(newest.head()).ok_or(ThreadsError::Contended)?;
            let last = usize::try_from(*count).ok().and_then(|n| n.checked_sub(1));
            let node = last.and_then(|at| path.get(at)).map(|m| m.node);
            (newest.row, Some(node.ok_or_else(|| nowhere(place))?))
        }
    };
    let path = past.path(head).ok_or(ThreadsError::Contended)?;
    let mut chain = Vec::new();
    let mut next = past.record(row).flatten().cloned();
    while let Some(record) = next {
        next = record.parent.and_then(|id| past.records.get(&id)).cloned();
        let is_on = path.iter().any(|m| m.node == record.upto);
        if is_on {
            chain.push(record);
        }
    }
    chain.reverse();
    Ok((path, chain))
}

/// The record with the numbers that its messages have in the new thread.
fn renumbered(record: &Record, map: &BTreeMap<NodeId, NodeId>, thread: &Thread) -> Record {
    let branch = thread.branch().path();
    let removed = record.removed.clone();
    let back: BTreeMap<NodeId, NodeId> = map.iter().map(|(old, new)| (*new, *old)).collect();
    let is_removed = |at: usize| {
        let old = branch.get(at).and_then(|node| back.get(node));
        old.is_some_and(|old| removed.contains(*old))
    };
    let patches = record.patches.iter().filter_map(|(old, patches)| {
        let new = map.get(old)?;
        Some((*new, patches.clone()))
    });
    let upto = map.get(&record.upto).copied().unwrap_or(record.upto);
    Record {
        id: RecordId(thread.records().len() as u64),
        parent: thread.active().map(|active| active.id),
        upto,
        prefix: thread
            .history()
            .node(upto)
            .map_or(record.prefix, |n| n.prefix),
        removed: NodeRanges::collect(branch, is_removed),
        patches: patches.collect(),
        ..record.clone()
    }
}
