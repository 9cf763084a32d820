//! The store that forgets: what the contract means, in the plainest form.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use conspectus::store::{
    Found, Head, Lease, Listed, Listing, MAX_PREVIEWS, Mark, ONCE_MS, Rewrite, StoreError,
    StoredEvent, StoredMessage, Stores, ThreadKey, ThreadStore, Write, Written,
};
use conspectus::terms::Terms;
use conspectus_core::effect::{Fence, Millis, Version};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};

use crate::common::{Held, cumulative, decide, decide_rewrite};

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
    once: BTreeMap<Arc<str>, (Ident, NodeId, Millis)>,
    chunks: BTreeMap<Ident, Arc<str>>,
    /// Oldest first.
    previews: Vec<(Arc<str>, Arc<str>)>,
    search: BTreeMap<NodeId, Terms>,
    events: Vec<StoredEvent>,
}

impl Kept {
    fn write(&mut self, write: &Write) -> Result<Written, StoreError> {
        let once = write.once.as_ref().and_then(|o| self.once.get(&o.key));
        let once = once.map(|(digest, first, _)| (*digest, *first));
        if let Some(end) = decide(&self.head, once, write)? {
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
            let last = write.now.saturating_sub(ONCE_MS);
            self.once.retain(|_, (_, _, ms)| *ms >= last);
            let first = (once.digest, NodeId(self.head.nodes), write.now);
            self.once.insert(once.key.clone(), first);
        }
        self.find_by(&write.search);
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

    fn rewrite(&mut self, rewrite: &Rewrite) -> Result<Written, StoreError> {
        if let Some(end) = decide_rewrite(&self.head, rewrite)? {
            return Ok(end);
        }
        for (node, message) in &rewrite.messages {
            let at = usize::try_from(node.0).unwrap_or(usize::MAX);
            if let Some(there) = self.messages.get_mut(at) {
                there.message = message.clone();
            }
        }
        for record in &rewrite.records {
            let at = usize::try_from(record.id.0).unwrap_or(usize::MAX);
            if let Some(there) = self.records.get_mut(at) {
                *there = record.clone();
            }
        }
        for (seq, event) in &rewrite.told {
            if let Some(there) = self.events.iter_mut().find(|e| e.seq == *seq) {
                there.event = event.clone();
            }
        }
        self.find_by(&rewrite.search);
        self.chunks.clear();
        self.previews.clear();
        self.log.extend(&rewrite.moved);
        for event in &rewrite.events {
            self.emit(event, rewrite.now);
        }
        let head = &mut self.head;
        head.revision += 1;
        head.written_ms = rewrite.now;
        if let Some(state) = &rewrite.state {
            head.version = state.version();
            head.state = Some(state.clone());
        }
        if let Some(meta) = &rewrite.meta {
            head.meta = meta.clone();
        }
        Ok(Written::Done(head.revision))
    }

    fn find_by(&mut self, search: &[(NodeId, Terms)]) {
        for (node, terms) in search {
            match terms.is_empty() {
                true => self.search.remove(node),
                false => self.search.insert(*node, terms.clone()),
            };
        }
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
                previews: Vec::new(),
                search: BTreeMap::new(),
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
        listing: &'a Listing,
    ) -> Stores<'a, Vec<(Arc<str>, Head)>> {
        self.all(|all| {
            let of_tenant = all.threads.iter().filter(|(k, _)| *k.tenant == *tenant);
            let place = |kept: &Head, name| listing.order.place(name, kept);
            let placed = of_tenant.map(|(key, kept)| (place(&kept.head, &key.thread), &kept.head));
            let mut placed: Vec<(Listed, &Head)> = placed.collect();
            placed.sort_by(|a, b| a.0.cmp(&b.0));
            if listing.descending {
                placed.reverse();
            }
            let is_behind = |place: &Listed| match &listing.after {
                None => true,
                Some(after) if listing.descending => place < after,
                Some(after) => place > after,
            };
            let behind = placed.into_iter().filter(|(place, _)| is_behind(place));
            let page = behind
                .skip(listing.offset as usize)
                .take(listing.limit as usize);
            page.map(|(place, head)| (place.thread, head.clone()))
                .collect()
        })
    }

    fn count<'a>(&'a self, tenant: &'a str) -> Stores<'a, u64> {
        self.all(|all| {
            let of_tenant = all.threads.keys().filter(|key| *key.tenant == *tenant);
            of_tenant.count() as u64
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

    fn rewrite<'a>(&'a self, key: &'a ThreadKey, rewrite: Rewrite) -> Stores<'a, Written> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.threads.get_mut(key).ok_or(StoreError::NoThread);
        Box::pin(ready(found.and_then(|kept| kept.rewrite(&rewrite))))
    }

    fn expire<'a>(
        &'a self,
        tenant: &'a str,
        before_ms: Millis,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        self.all(|all| {
            let is_old = |(key, kept): &(&ThreadKey, &Kept)| {
                *key.tenant == *tenant && kept.head.written_ms < before_ms
            };
            let old = all.threads.iter().filter(is_old);
            let keys: Vec<_> = old
                .take(limit as usize)
                .map(|(key, _)| key.clone())
                .collect();
            for key in &keys {
                all.threads.remove(key);
            }
            keys.into_iter().map(|key| key.thread).collect()
        })
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

    fn search<'a>(
        &'a self,
        key: &'a ThreadKey,
        terms: &'a Terms,
        limit: u32,
    ) -> Stores<'a, Vec<Found>> {
        self.with(key, |kept| {
            let found = |(node, there): (&NodeId, &Terms)| Found {
                node: *node,
                matched: there.matched(terms),
            };
            let mut all: Vec<_> = kept.search.iter().map(found).collect();
            all.retain(|found| found.matched > 0);
            all.sort_by_key(|found| std::cmp::Reverse((found.matched, found.node)));
            all.truncate(limit as usize);
            all
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

    fn preview<'a>(&'a self, key: &'a ThreadKey, name: &'a str) -> Stores<'a, Option<Arc<str>>> {
        self.with(key, |kept| {
            let found = kept.previews.iter().find(|(there, _)| **there == *name);
            found.map(|(_, text)| text.clone())
        })
    }

    fn keep_preview<'a>(
        &'a self,
        key: &'a ThreadKey,
        name: &'a str,
        text: &'a str,
        _: Millis,
    ) -> Stores<'a, ()> {
        self.with(key, |kept| {
            kept.previews.retain(|(there, _)| **there != *name);
            kept.previews.push((name.into(), text.into()));
            let too_many = kept.previews.len().saturating_sub(MAX_PREVIEWS);
            kept.previews.drain(..too_many);
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
