//! What must not be kept any longer is taken out, everywhere.

use std::sync::Arc;

use conspectus_core::effect::Millis;
use serde::{Deserialize, Serialize};

use super::Threads;
use super::error::ThreadsError;
use crate::clock::Clock;
use crate::store::{StoreError, ThreadKey};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Purged {
    /// Messages that were changed.
    pub messages: u64,
    /// Records that were changed.
    pub records: u64,
}

impl<C: Clock> Threads<C> {
    /// Takes something out for good: it cannot be undone.
    ///
    /// # Errors
    /// When there is no such thread or message, or an attempt is under way.
    pub async fn purge(&self, key: &ThreadKey, purge: &Purge) -> Result<Purged, ThreadsError> {
        let _ = (key, purge);
        Err(StoreError::Unfit("this store cannot purge yet".to_owned()).into())
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
