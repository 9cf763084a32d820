//! A thread that goes on from a place in another one.

use std::sync::Arc;

use conspectus_core::effect::CommitAck;
use conspectus_core::id::NodeId;
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
use super::open::{beside, moved, new_message};
use super::settings::{Asked, Run};
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
        match self.copy(&past, from, &path, &chain, to).await {
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
        past: &Past,
        from: &ThreadKey,
        path: &[&StoredMessage],
        chain: &[Carried],
        to: &ThreadKey,
    ) -> Result<(), ThreadsError> {
        let head = self.head(to).await?;
        let mut meta = Meta::read(&head.meta);
        let run = self.settings().run(&meta, &Asked::default())?;
        meta.counter = Some(run.counter.id());
        meta.skills.clone_from(&past.meta.skills);
        let listed = &past.meta.folded_pins;
        let here = numbered(path).filter(|(_, stored)| listed.contains(&stored.node));
        meta.folded_pins = here.map(|(node, _)| node).collect();
        meta.origin = Some(Origin {
            thread: from.thread.clone(),
            message: path.last().and_then(|m| m.message.native_id.clone()),
        });
        let mut writes = writes(past, path, chain, &run);
        let first = writes.first_mut();
        let first = first.expect("what there is was written, be it nothing");
        first.meta = Some(meta.to_text());
        first.events = vec![ThreadEvent::Imported.to_text()];
        let (mut revision, mut version) = (head.revision, head.version);
        for mut write in writes {
            if let Some(commit) = &mut write.commit {
                (commit.expect.version, commit.expect.fence) = (version, head.fence);
            }
            version = write.state.as_ref().map_or(version, |s| s.version());
            let now = self.now();
            let write = Write {
                revision,
                now,
                ..write
            };
            match self.write(to, write).await? {
                Written::Done(now) => revision = now,
                _ => return Err(ThreadsError::Contended),
            }
        }
        Ok(())
    }
}

/// What is written of a new thread: everything up to the end of a path, and the records that hold there.
fn writes(past: &Past, path: &[&StoredMessage], chain: &[Carried], run: &Run) -> Vec<Write> {
    let mut shelf = Shelf::default();
    for (node, stored) in numbered(path) {
        let message = &stored.message;
        shelf.put(node, message.bytes.clone(), message.native_id.clone());
    }
    let src = Sources {
        texts: &shelf,
        counter: run.counter.as_ref(),
    };
    let there: Vec<NodeId> = path.iter().map(|stored| stored.node).collect();
    let mut copy = Copy {
        thread: Thread::new(run.policy.clone()),
        path,
        src,
        writes: Vec::new(),
    };
    // The same was sent with it; what a compaction came to is seen with it in sight.
    if let Some(state) = &past.head.state {
        copy.thread.set_fixed(state.fixed().clone());
    }
    copy.thread.set_beside(beside(&past.meta));
    // As it went: each compaction when what it knows of was there, and then what came behind it. How long a thread
    // waits before it compacts again follows from its size at that time.
    for Carried { record, shared } in chain {
        let new = copy.appended(*shared);
        let thread = &mut copy.thread;
        let (expect, rows) = (thread.expect(), thread.head_log().len());
        let carried = thread.carried(record, &there[..thread.branch().len()], src);
        let Some(record) = carried.filter(|_| thread.branch().len() == *shared) else {
            copy.write(new);
            continue;
        };
        let CommitAck::Ok(_) = thread.commit(&record, expect, src) else {
            copy.write(new);
            break;
        };
        let record = Arc::new(record);
        let write = Write {
            moved: moved(thread, rows),
            commit: Some(Commit { record, expect }),
            ..new
        };
        copy.write(write);
    }
    let rest = copy.appended(path.len());
    if !rest.messages.is_empty() || copy.writes.is_empty() {
        copy.write(rest);
    }
    copy.writes
}

/// A record that is in force on a branch.
struct Carried {
    record: Arc<Record>,
    /// So many messages of the branch it knows of.
    shared: usize,
}

/// The new thread while it is made, and what is written of it.
struct Copy<'a> {
    thread: Thread,
    path: &'a [&'a StoredMessage],
    src: Sources<'a>,
    writes: Vec<Write>,
}

impl Copy<'_> {
    /// Appends the messages up to the place behind `count` of them; gives what is to be written.
    fn appended(&mut self, count: usize) -> Write {
        let from = self.thread.branch().len();
        let new = || numbered(self.path).take(count).skip(from);
        let views = new().map(|(node, m)| placed(&m.message.known.view, node));
        self.thread.append(views, self.src);
        let messages = new().map(|(node, stored)| {
            let id = stored.message.native_id.clone();
            let id = id.unwrap_or_else(|| "".into());
            new_message(&self.thread, node, stored.message.bytes.clone(), id)
        });
        let messages: Vec<_> = messages.collect();
        Write {
            search: terms(&messages, from as u64, self.src.texts),
            messages,
            ..Write::default()
        }
    }

    /// Notes a write, with the state after it.
    fn write(&mut self, write: Write) {
        let state = Some(Arc::new(self.thread.state()));
        self.writes.push(Write { state, ..write });
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
) -> Result<(Vec<&'a StoredMessage>, Vec<Carried>), ThreadsError> {
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
        chain.extend(on(past, &path, record));
    }
    chain.reverse();
    Ok((path, chain))
}

/// A record where it holds on a path: all that it folded is there, whatever else it knew of. People edit the last request;
/// some clients add a reminder to the newest message and leave it out of the next request.
fn on(past: &Past, path: &[&StoredMessage], record: Arc<Record>) -> Option<Carried> {
    let known = past.path(Some(record.upto))?;
    let both = known.iter().zip(path);
    let shared = both.take_while(|(there, here)| there.node == here.node);
    let shared = shared.count();
    let is_folded = |stored: &&StoredMessage| record.removed.contains(stored.node);
    let holds = shared > 0 && !known[shared..].iter().any(is_folded);
    holds.then_some(Carried { record, shared })
}
