//! Counting tokens: the interface, and the counters that need no vocabulary.
//!
//! A counter gives every message a [`Weight`]: weights add up exactly, and [`TokenCounter::tokens`] turns a
//! sum into tokens at the end. So totals are prefix sums, and a formula that divides once over the whole
//! transcript (bytes / 4) is as additive as one that rounds per message.
//!
//! A counter of one's own is any type with the trait:
//!
//! ```
//! use conspectus_core::count::{CounterId, TokenCounter, Weight};
//! use conspectus_core::view::{MessageView, PartRef, Texts};
//!
//! /// Two tokens a line of text.
//! struct Lines;
//!
//! impl TokenCounter for Lines {
//!     fn id(&self) -> CounterId {
//!         CounterId::custom(1)
//!     }
//!
//!     fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
//!         let message_at = |part| PartRef { message: message.handle, part };
//!         let parts = 0..message.parts.len() as u16;
//!         parts.map(|part| self.text(&texts.text(message_at(part)))).sum()
//!     }
//!
//!     fn text(&self, text: &str) -> Weight {
//!         2 * text.lines().count() as Weight
//!     }
//!
//!     fn added_message(&self, text: &str) -> Weight {
//!         self.text(text)
//!     }
//!
//!     fn tokens(&self, weight: Weight) -> u64 {
//!         weight
//!     }
//! }
//!
//! assert_eq!(Lines.tokens(Lines.text("one\ntwo") + Lines.text("three")), 6);
//! ```

mod bytes4;
mod estimator;
mod langchain;
mod pyspell;
mod scaling;

pub use bytes4::{Bytes4, Words};
pub use estimator::Estimator;
pub use langchain::LangChain;
pub use scaling::Scaling;
#[cfg(test)]
pub(crate) use scaling::scaled_total;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::patch::{Patch, Patched};
use crate::policy::CounterChoice;
use crate::view::{MessageView, Texts};

/// Which counter made a figure. Figures of different counters are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CounterId(pub u32);

impl CounterId {
    /// [`Estimator`]. The number changes when its constants do.
    pub const ESTIMATOR: Self = Self(1);
    /// [`Bytes4`].
    pub const BYTES4: Self = Self(2);
    /// [`Words`].
    pub const WORDS: Self = Self(3);
    /// Exact, vocabulary `o200k_base`.
    pub const O200K: Self = Self(0x2_0001);
    /// Exact, vocabulary `cl100k_base`.
    pub const CL100K: Self = Self(0x2_0002);

    /// [`LangChain`] at this many tenths of a character a token.
    pub const fn langchain(tenths: u16) -> Self {
        Self(0x1_0000 + tenths as u32)
    }

    /// A host's own counter; `number` below 2³¹ is the host's to give.
    pub const fn custom(number: u32) -> Self {
        Self(0x8000_0000 | number)
    }
}

/// For people and reports.
impl fmt::Display for CounterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ESTIMATOR => f.write_str("estimator"),
            Self::BYTES4 => f.write_str("bytes/4"),
            Self::WORDS => f.write_str("words"),
            Self::O200K => f.write_str("o200k"),
            Self::CL100K => f.write_str("cl100k"),
            Self(own) if own >= 0x8000_0000 => write!(f, "custom {}", own & 0x7fff_ffff),
            Self(tenths) => {
                let tenths = tenths.saturating_sub(0x1_0000);
                write!(f, "langchain ({}.{} characters)", tenths / 10, tenths % 10)
            }
        }
    }
}

/// What a message weighs, in the counter's own unit.
pub type Weight = u64;

/// Counts tokens. A counter is a pure function: the same message has the same weight every time.
pub trait TokenCounter: Send + Sync {
    /// Its identity, stored beside every figure.
    fn id(&self) -> CounterId;

    /// The weight of one message as it would be sent, its fixed overhead included.
    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight;

    /// The weight of a bare text (a summary, a system prompt, tool definitions), without any overhead.
    fn text(&self, text: &str) -> Weight;

    /// The weight of a message that we add and that holds `text`.
    fn added_message(&self, text: &str) -> Weight;

    /// Tokens of a sum of weights.
    fn tokens(&self, weight: Weight) -> u64;

    /// The weight of a message after its patches.
    fn patched(&self, message: &MessageView, texts: &dyn Texts, patches: &[Patch]) -> Weight {
        if patches.is_empty() {
            self.message(message, texts)
        } else {
            self.message(message, &Patched::new(texts, message.handle, patches))
        }
    }
}

/// The counter that a policy names.
pub fn counter_for(choice: CounterChoice) -> Arc<dyn TokenCounter> {
    match choice {
        CounterChoice::Estimator => Arc::new(Estimator::new()),
        CounterChoice::LangChain { tenths } => Arc::new(LangChain::new(tenths)),
        CounterChoice::Bytes4 => Arc::new(Bytes4),
    }
}

/// The largest weight that is at most `tokens`: sizes that were asked for in tokens, in the counter's own unit.
/// Counters only have to be monotone.
pub fn weight_of(counter: &dyn TokenCounter, tokens: u64) -> Weight {
    let (mut low, mut high) = (0, 1u64);
    while counter.tokens(high) <= tokens && high < u64::MAX / 4 {
        (low, high) = (high, high * 2);
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if counter.tokens(middle) <= tokens {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_its_own_id() {
        let choices = [
            CounterChoice::Estimator,
            CounterChoice::Bytes4,
            CounterChoice::LangChain { tenths: 40 },
            CounterChoice::LangChain { tenths: 33 },
        ];
        let mut ids: Vec<_> = choices.map(|c| counter_for(c).id().0).into();
        ids.extend(
            [
                CounterId::WORDS,
                CounterId::O200K,
                CounterId::CL100K,
                CounterId::custom(0),
            ]
            .map(|id| id.0),
        );
        ids.sort_unstable();
        let before = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), before);
    }
}
