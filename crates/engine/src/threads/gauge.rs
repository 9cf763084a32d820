//! How full a thread's window is, without opening it: for lists of threads.

use std::sync::Arc;

use conspectus_core::id::NodeId;
use serde::Serialize;

use super::Threads;
use super::error::ThreadsError;
use super::meta::Meta;
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::ThreadKey;

/// How full a window is. Sizes are by the thread's counter, without what was shortened since the last record and
/// without what providers reported: [`Threads::status`] tells those, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gauge {
    /// The model that the thread runs on.
    pub model: Option<Arc<str>>,
    /// Tokens of the next request.
    pub tokens: u64,
    /// The most that it may have.
    pub input_limit: u64,
    /// From here on it is compacted.
    pub trigger_tokens: Option<u64>,
    /// From here on it may be, beside a run.
    pub soft_tokens: Option<u64>,
    /// Tokens that are not sent, since they are folded or shortened.
    pub saved_tokens: u64,
    /// Micro-dollars that this saves with each call, where prices are known.
    pub saved_micros_per_call: Option<i64>,
    /// Compaction is on.
    pub enabled: bool,
}

impl<C: Clock> Threads<C> {
    /// How full a window is. Costs two messages and a record.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn gauge(&self, key: &ThreadKey) -> Result<Gauge, ThreadsError> {
        let head = self.head(key).await?;
        let run = self
            .settings()
            .run(&Meta::read(&head.meta), &Asked::default())?;
        let (mut tokens, mut whole, mut saved_micros) = (0, 0, None);
        if let Some(state) = &head.state {
            let fixed = run.counter.tokens(state.fixed().weight);
            let here = match state.head() {
                Some(node) => self.weight_upto(key, node).await?,
                None => 0,
            };
            whole = run.counter.tokens(here).saturating_add(fixed);
            tokens = whole;
            let record = match state.active() {
                Some(id) => self.store().records(key, id, id).await?.pop(),
                None => None,
            };
            if let Some(record) = record {
                saved_micros = record.measured.cost.map(|cost| cost.saved_micros);
                if let Some(after) = record.measured.tokens_after {
                    let upto = self.weight_upto(key, record.upto).await?;
                    tokens = after.saturating_add(run.counter.tokens(here.saturating_sub(upto)));
                }
            }
        }
        Ok(Gauge {
            model: run.model,
            tokens,
            input_limit: run.policy.input_limit(),
            trigger_tokens: run.policy.trigger_tokens(),
            soft_tokens: run.policy.soft_tokens,
            saved_tokens: whole.saturating_sub(tokens),
            saved_micros_per_call: saved_micros,
            enabled: run.policy.enabled,
        })
    }

    /// What the branch up to and including a message weighs.
    pub(super) async fn weight_upto(
        &self,
        key: &ThreadKey,
        node: NodeId,
    ) -> Result<u64, ThreadsError> {
        let found = self.store().messages(key, node, node).await?;
        Ok(found.first().map_or(0, |stored| stored.cumulative))
    }
}
