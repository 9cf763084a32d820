//! Signed reasoning behind what the limits at every rendering change, where the provider binds it to all that stands
//! before it. A change waits while it would break the reasoning of the turn that is open, which must be sent as it was
//! written; afterwards the reasoning behind the change goes with it.

use serde::{Deserialize, Serialize};

use super::{Sources, Thread};
use crate::reasoning::{begin_after, calls, is_bound, without_reasoning};
use crate::unit::Pos;
use crate::view::Role;

/// What is known of the messages after the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Bound {
    /// Messages that are sent with signed reasoning, ascending.
    signed: Vec<Pos>,
    /// Where the turn of the newest request begins.
    turn: Pos,
    reply: Option<Pos>,
}

impl Thread {
    /// Takes note of the message at `at`, which is the newest so far.
    pub(super) fn note_bound(&mut self, at: Pos) {
        let view = self.branch.view(at);
        let bound = &mut self.live.bound;
        if view.is_user_request() {
            bound.turn = begin_after(&self.branch, at);
        }
        if view.role == Role::Assistant {
            bound.reply = Some(at);
        }
        if is_bound(view) {
            bound.signed.push(at);
        }
    }

    /// Whether a change at `at` would break reasoning that must stay as it is.
    pub(super) fn breaks_open_turn(&self, at: Pos) -> bool {
        let bound = &self.live.bound;
        let is_behind = |last: &Pos| *last > at && *last >= bound.turn;
        let newest = bound.signed.last().filter(|last| is_behind(last));
        self.binds()
            && newest
                .and(bound.reply)
                .is_some_and(|reply| calls(&self.branch, reply))
    }

    /// What stands at `at` was changed: the reasoning behind it goes. Each message loses it once.
    pub(super) fn unbind_behind(&mut self, at: Pos, src: Sources<'_>) {
        while self.binds()
            && let Some(last) = self.live.bound.signed.pop_if(|last| *last > at)
        {
            let Some(left_out) = self.left_out(last) else {
                continue;
            };
            let (view, before) = (self.branch.view(last), self.patches_at(last));
            if let Some(after) = without_reasoning(view, before) {
                self.put(last, after.to_vec(), &left_out, src);
            }
        }
    }

    fn binds(&self) -> bool {
        self.policy.binds_reasoning && !self.policy.follows_peer()
    }
}
