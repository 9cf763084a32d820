//! The store that forgets: what the contract means, in the plainest form.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use conspectus::store::{
    Head, Lease, Mark, StoreError, StoredEvent, StoredMessage, Stores, ThreadKey, ThreadStore,
    Write, Written,
};
use conspectus_core::effect::{Fence, Millis, Version};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};

use crate::common::{Held, cumulative, decide};

/// Threads in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<All>>);

#[derive(Debug, Default)]
struct All {
    threads: BTreeMap<ThreadKey, Kept>,
    limits: BTreeMap<Arc<str>, Limits>,
}

#[derive(Debug)]
struct Kept {
    head: Head,
    messages: Vec<StoredMessage>,
    records: Vec<Arc<Record>>,
    log: Vec<HeadChange>,
    held: Held,
    once: BTreeMap<Arc<str>, (Ident, NodeId)>,
    chunks: BTreeMap<Ident, Arc<str>>,
    events: Vec<StoredEvent>,
}

impl Kept {
    fn write(&mut self, write: &Write) -> Result<Written, StoreError> {
        let once = write.once.as_ref().and_then(|o| self.once.get(&o.key));
        if let Some(end) = decide(&self.head, once.copied(), write)? {
            return Ok(end);
        }
        let before = |node: NodeId| self.message(node).map_or(0, |m| m.cumulative);
        let new = cumulative(&self.head, write, before);
        self.messages.extend(new);
        for (node, known) in &write.changed {
            let at = usize::try_from(node.0).unwrap_or(usize::MAX);
            if let Some(message) = self.messages.get_mut(at) {
                message.message.known = known.clone();
            }
        }
        if let Some(once) = &write.once {
            let first = (once.digest, NodeId(self.head.nodes));
            self.once.insert(once.key.clone(), first);
        }
        self.records
            .extend(write.commit.iter().map(|c| c.record.clone()));
        self.log.extend(&write.moved);
        for event in &write.events {
            self.emit(event, write.now);
        }
        let head = &mut self.head;
        head.revision += 1;
        head.nodes = self.messages.len() as u64;
        head.records = self.records.len() as u64;
        head.written_ms = write.now;
        if let Some(state) = &write.state {
            head.version = state.version();
            head.state = Some(state.clone());
        }
        if let Some(meta) = &write.meta {
            head.meta = meta.clone();
        }
        Ok(Written::Done(head.revision))
    }

    fn message(&self, node: NodeId) -> Option<&StoredMessage> {
        self.messages.get(usize::try_from(node.0).ok()?)
    }

    fn emit(&mut self, event: &str, ms: Millis) -> u64 {
        let seq = self.events.len() as u64 + 1;
        let event = event.into();
        self.events.push(StoredEvent { seq, ms, event });
        seq
    }
}

impl MemoryStore {
    fn all<'s, T: Send + 's>(&'s self, f: impl FnOnce(&mut All) -> T) -> Stores<'s, T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(Ok(f(&mut all))))
    }

    fn with<'s, T: Send + 's>(
        &'s self,
        key: &ThreadKey,
        f: impl FnOnce(&mut Kept) -> T,
    ) -> Stores<'s, T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.threads.get_mut(key).ok_or(StoreError::NoThread);
        Box::pin(ready(found.map(f)))
    }
}

impl ThreadStore for MemoryStore {
    fn create<'a>(&'a self, key: &'a ThreadKey, meta: &'a str, now: Millis) -> Stores<'a, bool> {
        self.all(|all| {
            let is_new = !all.threads.contains_key(key);
            all.threads.entry(key.clone()).or_insert_with(|| Kept {
                head: Head {
                    revision: 0,
                    nodes: 0,
                    records: 0,
                    version: Version::default(),
                    fence: Fence::default(),
                    mark: None,
                    state: None,
                    meta: meta.into(),
                    created_ms: now,
                    written_ms: now,
                },
                messages: Vec::new(),
                records: Vec::new(),
                log: Vec::new(),
                held: Held::default(),
                once: BTreeMap::new(),
                chunks: BTreeMap::new(),
                events: Vec::new(),
            });
            is_new
        })
    }

    fn delete<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, bool> {
        self.all(|all| all.threads.remove(key).is_some())
    }

    fn list<'a>(
        &'a self,
        tenant: &'a str,
        after: &'a str,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        self.all(|all| {
            let of_tenant = all.threads.keys().filter(|key| *key.tenant == *tenant);
            let names = of_tenant.map(|key| key.thread.clone());
            names
                .filter(|n| **n > *after)
                .take(limit as usize)
                .collect()
        })
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Option<Head>> {
        self.all(|all| all.threads.get(key).map(|kept| kept.head.clone()))
    }

    fn write<'a>(&'a self, key: &'a ThreadKey, write: Write) -> Stores<'a, Written> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.threads.get_mut(key).ok_or(StoreError::NoThread);
        Box::pin(ready(found.and_then(|kept| kept.write(&write))))
    }

    fn has_record<'a>(
        &'a self,
        key: &'a ThreadKey,
        attempt: AttemptId,
        record: RecordId,
    ) -> Stores<'a, bool> {
        self.with(key, |kept| {
            let mut records = kept.records.iter();
            records.any(|r| r.id == record && r.attempt == attempt)
        })
    }

    fn messages<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: NodeId,
        last: NodeId,
    ) -> Stores<'a, Vec<StoredMessage>> {
        self.with(key, |kept| {
            let asked = kept
                .messages
                .iter()
                .filter(|m| first <= m.node && m.node <= last);
            asked.cloned().collect()
        })
    }

    fn by_native_id<'a>(
        &'a self,
        key: &'a ThreadKey,
        native_id: &'a str,
    ) -> Stores<'a, Option<NodeId>> {
        self.with(key, |kept| {
            let is_it = |m: &&StoredMessage| m.message.native_id.as_deref() == Some(native_id);
            kept.messages.iter().rev().find(is_it).map(|m| m.node)
        })
    }

    fn records<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: RecordId,
        last: RecordId,
    ) -> Stores<'a, Vec<Arc<Record>>> {
        self.with(key, |kept| {
            let asked = kept
                .records
                .iter()
                .filter(|r| first <= r.id && r.id <= last);
            asked.cloned().collect()
        })
    }

    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>> {
        self.with(key, |kept| kept.log.clone())
    }

    fn acquire<'a>(
        &'a self,
        key: &'a ThreadKey,
        holder: &'a str,
        ttl_ms: Millis,
        now: Millis,
    ) -> Stores<'a, Lease> {
        self.with(key, |kept| match kept.held.asked(holder, ttl_ms, now) {
            None => Lease::Taken {
                until_ms: kept.held.until_ms,
            },
            Some(held) => {
                let (fence, until_ms) = (held.fence, held.until_ms);
                kept.held = held;
                kept.head.fence = fence;
                let orphan = kept.head.mark.filter(|mark| mark.fence != fence);
                Lease::Held {
                    fence,
                    until_ms,
                    orphan,
                }
            }
        })
    }

    fn release<'a>(&'a self, key: &'a ThreadKey, fence: Fence) -> Stores<'a, bool> {
        self.with(key, |kept| {
            let is_own = kept.held.fence == fence && kept.held.holder.is_some();
            if is_own {
                kept.held.holder = None;
            }
            is_own
        })
    }

    fn mark<'a>(
        &'a self,
        key: &'a ThreadKey,
        fence: Fence,
        mark: Option<Mark>,
    ) -> Stores<'a, bool> {
        self.with(key, |kept| {
            let is_own = kept.head.fence == fence;
            if is_own {
                kept.head.mark = mark;
            }
            is_own
        })
    }

    fn cached<'a>(&'a self, key: &'a ThreadKey, part: Ident) -> Stores<'a, Option<Arc<str>>> {
        self.with(key, |kept| kept.chunks.get(&part).cloned())
    }

    fn cache<'a>(
        &'a self,
        key: &'a ThreadKey,
        part: Ident,
        text: &'a str,
        _: Millis,
    ) -> Stores<'a, ()> {
        self.with(key, |kept| {
            kept.chunks.insert(part, text.into());
        })
    }

    fn emit<'a>(&'a self, key: &'a ThreadKey, event: &'a str, now: Millis) -> Stores<'a, u64> {
        self.with(key, |kept| kept.emit(event, now))
    }

    fn events<'a>(
        &'a self,
        key: &'a ThreadKey,
        after: u64,
        limit: u32,
    ) -> Stores<'a, Vec<StoredEvent>> {
        self.with(key, |kept| {
            let behind = kept.events.iter().filter(|event| event.seq > after);
            behind.take(limit as usize).cloned().collect()
        })
    }

    fn limits<'a>(&'a self, tenant: &'a str) -> Stores<'a, Limits> {
        self.all(|all| all.limits.get(tenant).cloned().unwrap_or_default())
    }

    fn learn<'a>(
        &'a self,
        tenant: &'a str,
        endpoint: &'a str,
        model: &'a str,
        learnt: Learnt,
    ) -> Stores<'a, ()> {
        self.all(|all| {
            let limits = all.limits.entry(tenant.into()).or_default();
            limits.learn(endpoint, model, learnt);
        })
    }
}
