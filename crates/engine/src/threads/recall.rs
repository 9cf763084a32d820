//! Finding again what was said: by words, by id, and what stood around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::NodeId;
use serde::{Deserialize, Serialize};

use super::Threads;
use super::error::ThreadsError;
use super::json::Json;
use super::open::Much;
use super::outdated::{About, Asking, Later, Outdated};
use super::settings::Asked;
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::store::{StoredMessage, ThreadKey};
use crate::terms::Terms;

/// What to look for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Recall {
    /// Messages in which these words stand.
    Words {
        /// The words.
        query: Arc<str>,
        /// At most so many.
        limit: u32,
        /// Only what a compaction folded.
        #[serde(default)]
        folded_only: bool,
    },
    /// One message, and so many before and behind it.
    Id {
        /// Its id.
        id: Arc<str>,
        /// Messages before it.
        #[serde(default)]
        before: u32,
        /// Messages behind it.
        #[serde(default)]
        after: u32,
    },
    /// What was shortened, by the reference that stands in its marker (`cx-0123456789ab`). Reads the whole thread.
    Reference {
        /// The reference.
        reference: Arc<str>,
    },
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    /// Its id.
    pub id: Option<Arc<str>>,
    /// Its place in the conversation, from 0; `None`: it stands on a branch that was left.
    pub position: Option<u64>,
    /// The message as it came.
    pub message: Json,
    /// When it was stored.
    pub stored_ms: Millis,
    /// How long ago that was.
    pub age_ms: Millis,
    /// A compaction folded it.
    pub folded: bool,
    /// Later messages say something else of the same thing: do not take this one for the state of today.
    pub superseded_by: Vec<Later>,
    /// It is what was asked for, not what stands around it.
    pub hit: bool,
    /// What a reference stands for, whole.
    pub text: Option<Arc<str>>,
}

impl<C: Clock> Threads<C> {
    /// Finds messages of the whole history again, whatever was compacted.
    ///
    /// # Errors
    /// When there is no such thread, or no message of that id.
    pub async fn recall(
        &self,
        key: &ThreadKey,
        recall: &Recall,
    ) -> Result<Vec<Recalled>, ThreadsError> {
        self.head(key).await?;
        let outdated = self.outdated(key).await?;
        let mut whole: BTreeMap<NodeId, Arc<str>> = BTreeMap::new();
        let (hits, messages) = match recall {
            Recall::Words {
                query,
                limit,
                folded_only,
            } => {
                let terms = Terms::asked(query);
                // Some of them may not be asked for.
                let most = if *folded_only {
                    limit.saturating_mul(8)
                } else {
                    *limit
                };
                let found = self.store().search(key, &terms, most).await?;
                let asked = found.iter().map(|found| found.node);
                let asked = asked.filter(|node| !folded_only || outdated.is_folded(*node));
                let hits: Vec<NodeId> = asked.take(*limit as usize).collect();
                let mut messages = Vec::new();
                for node in &hits {
                    messages.extend(self.store().messages(key, *node, *node).await?);
                }
                (hits, messages)
            }
            Recall::Id { id, before, after } => {
                let node = self.store().by_native_id(key, id).await?;
                let node = node.ok_or_else(|| ThreadsError::NoMessage(id.clone()))?;
                let first = NodeId(node.0.saturating_sub(u64::from(*before)));
                let last = NodeId(node.0.saturating_add(u64::from(*after)));
                (vec![node], self.store().messages(key, first, last).await?)
            }
            Recall::Reference { reference } => {
                let texts = self.referred(key, reference).await?;
                let mut messages = Vec::new();
                for (node, text) in &texts {
                    messages.extend(self.store().messages(key, *node, *node).await?);
                    whole.insert(*node, text.clone());
                }
                (whole.keys().copied().collect(), messages)
            }
        };
        let now = self.now();
        let mut recalled = Vec::new();
        for stored in messages {
            let later = self.later(key, &outdated, &stored).await?;
            let shelf = Shelf::of(std::slice::from_ref(&stored));
            recalled.push(Recalled {
                id: stored.message.native_id.clone(),
                position: outdated.position(stored.node),
                message: shelf
                    .json(stored.node)
                    .unwrap_or_else(|| Json::trusted("null")),
                stored_ms: stored.stored_ms,
                age_ms: now.saturating_sub(stored.stored_ms),
                folded: outdated.is_folded(stored.node),
                superseded_by: later,
                hit: hits.contains(&stored.node),
                text: whole.get(&stored.node).cloned(),
            });
        }
        Ok(recalled)
    }

    /// What a reference stands for, by message.
    async fn referred(
        &self,
        key: &ThreadKey,
        reference: &Arc<str>,
    ) -> Result<Vec<(NodeId, Arc<str>)>, ThreadsError> {
        let opened = self.open(key, Much::Whole, &Asked::default()).await?;
        let found = opened.thread.recall(reference, &opened.shelf);
        let texts = found.into_iter().map(|one| {
            let node = NodeId(u64::from(one.message.0));
            (node, one.text.into())
        });
        let mut texts: Vec<_> = texts.collect();
        texts.dedup_by_key(|(node, _)| *node);
        match texts.is_empty() {
            true => Err(ThreadsError::NoMessage(reference.clone())),
            false => Ok(texts),
        }
    }

    /// What later messages say of what stands in this one.
    async fn later(
        &self,
        key: &ThreadKey,
        outdated: &Outdated,
        stored: &StoredMessage,
    ) -> Result<Vec<Later>, ThreadsError> {
        // A result is about what its call was about, which stands a little before it.
        const BACK: u64 = 40;
        let view = &stored.message.known.view;
        let first = match view.results().next() {
            Some(_) => NodeId(stored.node.0.saturating_sub(BACK)),
            None => stored.node,
        };
        let around = self.store().messages(key, first, stored.node).await?;
        let asked = outdated.asked(&around, stored);
        let mut later = outdated.of(&asked, stored);
        later.extend(self.again(key, outdated, &asked, stored).await?);
        for one in &mut later {
            if let Some(node) = outdated.node(one.position) {
                let stored = self.store().messages(key, node, node).await?;
                one.id = stored.first().and_then(|m| m.message.native_id.clone());
            }
        }
        Ok(later)
    }

    /// The same calls made later: their results are newer.
    async fn again(
        &self,
        key: &ThreadKey,
        outdated: &Outdated,
        asked: &[Asking],
        stored: &StoredMessage,
    ) -> Result<Vec<Later>, ThreadsError> {
        const MOST: u32 = 20;
        // The same call has all its terms; a few that are rare find it without a look at every call of the tool.
        const RARE: usize = 3;
        let mut later: Vec<Later> = Vec::new();
        for call in asked {
            let terms = Terms::asked(&format!("{} {}", call.tool, call.arguments)).longest(RARE);
            for found in self.store().search(key, &terms, MOST).await? {
                let is_later = found.node > stored.node && !call.is_of(found.node);
                let Some(position) = outdated.position(found.node).filter(|_| is_later) else {
                    continue;
                };
                let same = self.store().messages(key, found.node, found.node).await?;
                if same
                    .iter()
                    .any(|same| outdated.asked(&[], same).iter().any(|c| c.is_same(call)))
                {
                    later.push(Later {
                        id: None,
                        position,
                        about: About::Call(call.tool.clone()),
                    });
                }
            }
        }
        later.sort_by_key(|later| std::cmp::Reverse(later.position));
        later.dedup();
        Ok(later)
    }
}
