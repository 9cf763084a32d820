//! What a compaction costs and saves by the provider's cache, for those who decide whether to make it.

use conspectus_core::cost::{Change, Cost, SummaryCall, Warmth, cost};
use conspectus_core::policy::Prices;
use serde::Serialize;

use crate::compact::Compaction;

/// What a compaction comes to in tokens and, where the model's prices are known, in money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Economics {
    /// Tokens of the beginning of the request that stays the same: the cache goes on holding it.
    pub tokens_kept_cached: u64,
    /// Tokens behind it: what the cache holds of them is of no use any more.
    pub tokens_invalidated: u64,
    /// Tokens that each later request is smaller by.
    pub tokens_saved: u64,
    /// The model whose prices count.
    pub model: Option<String>,
    /// Its prices, in micro-dollars a million tokens.
    pub prices: Option<Prices>,
    /// What it costs and saves as it was made here.
    pub as_made: Option<Both>,
    /// The same if the conversation's own model writes a summary of that size, the conversation sent once more.
    pub by_the_model: Option<Both>,
}

/// With the provider's cache holding the request, and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Both {
    /// The last request was a moment ago.
    pub warm: Cost,
    /// It was long ago.
    pub cold: Cost,
}

impl Both {
    fn of(change: Change, call: SummaryCall, prices: &Prices) -> Self {
        Self {
            warm: cost(change, call, prices, Warmth::Warm),
            cold: cost(change, call, prices, Warmth::Cold),
        }
    }
}

impl Compaction {
    /// What it costs and saves. `None`: nothing was changed.
    pub fn economics(&self) -> Option<Economics> {
        let measured = &self.report.measured;
        let change = measured.change?;
        let policy = &self.thread.policy().cost;
        let summary = match self.summary() {
            Some(text) if measured.summary_tokens > 0 => {
                Some(self.counter.tokens(self.counter.text(text)))
            }
            _ => None,
        };
        let replay = summary.map(|summary| SummaryCall::Replay {
            instruction: 0,
            summary,
        });
        let both = |call| policy.prices.as_ref().map(|p| Both::of(change, call, p));
        Some(Economics {
            tokens_kept_cached: change.same,
            tokens_invalidated: change.before,
            tokens_saved: change.before.saturating_sub(change.after),
            model: policy.model.as_deref().map(str::to_owned),
            prices: policy.prices,
            as_made: both(SummaryCall::None),
            by_the_model: replay.and_then(both),
        })
    }
}
