//! Limits that are in force at every rendering (`when: always`): a result, and the call that it answers, is
//! decided once it is rendered and no longer among the newest ones that the policy leaves alone, and what was
//! shortened keeps its bytes from then on. A result that was left whole can still be shortened later, once:
//! when all results together, or a whole batch that arrived, are more than may be sent.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bound::Bound;
use super::{Sources, Thread};
use crate::count::Weight;
use crate::patch::Patch;
use crate::policy::{Prune, PruneWhen};
use crate::project::tail_piece;
use crate::projection::Piece;
use crate::prune::{
    is_limited, is_sealed, is_untouchable, reclaim, result_weight, shorten_call, shorten_some,
};
use crate::record::{Patches, Weights};
use crate::unit::Pos;
use crate::view::Role;

/// What is kept free when a batch is shortened to fit, in hundredths of what it may have.
const SPARE: u64 = 5;
/// No result of a batch is made smaller than this for the others' sake.
const LEAST_SHARE: u64 = 64;

/// A result: its message and part.
type Place = (Pos, usize);

/// What was decided since the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Live {
    /// Results that are not decided yet, oldest first.
    waiting: VecDeque<Place>,
    /// Older ones, which the reasoning of the open turn holds back.
    held: Vec<Place>,
    pub(super) bound: Bound,
    /// Results that were left whole, oldest first; only where all results together have a limit.
    whole: VecDeque<Place>,
    /// What all results weigh; only where that has a limit.
    results: Weight,
    /// The first position that was not looked at yet.
    seen: Pos,
    /// What the decisions save, in weight.
    pub(super) saved: i64,
    /// What the shortened messages weigh.
    pub(super) weights: Weights,
}

impl Thread {
    fn live_limits(&self) -> Option<Prune> {
        self.policy.prune.filter(|p| p.when == PruneWhen::Always)
    }

    /// Decides what was appended. Costs what is new.
    pub(super) fn prune_live(&mut self, src: Sources<'_>) {
        let Some(limits) = self.live_limits() else {
            return;
        };
        let has_total = limits.max_total_result_tokens > 0;
        for at in self.live.seen..self.branch.len() {
            self.note_bound(at);
            let results: Vec<usize> = self.branch.view(at).results().map(|(p, _)| p).collect();
            for part in results {
                self.live.waiting.push_back((at, part));
                if has_total {
                    self.live.results += self.weight_of_result((at, part), src);
                }
            }
        }
        self.live.seen = self.branch.len();
        let keep = usize::try_from(limits.keep_recent_results).unwrap_or(usize::MAX);
        let is_free = |place: &Place| !self.breaks_open_turn(place.0);
        if self.live.held.first().is_some_and(is_free) {
            for place in std::mem::take(&mut self.live.held) {
                self.decide(place, &limits, src);
            }
            self.live.whole.make_contiguous().sort_unstable();
        }
        while self.live.waiting.len() > keep {
            let Some(place) = self.live.waiting.pop_front() else {
                break;
            };
            match self.breaks_open_turn(place.0) {
                true => self.live.held.push(place),
                false => self.decide(place, &limits, src),
            }
        }
        if has_total {
            self.mask_oldest(&limits, src);
        }
        self.fit_batch(&limits, src);
    }

    /// Starts over behind the record after it or the head changed.
    pub(super) fn restart_live(&mut self, src: Sources<'_>) {
        if !self.live_patches.is_empty() {
            self.live_patches.clear();
            self.show_tail();
            self.scale_tail(src);
        }
        self.live = Live {
            seen: self.frozen.end,
            ..Live::default()
        };
        let has_total = self
            .live_limits()
            .is_some_and(|l| l.max_total_result_tokens > 0);
        if has_total {
            let kept = (0..self.frozen.end).filter(|at| !self.is_folded(*at));
            let results = kept.flat_map(|at| {
                let parts = self.branch.view(at).results();
                parts.map(move |(part, _)| (at, part)).collect::<Vec<_>>()
            });
            self.live.results = results.map(|r| self.weight_of_result(r, src)).sum();
        }
        self.prune_live(src);
    }

    fn weight_of_result(&self, (at, part): Place, src: Sources<'_>) -> Weight {
        let (view, mut patches) = (self.branch.view(at), self.patches_at(at).to_vec());
        match self.left_out(at) {
            None => return 0,
            Some(left_out) => patches.extend(left_out),
        }
        let is_gone =
            |p: &Patch| usize::from(p.part()) == part && matches!(p, Patch::Remove { .. });
        if patches.iter().any(is_gone) {
            return 0;
        }
        result_weight(view, src.texts, src.counter, &patches, part)
    }

    /// What of a message behind the record is not sent: answers to calls that were folded. `None`: all of it.
    pub(super) fn left_out(&self, at: Pos) -> Option<Vec<Patch>> {
        let is_folded = |at| self.is_left_behind(at);
        match tail_piece(&self.branch, at, &is_folded, &Patches::new())? {
            Piece::Edit(_, edits) if at >= self.frozen.end => Some(edits.to_vec()),
            _ => Some(Vec::new()),
        }
    }

    /// The result and its call are shortened or stay.
    fn decide(&mut self, place: Place, limits: &Prune, src: Sources<'_>) {
        let is_shortened = self.decide_result(place, limits, src);
        self.decide_call(place, limits, src);
        if limits.max_total_result_tokens > 0 && !is_shortened {
            self.live.whole.push_back(place);
        }
    }

    /// Whether the result is shortened now.
    fn decide_result(&mut self, place: Place, limits: &Prune, src: Sources<'_>) -> bool {
        let (at, part) = place;
        let (view, already) = (self.branch.view(at), self.patches_at(at));
        let patches = shorten_some(view, src.texts, limits, src.counter, already, |r| r == part);
        self.take_result(place, patches, src)
    }

    /// The call that a result answers is as old as the result.
    fn decide_call(&mut self, (at, part): Place, limits: &Prune, src: Sources<'_>) {
        if !is_limited(limits) {
            return;
        }
        let Some(call) = self.branch.units().call_of(at, part) else {
            return;
        };
        let (at, part) = (call.at, call.part);
        let view = self.branch.view(at);
        if at < self.frozen.end || is_untouchable(view) || self.is_in_sealed_reply(at) {
            return;
        }
        if self.breaks_open_turn(at) {
            return;
        }
        let already = self.patches_at(at);
        let patches = shorten_call(view, part, src.texts, limits, src.counter, already);
        self.take(at, patches, src);
    }

    /// Whether the reply that the message is a piece of holds signed reasoning or something unknown.
    fn is_in_sealed_reply(&self, at: Pos) -> bool {
        let view = self.branch.view(at);
        let is_same =
            |other: &Pos| view.reply.is_some() && self.branch.view(*other).reply == view.reply;
        let before = (0..at).rev().take_while(is_same);
        let behind = (at + 1..self.branch.len()).take_while(is_same);
        is_sealed(view)
            || before
                .chain(behind)
                .any(|other| is_sealed(self.branch.view(other)))
    }

    /// Masks the oldest whole results until all together are within the limit.
    fn mask_oldest(&mut self, limits: &Prune, src: Sources<'_>) {
        while src.counter.tokens(self.live.results) > limits.max_total_result_tokens {
            let Some(place) = self.live.whole.front().copied() else {
                break;
            };
            if self.breaks_open_turn(place.0) {
                break;
            }
            self.live.whole.pop_front();
            self.reclaim_result(place, limits, 0, src);
        }
    }

    /// Shortens the results at the end together when with them the request is more than may be sent. What is
    /// left is shared so that small ones stay whole.
    fn fit_batch(&mut self, limits: &Prune, src: Sources<'_>) {
        let limit = self.input_limit();
        let size = self.size(src).request;
        let Some(over) = size.checked_sub(limit).filter(|over| *over > 0) else {
            return;
        };
        let is_reply = |at: &Pos| self.branch.view(*at).role == Role::Assistant;
        let begin = (self.frozen.end..self.branch.len())
            .rev()
            .find(is_reply)
            .map_or(self.frozen.end, |at| at + 1);
        let is_open = |(at, part): &Place| {
            let decided = |p: &Patch| usize::from(p.part()) == *part;
            !self.patches_at(*at).iter().any(decided)
        };
        let batch: Vec<(Place, u64)> = (begin..self.branch.len())
            .flat_map(|at| {
                let parts = self.branch.view(at).results();
                parts.map(move |(part, _)| (at, part)).collect::<Vec<_>>()
            })
            .filter(is_open)
            .map(|place| {
                let weight = self.weight_of_result(place, src);
                (place, src.counter.tokens(weight))
            })
            .collect();
        let all: u64 = batch.iter().map(|(_, tokens)| tokens).sum();
        let room = all.saturating_sub(over);
        let sizes: Vec<u64> = batch.iter().map(|(_, tokens)| *tokens).collect();
        let share = share(&sizes, room - room * SPARE / 100).max(LEAST_SHARE);
        for (place, tokens) in batch {
            if tokens > share {
                self.reclaim_result(place, limits, share, src);
            }
        }
    }

    fn reclaim_result(&mut self, place: Place, limits: &Prune, tokens: u64, src: Sources<'_>) {
        let (at, part) = place;
        let (view, already) = (self.branch.view(at), self.patches_at(at));
        let patches = reclaim(view, src.texts, src.counter, already, part, limits, tokens);
        self.take_result(place, patches, src);
    }

    fn take_result(&mut self, place: Place, patches: Vec<Patch>, src: Sources<'_>) -> bool {
        let is_out = |p: &Patch| usize::from(p.part()) == place.1;
        if self
            .left_out(place.0)
            .is_none_or(|out| out.iter().any(is_out))
        {
            return false;
        }
        let before = self.weight_of_result(place, src);
        let is_taken = self.take(place.0, patches, src);
        if is_taken {
            let after = self.weight_of_result(place, src);
            self.live.results = (self.live.results + after).saturating_sub(before);
        }
        is_taken
    }

    /// Takes patches of a message behind the record, if what is sent of it then weighs less.
    fn take(&mut self, at: Pos, mut patches: Vec<Patch>, src: Sources<'_>) -> bool {
        let Some(left_out) = self.left_out(at).filter(|_| at >= self.frozen.end) else {
            return false;
        };
        patches.retain(|p| left_out.iter().all(|out| out.part() != p.part()));
        if patches.is_empty() {
            return false;
        }
        let after = [self.patches_at(at), &patches].concat();
        if self.gain(at, &after, &left_out, src) <= 0 {
            return false;
        }
        self.put(at, after, &left_out, src);
        self.unbind_behind(at, src);
        true
    }

    /// What is sent less of the message at `at` with these patches, in weight.
    fn gain(&self, at: Pos, after: &[Patch], left_out: &[Patch], src: Sources<'_>) -> i64 {
        let view = self.branch.view(at);
        let weigh = |patches: &[Patch]| {
            let sent = [left_out, patches].concat();
            src.counter.patched(view, src.texts, &sent)
        };
        weigh(self.patches_at(at)).cast_signed() - weigh(after).cast_signed()
    }

    /// Puts patches of a message behind the record in the place of those that it has.
    pub(super) fn put(&mut self, at: Pos, after: Vec<Patch>, left_out: &[Patch], src: Sources<'_>) {
        let gain = self.gain(at, &after, left_out, src);
        let alone = src.counter.patched(self.branch.view(at), src.texts, &after);
        let node = self.branch.path()[at];
        self.live.saved += gain;
        self.live.weights.insert(node, alone);
        self.live_patches.insert(node, Arc::from(after));
        self.scale.lose(at, u64::try_from(gain).unwrap_or(0));
        self.show_again(at);
    }
}

/// The largest share such that sizes cut down to it sum to at most `room`.
fn share(sizes: &[u64], room: u64) -> u64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let (mut left, mut count) = (room, sorted.len() as u64);
    for size in sorted {
        if size.saturating_mul(count) > left {
            return left / count.max(1);
        }
        left -= size;
        count -= 1;
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::{Estimator, TokenCounter as _};
    use crate::memory::{Memory, call, result, text};
    use crate::patch::Patched;
    use crate::policy::{ModelProfile, Options, Policy, PruneOption, TriggerOption};
    use crate::view::PartRef;

    const PAGE: &str = "one more row of values; ";

    fn thread(window: u64, prune: PruneOption) -> Thread {
        let options = Options {
            trigger: TriggerOption::Never,
            max_context: Some(window),
            prune: PruneOption {
                when: Some(PruneWhen::Always),
                ..prune
            },
            ..Options::default()
        };
        let resolved = Policy::resolve(&options, &ModelProfile::default()).expect("a policy");
        Thread::new(Arc::new(resolved.policy))
    }

    /// A call and its answer for each `(rows of arguments, rows of the answer)`.
    fn rounds(thread: &mut Thread, memory: &mut Memory, rounds: &[(usize, usize)]) {
        let mut views = Vec::new();
        for (arguments, answer) in rounds {
            let id = format!("c{}", thread.branch().len() + views.len());
            let json = format!("{{\"rows\":\"{}\"}}", PAGE.repeat(*arguments));
            views.push(memory.message(Role::Assistant, vec![call(&id, "look", &json)]));
            let answer = result(&id, &PAGE.repeat(*answer));
            views.push(memory.message(Role::Tool, vec![answer]));
        }
        append(thread, memory, views);
    }

    fn append(thread: &mut Thread, memory: &Memory, views: Vec<crate::view::MessageView>) {
        let counter = &Estimator::new();
        let src = Sources {
            texts: memory,
            counter,
        };
        thread.append(views, src);
        // What is kept as a running sum is what counting anew gives.
        let weight =
            |at: Pos| counter.patched(thread.branch().view(at), memory, thread.patches_at(at));
        let anew: Weight = (0..thread.branch().len()).map(weight).sum();
        assert_eq!(thread.size(src).request, counter.tokens(anew));
    }

    /// Tokens of the first part of each message as it is sent.
    fn tokens(thread: &Thread, memory: &Memory) -> Vec<u64> {
        let of = |at: Pos| {
            let message = thread.branch().view(at).handle;
            let texts = Patched::new(memory, message, thread.patches_at(at));
            let text = crate::view::Texts::text(&texts, PartRef { message, part: 0 });
            Estimator::new().tokens(Estimator::new().text(&text))
        };
        (0..thread.branch().len()).map(of).collect()
    }

    #[test]
    fn limits_in_tokens_hold_for_results_and_the_calls_that_they_answer() {
        let prune = PruneOption {
            max_result_tokens: Some(100),
            max_argument_tokens: Some(60),
            keep_recent_results: Some(1),
            ..PruneOption::default()
        };
        let (mut thread, mut memory) = (thread(100_000, prune), Memory::new());
        rounds(&mut thread, &mut memory, &[(90, 90), (1, 1), (90, 90)]);
        let first = tokens(&thread, &memory);
        assert!(first[0] <= 60 && first[1] <= 100, "{first:?}");
        assert!(first[2] < 60 && first[3] < 100, "{first:?}");
        assert!(
            first[4] > 200 && first[5] > 200,
            "the newest stay: {first:?}"
        );
        rounds(&mut thread, &mut memory, &[(1, 1)]);
        let then = tokens(&thread, &memory);
        assert_eq!(then[..4], first[..4], "decided once");
        assert!(then[4] <= 60 && then[5] <= 100, "{then:?}");
    }

    #[test]
    fn the_oldest_are_masked_when_all_results_are_over_their_limit() {
        let prune = PruneOption {
            max_total_result_tokens: Some(1_000),
            keep_recent_results: Some(1),
            ..PruneOption::default()
        };
        let (mut thread, mut memory) = (thread(100_000, prune), Memory::new());
        for round in 1..9 {
            rounds(&mut thread, &mut memory, &[(1, 60)]);
            let sizes = tokens(&thread, &memory);
            let results: Vec<u64> = sizes.into_iter().skip(1).step_by(2).collect();
            assert!(results.iter().sum::<u64>() <= 1_000, "{results:?}");
            assert_eq!(results.len(), round);
            assert!(results.iter().all(|r| *r > 10), "{results:?}");
            assert!(results.is_sorted(), "the oldest first: {results:?}");
        }
    }

    #[test]
    fn a_batch_over_the_window_is_shortened_together() {
        let prune = PruneOption {
            max_result_tokens: Some(50_000),
            keep_recent_results: Some(9),
            ..PruneOption::default()
        };
        let (mut thread, mut memory) = (thread(8_000, prune), Memory::new());
        let calls = ["a", "b", "c"].map(|id| call(id, "look", "{}"));
        let mut views = vec![
            memory.message(Role::User, vec![text("go")]),
            memory.message(Role::Assistant, calls.into()),
        ];
        for (id, rows) in [("a", 900), ("b", 5), ("c", 1_500)] {
            views.push(memory.message(Role::Tool, vec![result(id, &PAGE.repeat(rows))]));
        }
        append(&mut thread, &memory, views);
        let limit = thread.policy().input_limit();
        let sizes = tokens(&thread, &memory);
        assert!(sizes.iter().sum::<u64>() <= limit, "{sizes:?} in {limit}");
        assert!(sizes[2] > 2_000 && sizes[4] > 2_000, "{sizes:?}");
        assert!(thread.patches_at(3).is_empty(), "a small one stays whole");
    }

    #[test]
    fn shares() {
        for (sizes, room, expect) in [
            (&[10, 20, 30][..], 60, u64::MAX),
            (&[10, 20, 30], 50, 20),
            (&[30, 20, 10], 31, 10),
            (&[10, 20, 30], 9, 3),
            (&[10], 0, 0),
            (&[], 5, u64::MAX),
        ] {
            let cap = share(sizes, room);
            assert_eq!(cap, expect, "{sizes:?} in {room}");
            assert!(sizes.iter().map(|s| *s.min(&cap)).sum::<u64>() <= room.max(cap));
        }
    }
}
