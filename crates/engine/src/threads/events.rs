//! What happened to a thread, in order: stored with the change that it tells of, read after a number, and waited for.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use conspectus_core::effect::Millis;
use conspectus_core::id::{AttemptId, RecordId};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::json::Json;
use crate::clock::Clock;
use crate::store::{Mark, StoredEvent, ThreadKey};
use crate::telemetry;

/// Something that happened to a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThreadEvent {
    /// It was made.
    Created,
    /// It was read from an export.
    Imported,
    /// Title, metadata or policy changed.
    Patched,
    /// Messages came.
    Appended {
        /// Their ids, in order.
        ids: Vec<Arc<str>>,
        /// The state after them.
        checkpoint_id: CheckpointId,
    },
    /// An attempt begins or ended.
    Compaction {
        /// What is told of it.
        event: Box<telemetry::Event>,
    },
    /// A part of an attempt's work is done.
    Progress {
        /// The attempt.
        attempt: AttemptId,
        /// Chunks done.
        done: u32,
        /// Chunks in all.
        of: u32,
    },
    /// A model was passed over.
    ModelFailed {
        /// The attempt.
        attempt: AttemptId,
        /// The model.
        model: Option<Arc<str>>,
        /// Why, without secrets.
        failure: Arc<str>,
    },
    /// A record was put in force.
    Committed {
        /// The record.
        record: RecordId,
        /// The attempt.
        attempt: AttemptId,
        /// The state after it.
        checkpoint_id: CheckpointId,
    },
    /// The process of an attempt died before it ended.
    Abandoned {
        /// What it left.
        mark: Mark,
    },
    /// A compaction was taken back.
    Undone {
        /// Its record.
        record: RecordId,
        /// The state after it.
        checkpoint_id: CheckpointId,
    },
    /// It was put in force again.
    Redone {
        /// Its record.
        record: RecordId,
        /// The state after it.
        checkpoint_id: CheckpointId,
    },
    /// The head moved to an earlier message.
    Rewound {
        /// The state after it.
        checkpoint_id: CheckpointId,
    },
    /// A preview was kept.
    Previewed {
        /// Its name.
        preview: Arc<str>,
    },
    /// A message is kept for good from now on, or no more.
    Pinned {
        /// The message's id.
        id: Arc<str>,
        /// It is.
        pinned: bool,
    },
    /// Something was taken out for good.
    Purged {
        /// How many messages were changed.
        messages: u64,
    },
}

impl ThreadEvent {
    pub(crate) fn to_text(&self) -> Arc<str> {
        let text = serde_json::to_string(self).expect("events can be written");
        text.into()
    }
}

/// An event with its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Counts the events of a thread from 1.
    pub seq: u64,
    /// When.
    pub ms: Millis,
    /// A [`ThreadEvent`]; from a newer version perhaps one that is not known here.
    pub event: Json,
}

impl From<StoredEvent> for Told {
    fn from(stored: StoredEvent) -> Self {
        Self {
            seq: stored.seq,
            ms: stored.ms,
            event: Json::trusted(stored.event),
        }
    }
}

impl Told {
    /// The event, if this version knows it.
    pub fn known(&self) -> Option<ThreadEvent> {
        serde_json::from_str(self.event.as_str()).ok()
    }
}

/// Rings when something happened to a thread in this process. Without a runtime: whoever waits leaves a waker.
#[derive(Debug, Default)]
pub(crate) struct Bells(Mutex<BTreeMap<ThreadKey, Bell>>);

#[derive(Debug, Default)]
struct Bell {
    rung: u64,
    waiting: Vec<Waker>,
    listeners: usize,
}

impl Bells {
    /// The bell of all of a tenant's threads: no thread is called nothing.
    pub(super) fn tenants(tenant: Arc<str>) -> ThreadKey {
        ThreadKey {
            tenant,
            thread: "".into(),
        }
    }

    /// Rings the thread's bell and its tenant's.
    pub(crate) fn ring(&self, key: &ThreadKey) {
        let mut waiting = Vec::new();
        let mut bells = self.lock();
        for key in [key, &Self::tenants(key.tenant.clone())] {
            if let Some(bell) = bells.get_mut(key) {
                bell.rung += 1;
                waiting.append(&mut bell.waiting);
            }
        }
        drop(bells);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// How often it rang.
    pub(super) fn rung(&self, key: &ThreadKey) -> u64 {
        self.lock().get(key).map_or(0, |bell| bell.rung)
    }

    /// How often it rang; or leaves the waker where that is still `seen`.
    pub(super) fn poll(&self, key: &ThreadKey, seen: u64, cx: &Context<'_>) -> Poll<u64> {
        let mut bells = self.lock();
        let bell = bells.entry(key.clone()).or_default();
        if bell.rung != seen {
            return Poll::Ready(bell.rung);
        }
        if !bell.waiting.iter().any(|w| w.will_wake(cx.waker())) {
            bell.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    pub(super) fn listen(&self, key: &ThreadKey) -> u64 {
        let mut bells = self.lock();
        let bell = bells.entry(key.clone()).or_default();
        bell.listeners += 1;
        bell.rung
    }

    pub(super) fn leave(&self, key: &ThreadKey) {
        let mut bells = self.lock();
        let Some(bell) = bells.get_mut(key) else {
            return;
        };
        bell.listeners -= 1;
        if bell.listeners == 0 {
            bells.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Bell>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events of one thread as they come. Those of other processes on the same store come a little later
/// ([`Settings::poll_ms`](super::Settings::poll_ms)).
pub struct Subscription {
    bells: Arc<Bells>,
    key: ThreadKey,
    after: u64,
    rung: u64,
}

impl Subscription {
    /// The number of the last event that was given.
    pub fn after(&self) -> u64 {
        self.after
    }

    /// The next events: at least one, or none when `until` has come. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the store fails, or the thread is gone.
    pub async fn next<C: Clock>(
        &mut self,
        threads: &Threads<C>,
        until: Millis,
    ) -> Result<Vec<Told>, ThreadsError> {
        const PAGE: u32 = 200;
        loop {
            let found = threads.events(&self.key, self.after, PAGE).await?;
            if let Some(last) = found.last() {
                self.after = last.seq;
                return Ok(found);
            }
            let now = threads.now();
            if now >= until {
                return Ok(Vec::new());
            }
            let poll = threads.settings().poll_ms.max(1);
            let clock = threads.compactor().clock();
            let mut sleep = clock.sleep_until(until.min(now.saturating_add(poll)));
            self.rung = poll_fn(|cx| {
                if let Poll::Ready(rung) = self.bells.poll(&self.key, self.rung, cx) {
                    return Poll::Ready(rung);
                }
                sleep.as_mut().poll(cx).map(|()| self.rung)
            })
            .await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.bells.leave(&self.key);
    }
}

impl<C: Clock> Threads<C> {
    /// Events behind number `after`, oldest first.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn events(
        &self,
        key: &ThreadKey,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Told>, ThreadsError> {
        let stored = self.store().events(key, after, limit).await;
        let stored = stored.map_err(|why| self.of_store(key, why))?;
        Ok(stored.into_iter().map(Told::from).collect())
    }

    /// The number of the newest event: whoever follows from there on hears what comes. Events are numbered without
    /// gaps, so it is found in a few looks.
    ///
    /// # Errors
    /// When there is no such thread.
    pub(crate) async fn last_event(&self, key: &ThreadKey) -> Result<u64, ThreadsError> {
        let (mut least, mut step) = (0u64, 64u64);
        while !self.events(key, least + step, 1).await?.is_empty() {
            least += step + 1;
            step *= 2;
        }
        // It is at least `least`, and at most `least + step`.
        let mut most = least + step;
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            match self.events(key, middle - 1, 1).await?.is_empty() {
                true => most = middle - 1,
                false => least = middle,
            }
        }
        Ok(least)
    }

    /// Events behind number `after` as they come.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn subscribe(
        &self,
        key: &ThreadKey,
        after: u64,
    ) -> Result<Subscription, ThreadsError> {
        self.head(key).await?;
        Ok(Subscription {
            bells: self.bells().clone(),
            key: key.clone(),
            after,
            rung: self.bells().listen(key),
        })
    }

    /// Stores an event and rings.
    pub(crate) async fn tell(
        &self,
        key: &ThreadKey,
        event: &ThreadEvent,
    ) -> Result<(), ThreadsError> {
        let text = event.to_text();
        self.store().emit(key, &text, self.now()).await?;
        self.bells().ring(key);
        Ok(())
    }
}
