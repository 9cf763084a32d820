//! Counting tokens: the interface, and the counters that need no vocabulary.
//!
//! A counter gives every message a [`Weight`]: weights add up exactly, and [`TokenCounter::tokens`] turns a
//! sum into tokens at the end. So totals are prefix sums, and a formula that divides once over the whole
//! transcript (bytes / 4) is as additive as one that rounds per message.

use serde::{Deserialize, Serialize};

use crate::patch::{Patch, Patched};
use crate::view::{MessageView, Texts};

/// Which counter made a figure. Figures of different counters are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CounterId(pub u32);

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
