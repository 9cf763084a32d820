//! The fake counter of some cases: every message counts the same, whatever it holds.

use std::sync::Arc;

use conspectus_core::count::{CounterId, TokenCounter, Weight};
use conspectus_core::view::{MessageView, Texts};

/// So many tokens a message. Texts by themselves count what they count.
pub(super) struct PerMessage {
    /// Tokens of a message, also of one that the engine adds.
    pub(super) tokens: u64,
    /// Counts texts.
    pub(super) texts: Arc<dyn TokenCounter>,
}

impl TokenCounter for PerMessage {
    fn id(&self) -> CounterId {
        CounterId::custom(1)
    }

    fn message(&self, _message: &MessageView, _texts: &dyn Texts) -> Weight {
        self.tokens
    }

    fn text(&self, text: &str) -> Weight {
        self.texts.tokens(self.texts.text(text))
    }

    fn added_message(&self, _text: &str) -> Weight {
        self.tokens
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight
    }
}
