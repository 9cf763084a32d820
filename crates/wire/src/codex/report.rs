//! Which reply a report of tokens is about. Older clients write it before the items of the reply, newer ones
//! behind them and behind the answers to its calls; both repeat reports that say nothing new.

use conspectus_core::view::Usage;

use super::history::Item;
use crate::json::{Object, Span};

/// What was reported and not yet told whom it is about, and the other way round.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// A reply without a report: the place of its last item.
    waiting: Option<usize>,
    /// A report without a reply.
    early: Option<Usage>,
    /// The place of the last item so far of the reply that `early` is about.
    about: Option<usize>,
    /// The session's total at the last report.
    total: Option<Span>,
}

impl Reports {
    /// An item is about to be put at `at`.
    pub(super) fn item(&mut self, is_reply: bool, at: usize, history: Option<&mut Vec<Item>>) {
        match (is_reply, &self.early) {
            (true, None) => self.waiting = Some(at),
            (true, Some(_)) => self.about = Some(at),
            (false, _) => self.settle(history),
        }
    }

    /// A report.
    pub(super) fn report(&mut self, text: &str, payload: Span, history: Option<&mut Vec<Item>>) {
        let payload = Object::of(payload.text(text)).unwrap_or_default();
        let Some(info) = payload.object("info") else {
            return;
        };
        let total = info
            .value("total_token_usage")
            .map(|total| Span::of(text, total));
        let said_before =
            |total: Span| self.total.is_some_and(|t| t.text(text) == total.text(text));
        if total.is_some_and(said_before) {
            return;
        }
        self.total = total;
        let Some(usage) = info
            .object("last_token_usage")
            .and_then(|last| usage(&last))
        else {
            return;
        };
        let Some(history) = history else {
            return;
        };
        self.settle(Some(&mut *history));
        match self.waiting.take().and_then(|at| history.get_mut(at)) {
            Some(item) => item.usage = Some(usage),
            None => self.early = Some(usage),
        }
    }

    /// The reply that an early report is about is over.
    pub(super) fn settle(&mut self, history: Option<&mut Vec<Item>>) {
        if let Some(at) = self.about.take()
            && let Some(item) = history.and_then(|history| history.get_mut(at))
        {
            item.usage = self.early.take();
        }
    }

    /// Nothing reported before counts for what follows.
    pub(super) fn forget(&mut self) {
        self.waiting = None;
        self.early = None;
        self.about = None;
    }
}

/// `input_tokens` includes cached ones. The client's own estimates report no input.
fn usage(last: &Object<'_>) -> Option<Usage> {
    let number = |key: &str| last.number(key).unwrap_or(0);
    let usage = Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cache_read: number("cached_input_tokens"),
        cache_write: number("cache_write_input_tokens"),
        reported_total: last.number("total_tokens"),
        provider: None,
    };
    (usage.input > 0).then_some(usage)
}
