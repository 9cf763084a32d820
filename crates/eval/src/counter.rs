//! The evaluation's measure of size as a counter of the core.

use conspectus_core::count::{CounterId, TokenCounter, Weight};
use conspectus_core::view::{MessageView, PartRef, Texts};

use crate::part::quarters;

/// A character of Chinese, Japanese or Korean is one token, four others are one. Weights are quarters.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvalCounter;

impl TokenCounter for EvalCounter {
    fn id(&self) -> CounterId {
        CounterId(900)
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        let parts = 0..u16::try_from(message.parts.len()).unwrap_or(u16::MAX);
        let message = message.handle;
        parts
            .map(|part| self.text(&texts.text(PartRef { message, part })))
            .sum()
    }

    fn text(&self, text: &str) -> Weight {
        quarters(text) as Weight
    }

    fn added_message(&self, text: &str) -> Weight {
        self.text(text)
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight.div_ceil(4)
    }
}
