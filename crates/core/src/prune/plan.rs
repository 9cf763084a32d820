//! The ladder over a window.

use std::collections::BTreeSet;

use super::arguments::{is_limited, may_be_long, shorten_call};
use super::duplicates::duplicates;
use super::results::shorten_some;
use crate::count::{TokenCounter, Weight};
use crate::patch::Patch;
use crate::policy::Prune;
use crate::unit::Units;
use crate::view::{MessageView, PartKind, Role, Texts};

/// A message of the window and the patches that it has.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The message.
    pub message: &'a MessageView,
    /// Patches of earlier records, in force.
    pub already: &'a [Patch],
    /// What it weighs with them, where that is known; else it is counted.
    pub weight: Option<Weight>,
}

/// What pruning would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PrunePlan {
    /// New patches by index in the window, ascending. Those that a message already has are not repeated.
    pub patches: Vec<(usize, Vec<Patch>)>,
    /// What each of these messages then weighs.
    pub weights: Vec<Weight>,
    /// What they save, in the counter's weight.
    pub saved: Weight,
    /// The caller had enough before the ladder's end.
    pub is_enough: bool,
}

/// Climbs the ladder over `window` (oldest first) until `is_enough` says so of the weight saved so far; it is
/// asked before the first step and after every message that changed.
///
/// Oldest messages first in every rung. A message is changed only if it then weighs less by `counter`.
/// Costs O(n log n) in messages, and reads the texts of what is changed or may be equal to something else.
pub fn plan(
    window: &[Item<'_>],
    texts: &dyn Texts,
    limits: &Prune,
    counter: &dyn TokenCounter,
    is_enough: &mut dyn FnMut(Weight) -> bool,
) -> PrunePlan {
    let mut ladder = Ladder {
        window,
        texts,
        counter,
        new: vec![Vec::new(); window.len()],
        weights: window.iter().map(|item| item.weight).collect(),
        saved: 0,
        is_enough,
    };
    let finished = !ladder.climb(limits);
    let new = ladder.new.into_iter().enumerate();
    let patches: Vec<_> = new.filter(|(_, patches)| !patches.is_empty()).collect();
    let weights = patches.iter().filter_map(|(i, _)| ladder.weights[*i]);
    PrunePlan {
        weights: weights.collect(),
        patches,
        saved: ladder.saved,
        is_enough: !finished,
    }
}

struct Ladder<'a> {
    window: &'a [Item<'a>],
    texts: &'a dyn Texts,
    counter: &'a dyn TokenCounter,
    new: Vec<Vec<Patch>>,
    /// What each message weighs with all its patches, where it was needed.
    weights: Vec<Option<Weight>>,
    saved: Weight,
    is_enough: &'a mut dyn FnMut(Weight) -> bool,
}

impl Ladder<'_> {
    /// Whether the caller has enough.
    fn climb(&mut self, limits: &Prune) -> bool {
        if (self.is_enough)(0) {
            return true;
        }
        let protected = Protected::of(self.window, limits);
        if limits.duplicates {
            let may_go = |index, part| protected.may_replace(self.window, index, part);
            for (index, patches) in duplicates(self.window, self.texts, may_go) {
                if self.take(index, patches) {
                    return true;
                }
            }
        }
        for index in 0..self.window.len() {
            let patches = shorten_some(
                self.window[index].message,
                self.texts,
                limits,
                self.counter,
                &self.in_force(index),
                |result| !protected.results.contains(&(index, result)),
            );
            if self.take(index, patches) {
                return true;
            }
        }
        if !is_limited(limits) {
            return false;
        }
        let is_long = |item: &Item<'_>| {
            let mut calls = item.message.calls();
            calls.any(|(part, ..)| may_be_long(&item.message.parts[part], limits))
        };
        if !self.window.iter().any(is_long) {
            return false;
        }
        let keep = usize::try_from(limits.keep_recent_results).unwrap_or(usize::MAX);
        let old_calls = old_calls(self.window, keep);
        let mut calls = old_calls.iter().peekable();
        while let Some(&(index, first)) = calls.next() {
            let mut patches = self.arguments(index, first, limits);
            while let Some(&(_, part)) = calls.next_if(|call| call.0 == index) {
                patches.extend(self.arguments(index, part, limits));
            }
            if self.take(index, patches) {
                return true;
            }
        }
        false
    }

    /// The patches of a message so far.
    fn in_force(&self, index: usize) -> Vec<Patch> {
        [self.window[index].already, &self.new[index]].concat()
    }

    fn arguments(&self, index: usize, part: usize, limits: &Prune) -> Vec<Patch> {
        let message = self.window[index].message;
        let already = self.in_force(index);
        shorten_call(message, part, self.texts, limits, self.counter, &already)
    }

    /// Takes `patches` if the message weighs less with them. Whether the caller then has enough.
    fn take(&mut self, index: usize, patches: Vec<Patch>) -> bool {
        if patches.is_empty() {
            return false;
        }
        let message = self.window[index].message;
        let before = self.in_force(index);
        let after = [before.as_slice(), &patches].concat();
        let weigh = |patches: &[Patch]| self.counter.patched(message, self.texts, patches);
        let now = *self.weights[index].get_or_insert_with(|| weigh(&before));
        let then = weigh(&after);
        let gain = now.saturating_sub(then);
        if gain == 0 {
            return false;
        }
        self.weights[index] = Some(then);
        self.new[index].extend(patches);
        self.saved += gain;
        (self.is_enough)(self.saved)
    }
}

/// What the rungs leave alone.
struct Protected {
    /// The newest results (message index, part index).
    results: BTreeSet<(usize, usize)>,
    /// Where the current request begins: what the person showed there stays.
    request: usize,
}

impl Protected {
    fn of(window: &[Item<'_>], limits: &Prune) -> Self {
        let keep = usize::try_from(limits.keep_recent_results).unwrap_or(usize::MAX);
        let results = window.iter().enumerate().rev().flat_map(|(index, item)| {
            let parts: Vec<_> = item
                .message
                .results()
                .map(|(part, _)| (index, part))
                .collect();
            parts.into_iter().rev()
        });
        Self {
            results: results.take(keep).collect(),
            request: request_start(window),
        }
    }

    /// Whether a copy may be replaced by a pointer.
    fn may_replace(&self, window: &[Item<'_>], index: usize, part: usize) -> bool {
        let message = window[index].message;
        if is_untouchable(message) {
            return false;
        }
        let view = &message.parts[part];
        let result = view.inside.map_or(part, usize::from);
        match (&view.kind, view.inside) {
            (PartKind::Media(_), None) => index < self.request || message.role != Role::User,
            _ => !self.results.contains(&(index, result)),
        }
    }
}

pub(crate) fn is_untouchable(message: &MessageView) -> bool {
    message.flags.pinned || message.flags.partial || message.flags.summary
}

/// The first message of the newest run of user messages that holds a request.
fn request_start(window: &[Item<'_>]) -> usize {
    let newest = window.iter().rposition(|i| i.message.is_user_request());
    let Some(newest) = newest else {
        return window.len();
    };
    let before = window[..newest].iter().rev();
    newest - before.take_while(|i| i.message.role == Role::User).count()
}

/// Calls that are answered, do not belong to the newest `keep` units with calls, and are not part of a reply
/// that is signed or that the surface does not wholly know.
fn old_calls(window: &[Item<'_>], keep: usize) -> Vec<(usize, usize)> {
    let mut units = Units::default();
    let mut sealed_replies = BTreeSet::new();
    for item in window {
        units.push(item.message);
        if is_sealed(item.message) {
            sealed_replies.extend(item.message.reply);
        }
    }
    let mut recent = BTreeSet::new();
    let mut calls = Vec::new();
    for call in units.calls().iter().rev() {
        let unit = units.index_of(call.at);
        if recent.contains(&unit) || recent.len() < keep {
            recent.insert(unit);
            continue;
        }
        let message = window[call.at].message;
        let in_sealed_reply = message.reply.is_some_and(|r| sealed_replies.contains(&r));
        let is_old = !call.answers.is_empty();
        if is_old && !is_untouchable(message) && !is_sealed(message) && !in_sealed_reply {
            calls.push((call.at, call.part));
        }
    }
    calls.reverse();
    calls
}

/// Whether a message of the model holds signed reasoning, or something unknown that may be.
pub(crate) fn is_sealed(message: &MessageView) -> bool {
    let seals = |kind: &PartKind| {
        matches!(
            kind,
            PartKind::Reasoning { bound: true } | PartKind::Opaque { .. }
        )
    };
    message.role == Role::Assistant && message.parts.iter().any(|part| seals(&part.kind))
}
