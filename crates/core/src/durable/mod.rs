//! What code keeps beside the summary: the user's standing rules in their own words, open work, delegated work,
//! files, and what comes next. It is rendered from the [`Ledger`] when a compaction is made and stays the same
//! bytes until the next one, so no summary, by a model or not, can lose it.
//!
//! Sizes are capped by the summary's own cap ([`Budget`]). What does not fit is said and counted.

mod beside;
mod next;
mod rules;

use std::fmt::Write as _;

pub use beside::Beside;
pub use next::Next;
pub use rules::read;

use crate::count::TokenCounter;
use crate::ledger::{Ledger, Row};

/// Of the summary's cap, in hundredths, what the user's rules may take.
pub const RULES_SHARE: u64 = 50;
/// And what all other facts may take.
pub const FACTS_SHARE: u64 = 25;

/// Stands over what a model's summary lost, which code took from the messages.
pub(crate) const NOT_IN_SUMMARY: &str =
    "## Not in the summary\nTaken by code from the messages that went, in their own words.";

/// How many tokens may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// For the rules.
    pub rules: u64,
    /// For all else.
    pub facts: u64,
    /// Of the facts' budget, what rules that were shown take away from it.
    pub shared: u64,
}

impl Budget {
    /// The shares of a summary's cap. A compaction that would only pay without the rules does not pay, so they are
    /// not made to fit; other facts take at most half of `room` and a quarter of what `pays`, what the rules take
    /// included, so that the summary has the rest.
    pub fn new(summary_cap: u64, room: u64, pays: u64) -> Self {
        let share = |percent: u64| summary_cap.saturating_mul(percent) / 100;
        Self {
            rules: share(RULES_SHARE),
            facts: share(FACTS_SHARE),
            shared: (room / 2).min(pays / 4),
        }
    }
}

/// What is rendered.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The facts.
    pub ledger: &'a Ledger,
    /// Whether the message with this ordinal is no longer in the request. Rules that the request shows anyway are
    /// not shown twice.
    pub is_gone: &'a dyn Fn(u64) -> bool,
    /// What the host keeps beside the summary.
    pub beside: Option<&'a Beside>,
    /// What comes next.
    pub next: Next,
}

const DELEGATED: &str = "Delegated";

/// Sections by the labels of [`Row`]s, in the order in which they are shown.
const SECTIONS: [(&str, &[&str]); 4] = [
    ("## Delegated work", &[DELEGATED]),
    ("## Open work", &["Now", "Open"]),
    ("## State", &["Last error", "Tests", "Branch", "Commit"]),
    ("## Files", &["Changed", "Read"]),
];

/// What is shown beside the summary; empty when there is nothing to say. At most the budget by `counter`.
pub fn render(source: &Source<'_>, budget: Budget, counter: &dyn TokenCounter) -> String {
    let mut out = rules::render(source, budget.rules, counter);
    let rows = source.ledger.rows();
    let used = counter.tokens(counter.text(&out));
    let mut facts = Facts {
        counter,
        left: budget.facts.min(budget.shared.saturating_sub(used)),
    };
    if let Some(beside) = source.beside {
        beside.add_to(&mut out);
    }
    let is_told = |labels: &[&str]| {
        let by_host = source.beside.is_some_and(|beside| beside.tells_delegations);
        by_host && labels == [DELEGATED]
    };
    for (heading, labels) in SECTIONS.iter().filter(|(_, labels)| !is_told(labels)) {
        facts.section(heading, labels, &rows, &mut out);
    }
    let next = format!("## Next\n{}\n", source.next.words());
    if facts.takes(&next) {
        out.push_str(&next);
    }
    out.truncate(out.trim_end().len());
    out
}

/// Rows within a budget.
struct Facts<'a> {
    counter: &'a dyn TokenCounter,
    left: u64,
}

impl Facts<'_> {
    fn takes(&mut self, text: &str) -> bool {
        let tokens = self.counter.tokens(self.counter.text(text)) + 1;
        let fits = tokens <= self.left;
        if fits {
            self.left -= tokens;
        }
        fits
    }

    /// A section takes at most half of what is left, so that none crowds out those behind it.
    fn section(&mut self, heading: &str, labels: &[&str], rows: &[Row], out: &mut String) {
        let mine = || rows.iter().filter(|row| labels.contains(&row.label));
        if mine().next().is_none() {
            return;
        }
        let (all, half) = (self.left, self.left / 2);
        self.left = half;
        let mut text = String::new();
        let mut left_out = 0_u64;
        if self.takes(heading) {
            for row in mine() {
                let line = format!("- {}: {}\n", row.label, row.text);
                match self.takes(&line) {
                    true => text.push_str(&line),
                    false => left_out += 1,
                }
            }
        }
        self.left += all - half;
        let more = format!("- ({left_out} more left out for lack of room)\n");
        if left_out > 0 && !text.is_empty() && self.takes(&more) {
            text.push_str(&more);
        }
        if !text.is_empty() {
            let _ = write!(out, "{heading}\n{text}");
        }
    }
}

#[cfg(test)]
mod tests;
