//! Whether a sentence states a standing rule: a demand that holds beyond the answer to this message.
//!
//! An order alone is a request, not a rule. What makes it a rule is that it forbids, holds always, for every
//! reply, from now on, under a condition, within a bound, or says how to write. Questions, stories, things said
//! by others, things imagined and things for this once are none.

mod firm;
mod manner;
mod plain;

use super::lexicon::{Lang, Sign};
use super::reading::{Reading, Signed};
use firm::is_explicit;
use plain::is_plain;

/// How firmly a rule was stated: what is kept first when there is no room for all.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Force {
    /// A preference, a form, a condition.
    Plain,
    /// Always, never, must, don't, from now on.
    Explicit,
    /// The host pinned the message.
    Pinned,
}

/// The first units are those of texts: words, characters, lines, sentences, paragraphs, bullets.
const TEXT_UNITS: u16 = 5;
/// Opens an order.
const ORDERS: &[Sign] = &[Sign::Verb, Sign::Use, Sign::Style, Sign::Hold];
/// Speaks to the model.
const ADDRESSES: &[Sign] = &[
    Sign::YouMust,
    Sign::YouMustNot,
    Sign::YouMay,
    Sign::YouNeedNot,
];

/// The force with which the sentence states a rule, if it does.
pub(super) fn force(r: &Reading) -> Option<Force> {
    if r.len() < 2 || r.openings.is_empty() {
        return None;
    }
    let last = r.tokens.text(r.len() - 1);
    let is_lasting = r.has(Sign::Scope) || r.has(Sign::Always) || r.has(Sign::Never);
    if asks(r, last) {
        let is_request = r.has(Sign::AsksPolitely) || r.is_dense() && is_lasting;
        return (is_request && is_lasting && !r.begins(Sign::Asks)).then_some(Force::Explicit);
    }
    if r.has(Sign::Once) && !is_lasting {
        return None;
    }
    if is_explicit(r) {
        return Some(Force::Explicit);
    }
    if r.begins(Sign::Imagined) || r.has(Sign::Reported) && !r.has(Sign::YouMust) {
        return None;
    }
    is_plain(r, last).then_some(Force::Plain)
}

fn asks(r: &Reading, last: &str) -> bool {
    if matches!(last, "?" | "？") || r.begins(Sign::AsksPolitely) || r.begins(Sign::Asks) {
        return true;
    }
    // In Chinese, Japanese and Korean the particle stands at the end, and a question word anywhere.
    let ends = |s: Signed| r.lang == Lang::Zh || s.at + s.len + 2 > r.len();
    r.is_dense() && r.all(Sign::Asks).any(ends)
}

/// Whose deed the clause tells of up to `at`: the speaker's or somebody else's, not the model's.
fn is_story(r: &Reading, at: usize) -> bool {
    let before = r.clause_of(at)..at;
    // `It must …` is told of something else; `… and submitting it must …` is not.
    let opening = opening_of(r, at);
    let other = |s: Signed| s.at <= opening + 1 && before.contains(&s.at);
    let told = r.has_in(before.clone(), Sign::I) || r.all(Sign::They).any(other);
    let mine = [Sign::You, Sign::Want, Sign::We, Sign::Prefer];
    told && !r.has_any_in(&before, &mine) && !r.is_any_at(opening_of(r, at), ORDERS)
}

fn clause(r: &Reading, at: usize) -> std::ops::Range<usize> {
    r.clause_of(at)..r.end_of(at)
}

fn opening_of(r: &Reading, at: usize) -> usize {
    let start = r.clause_of(at);
    let nth = r.openings.partition_point(|open| *open < start);
    r.openings.get(nth).copied().unwrap_or(start)
}

/// Whether the clause that holds `at` is an order or speaks to the model.
fn is_order(r: &Reading, at: usize) -> bool {
    let opening = opening_of(r, at);
    r.is_any_at(opening, ORDERS)
        || r.is_at(opening, Sign::Dont)
        || r.has_any_in(&clause(r, at), ADDRESSES)
}

fn orders_anywhere(r: &Reading) -> bool {
    r.openings
        .iter()
        .any(|at| r.is_any_at(*at, ORDERS) || r.is_at(*at, Sign::Dont))
        || ADDRESSES.iter().any(|sign| r.has(*sign))
}

/// Languages in which an infinitive at the end gives an order.
fn has_infinitive_orders(r: &Reading) -> bool {
    matches!(
        r.lang,
        Lang::De | Lang::Nl | Lang::Ru | Lang::Pl | Lang::Fr | Lang::It
    )
}

/// Whether the sentence asks rather than tells.
pub(super) fn is_question(r: &Reading) -> bool {
    r.openings.is_empty() || asks(r, r.tokens.text(r.len() - 1))
}
