//! Units: what is kept or removed together.
//!
//! A tool call, all its answers and the other pieces of the reply that made the call are one unit. Its
//! members need not be neighbours: a person can speak between parallel results, an approval can come late.
//! So a unit has members and a *hull*, the span from its first to its last member. Every message belongs to
//! exactly one unit; most are units alone.
//!
//! Pairing goes by position: an answer belongs to the nearest open call of its id before it, since some
//! servers restart their ids. Built message by message; each costs O(log n).

use std::collections::BTreeMap;
use std::ops::Range;

use crate::id::{CallId, ReplyId};
use crate::view::MessageView;

/// A position on a branch. Only a cache: what is stored names nodes.
pub type Pos = usize;

/// Messages that are kept or removed together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Positions, ascending; none while it is a message alone, as most are.
    several: Vec<Pos>,
    /// From the first member to after the last one.
    pub hull: Range<Pos>,
}

impl Unit {
    fn alone(at: Pos) -> Self {
        Self {
            several: Vec::new(),
            hull: at..at + 1,
        }
    }

    /// Positions, ascending.
    pub fn members(&self) -> &[Pos] {
        match self.several.as_slice() {
            [] => std::slice::from_ref(&self.hull.start),
            several => several,
        }
    }
}

/// A tool call and where its answers are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The message that calls.
    pub at: Pos,
    /// Its part index.
    pub part: usize,
    /// The id as the provider gave it.
    pub id: CallId,
    /// The tool's name.
    pub tool: std::sync::Arc<str>,
    /// The answers (position, part index), in order. The first closes the call.
    pub answers: Vec<(Pos, usize)>,
}

/// The units of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Units {
    /// Unit index by position.
    of: Vec<usize>,
    /// Units; nothing leads to one that was merged into another.
    units: Vec<Unit>,
    calls: Vec<Call>,
    /// Call indices by id, oldest first: the open ones, and the newest answered one.
    open: BTreeMap<CallId, Vec<usize>>,
    newest: BTreeMap<CallId, usize>,
    replies: BTreeMap<ReplyId, Pos>,
    orphans: Vec<(Pos, usize)>,
    /// Cuts outside every hull, ascending.
    cuts: Vec<Pos>,
}

impl Units {
    /// Makes room for so many more messages.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.of.reserve_exact(more);
        self.units.reserve_exact(more);
        self.cuts.reserve_exact(more);
    }

    /// Adds the next message of the branch.
    pub fn push(&mut self, message: &MessageView) {
        let at = self.of.len();
        self.of.push(self.units.len());
        self.units.push(Unit::alone(at));
        self.cuts.push(at);
        if let Some(reply) = message.reply
            && let Some(before) = self.replies.insert(reply, at)
        {
            self.join(before, at);
        }
        for (part, kind) in message.parts.iter().map(|p| &p.kind).enumerate() {
            match kind {
                crate::view::PartKind::Call { id, tool } => self.call(at, part, id, tool),
                crate::view::PartKind::Result { id, .. } => self.answer(at, part, id),
                _ => {}
            }
        }
    }

    /// Adds messages that were not read: each is a unit alone.
    pub(crate) fn skip(&mut self, count: usize) {
        let (at, unit) = (self.of.len(), self.units.len());
        self.of.extend(unit..unit + count);
        self.units.extend((at..at + count).map(Unit::alone));
        self.cuts.extend(at..at + count);
    }

    fn call(&mut self, at: Pos, part: usize, id: &CallId, tool: &std::sync::Arc<str>) {
        let index = self.calls.len();
        self.calls.push(Call {
            at,
            part,
            id: id.clone(),
            tool: tool.clone(),
            answers: Vec::new(),
        });
        self.open.entry(id.clone()).or_default().push(index);
        self.newest.insert(id.clone(), index);
    }

    fn answer(&mut self, at: Pos, part: usize, id: &CallId) {
        let Some(call) = self.take_open(id).or_else(|| self.newest.get(id).copied()) else {
            self.orphans.push((at, part));
            return;
        };
        self.calls[call].answers.push((at, part));
        self.join(self.calls[call].at, at);
    }

    /// The call that an answer with `id` closes: of the nearest message with an open call of that id, the
    /// first such call. Where either side has no id, order stands in for it.
    fn take_open(&mut self, id: &CallId) -> Option<usize> {
        let missing = CallId::from("");
        let key = if id.as_str().is_empty() {
            self.open
                .iter()
                .max_by_key(|(_, calls)| calls.last())
                .map(|(key, _)| key.clone())?
        } else if self.open.contains_key(id) {
            id.clone()
        } else if self.open.contains_key(&missing) && !self.newest.contains_key(id) {
            missing
        } else {
            return None;
        };
        let calls = self.open.get_mut(&key)?;
        let message = self.calls[*calls.last()?].at;
        let first = calls.iter().position(|c| self.calls[*c].at == message)?;
        let call = calls.remove(first);
        if calls.is_empty() {
            self.open.remove(&key);
        }
        Some(call)
    }

    /// Makes the units of two positions one; `later` is the newest position.
    fn join(&mut self, earlier: Pos, later: Pos) {
        let (a, b) = (self.of[earlier], self.of[later]);
        if a != b {
            let (a_has, b_has) = (self.units[a].members().len(), self.units[b].members().len());
            let (into, from) = if a_has >= b_has { (a, b) } else { (b, a) };
            let from = std::mem::replace(&mut self.units[from], Unit::alone(later));
            let moved = from.members();
            moved.iter().for_each(|m| self.of[*m] = into);
            let unit = &mut self.units[into];
            if unit.several.is_empty() {
                unit.several.push(unit.hull.start);
            }
            let members = &mut unit.several;
            let in_order = members.last() < moved.first();
            members.extend(moved);
            if !in_order {
                members.sort_unstable();
            }
            unit.hull = members[0]..members[members.len() - 1] + 1;
        }
        let start = self.units[self.of[later]].hull.start;
        while self.cuts.last().is_some_and(|cut| *cut > start) {
            self.cuts.pop();
        }
    }

    /// Messages seen.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether no message was seen.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The unit that the message at `at` belongs to.
    pub fn of(&self, at: Pos) -> &Unit {
        &self.units[self.of[at]]
    }

    /// The unit's identity: equal for members of one unit.
    pub fn index_of(&self, at: Pos) -> usize {
        self.of[at]
    }

    /// All units, by their first member.
    pub fn iter(&self) -> impl Iterator<Item = &Unit> {
        self.of
            .iter()
            .enumerate()
            .filter(|(at, unit)| self.units[**unit].hull.start == *at)
            .map(|(_, unit)| &self.units[*unit])
    }

    /// All calls in order.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Calls that nobody answered yet.
    pub fn open_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.answers.is_empty())
    }

    /// The call that the answer at `at`, `part` belongs to. O(log n + members of its unit).
    pub fn call_of(&self, at: Pos, part: usize) -> Option<&Call> {
        self.of(at).members().iter().find_map(|member| {
            let from = self.calls.partition_point(|call| call.at < *member);
            let here = self.calls[from..]
                .iter()
                .take_while(|call| call.at == *member);
            here.into_iter()
                .find(|call| call.answers.contains(&(at, part)))
        })
    }

    /// Answers that no call asked for (position, part index).
    pub fn orphans(&self) -> &[(Pos, usize)] {
        &self.orphans
    }

    /// Positions before which the branch may be cut without going through a hull, ascending.
    pub fn cuts(&self) -> &[Pos] {
        &self.cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Conversation;

    /// Units as `0,1|2` (members by position), then open calls and orphans.
    fn check(messages: &[&str], expect: &str) {
        let conversation = Conversation::parse(messages);
        let mut units = Units::default();
        conversation.views().iter().for_each(|v| units.push(v));
        let shown: Vec<String> = units
            .iter()
            .map(|u| {
                u.members()
                    .iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
                    .join(",")
            })
            .collect();
        let open: Vec<String> = units
            .open_calls()
            .map(|c| c.id.as_str().to_owned())
            .collect();
        let orphans: Vec<String> = units.orphans().iter().map(|o| o.0.to_string()).collect();
        let mut got = shown.join("|");
        if !open.is_empty() {
            got += &format!(" open {}", open.join(","));
        }
        if !orphans.is_empty() {
            got += &format!(" orphans {}", orphans.join(","));
        }
        assert_eq!(got, expect, "{messages:?}");
        let legal: Vec<usize> = (0..messages.len())
            .filter(|cut| {
                units
                    .iter()
                    .all(|u| !(u.hull.start < *cut && *cut < u.hull.end))
            })
            .collect();
        assert_eq!(units.cuts(), legal, "{messages:?}");
    }

    #[test]
    fn pairing_goes_by_position() {
        check(&["u hello", "a hi"], "0|1");
        check(&["u go", "a call c1", "t c1 ok", "a done"], "0|1,2|3");
        // parallel, in any order
        check(&["a call c1 call c2", "t c2 x", "t c1 y"], "0,1,2");
        // interleaved: LangChain's cut at the first answer leaves it without its call
        check(&["a call c1", "a call c2", "t c1 x", "t c2 y"], "0,2|1,3");
        // a person speaks between parallel results
        check(
            &["a call c1 call c2", "t c1 x", "u wait", "t c2 y"],
            "0,1,3|2",
        );
        // ids that restart
        check(&["a call c1", "t c1 x", "a call c1", "t c1 y"], "0,1|2,3");
        check(&["a call c1", "a call c1", "t c1 y"], "0|1,2 open c1");
        // one id twice in one message: in order
        check(&["a call c1 call c1", "t c1 x", "t c1 y"], "0,1,2");
        // a second answer belongs to its call
        check(
            &["a call c1", "t c1 started", "a ok", "u next", "t c1 done"],
            "0,1,4|2|3",
        );
        // orphans and missing answers
        check(&["t c9 x", "u go", "a call c1"], "0|1|2 open c1 orphans 0");
        // missing ids pair by order
        check(&["a call -", "t - x"], "0,1");
        check(&["a call c1", "t - x", "t - y"], "0,1|2 orphans 2");
        check(&["a call -", "t c7 x"], "0,1");
        // one user message answers calls of two replies
        check(&["a call c1", "a call c2", "t c1 x c2 y"], "0,1,2");
        // pieces of one reply
        check(
            &[
                "a think reply1",
                "a call c1 reply1",
                "t c1 x",
                "a say reply1",
                "a other",
            ],
            "0,1,2,3|4",
        );
    }
}
