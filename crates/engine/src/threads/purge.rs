//! What must not be kept any longer is taken out, everywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::view::{MessageView, Texts};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::message::{open, placed};
use super::meta::Meta;
use super::settings::Asked;
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::purge;
use crate::store::{StoredEvent, StoredMessage, ThreadKey, Written, whole};

/// What to take out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purge {
    /// A message, by its id. A tombstone stands in its place.
    Message(Arc<str>),
    /// A text, wherever it stands: in messages, summaries, records, partial results and events.
    Secret(Arc<str>),
}

/// A secret is not told.
impl std::fmt::Debug for Purge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(id) => f.debug_tuple("Message").field(id).finish(),
            Self::Secret(_) => f.write_str("Secret(****)"),
        }
    }
}

/// What was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Purged {
    /// The ids of messages that say something else now.
    pub messages: Vec<Arc<str>>,
    /// Records of which a text is another one or gone.
    pub records: Vec<RecordId>,
    /// Events that were changed.
    pub events: u64,
    /// The summary in force was made of what is gone, so the one before it is in force again.
    pub withdrawn: bool,
    /// The state now.
    pub checkpoint_id: CheckpointId,
}

impl<C: Clock> Threads<C> {
    /// Takes something out for good, of messages, summaries, records, events, partial results and previews: it cannot be
    /// undone. A secret is also taken out of the threads of subagents, of which nothing more is told. Branches and exports that were made are a matter of their owners.
    ///
    /// # Errors
    /// When there is no such thread or message, the text is too common, or an attempt is under way.
    pub async fn purge(&self, key: &ThreadKey, purge: &Purge) -> Result<Purged, ThreadsError> {
        self.head(key).await?;
        let Purge::Secret(secret) = purge else {
            return self.purge_one(key, purge).await;
        };
        purge::rare(secret)?;
        // Those first: when one of them cannot be had, it can be asked for again.
        for child in self.children(key).await? {
            match self.purge_one(&child, purge).await {
                Ok(_) | Err(ThreadsError::NotFound(_)) => {}
                Err(why) => return Err(why),
            }
        }
        self.purge_one(key, purge).await
    }

    async fn purge_one(&self, key: &ThreadKey, purge: &Purge) -> Result<Purged, ThreadsError> {
        let Some(held) = self.acquire(key).await? else {
            return Err(ThreadsError::Busy);
        };
        let purged = self.purge_held(key, purge).await;
        drop(self.kept_open().take(key));
        self.release(key, &held).await;
        purged
    }

    async fn purge_held(&self, key: &ThreadKey, purge: &Purge) -> Result<Purged, ThreadsError> {
        for _ in 0..Self::TRIES {
            let node = match purge {
                Purge::Message(id) => {
                    let node = self.store().by_native_id(key, id).await?;
                    Some(node.ok_or_else(|| ThreadsError::NoMessage(id.clone()))?)
                }
                Purge::Secret(_) => None,
            };
            let Some(read) = whole(self.store(), key).await? else {
                return Ok(Purged::default());
            };
            let told = self.all_events(key).await?;
            let ids: BTreeMap<NodeId, Option<Arc<str>>> = read
                .messages
                .iter()
                .map(|m| (m.node, m.message.native_id.clone()))
                .collect();
            let run = self
                .settings()
                .run(&Meta::read(&read.head.meta), &Asked::default())?;
            let what = match (purge, node) {
                (_, Some(node)) => purge::Purge::Message(node),
                (Purge::Secret(text), None) => purge::Purge::Secret(text),
                (Purge::Message(id), None) => return Err(ThreadsError::NoMessage(id.clone())),
            };
            let state = read.state.clone();
            let (rewrite, gone) = purge::purge(
                read,
                &told,
                what,
                run.policy.clone(),
                run.counter.as_ref(),
                &Messages,
                self.now(),
            )?;
            let state = rewrite.state.as_deref().unwrap_or(&state);
            let purged = Purged {
                messages: gone
                    .messages
                    .iter()
                    .filter_map(|node| ids.get(node).cloned().flatten())
                    .collect(),
                records: gone.records.clone(),
                events: gone.events,
                withdrawn: gone.is_withdrawn,
                checkpoint_id: CheckpointId::new(state.knows().2, state.head()),
            };
            if gone.is_nothing() {
                return Ok(purged);
            }
            let event = ThreadEvent::Purged {
                messages: gone.messages.len() as u64,
            };
            let mut rewrite = rewrite;
            rewrite.events.push(event.to_text());
            let written = self.store().rewrite(key, rewrite).await;
            if let Written::Done(_) = written.map_err(|why| self.of_store(key, why))? {
                self.bells().ring(key);
                return Ok(purged);
            }
        }
        Err(ThreadsError::Contended)
    }

    async fn all_events(&self, key: &ThreadKey) -> Result<Vec<StoredEvent>, ThreadsError> {
        const PAGE: u32 = 500;
        let mut all: Vec<StoredEvent> = Vec::new();
        loop {
            let after = all.last().map_or(0, |event| event.seq);
            let page = self.store().events(key, after, PAGE).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// Removes a tenant's threads that were not written for so long, and says which.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn expire(
        &self,
        tenant: &str,
        older_than_ms: Millis,
    ) -> Result<Vec<Arc<str>>, ThreadsError> {
        const PAGE: u32 = 100;
        let before = self.now().saturating_sub(older_than_ms);
        let mut gone = Vec::new();
        loop {
            let page = self.store().expire(tenant, before, PAGE).await?;
            let is_last = page.len() < PAGE as usize;
            gone.extend(page);
            if is_last {
                return Ok(gone);
            }
        }
    }
}

/// How messages are read again.
struct Messages;

impl purge::Surface for Messages {
    fn view(&self, node: NodeId, bytes: &[u8]) -> Option<MessageView> {
        let document = open(bytes).ok()?;
        let view = document.conversations().first()?.views().first()?;
        Some(placed(view, node))
    }

    fn texts<'a>(&'a self, messages: &'a [StoredMessage]) -> Box<dyn Texts + 'a> {
        Box::new(Shelf::of(messages))
    }
}
