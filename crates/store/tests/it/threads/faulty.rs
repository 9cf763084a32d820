//! A store whose futures are ready at once, so that virtual time can stand still, and which does what tests want to see.

use std::collections::VecDeque;
use std::future::ready;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use conspectus::store::{
    Found, Head, Lease, Mark, Rewrite, StoreError, StoredEvent, StoredMessage, Stores, ThreadKey,
    ThreadStore, Write, Written,
};
use conspectus::terms::Terms;
use conspectus_core::effect::{Fence, Millis};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};

use crate::support::now;

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
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn ThreadStore>) -> Self {
        Self {
            inner,
            commits: Arc::default(),
            done: Arc::default(),
            read: Arc::default(),
        }
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

fn at_once<'a, T: Send + 'a>(future: Stores<'a, T>) -> Stores<'a, T> {
    Box::pin(ready(now(future)))
}

impl ThreadStore for Faulty {
    fn create<'a>(&'a self, key: &'a ThreadKey, meta: &'a str, now: Millis) -> Stores<'a, bool> {
        at_once(self.inner.create(key, meta, now))
    }

    fn delete<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, bool> {
        at_once(self.inner.delete(key))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a str,
        after: &'a str,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        at_once(self.inner.list(tenant, after, limit))
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Option<Head>> {
        at_once(self.inner.head(key))
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
        let written = now(self.inner.write(key, write));
        if let Ok(Written::Done(_)) = written {
            self.note(format!(
                "{} {types:?}",
                if is_commit { "commit" } else { "write" }
            ));
        }
        Box::pin(ready(match fault {
            Fault::Lost => Err(StoreError::Unreachable("the line is dead".to_owned())),
            _ => written,
        }))
    }

    fn rewrite<'a>(&'a self, key: &'a ThreadKey, rewrite: Rewrite) -> Stores<'a, Written> {
        self.note("rewrite");
        at_once(self.inner.rewrite(key, rewrite))
    }

    fn expire<'a>(
        &'a self,
        tenant: &'a str,
        before_ms: Millis,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        at_once(self.inner.expire(tenant, before_ms, limit))
    }

    fn search<'a>(
        &'a self,
        key: &'a ThreadKey,
        terms: &'a Terms,
        limit: u32,
    ) -> Stores<'a, Vec<Found>> {
        at_once(self.inner.search(key, terms, limit))
    }

    fn preview<'a>(&'a self, key: &'a ThreadKey, name: &'a str) -> Stores<'a, Option<Arc<str>>> {
        at_once(self.inner.preview(key, name))
    }

    fn keep_preview<'a>(
        &'a self,
        key: &'a ThreadKey,
        name: &'a str,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        self.note("keep preview");
        at_once(self.inner.keep_preview(key, name, text, now))
    }

    fn has_record<'a>(
        &'a self,
        key: &'a ThreadKey,
        attempt: AttemptId,
        record: RecordId,
    ) -> Stores<'a, bool> {
        self.note("look up");
        at_once(self.inner.has_record(key, attempt, record))
    }

    fn messages<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: NodeId,
        last: NodeId,
    ) -> Stores<'a, Vec<StoredMessage>> {
        let found = now(self.inner.messages(key, first, last));
        let count = found.as_ref().map_or(0, Vec::len);
        self.read.fetch_add(count as u64, Ordering::SeqCst);
        Box::pin(ready(found))
    }

    fn by_native_id<'a>(
        &'a self,
        key: &'a ThreadKey,
        native_id: &'a str,
    ) -> Stores<'a, Option<NodeId>> {
        at_once(self.inner.by_native_id(key, native_id))
    }

    fn records<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: RecordId,
        last: RecordId,
    ) -> Stores<'a, Vec<Arc<Record>>> {
        at_once(self.inner.records(key, first, last))
    }

    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>> {
        at_once(self.inner.head_log(key))
    }

    fn acquire<'a>(
        &'a self,
        key: &'a ThreadKey,
        holder: &'a str,
        ttl_ms: Millis,
        now: Millis,
    ) -> Stores<'a, Lease> {
        at_once(self.inner.acquire(key, holder, ttl_ms, now))
    }

    fn release<'a>(&'a self, key: &'a ThreadKey, fence: Fence) -> Stores<'a, bool> {
        self.note("release");
        at_once(self.inner.release(key, fence))
    }

    fn mark<'a>(
        &'a self,
        key: &'a ThreadKey,
        fence: Fence,
        mark: Option<Mark>,
    ) -> Stores<'a, bool> {
        self.note(if mark.is_some() { "mark" } else { "unmark" });
        at_once(self.inner.mark(key, fence, mark))
    }

    fn cached<'a>(&'a self, key: &'a ThreadKey, part: Ident) -> Stores<'a, Option<Arc<str>>> {
        at_once(self.inner.cached(key, part))
    }

    fn cache<'a>(
        &'a self,
        key: &'a ThreadKey,
        part: Ident,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        at_once(self.inner.cache(key, part, text, now))
    }

    fn emit<'a>(&'a self, key: &'a ThreadKey, event: &'a str, now: Millis) -> Stores<'a, u64> {
        let value: serde_json::Value = serde_json::from_str(event).expect("events are JSON");
        let name = value["event"]["name"].as_str().or(value["type"].as_str());
        self.note(format!("emit {}", name.unwrap_or("?")));
        at_once(self.inner.emit(key, event, now))
    }

    fn events<'a>(
        &'a self,
        key: &'a ThreadKey,
        after: u64,
        limit: u32,
    ) -> Stores<'a, Vec<StoredEvent>> {
        at_once(self.inner.events(key, after, limit))
    }

    fn limits<'a>(&'a self, tenant: &'a str) -> Stores<'a, Limits> {
        at_once(self.inner.limits(tenant))
    }

    fn learn<'a>(
        &'a self,
        tenant: &'a str,
        endpoint: &'a str,
        model: &'a str,
        learnt: Learnt,
    ) -> Stores<'a, ()> {
        at_once(self.inner.learn(tenant, endpoint, model, learnt))
    }
}
