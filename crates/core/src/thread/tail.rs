//! The messages after the record as they are sent. Kept with the thread and extended message by message, so that
//! the request of a turn costs what is new, not what was said since the record.

use std::sync::Arc;

use super::{Sources, Thread};
use crate::projection::Piece;
use crate::unit::Pos;

/// The pieces of the messages after the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tail {
    pub(super) pieces: Arc<Vec<Piece>>,
    /// Positions after the record without a piece, ascending.
    hidden: Vec<Pos>,
}

impl Thread {
    /// Adds the piece of the newest message, which is at `at`.
    pub(super) fn show(&mut self, at: Pos) {
        match self.tail_piece(at) {
            Some(piece) => Arc::make_mut(&mut self.tail.pieces).push(piece),
            None => self.tail.hidden.push(at),
        }
    }

    /// The piece of the message at `at` changed.
    pub(super) fn show_again(&mut self, at: Pos) {
        let hidden = self.tail.hidden.partition_point(|other| *other < at);
        let is_hidden = self.tail.hidden.get(hidden) == Some(&at);
        if let Some(piece) = self.tail_piece(at).filter(|_| !is_hidden) {
            Arc::make_mut(&mut self.tail.pieces)[at - self.frozen.end - hidden] = piece;
        }
    }

    /// Whether pieces and weights that are kept are what they would be if they were made now. O(n), reads all texts.
    pub(super) fn is_up_to_date(&self, src: Sources<'_>) -> bool {
        let tail = self.frozen.end..self.branch.len();
        let weight = |at| {
            let (view, patches) = (self.branch.view(at), self.patches_at(at));
            src.counter.patched(view, src.texts, patches)
        };
        let mut shown = (0..self.branch.len()).filter(|at| !self.is_folded(*at));
        tail.filter_map(|at| self.tail_piece(at))
            .eq(self.tail.pieces.iter().cloned())
            && shown.all(|at| weight(at) == self.weight_at(at))
    }

    /// Makes all pieces anew. O(messages after the record): when the record or the head changes.
    pub(super) fn show_tail(&mut self) {
        self.tail = Tail::default();
        for at in self.frozen.end..self.branch.len() {
            self.show(at);
        }
    }
}
