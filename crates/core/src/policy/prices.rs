//! What a model's tokens cost, and how long its provider keeps a prefix.

use serde::{Deserialize, Serialize};

/// Prices in micro-dollars a million tokens: 3 dollars a million tokens are 3,000,000. A price times a number
/// of tokens is in pico-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rates {
    /// Of what is sent.
    pub input: u64,
    /// Of what is written.
    pub output: u64,
    /// Of what is sent and was in the provider's cache.
    pub cache_read: u64,
    /// Of what is sent and put into the provider's cache.
    pub cache_write: u64,
}

/// What a model costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prices {
    /// What holds for every request that is not long.
    pub rates: Rates,
    /// What holds for the whole of a request of more input tokens than this, where long ones cost more.
    pub long: Option<(u64, Rates)>,
}

impl Prices {
    /// The same prices for requests of every length.
    pub fn flat(rates: Rates) -> Self {
        Self { rates, long: None }
    }

    /// What holds for a request of so many tokens.
    pub fn at(&self, input_tokens: u64) -> Rates {
        match self.long {
            Some((above, rates)) if input_tokens > above => rates,
            _ => self.rates,
        }
    }
}

/// How a provider keeps the beginning of a request for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrefixCache {
    /// It is kept so long after its last use.
    pub ttl_ms: u64,
    /// Shorter beginnings are not kept.
    pub minimum_tokens: u64,
}
