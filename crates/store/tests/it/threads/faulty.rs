//! A store whose futures are ready at once, so that virtual time can stand still, and which does what tests want to see.

use std::collections::VecDeque;
use std::future::{poll_fn, ready};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use conspectus::store::{
    Found, Head, Lease, Listing, Mark, Rewrite, StoreError, StoredEvent, StoredMessage, Stores,
    ThreadKey, ThreadStore, Write, Written,
};
use conspectus::terms::Terms;
use conspectus_core::effect::{Fence, Millis};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};

use crate::support::now as to_end;

/// What happens to a write.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It is done, and nobody hears of it.
    Lost,
    /// It is not done.
    Fails(StoreError),
}

/// Clones are the same store.
#[derive(Clone)]
pub(crate) struct Faulty {
    inner: Arc<dyn ThreadStore>,
    /// For the next writes with a record, in order.
    commits: Arc<Mutex<VecDeque<Fault>>>,
    /// What was done, in order: names of methods that change something.
    pub(crate) done: Arc<Mutex<Vec<String>>>,
    /// Messages that were read.
    pub(crate) read: Arc<AtomicU64>,
    /// Every answer comes a little later, so that others get their turn.
    pub(crate) is_slow: Arc<AtomicBool>,
    death: Arc<Mutex<Death>>,
}

/// When the process dies.
#[derive(Debug, Default)]
struct Death {
    /// Calls until then.
    after: Option<u64>,
    /// What is called then still happens.
    happens: bool,
    is_dead: bool,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn ThreadStore>) -> Self {
        Self {
            inner,
            commits: Arc::default(),
            done: Arc::default(),
            read: Arc::default(),
            is_slow: Arc::default(),
            death: Arc::default(),
        }
    }

    /// The process dies at the call behind so many; whether that one is made all the same.
    pub(crate) fn die(&self, after: u64, happens: bool) {
        *self.death.lock().expect("not poisoned") = Death {
            after: Some(after),
            happens,
            is_dead: false,
        };
    }

    /// Whether it did. It lives again from here on.
    pub(crate) fn died(&self) -> bool {
        std::mem::take(&mut *self.death.lock().expect("not poisoned")).is_dead
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.death.lock().expect("not poisoned").is_dead
    }

    /// The answer of a call that is made now, or none ever.
    fn answer<'a, T: Send + 'a>(
        &'a self,
        call: impl FnOnce() -> Result<T, StoreError>,
    ) -> Stores<'a, T> {
        let happens = {
            let mut death = self.death.lock().expect("not poisoned");
            let is_now = death.after == Some(0);
            death.after = death.after.map(|left| left.saturating_sub(1));
            death.is_dead |= is_now;
            match death.is_dead {
                true => is_now && death.happens,
                false => true,
            }
        };
        let answer = happens.then(call);
        let is_slow = self.is_slow.load(Ordering::SeqCst);
        let is_dead = self.is_dead();
        Box::pin(async move {
            if is_slow {
                let mut waited = false;
                poll_fn(|cx| match std::mem::replace(&mut waited, true) {
                    true => Poll::Ready(()),
                    false => {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                })
                .await;
            }
            match answer {
                Some(answer) if !is_dead => answer,
                _ => std::future::pending().await,
            }
        })
    }

    pub(crate) fn fail_commits(&self, faults: impl IntoIterator<Item = Fault>) {
        self.commits.lock().expect("not poisoned").extend(faults);
    }

    fn note(&self, what: impl Into<String>) {
        self.done.lock().expect("not poisoned").push(what.into());
    }

    fn fault(&self, write: &Write) -> Fault {
        let mut faults = self.commits.lock().expect("not poisoned");
        let next = write.commit.is_some().then(|| faults.pop_front());
        next.flatten().unwrap_or(Fault::None)
    }
}

impl ThreadStore for Faulty {
    fn create<'a>(&'a self, key: &'a ThreadKey, meta: &'a str, now: Millis) -> Stores<'a, bool> {
        self.answer(move || to_end(self.inner.create(key, meta, now)))
    }

    fn delete<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, bool> {
        self.answer(move || to_end(self.inner.delete(key)))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a str,
        listing: &'a Listing,
    ) -> Stores<'a, Vec<(Arc<str>, Head)>> {
        self.answer(move || to_end(self.inner.list(tenant, listing)))
    }

    fn count<'a>(&'a self, tenant: &'a str) -> Stores<'a, u64> {
        self.answer(move || to_end(self.inner.count(tenant)))
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Option<Head>> {
        self.answer(move || to_end(self.inner.head(key)))
    }

    fn write<'a>(&'a self, key: &'a ThreadKey, write: Write) -> Stores<'a, Written> {
        let types = write.events.iter().map(|event| {
            let event: serde_json::Value = serde_json::from_str(event).expect("events are JSON");
            let name = event["event"]["name"].as_str().or(event["type"].as_str());
            name.unwrap_or("?").to_owned()
        });
        let types: Vec<_> = types.collect();
        let fault = self.fault(&write);
        if let Fault::Fails(why) = fault {
            return Box::pin(ready(Err(why)));
        }
        let is_commit = write.commit.is_some();
        self.answer(move || {
            let written = to_end(self.inner.write(key, write));
            if let Ok(Written::Done(_)) = written {
                let what = if is_commit { "commit" } else { "write" };
                self.note(format!("{what} {types:?}"));
            }
            match fault {
                Fault::Lost => Err(StoreError::Unreachable("the line is dead".to_owned())),
                _ => written,
            }
        })
    }

    fn rewrite<'a>(&'a self, key: &'a ThreadKey, rewrite: Rewrite) -> Stores<'a, Written> {
        self.note("rewrite");
        self.answer(move || to_end(self.inner.rewrite(key, rewrite)))
    }

    fn expire<'a>(
        &'a self,
        tenant: &'a str,
        before_ms: Millis,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        self.answer(move || to_end(self.inner.expire(tenant, before_ms, limit)))
    }

    fn search<'a>(
        &'a self,
        key: &'a ThreadKey,
        terms: &'a Terms,
        limit: u32,
    ) -> Stores<'a, Vec<Found>> {
        self.answer(move || to_end(self.inner.search(key, terms, limit)))
    }

    fn preview<'a>(&'a self, key: &'a ThreadKey, name: &'a str) -> Stores<'a, Option<Arc<str>>> {
        self.answer(move || to_end(self.inner.preview(key, name)))
    }

    fn keep_preview<'a>(
        &'a self,
        key: &'a ThreadKey,
        name: &'a str,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        self.note("keep preview");
        self.answer(move || to_end(self.inner.keep_preview(key, name, text, now)))
    }

    fn has_record<'a>(
        &'a self,
        key: &'a ThreadKey,
        attempt: AttemptId,
        record: RecordId,
    ) -> Stores<'a, bool> {
        self.note("look up");
        self.answer(move || to_end(self.inner.has_record(key, attempt, record)))
    }

    fn messages<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: NodeId,
        last: NodeId,
    ) -> Stores<'a, Vec<StoredMessage>> {
        self.answer(move || {
            let found = to_end(self.inner.messages(key, first, last));
            let count = found.as_ref().map_or(0, Vec::len);
            self.read.fetch_add(count as u64, Ordering::SeqCst);
            found
        })
    }

    fn by_native_id<'a>(
        &'a self,
        key: &'a ThreadKey,
        native_id: &'a str,
    ) -> Stores<'a, Option<NodeId>> {
        self.answer(move || to_end(self.inner.by_native_id(key, native_id)))
    }

    fn records<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: RecordId,
        last: RecordId,
    ) -> Stores<'a, Vec<Arc<Record>>> {
        self.answer(move || to_end(self.inner.records(key, first, last)))
    }

    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>> {
        self.answer(move || to_end(self.inner.head_log(key)))
    }

    fn acquire<'a>(
        &'a self,
        key: &'a ThreadKey,
        holder: &'a str,
        ttl_ms: Millis,
        now: Millis,
    ) -> Stores<'a, Lease> {
        self.answer(move || to_end(self.inner.acquire(key, holder, ttl_ms, now)))
    }

    fn release<'a>(&'a self, key: &'a ThreadKey, fence: Fence) -> Stores<'a, bool> {
        self.note("release");
        self.answer(move || to_end(self.inner.release(key, fence)))
    }

    fn mark<'a>(
        &'a self,
        key: &'a ThreadKey,
        fence: Fence,
        mark: Option<Mark>,
    ) -> Stores<'a, bool> {
        self.note(if mark.is_some() { "mark" } else { "unmark" });
        self.answer(move || to_end(self.inner.mark(key, fence, mark)))
    }

    fn cached<'a>(&'a self, key: &'a ThreadKey, part: Ident) -> Stores<'a, Option<Arc<str>>> {
        self.answer(move || to_end(self.inner.cached(key, part)))
    }

    fn cache<'a>(
        &'a self,
        key: &'a ThreadKey,
        part: Ident,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        self.answer(move || to_end(self.inner.cache(key, part, text, now)))
    }

    fn emit<'a>(&'a self, key: &'a ThreadKey, event: &'a str, now: Millis) -> Stores<'a, u64> {
        let value: serde_json::Value = serde_json::from_str(event).expect("events are JSON");
        let name = value["event"]["name"].as_str().or(value["type"].as_str());
        self.note(format!("emit {}", name.unwrap_or("?")));
        self.answer(move || to_end(self.inner.emit(key, event, now)))
    }

    fn events<'a>(
        &'a self,
        key: &'a ThreadKey,
        after: u64,
        limit: u32,
    ) -> Stores<'a, Vec<StoredEvent>> {
        self.answer(move || to_end(self.inner.events(key, after, limit)))
    }

    fn limits<'a>(&'a self, tenant: &'a str) -> Stores<'a, Limits> {
        self.answer(move || to_end(self.inner.limits(tenant)))
    }

    fn learn<'a>(
        &'a self,
        tenant: &'a str,
        endpoint: &'a str,
        model: &'a str,
        learnt: Learnt,
    ) -> Stores<'a, ()> {
        self.answer(move || to_end(self.inner.learn(tenant, endpoint, model, learnt)))
    }
}
