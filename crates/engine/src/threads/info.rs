//! Threads as such: made, looked at, found, changed and removed.

use std::sync::Arc;

use conspectus_core::effect::Millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::meta::{Meta, Metadata, Origin, matches, merge};
use super::note::{RunMark, RunStatus};
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::{Head, Listed, Listing, Mark, Order, ThreadKey, Write, Written};

/// The longest name.
const MAX_ID: usize = 64;
/// Threads that are looked at together where only some are asked for.
const PAGE: u32 = 100;
const MOST_AT_ONCE: u32 = 1_000;

/// A thread to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateThread {
    /// What the host knows of it.
    pub metadata: Metadata,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// The agent whose model it runs on.
    pub agent_name: Option<Arc<str>>,
    /// A policy of its own: options by name, laid over the host's.
    pub policy: Option<Value>,
    /// One that is there already is as good.
    pub if_exists: IfExists,
}

/// What to do when there is a thread of that name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IfExists {
    /// Say so.
    #[default]
    Raise,
    /// Take it.
    DoNothing,
}

/// What to change of a thread. What is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchThread {
    /// Members to set; `null` takes one away.
    pub metadata: Option<Metadata>,
    /// Another title.
    pub title: Option<Arc<str>>,
    /// Another agent.
    pub agent_name: Option<Arc<str>>,
    /// Another policy of its own; `null`: the host's.
    #[serde(with = "said", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Option<Value>>,
}

/// A member that is there and `null` is not one that is left out.
mod said {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Option<Value>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value
            .as_ref()
            .and_then(Option::as_ref)
            .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<Value>>, D::Error> {
        Option::<Value>::deserialize(deserializer).map(Some)
    }
}

/// Which threads to list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListThreads {
    /// Only those whose metadata has these members.
    pub metadata: Metadata,
    /// Only those in whose title or name this stands, whatever the case.
    pub text: Option<Arc<str>>,
    /// Only those with this status.
    pub status: Option<ThreadStatus>,
    /// Only those that were branched off from this one.
    pub origin: Option<Arc<str>>,
    /// Only these.
    pub ids: Option<Vec<Arc<str>>>,
    /// In which order.
    pub sort: SortBy,
    /// The other way round.
    pub descending: bool,
    /// At most so many.
    pub limit: u32,
    /// Those behind this name. Only where names are the order.
    pub after: Option<Arc<str>>,
    /// Leaves out so many of those found first.
    pub offset: u32,
}

impl Default for ListThreads {
    fn default() -> Self {
        Self {
            metadata: Metadata::new(),
            text: None,
            status: None,
            origin: None,
            ids: None,
            sort: SortBy::default(),
            descending: false,
            limit: 10,
            after: None,
            offset: 0,
        }
    }
}

impl ListThreads {
    /// Whether it asks for some only.
    fn asks_for_some(&self) -> bool {
        !self.metadata.is_empty()
            || self.text.is_some()
            || self.status.is_some()
            || self.origin.is_some()
    }

    fn asks_for(&self, info: &ThreadInfo) -> bool {
        let has_text = self.text.as_deref().is_none_or(|text| {
            let text = text.to_lowercase();
            let title = info.title.as_deref().unwrap_or_default();
            let shown = [title, &info.thread_id];
            shown
                .iter()
                .any(|shown| shown.to_lowercase().contains(&text))
        });
        let origin = info.origin.as_ref().map(|origin| &origin.thread);
        has_text
            && (self.origin.is_none() || self.origin.as_ref() == origin)
            && matches(&info.metadata, &self.metadata)
            && self.status.is_none_or(|status| status == info.status)
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortBy {
    /// By name.
    #[default]
    ThreadId,
    /// By the time when it was made.
    CreatedAt,
    /// By the time when it was written last.
    UpdatedAt,
}

impl From<SortBy> for Order {
    fn from(sort: SortBy) -> Self {
        match sort {
            SortBy::ThreadId => Self::Name,
            SortBy::CreatedAt => Self::Created,
            SortBy::UpdatedAt => Self::Written,
        }
    }
}

/// Whether something is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadStatus {
    /// Nothing is.
    Idle,
    /// A compaction or a run is, or was when its process died.
    Busy,
    /// Nothing is: its last run waits for an answer.
    Interrupted,
    /// Nothing is: its last run failed.
    Error,
}

/// What is known of a thread without opening it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its name.
    pub thread_id: Arc<str>,
    /// When it was made.
    pub created_ms: Millis,
    /// When it was written last.
    pub updated_ms: Millis,
    /// What the host knows of it.
    pub metadata: Metadata,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// The agent whose model it runs on.
    pub agent_name: Option<Arc<str>>,
    /// Its own policy.
    pub policy: Option<Value>,
    /// Where it was branched off.
    pub origin: Option<Origin>,
    /// Whether something is under way.
    pub status: ThreadStatus,
    /// The attempt that is, or was when its process died.
    pub compaction_in_progress: Option<Mark>,
    /// The run of an agent that has the thread, or had it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunMark>,
    /// Messages, over all branches.
    pub messages: u64,
    /// Compactions and prunings that were committed.
    pub records: u64,
    /// Its newest state; `None` before the first message.
    pub checkpoint_id: Option<CheckpointId>,
}

impl ThreadInfo {
    pub(crate) fn of(key: &ThreadKey, head: &Head) -> Self {
        let meta = Meta::read(&head.meta);
        let state = head.state.as_ref();
        let run = meta.note.run.as_ref().map(|run| run.status);
        let status = match (head.mark.is_some(), run) {
            (true, _) | (_, Some(RunStatus::Running)) => ThreadStatus::Busy,
            (_, Some(RunStatus::Interrupted)) => ThreadStatus::Interrupted,
            (_, Some(RunStatus::Error)) => ThreadStatus::Error,
            _ => ThreadStatus::Idle,
        };
        Self {
            thread_id: key.thread.clone(),
            created_ms: head.created_ms,
            updated_ms: head.written_ms,
            metadata: meta.metadata,
            title: meta.title,
            agent_name: meta.agent,
            policy: meta.policy,
            origin: meta.origin,
            status,
            run: meta.note.run,
            compaction_in_progress: head.mark,
            messages: head.nodes,
            records: head.records,
            checkpoint_id: state.map(|state| CheckpointId::new(state.knows().2, state.head())),
        }
    }
}

impl<C: Clock> Threads<C> {
    /// Makes a thread.
    ///
    /// # Errors
    /// When there is one of that name, the name is none, or its policy cannot work.
    pub async fn create(
        &self,
        key: &ThreadKey,
        create: CreateThread,
    ) -> Result<ThreadInfo, ThreadsError> {
        let is_id = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let id = &key.thread;
        if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(is_id) {
            let shown: String = id.chars().take(MAX_ID).collect();
            return Err(ThreadsError::BadId(shown.into()));
        }
        let meta = Meta {
            metadata: create.metadata,
            title: create.title,
            agent: create.agent_name,
            policy: create.policy,
            ..Meta::default()
        };
        self.settings().run(&meta, &Asked::default())?;
        let is_new = self
            .store()
            .create(key, &meta.to_text(), self.now())
            .await?;
        if is_new {
            self.tell(key, &ThreadEvent::Created).await?;
        } else if create.if_exists == IfExists::Raise {
            return Err(ThreadsError::Exists(id.clone()));
        }
        self.get(key).await
    }

    /// What is known of a thread.
    ///
    /// # Errors
    /// When there is none.
    pub async fn get(&self, key: &ThreadKey) -> Result<ThreadInfo, ThreadsError> {
        Ok(ThreadInfo::of(key, &self.head(key).await?))
    }

    /// Removes a thread and everything of it, the threads that exist for it alone included.
    ///
    /// # Errors
    /// When there is none.
    pub async fn delete(&self, key: &ThreadKey) -> Result<(), ThreadsError> {
        // Those first: what is left by one that was killed can be deleted again.
        for child in self.children(key).await? {
            self.delete_one(&child).await?;
        }
        match self.delete_one(key).await? {
            true => Ok(()),
            false => Err(ThreadsError::NotFound(key.thread.clone())),
        }
    }

    async fn delete_one(&self, key: &ThreadKey) -> Result<bool, ThreadsError> {
        let was_there = self.store().delete(key).await?;
        drop(self.kept_open().take(key));
        self.bells().ring(key);
        Ok(was_there)
    }

    /// The threads that exist for this one alone, and those that exist for them.
    pub(super) async fn children(&self, key: &ThreadKey) -> Result<Vec<ThreadKey>, ThreadsError> {
        let mut found = Vec::new();
        let mut left = vec![key.clone()];
        while let Some(key) = left.pop() {
            let Some(head) = self.store().head(&key).await? else {
                continue;
            };
            for thread in Meta::read(&head.meta).note.children {
                let child = ThreadKey {
                    tenant: key.tenant.clone(),
                    thread,
                };
                if !found.contains(&child) {
                    found.push(child.clone());
                    left.push(child);
                }
            }
        }
        Ok(found)
    }

    /// A tenant's threads. Costs the page, unless only some are asked for: then those before it are looked at too.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(
        &self,
        tenant: &str,
        list: &ListThreads,
    ) -> Result<Vec<ThreadInfo>, ThreadsError> {
        let mut left_out = list.offset;
        let mut found = Vec::new();
        if let Some(ids) = &list.ids {
            let mut all = self.named(tenant, list, ids).await?;
            match list.sort {
                SortBy::ThreadId => {}
                SortBy::CreatedAt => all.sort_by_key(|info| info.created_ms),
                SortBy::UpdatedAt => all.sort_by_key(|info| info.updated_ms),
            }
            if list.descending {
                all.reverse();
            }
            let all = all.into_iter().skip(left_out as usize);
            return Ok(all.take(list.limit as usize).collect());
        }
        let order = Order::from(list.sort);
        let after = list.after.clone().filter(|_| order == Order::Name);
        let mut listing = Listing {
            order,
            descending: list.descending,
            after: after.map(|thread| Listed { ms: 0, thread }),
            offset: 0,
            limit: PAGE.max(list.limit.min(MOST_AT_ONCE)),
        };
        if !list.asks_for_some() {
            // Where all fit, the store leaves out what is before the page.
            listing.offset = std::mem::take(&mut left_out);
            listing.limit = list.limit;
        }
        while found.len() < list.limit as usize {
            let page = self.store().list(tenant, &listing).await?;
            let is_last = page.len() < listing.limit as usize;
            for (name, head) in &page {
                let info = ThreadInfo::of(&ThreadKey::new(tenant, name), head);
                match list.asks_for(&info) {
                    false => {}
                    true if left_out > 0 => left_out -= 1,
                    true => found.push(info),
                }
            }
            let Some((name, head)) = page.last().filter(|_| !is_last) else {
                break;
            };
            listing.after = Some(listing.order.place(name, head));
            listing.offset = 0;
        }
        found.truncate(list.limit as usize);
        Ok(found)
    }

    /// How many there are, whatever the limit.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn count(&self, tenant: &str, list: &ListThreads) -> Result<u64, ThreadsError> {
        if !list.asks_for_some() && list.ids.is_none() && list.after.is_none() {
            return Ok(self.store().count(tenant).await?);
        }
        let all = ListThreads {
            limit: u32::MAX,
            offset: 0,
            sort: SortBy::ThreadId,
            descending: false,
            ..list.clone()
        };
        Ok(self.list(tenant, &all).await?.len() as u64)
    }

    /// Those of these names that fit, by name.
    async fn named(
        &self,
        tenant: &str,
        list: &ListThreads,
        ids: &[Arc<str>],
    ) -> Result<Vec<ThreadInfo>, ThreadsError> {
        let mut ids = ids.to_vec();
        ids.sort();
        ids.dedup();
        let mut found = Vec::new();
        for id in ids {
            if list.after.as_ref().is_some_and(|after| id <= *after) {
                continue;
            }
            let key = ThreadKey::new(tenant, &id);
            if let Some(head) = self.store().head(&key).await? {
                let info = ThreadInfo::of(&key, &head);
                found.extend(Some(info).filter(|info| list.asks_for(info)));
            }
        }
        Ok(found)
    }

    /// Changes what is kept with a thread. Messages are never changed.
    ///
    /// # Errors
    /// When there is no such thread, or its policy would not work.
    pub async fn patch(
        &self,
        key: &ThreadKey,
        patch: PatchThread,
    ) -> Result<ThreadInfo, ThreadsError> {
        for _ in 0..Self::TRIES {
            let head = self.head(key).await?;
            let mut meta = Meta::read(&head.meta);
            if let Some(changes) = &patch.metadata {
                merge(&mut meta.metadata, changes);
            }
            meta.title = patch.title.clone().or(meta.title);
            meta.agent = patch.agent_name.clone().or(meta.agent);
            if let Some(policy) = &patch.policy {
                meta.policy.clone_from(policy);
            }
            self.settings().run(&meta, &Asked::default())?;
            let write = Write {
                revision: head.revision,
                meta: Some(meta.to_text()),
                events: vec![ThreadEvent::Patched.to_text()],
                now: self.now(),
                ..Write::default()
            };
            if let Written::Done(_) = self.write(key, write).await? {
                return self.get(key).await;
            }
        }
        Err(ThreadsError::Contended)
    }
}
