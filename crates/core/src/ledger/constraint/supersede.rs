//! What a later sentence does to an earlier rule: take it back, change it, say it again, or nothing.

use super::lexicon::{Class, Sign};
use super::reading::Reading;
use super::shape::{Shape, Topic, Value, Wish, Word};

/// What a sentence does to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Another value of the same thing, or the contrary of the same thing.
    Changed,
    /// The same again.
    Restated,
}

/// What a sentence says about rules at large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakeBack {
    /// Nothing.
    None,
    /// The rules that its topics name.
    Named {
        /// It names rules as rules, so that a looser fit is enough.
        as_rule: bool,
    },
    /// The newest one.
    Newest,
    /// All of them.
    All,
}

/// Whether the sentence says that something is different from now on, without stating a rule.
pub(super) fn may_change(r: &Reading) -> bool {
    !r.has(Sign::Once)
        && [
            Sign::Switch,
            Sign::Actually,
            Sign::Allowed,
            Sign::YouMay,
            Sign::YouNeedNot,
            Sign::CallMe,
            Sign::Gone,
        ]
        .iter()
        .any(|sign| r.has(*sign))
}

/// Whether it says that something is different now.
pub(super) fn is_change(r: &Reading) -> bool {
    r.has(Sign::Actually) || r.has(Sign::Switch) || r.has(Sign::Gone) || r.has(Sign::Scope)
}

/// What the sentence takes back.
pub(super) fn takes_back(r: &Reading, shape: &Shape) -> TakeBack {
    let forgets = r.opens(Sign::Forget) || r.is_dense() && r.has(Sign::Forget);
    let as_rule = r.has(Sign::RuleNoun);
    let gone = r.has(Sign::Gone) && as_rule;
    if !forgets && !gone || r.has(Sign::Once) {
        return TakeBack::None;
    }
    if forgets && r.has(Sign::All) && shape.values.is_empty() {
        return TakeBack::All;
    }
    let says = shape.topics.iter().any(|t| t.weight > 1) || !shape.values.is_empty();
    match says {
        true => TakeBack::Named { as_rule },
        false if as_rule => TakeBack::Newest,
        false => TakeBack::None,
    }
}

/// How well a take-back's words name a rule, from 0 to 100.
pub(super) fn named(back: &Shape, rule: &Shape) -> u64 {
    share(&all_of(back), &all_of(rule))
}

/// What `new` does to `old`. `r` is the reading of the new one.
pub(super) fn effect(r: &Reading, new: &Shape, old: &Shape) -> Option<Effect> {
    let (mine, theirs) = (all_of(new), all_of(old));
    let (forth, back) = (share(&mine, &theirs), share(&theirs, &mine));
    if opposes(new.wish, old.wish) && forth >= 66 && back >= 34 && shares_heavy(&mine, &theirs) {
        return Some(Effect::Changed);
    }
    if other_value(r, new, old) || other_filler(r, new, old) {
        return Some(Effect::Changed);
    }
    let same = new.wish == old.wish && new.values == old.values && !mine.is_empty();
    (same && forth >= 80 && back >= 80).then_some(Effect::Restated)
}

fn opposes(new: Wish, old: Wish) -> bool {
    matches!(
        (new, old),
        (Wish::Forbid, Wish::Require | Wish::Permit)
            | (Wish::Require, Wish::Forbid | Wish::Exempt)
            | (Wish::Permit, Wish::Forbid)
            | (Wish::Exempt, Wish::Require | Wish::Forbid)
    )
}

/// Topics and values alike, by identity and weight.
fn all_of(shape: &Shape) -> Vec<(u64, u8)> {
    let topic = |t: &Topic| (u64::from(t.id), t.weight);
    let value = |v: &Value| {
        // Of an amount what is counted tells what it is about, not how many.
        let value = if v.class == Class::Amount as u8 {
            0
        } else {
            v.value
        };
        let id = u64::from(v.class) << 56 | u64::from(v.unit) << 40 | u64::from(value) | 1 << 39;
        (id, 2)
    };
    shape
        .topics
        .iter()
        .map(topic)
        .chain(shape.values.iter().map(value))
        .collect()
}

/// How much of `these` is in `those`, in hundredths by weight.
fn share(these: &[(u64, u8)], those: &[(u64, u8)]) -> u64 {
    let all: u64 = these.iter().map(|t| u64::from(t.1)).sum();
    let known = these.iter().filter(|t| those.iter().any(|o| o.0 == t.0));
    let shared: u64 = known.map(|t| u64::from(t.1)).sum();
    (shared * 100).checked_div(all).unwrap_or(0)
}

fn shares_heavy(these: &[(u64, u8)], those: &[(u64, u8)]) -> bool {
    these
        .iter()
        .any(|t| t.1 > 1 && those.iter().any(|o| o.0 == t.0))
}

/// The same slot with another value, about the same things.
fn other_value(r: &Reading, new: &Shape, old: &Shape) -> bool {
    let is_wanted = |shape: &Shape, v: &&Value| {
        let forbidden = shape.wish == Wish::Forbid && v.class != Class::Amount as u8;
        !v.is_denied && !forbidden
    };
    let mut classes: Vec<(u8, u16)> = new
        .values
        .iter()
        .filter(|v| is_wanted(new, v))
        .map(|v| (v.class, v.unit))
        .collect();
    classes.dedup();
    classes.into_iter().any(|slot| {
        let of = |shape: &Shape| -> Vec<u32> {
            let mine = shape.values.iter().filter(|v| (v.class, v.unit) == slot);
            mine.filter(|v| is_wanted(shape, v))
                .map(|v| v.value)
                .collect()
        };
        let (mine, theirs) = (of(new), of(old));
        let differ = !theirs.is_empty() && mine.iter().all(|v| !theirs.contains(v));
        differ && same_subject(r, new, old, slot.0)
    })
}

fn same_subject(r: &Reading, new: &Shape, old: &Shape, class: u8) -> bool {
    let mine: Vec<u32> = new.beside(class).map(|t| t.id).collect();
    let theirs: Vec<u32> = old.beside(class).map(|t| t.id).collect();
    let shared = mine.iter().filter(|id| theirs.contains(id)).count();
    let named = |shape: &Shape| -> Vec<u32> {
        let names = shape.beside(class).filter(|t| t.is_proper);
        names.map(|t| t.id).collect()
    };
    // Other files, other people: another subject.
    let (my_names, their_names) = (named(new), named(old));
    let apart = my_names.iter().all(|n| !their_names.contains(n));
    if !my_names.is_empty() && !their_names.is_empty() && apart {
        return false;
    }
    match (mine.is_empty(), theirs.is_empty()) {
        (true, true) => true,
        // One speaks in general: only a change that says so reaches the other.
        (true, false) => {
            // `From now on` alone tells of when, not of what.
            let corrects = r.has(Sign::Actually) && !r.has(Sign::Scope);
            corrects || r.has(Sign::Switch) || class == Class::Name as u8
        }
        (false, true) => class == Class::Name as u8,
        (false, false) => shared * 2 >= mine.len().min(theirs.len()) && shared > 0,
    }
}

/// An order with one name, path or number changed, or a change of what shares its topics.
fn other_filler(r: &Reading, new: &Shape, old: &Shape) -> bool {
    if new.wish != Wish::Require || old.wish != Wish::Require || new.values != old.values {
        return false;
    }
    let before = new
        .row
        .iter()
        .zip(&old.row)
        .take_while(|(a, b)| a.id == b.id)
        .count();
    let (mine, theirs) = (&new.row[before..], &old.row[before..]);
    let after = mine
        .iter()
        .rev()
        .zip(theirs.iter().rev())
        .take_while(|(a, b)| a.id == b.id)
        .count();
    let (mine, theirs) = (&mine[..mine.len() - after], &theirs[..theirs.len() - after]);
    let is_filler = |row: &[Word]| (1..=3).contains(&row.len()) && row.iter().any(|w| w.is_proper);
    let is_placed = before >= 2 && new.row[before - 1].is_place;
    if is_placed && is_filler(mine) && is_filler(theirs) {
        return true;
    }
    let plain = |shape: &Shape| -> Vec<(u64, u8)> {
        let words = shape.topics.iter().filter(|t| !t.is_proper);
        words.map(|t| (u64::from(t.id), t.weight)).collect()
    };
    let proper = |shape: &Shape| -> Vec<u32> {
        shape
            .topics
            .iter()
            .filter(|t| t.is_proper)
            .map(|t| t.id)
            .collect()
    };
    let (names, known) = (proper(new), proper(old));
    let differ = !names.is_empty() && !known.is_empty() && names.iter().all(|n| !known.contains(n));
    let (mine, theirs) = (plain(new), plain(old));
    is_change(r)
        && differ
        && share(&mine, &theirs) >= 66
        && share(&theirs, &mine) >= 50
        && shares_heavy(&mine, &theirs)
}

/// A correction that is nothing but a name: `actually, Robert`.
pub(super) fn bare_name(r: &Reading, shape: &Shape) -> bool {
    let names = shape.topics.iter().filter(|t| t.is_proper).count();
    r.has(Sign::Actually)
        && shape.values.is_empty()
        && (1..=3).contains(&names)
        && names == shape.topics.len()
}
