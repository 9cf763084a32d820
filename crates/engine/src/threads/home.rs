//! A stored thread while an attempt runs on it: commits go through the store, partial results too.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use conspectus_core::count::TokenCounter;
use conspectus_core::effect::{CommitAck, Expect, Failure, Millis};
use conspectus_core::id::{AttemptId, Ident, RecordId};
use conspectus_core::policy::Policy;
use conspectus_core::ranges::NodeRanges;
use conspectus_core::record::Record;
use conspectus_core::thread::{Sources, Thread};

use super::checkpoint::CheckpointId;
use super::compact::Folding;
use super::events::{Bells, ThreadEvent};
use super::open::{Opened, moved};
use super::shelf::Shelf;
use super::turns::Turns;
use crate::clock::Clock;
use crate::home::Home;
use crate::model::Boxed;
use crate::store::{Commit, StoreError, ThreadKey, ThreadStore, Write, Written, commit_ack, whole};
use crate::telemetry::Event;

/// How often a commit or a look-up is tried on a store that cannot be reached, and how long apart.
const TRIES: u32 = 8;
const PAUSE_MS: Millis = 250;

/// What becomes of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// They are put in force.
    Live,
    /// They are kept aside.
    Preview,
}

/// A thread of a store, read whole, under a lease.
pub(super) struct StoreHome<'a, C> {
    store: &'a dyn ThreadStore,
    turns: &'a Turns,
    clock: &'a C,
    bells: &'a Bells,
    key: &'a ThreadKey,
    keeping: Keeping,
    policy: Arc<Policy>,
    counter: Arc<dyn TokenCounter>,
    kept: Mutex<Kept>,
}

struct Kept {
    thread: Thread,
    shelf: Shelf,
    revision: u64,
    /// What a commit without an answer would have made of it.
    unsure: Option<Thread>,
    /// Records of a preview, in order, with what each was planned on.
    aside: Vec<(Arc<Record>, Expect)>,
    /// Events to be stored soon.
    events: VecDeque<Arc<str>>,
    /// Those to be stored with the state after the attempt.
    ending: Vec<Arc<str>>,
    /// Who stores events while the attempt runs.
    teller: Option<Waker>,
}

/// What an attempt left.
pub(super) struct Left {
    pub(super) thread: Thread,
    pub(super) aside: Vec<(Arc<Record>, Expect)>,
    pub(super) events: Vec<Arc<str>>,
}

impl<'a, C: Clock> StoreHome<'a, C> {
    pub(super) fn new(
        (store, turns): (&'a dyn ThreadStore, &'a Turns),
        clock: &'a C,
        bells: &'a Bells,
        key: &'a ThreadKey,
        keeping: Keeping,
        opened: Opened,
    ) -> Self {
        let kept = Kept {
            thread: opened.thread,
            shelf: opened.shelf,
            revision: opened.head.revision,
            unsure: None,
            aside: Vec::new(),
            events: VecDeque::new(),
            ending: Vec::new(),
            teller: None,
        };
        Self {
            store,
            turns,
            clock,
            bells,
            key,
            keeping,
            policy: opened.run.policy,
            counter: opened.run.counter,
            kept: Mutex::new(kept),
        }
    }

    pub(super) fn into_left(self) -> Left {
        let kept = self.kept.into_inner();
        let kept = kept.unwrap_or_else(PoisonError::into_inner);
        Left {
            thread: kept.thread,
            aside: kept.aside,
            events: kept.events.into_iter().chain(kept.ending).collect(),
        }
    }

    /// What goes and what stays of the window when these are folded.
    pub(super) fn folding(&self, removed: &NodeRanges) -> Folding {
        let kept = self.lock();
        let branch = kept.thread.branch();
        let mut folding = Folding::default();
        for (at, node) in branch.path().iter().enumerate() {
            if kept.thread.is_folded(at) {
                continue;
            }
            let list = match removed.contains(*node) {
                true => &mut folding.going,
                false => &mut folding.staying,
            };
            list.extend(kept.shelf.json(*node));
        }
        folding
    }

    /// An event to be stored soon: by [`Self::tell`], or with the next write.
    pub(super) fn keep(&self, event: &ThreadEvent) {
        let teller = {
            let mut kept = self.lock();
            kept.events.push_back(event.to_text());
            kept.teller.take()
        };
        teller.into_iter().for_each(Waker::wake);
    }

    /// Stores events as they come, for whoever watches. Never ends.
    pub(super) async fn tell(&self) {
        loop {
            let event = poll_fn(|cx| {
                let mut kept = self.lock();
                let event = kept.events.pop_front();
                if event.is_none() {
                    kept.teller = Some(cx.waker().clone());
                }
                event.map_or(Poll::Pending, Poll::Ready)
            });
            let event = event.await;
            let _ = self.store.emit(self.key, &event, self.clock.now()).await;
            self.bells.ring(self.key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread with the record in force, and the write that makes it so; or why not.
    fn planned(&self, record: &Record, expect: Expect) -> Result<(Thread, Write), CommitAck> {
        let mut kept = self.lock();
        let mut grown = kept.thread.clone();
        let src = Sources {
            texts: &kept.shelf,
            counter: self.counter.as_ref(),
        };
        let rows = grown.head_log().len();
        let ack = grown.commit(record, expect, src);
        let CommitAck::Ok(_) = ack else {
            return Err(ack);
        };
        let state = Arc::new(grown.state());
        let committed = ThreadEvent::Committed {
            record: record.id,
            attempt: record.attempt,
            checkpoint_id: CheckpointId::new(state.knows().2, state.head()),
        };
        let mut events: Vec<_> = kept.events.drain(..).collect();
        events.push(committed.to_text());
        let write = Write {
            revision: kept.revision,
            moved: moved(&grown, rows),
            state: Some(state),
            commit: Some(Commit {
                record: Arc::new(record.clone()),
                expect,
            }),
            events,
            now: self.clock.now(),
            ..Write::default()
        };
        Ok((grown, write))
    }

    async fn commit_here(&self, record: &Record, expect: Expect) -> CommitAck {
        let mut failed = 0;
        let mut turn = None;
        loop {
            let (grown, write) = match self.planned(record, expect) {
                Ok(planned) => planned,
                Err(ack) => return ack,
            };
            let events = write.events.clone();
            let written = self.store.write(self.key, write).await;
            if !matches!(written, Ok(Written::Done(_))) {
                // The last one tells of the commit itself.
                let earlier = events.len() - 1;
                for event in events.into_iter().take(earlier).rev() {
                    self.lock().events.push_front(event);
                }
            }
            match &written {
                Ok(Written::Behind(_)) => {
                    turn.get_or_insert_with(|| self.turns.hold(self.key));
                    match self.catch_up().await {
                        Ok(()) => continue,
                        Err(failure) => return CommitAck::Failed(failure),
                    }
                }
                Ok(Written::Done(revision)) => {
                    let mut kept = self.lock();
                    kept.thread = grown;
                    kept.revision = *revision;
                    self.bells.ring(self.key);
                    return CommitAck::Ok(kept.thread.expect().version);
                }
                Err(why) if why.is_uncertain() => {
                    self.lock().unsure = Some(grown);
                    return CommitAck::Unknown;
                }
                Err(StoreError::Busy) if failed < TRIES => {
                    failed += 1;
                    self.pause().await;
                }
                other => {
                    let version = grown.expect().version;
                    return commit_ack(other, version).unwrap_or(CommitAck::Conflict);
                }
            }
        }
    }

    /// Reads what others wrote. The attempt goes on on the thread as it is now.
    async fn catch_up(&self) -> Result<(), Failure> {
        let failed = |what: String| Failure::Store {
            message: what.into(),
        };
        let read = whole(self.store, self.key).await;
        let read = read.map_err(|why| failed(why.to_string()))?;
        let read = read.ok_or_else(|| failed("the thread is gone".to_owned()))?;
        let shelf = Shelf::of(&read.messages);
        let src = Sources {
            texts: &shelf,
            counter: self.counter.as_ref(),
        };
        let thread = Thread::restore(self.policy.clone(), read.state, read.stored, src);
        let mut thread = thread.map_err(|why| failed(why.to_string()))?;
        let mut kept = self.lock();
        thread.set_fence(kept.thread.expect().fence);
        thread.goes_on(&kept.thread);
        kept.thread = thread;
        kept.shelf = shelf;
        kept.revision = read.head.revision;
        Ok(())
    }

    async fn found(&self, attempt: AttemptId, record: RecordId) -> bool {
        for nth in 0..TRIES {
            match self.store.has_record(self.key, attempt, record).await {
                Ok(true) => {
                    // What the record made of the thread is what was written.
                    let grown = self.lock().unsure.take();
                    let read = self.catch_up().await;
                    if let (Err(_), Some(grown)) = (read, grown) {
                        self.lock().thread = grown;
                    }
                    self.bells.ring(self.key);
                    return true;
                }
                Ok(false) => return false,
                Err(_) if nth + 1 < TRIES => self.pause().await,
                Err(_) => {}
            }
        }
        false
    }

    fn commit_aside(&self, record: &Record, expect: Expect) -> CommitAck {
        let mut kept = self.lock();
        let kept = &mut *kept;
        let src = Sources {
            texts: &kept.shelf,
            counter: self.counter.as_ref(),
        };
        let ack = kept.thread.commit(record, expect, src);
        if matches!(ack, CommitAck::Ok(_)) {
            kept.aside.push((Arc::new(record.clone()), expect));
        }
        ack
    }

    async fn pause(&self) {
        let until = self.clock.now().saturating_add(PAUSE_MS);
        self.clock.sleep_until(until).await;
    }
}

impl<C: Clock> Home for StoreHome<'_, C> {
    fn with<R>(&self, f: impl FnOnce(&mut Thread, Sources<'_>) -> R) -> R {
        let mut kept = self.lock();
        let kept = &mut *kept;
        let src = Sources {
            texts: &kept.shelf,
            counter: self.counter.as_ref(),
        };
        f(&mut kept.thread, src)
    }

    fn commit<'a>(&'a self, record: &'a Record, expect: Expect) -> Boxed<'a, CommitAck> {
        Box::pin(async move {
            match self.keeping {
                Keeping::Live => self.commit_here(record, expect).await,
                Keeping::Preview => self.commit_aside(record, expect),
            }
        })
    }

    fn has_record(&self, attempt: AttemptId, record: RecordId) -> Boxed<'_, bool> {
        Box::pin(self.found(attempt, record))
    }

    fn cached(&self, part: Ident) -> Option<Boxed<'_, Option<Arc<str>>>> {
        Some(Box::pin(async move {
            // A cache that fails has nothing.
            self.store.cached(self.key, part).await.ok().flatten()
        }))
    }

    fn cache(&self, part: Ident, text: Arc<str>) -> Option<Boxed<'_, ()>> {
        Some(Box::pin(async move {
            let now = self.clock.now();
            let _ = self.store.cache(self.key, part, &text, now).await;
        }))
    }

    fn told<'a>(&'a self, event: &'a Event) -> Boxed<'a, ()> {
        Box::pin(async move {
            let told = ThreadEvent::Compaction {
                event: Box::new(event.clone()),
            };
            if event.is_end() {
                // It is stored with the state after the attempt.
                return self.lock().ending.push(told.to_text());
            }
            let text = told.to_text();
            // Telling must not keep it from working.
            let _ = self.store.emit(self.key, &text, self.clock.now()).await;
            self.bells.ring(self.key);
        })
    }
}
