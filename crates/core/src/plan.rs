//! What goes, what stays, and why.
//!
//! Planning never fails. It marks what must stay for structural reasons, adds the end that the policy keeps,
//! and lets every unit go that has no reason to stay, so a pair of call and answer is never split. Peers'
//! cut positions, which can split one, exist only under `strict_parity` ([`crate::parity`]).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::count::Weight;
use crate::id::CallId;
use crate::planted::{Bug, planted};
use crate::policy::Keep;
use crate::unit::{Call, Pos};
use crate::view::{PartKind, Role};
use crate::window::Branch;

/// Why a message stays. The first that applies, in this order, is the one that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stay {
    /// One of the system messages at the start.
    LeadingSystem,
    /// The newest request of the user.
    CurrentRequest,
    /// A request at the end that nobody answered yet.
    Unanswered,
    /// The host pinned it.
    Pinned,
    /// A call that the host still waits for.
    PendingCall,
    /// The call through which the model itself asked for this compaction.
    InvokingCall,
    /// A call of the newest reply that has no answer yet.
    OpenCall,
    /// A result at the end that the model has not read yet.
    Unread,
    /// Still streaming.
    Partial,
    /// The open turn was begun with signed reasoning, which does not verify behind a cut.
    SignedTurn,
    /// A dynamic-context reminder.
    Reminder,
    /// It holds something that this surface does not know.
    Opaque,
    /// Within what the policy keeps of the end.
    Recent,
    /// The last message: a request needs one that is not a system message, and ends as the conversation does.
    Last,
}

impl Stay {
    /// A few words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::LeadingSystem => "system prompt",
            Self::CurrentRequest => "current request",
            Self::Unanswered => "unanswered request",
            Self::Pinned => "pinned",
            Self::PendingCall => "pending call",
            Self::InvokingCall => "call that asked for this",
            Self::OpenCall => "open call",
            Self::Unread => "result not read yet",
            Self::Partial => "still streaming",
            Self::SignedTurn => "open turn with signed reasoning",
            Self::Reminder => "reminder",
            Self::Opaque => "unknown content",
            Self::Recent => "recent",
            Self::Last => "last message",
        }
    }
}

/// What happens to one message of the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Stays, for this reason.
    Stays(Stay),
    /// Goes into the summary.
    Goes,
    /// Was folded by an earlier compaction.
    Gone,
}

/// What the host and the moment add to the policy.
#[derive(Clone, Debug, Default)]
pub struct PlanRules<'a> {
    /// How much of the end stays.
    pub keep: Option<KeepBudget>,
    /// Calls that the host still waits for.
    pub pending: Option<&'a BTreeSet<CallId>>,
    /// The call through which the model asked.
    pub invoking: Option<&'a CallId>,
    /// Whether an open turn with signed reasoning may be cut between its finished rounds, because
    /// nothing else would bring the request under its limit.
    pub cut_signed_turn: bool,
}

/// [`Keep`] with its tokens turned into the counter's weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepBudget {
    /// This many messages, leading system messages not counted; a unit that is begun is kept whole.
    Messages(u64),
    /// At most this weight of whole units.
    Weight(Weight),
    /// Everything from this position on, and what belongs to it.
    From(Pos),
}

impl KeepBudget {
    /// The budget of `keep`, where `Auto` is `auto_tokens` and a token weighs `weight_of_tokens(1)`-ish.
    pub fn of(keep: Keep, auto_tokens: u64, weight_of_tokens: impl Fn(u64) -> Weight) -> Self {
        match keep {
            Keep::Messages(n) => Self::Messages(n),
            Keep::Tokens(n) => Self::Weight(weight_of_tokens(n)),
            Keep::Auto => Self::Weight(weight_of_tokens(auto_tokens)),
        }
    }
}

/// The plan for one branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Plan {
    /// By position.
    pub fates: Vec<Fate>,
}

impl Plan {
    /// The positions that go, ascending.
    pub fn going(&self) -> impl Iterator<Item = Pos> + '_ {
        self.fates
            .iter()
            .enumerate()
            .filter(|(_, f)| **f == Fate::Goes)
            .map(|(at, _)| at)
    }

    /// The positions that stay, ascending.
    pub fn staying(&self) -> impl Iterator<Item = (Pos, Stay)> + '_ {
        self.fates
            .iter()
            .enumerate()
            .filter_map(|(at, fate)| match fate {
                Fate::Stays(why) => Some((at, *why)),
                _ => None,
            })
    }

    /// Whether nothing can go.
    pub fn is_empty(&self) -> bool {
        self.going().next().is_none()
    }
}

/// Plans a compaction of the messages for which `present` holds. `weight` is what a message weighs as it is
/// sent now. O(n).
pub fn plan(
    branch: &Branch,
    present: &dyn Fn(Pos) -> bool,
    weight: &dyn Fn(Pos) -> Weight,
    rules: &PlanRules<'_>,
) -> Plan {
    let mut planner = Planner {
        branch,
        present,
        why: vec![None; branch.len()],
        strays: strays(branch, present),
    };
    planner.structure(rules);
    if let Some(keep) = rules.keep {
        planner.recent(keep, weight);
    }
    planner.last();
    planner.whole_units();
    planner.end();
    planner.finish()
}

/// Messages of nothing but answers to no call, or to calls that were folded before the answer came.
fn strays(branch: &Branch, present: &dyn Fn(Pos) -> bool) -> BTreeSet<Pos> {
    let units = branch.units();
    let folded = units.calls().iter().filter(|call| !present(call.at));
    let late = folded.flat_map(|call| call.answers.iter().copied());
    let all = late.chain(units.orphans().iter().copied());
    let stray: BTreeSet<(Pos, usize)> = all.filter(|(at, _)| present(*at)).collect();
    let is_all_stray = |at: &Pos| {
        let view = branch.view(*at);
        view.is_only_results() && view.results().all(|(part, _)| stray.contains(&(*at, part)))
    };
    stray
        .iter()
        .map(|(at, _)| *at)
        .filter(is_all_stray)
        .collect()
}

struct Planner<'a> {
    branch: &'a Branch,
    present: &'a dyn Fn(Pos) -> bool,
    why: Vec<Option<Stay>>,
    /// Messages of nothing but answers that no call here asked for: never sent once the list is rendered anew,
    /// so keeping one would keep nothing.
    strays: BTreeSet<Pos>,
}

impl Planner<'_> {
    fn mark(&mut self, at: Pos, why: Stay) {
        if self.is_sent(at) && self.why[at].is_none_or(|known| why < known) {
            self.why[at] = Some(why);
        }
    }

    fn mark_call(&mut self, call: &Call, why: Stay) {
        self.mark(call.at, why);
    }

    fn structure(&mut self, rules: &PlanRules<'_>) {
        let branch = self.branch;
        let units = branch.units();
        for at in 0..branch.leading_system() {
            self.mark(at, Stay::LeadingSystem);
        }
        for (at, view) in branch.views().iter().enumerate() {
            let flags = view.flags;
            if flags.pinned && !planted(Bug::LostPin) {
                self.mark(at, Stay::Pinned);
            }
            if flags.reminder {
                self.mark(at, Stay::Reminder);
            }
            if flags.partial {
                self.mark(at, Stay::Partial);
            }
            if view
                .parts
                .iter()
                .any(|p| p.inside.is_none() && matches!(p.kind, PartKind::Opaque { .. }))
            {
                self.mark(at, Stay::Opaque);
            }
        }
        // More pieces of a reply at the end may come.
        let last = branch.views().last();
        if last.is_some_and(|v| v.role == Role::Assistant && v.reply.is_some()) {
            self.mark(branch.len() - 1, Stay::Partial);
        }
        for call in units.calls() {
            if rules.pending.is_some_and(|p| p.contains(&call.id)) {
                self.mark_call(call, Stay::PendingCall);
            }
            if rules.invoking == Some(&call.id) {
                self.mark_call(call, Stay::InvokingCall);
            }
        }
        self.requests();
        self.open_turn(rules.cut_signed_turn);
    }

    /// The newest request, and the whole run of requests at the end.
    fn requests(&mut self) {
        let views = self.branch.views();
        let newest = (0..views.len())
            .rev()
            .find(|at| (self.present)(*at) && views[*at].is_user_request());
        if let Some(at) = newest.filter(|_| !planted(Bug::CurrentRequestDropped)) {
            self.mark(at, Stay::CurrentRequest);
        }
        for at in (0..views.len()).rev() {
            let view = &views[at];
            if view.role != Role::User || view.is_only_results() {
                break;
            }
            if view.is_user_request() {
                self.mark(at, Stay::Unanswered);
            }
        }
    }

    /// What the model has not read yet, and the turn that it belongs to where signatures bind it.
    fn open_turn(&mut self, cut_signed_turn: bool) {
        let views = self.branch.views();
        let units = self.branch.units();
        let mut is_open = false;
        let mut last_reply = None;
        for at in (0..views.len()).rev() {
            let view = &views[at];
            if view.role == Role::Assistant {
                last_reply = Some(at);
                break;
            }
            if view.results().next().is_some() {
                self.mark(at, Stay::Unread);
                is_open = true;
            }
        }
        let request = (0..views.len())
            .rev()
            .find(|at| views[*at].is_user_request());
        for call in units.calls().iter().rev() {
            let newest_reply =
                last_reply.is_some_and(|reply| units.index_of(call.at) == units.index_of(reply));
            if !newest_reply || request.is_some_and(|r| r > call.at) {
                break;
            }
            if call.answers.is_empty() {
                self.mark_call(call, Stay::OpenCall);
                is_open = true;
            }
        }
        let turn = request.unwrap_or(0)..views.len();
        let is_signed = |at: Pos| {
            views[at]
                .parts
                .iter()
                .any(|p| matches!(p.kind, PartKind::Reasoning { bound: true }))
        };
        if is_open && !cut_signed_turn && turn.clone().any(is_signed) {
            turn.for_each(|at| self.mark(at, Stay::SignedTurn));
        }
    }

    /// The end that the policy keeps.
    fn recent(&mut self, keep: KeepBudget, weight: &dyn Fn(Pos) -> Weight) {
        let (branch, units) = (self.branch, self.branch.units());
        let first = branch.leading_system();
        let window: Vec<Pos> = (first..branch.len())
            .filter(|at| (self.present)(*at))
            .collect();
        match keep {
            KeepBudget::Messages(n) => {
                let n = usize::try_from(n).unwrap_or(usize::MAX).min(window.len());
                for at in &window[window.len() - n..] {
                    if !branch.view(*at).flags.summary {
                        self.mark(*at, Stay::Recent);
                    }
                }
            }
            KeepBudget::From(cut) => {
                for at in window.iter().filter(|at| **at >= cut) {
                    self.mark(*at, Stay::Recent);
                }
            }
            KeepBudget::Weight(budget) => {
                let mut left = budget;
                let mut seen = BTreeSet::new();
                for at in window.iter().rev() {
                    if branch.view(*at).flags.summary || !seen.insert(units.index_of(*at)) {
                        continue;
                    }
                    let members = units.of(*at).members();
                    let cost: Weight = members
                        .iter()
                        .filter(|m| (self.present)(**m))
                        .map(|m| weight(*m))
                        .sum();
                    let Some(rest) = left.checked_sub(cost) else {
                        break;
                    };
                    left = rest;
                    members.iter().for_each(|m| self.mark(*m, Stay::Recent));
                }
            }
        }
    }

    /// A request needs one message that is not a system message.
    fn last(&mut self) {
        let views = self.branch.views();
        let is_message = |at: &Pos| views[*at].role != Role::System;
        let mut messages = (0..views.len()).rev().filter(is_message);
        if messages.clone().any(|at| self.why[at].is_some()) {
            return;
        }
        if let Some(at) = messages.find(|at| self.is_sent(*at) && !views[*at].flags.summary) {
            self.mark(at, Stay::Last);
        }
    }

    /// A request ends as the conversation does: where something stood behind the model's own words, also an
    /// earlier summary, it is not asked to go on from them.
    fn end(&mut self) {
        let views = self.branch.views();
        let is_reply = |at: Pos| views[at].role == Role::Assistant;
        let Some(kept) = self.why.iter().rposition(Option::is_some) else {
            return;
        };
        let last = (kept + 1..views.len()).rev().find(|at| self.is_sent(*at));
        if let Some(at) = last.filter(|at| is_reply(kept) && !is_reply(*at)) {
            self.mark(at, Stay::Last);
            self.whole_units();
        }
    }

    /// Whether the message is in the request now and would be in one that is rendered anew.
    fn is_sent(&self, at: Pos) -> bool {
        (self.present)(at) && !self.strays.contains(&at)
    }

    /// A unit stays whole if any member stays; the others stay for the same reason.
    fn whole_units(&mut self) {
        if planted(Bug::CutInsideUnit) {
            return;
        }
        for unit in self.branch.units().iter().filter(|u| u.members().len() > 1) {
            if let Some(why) = unit.members().iter().filter_map(|m| self.why[*m]).min() {
                unit.members().iter().for_each(|m| self.mark(*m, why));
            }
        }
    }

    fn finish(self) -> Plan {
        let fate = |(at, why): (Pos, &Option<Stay>)| match why {
            Some(why) => Fate::Stays(*why),
            None if (self.present)(at) => Fate::Goes,
            None => Fate::Gone,
        };
        Plan {
            fates: self.why.iter().enumerate().map(fate).collect(),
        }
    }
}
