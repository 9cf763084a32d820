//! LangChain's usage scaling over the request that would be sent, kept with the thread and extended message by
//! message, so that the size of a turn costs what is new.

use super::{Sources, Thread};
use crate::count::{Scaling, Weight};
use crate::policy::Counted;
use crate::projection::Piece;
use crate::unit::Pos;
use crate::view::{MessageView, Role};
use crate::window::Branch;

/// The scaling of all that is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Scale {
    now: Scaling,
    /// As it was before the newest reply.
    before: Scaling,
    /// The newest reply and what came after it, with what is sent of each: a report comes after its reply.
    since: Vec<(Pos, Weight)>,
}

impl Scale {
    /// The next message that is sent.
    pub(super) fn push(&mut self, at: Pos, view: &MessageView, weight: Weight, is_valid: bool) {
        if view.role == Role::Assistant {
            self.before = self.now.clone();
            self.since.clear();
        }
        self.since.push((at, weight));
        self.now.add(at, view, weight, is_valid);
    }

    /// The message at `at` was shortened by `weight`.
    pub(super) fn lose(&mut self, at: Pos, weight: Weight) {
        self.now.lose(at, weight);
        match self.since.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(i) => self.since[i].1 = self.since[i].1.saturating_sub(weight),
            Err(_) => self.before.lose(at, weight),
        }
    }

    /// A report for the newest reply, at `at`, arrived. Costs what came after it.
    pub(super) fn reported(&mut self, branch: &Branch, at: Pos, is_valid: bool) {
        if self.since.first().is_some_and(|(first, _)| *first == at) {
            self.now = self.before.clone();
            for (at, weight) in &self.since {
                self.now.add(*at, branch.view(*at), *weight, is_valid);
            }
        }
    }

    /// What the newest reply's own report says, where `provider` wrote it.
    pub(super) fn newest_report(&self, provider: Option<&str>) -> Option<u64> {
        self.now.reported(provider)
    }
}

impl Thread {
    /// Whether the report at `at` measured what is shown now. LangChain takes any.
    pub(super) fn takes_report(&self, at: Pos) -> bool {
        let under = self.reports.get(&self.branch.path()[at]);
        let is_peer = self.active().is_some_and(|r| r.peer.is_some());
        is_peer || at >= self.frozen.end && under == Some(&self.active)
    }

    /// Adds the message at `at`, which is behind the record, as it is sent.
    pub(super) fn scale(&mut self, at: Pos, src: Sources<'_>) {
        let view = self.branch.view(at);
        let weight = match self.tail_piece(at) {
            None => return,
            Some(Piece::Edit(_, edits)) => src.counter.patched(view, src.texts, &edits),
            Some(_) => self.branch.weight(at, at + 1),
        };
        let is_valid = self.takes_report(at);
        self.scale.push(at, self.branch.view(at), weight, is_valid);
    }

    /// Starts over behind the frozen part. O(messages after the record).
    pub(super) fn scale_tail(&mut self, src: Sources<'_>) {
        self.scale = self.frozen.scale.clone();
        for at in self.frozen.end..self.branch.len() {
            self.scale(at, src);
        }
    }

    /// The scaled count. LangChain's summary is the first of its messages, deer-flow's one more behind them.
    pub(super) fn scaled(&self, counted: Counted, in_list: bool) -> u64 {
        let blocks = (u64::from(self.has_summary()), self.frozen.summary_weight);
        let nothing = (0, 0);
        let (before, after) = match counted {
            Counted::Request => ((blocks.0, blocks.1 + self.fixed.weight), nothing),
            Counted::Messages => (nothing, nothing),
            Counted::MessagesAndSummary if in_list => (blocks, nothing),
            Counted::MessagesAndSummary => (nothing, blocks),
        };
        self.scale.now.total(before, after)
    }
}
