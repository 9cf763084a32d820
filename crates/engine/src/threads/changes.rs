//! Which of a tenant's threads changed: for whoever looks at a list of them.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use conspectus_core::effect::Millis;
use serde::Serialize;

use super::Threads;
use super::error::ThreadsError;
use super::events::Bells;
use super::info::{ListThreads, SortBy};
use crate::clock::Clock;
use crate::store::ThreadKey;

/// More changed threads at once are told as "all of them".
const PAGE: u32 = 50;

/// What changed since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// The threads, newest change first.
    pub thread_ids: Vec<Arc<str>>,
    /// There are others, which are not named, or a thread is gone.
    pub others: bool,
}

/// The changes to a tenant's threads as they come. Those of other processes on the same store come a little later
/// ([`Settings::poll_ms`](super::Settings::poll_ms)); that they deleted a thread is not noticed by itself.
pub struct Changes {
    bells: Arc<Bells>,
    /// The tenant's own bell.
    key: ThreadKey,
    rung: u64,
    /// The newest threads and when each was written.
    seen: BTreeMap<Arc<str>, Millis>,
}

impl Changes {
    /// What changed: something, or nothing when `until` has come. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn next<C: Clock>(
        &mut self,
        threads: &Threads<C>,
        until: Millis,
    ) -> Result<Option<Changed>, ThreadsError> {
        loop {
            let rung = self.bells.rung(&self.key);
            let changed = self.look(threads).await?;
            let has_rung = std::mem::replace(&mut self.rung, rung) != rung;
            if has_rung || !changed.thread_ids.is_empty() {
                return Ok(Some(Changed {
                    // It rang for something that the newest threads do not show.
                    others: changed.others || changed.thread_ids.is_empty(),
                    ..changed
                }));
            }
            let now = threads.now();
            if now >= until {
                return Ok(None);
            }
            let poll = threads.settings().poll_ms.max(1);
            let clock = threads.compactor().clock();
            let mut sleep = clock.sleep_until(until.min(now.saturating_add(poll)));
            poll_fn(
                |cx| match self.bells.poll(&self.key, self.rung, cx).is_ready() {
                    true => Poll::Ready(()),
                    false => sleep.as_mut().poll(cx),
                },
            )
            .await;
        }
    }

    async fn look<C: Clock>(&mut self, threads: &Threads<C>) -> Result<Changed, ThreadsError> {
        let newest = ListThreads {
            sort: SortBy::UpdatedAt,
            descending: true,
            limit: PAGE,
            ..ListThreads::default()
        };
        let found = threads.list(&self.key.tenant, &newest).await?;
        let now: BTreeMap<Arc<str>, Millis> = found
            .iter()
            .map(|info| (info.thread_id.clone(), info.updated_ms))
            .collect();
        let is_new = |info: &&super::info::ThreadInfo| {
            self.seen.get(&info.thread_id) != Some(&info.updated_ms)
        };
        let thread_ids: Vec<Arc<str>> = found
            .iter()
            .filter(is_new)
            .map(|info| info.thread_id.clone())
            .collect();
        let others = thread_ids.len() == PAGE as usize;
        self.seen = now;
        Ok(Changed { thread_ids, others })
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.bells.leave(&self.key);
    }
}

impl<C: Clock> Threads<C> {
    /// The changes to a tenant's threads from now on.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn changes(&self, tenant: &str) -> Result<Changes, ThreadsError> {
        let key = Bells::tenants(tenant.into());
        let mut changes = Changes {
            bells: self.bells().clone(),
            rung: self.bells().listen(&key),
            key,
            seen: BTreeMap::new(),
        };
        changes.look(self).await?;
        Ok(changes)
    }
}
