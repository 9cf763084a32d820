//! What the peers do even where it loses. Only for `strict_parity`: what comes out of here can split a call
//! from its answers and is never certified valid; the projection check only reports. Here is where they cut;
//! what they give to the summariser is in `given`, what they take for a summary and show of it in `taken`.
//!
//! The rules are those of LangChain's `SummarizationMiddleware` (cut, then a safe point if a tool message
//! stands at it), of deer-flow (the same, with two kinds of messages put back) and of Nous (system messages
//! set apart, leading tool messages go to the old part).

mod given;
mod taken;

pub(crate) use given::{Given, NOTHING_LEFT, Trim, halves, shortened};
pub(crate) use taken::{accept, in_force, shown};

use std::collections::BTreeSet;

use crate::count::Weight;
use crate::id::CallId;
use crate::plan::{Fate, KeepBudget, Plan, Stay};
use crate::policy::Preset;
use crate::unit::Pos;
use crate::view::{MessageView, Role};
use crate::window::Branch;

/// The peer's plan for the messages for which `present` holds.
pub fn plan(
    branch: &Branch,
    present: &dyn Fn(Pos) -> bool,
    weight: &dyn Fn(Pos) -> Weight,
    keep: KeepBudget,
    preset: Preset,
) -> Plan {
    let window: Vec<Pos> = (0..branch.len()).filter(|at| present(*at)).collect();
    let mut fates: Vec<Fate> = vec![Fate::Gone; branch.len()];
    let kept = match preset {
        Preset::Nous => nous(branch, &window, keep, weight),
        Preset::Langchain => tail(&window, langchain(branch, &window, keep, weight)),
        Preset::Default | Preset::Deerflow => {
            let mut kept = tail(&window, langchain(branch, &window, keep, weight));
            kept.extend(rescued(branch, &window));
            kept
        }
    };
    for at in window {
        fates[at] = if kept.contains(&at) {
            Fate::Stays(Stay::Recent)
        } else {
            Fate::Goes
        };
    }
    Plan { fates }
}

fn tail(window: &[Pos], cut: usize) -> BTreeSet<Pos> {
    window[cut.min(window.len())..].iter().copied().collect()
}

/// The index in `window` of the first message kept.
fn langchain(
    branch: &Branch,
    window: &[Pos],
    keep: KeepBudget,
    weight: &dyn Fn(Pos) -> Weight,
) -> usize {
    let view = |i: usize| branch.view(window[i]).as_ref();
    let cut = match keep {
        KeepBudget::Messages(n) => window
            .len()
            .saturating_sub(usize::try_from(n).unwrap_or(usize::MAX)),
        KeepBudget::Weight(budget) => suffix(window, budget, weight),
        KeepBudget::From(at) => window.partition_point(|known| *known < at),
    };
    safe_cut(window.len(), cut, view)
}

/// LangChain's safe point for a list of `len` messages that is cut at `cut`: where a tool message stands there, back to
/// the nearest reply that asked for it or one of those behind it, else past all of them.
pub(crate) fn safe_cut<'v>(
    len: usize,
    cut: usize,
    view: impl Fn(usize) -> &'v MessageView,
) -> usize {
    if cut >= len || view(cut).role != Role::Tool {
        return cut;
    }
    let run = (cut..len).take_while(|i| view(*i).role == Role::Tool);
    let ids: BTreeSet<&CallId> = run
        .clone()
        .flat_map(|i| view(i).results().map(|(_, id)| id))
        .filter(|id| !id.as_str().is_empty())
        .collect();
    let asks = |view: &MessageView| {
        view.role == Role::Assistant && view.calls().any(|(_, id, _)| ids.contains(id))
    };
    match (0..cut).rev().find(|i| asks(view(*i))) {
        Some(back) => back,
        None => cut + run.count(),
    }
}

/// The smallest start whose suffix fits; the last message alone when nothing does.
fn suffix(window: &[Pos], budget: Weight, weight: &dyn Fn(Pos) -> Weight) -> usize {
    let mut left = budget;
    let mut start = window.len();
    while start > 0 {
        let Some(rest) = left.checked_sub(weight(window[start - 1])) else {
            break;
        };
        left = rest;
        start -= 1;
    }
    if start == window.len() {
        window.len().saturating_sub(1)
    } else {
        start
    }
}

/// What deer-flow puts back: tagged reminders, and the latest real user message.
fn rescued(branch: &Branch, window: &[Pos]) -> BTreeSet<Pos> {
    let is_reminder = |at: &&Pos| branch.view(**at).flags.reminder;
    let latest = window
        .iter()
        .rev()
        .find(|at| branch.view(**at).is_user_request());
    window
        .iter()
        .filter(is_reminder)
        .chain(latest)
        .copied()
        .collect()
}

fn nous(
    branch: &Branch,
    window: &[Pos],
    keep: KeepBudget,
    weight: &dyn Fn(Pos) -> Weight,
) -> BTreeSet<Pos> {
    let is_system = |at: &&Pos| branch.view(**at).role == Role::System;
    let (system, rest): (Vec<&Pos>, Vec<&Pos>) = window.iter().partition(is_system);
    let rest: Vec<Pos> = rest.into_iter().copied().collect();
    let mut cut = match keep {
        KeepBudget::Messages(n) => rest
            .len()
            .saturating_sub(usize::try_from(n).unwrap_or(usize::MAX)),
        KeepBudget::Weight(budget) => suffix(&rest, budget, weight),
        KeepBudget::From(at) => rest.partition_point(|known| *known < at),
    };
    while cut > 0 && cut < rest.len() && branch.view(rest[cut]).role == Role::Tool {
        cut += 1;
    }
    system
        .into_iter()
        .copied()
        .chain(rest[cut..].iter().copied())
        .collect()
}

#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::TokenCounter;
    use crate::history::History;
    use crate::lines::{Conversation, QuarterBytes};

    /// The positions kept.
    fn check(lines: &[&str], preset: Preset, keep: KeepBudget, expect: &[usize]) {
        let conversation = Conversation::parse(lines);
        let mut history = History::default();
        let mut branch = Branch::default();
        for view in conversation.views() {
            let view = std::sync::Arc::new(view.clone());
            let node = history.append(branch.head(), view.clone());
            branch.push(
                node,
                view.clone(),
                QuarterBytes.message(&view, &conversation),
            );
        }
        let weight = |at: Pos| QuarterBytes.message(branch.view(at), &conversation);
        let plan = plan(&branch, &|_| true, &weight, keep, preset);
        assert_eq!(
            plan.staying().map(|(at, _)| at).collect::<Vec<_>>(),
            expect,
            "{lines:?}"
        );
    }

    #[test]
    fn langchain_moves_back_to_the_call_or_forward_past_orphans() {
        let keep = KeepBudget::Messages;
        let ten: Vec<String> = (0..10).map(|n| format!("t c{n} ok")).collect();
        let calls: String = (0..10).map(|n| format!("call c{n} ")).collect();
        let mut group = vec!["u go".to_owned(), format!("a {calls}")];
        group.extend(ten);
        let group: Vec<&str> = group.iter().map(String::as_str).collect();
        check(
            &group,
            Preset::Langchain,
            keep(3),
            &(1..12).collect::<Vec<_>>(),
        );
        check(
            &["u go", "t c9 x", "t c9 y", "a end"],
            Preset::Langchain,
            keep(2),
            &[3],
        );
        check(&["u go", "a ok"], Preset::Langchain, keep(9), &[0, 1]);
        // The two cases in which it splits a unit (A5 of the behaviour description).
        check(
            &["u go", "a call c1", "a call c2", "t c1 x", "t c2 y"],
            Preset::Langchain,
            keep(2),
            &[2, 3, 4],
        );
        check(
            &["a call c1 call c2", "t c1 x", "u wait", "t c2 y"],
            Preset::Langchain,
            keep(2),
            &[2, 3],
        );
        // The request is not protected, and system messages are ordinary history.
        check(
            &["s rules", "u go", "a one", "a two"],
            Preset::Langchain,
            keep(1),
            &[3],
        );
        check(
            &["u go x100", "a ok"],
            Preset::Langchain,
            KeepBudget::Weight(1),
            &[1],
        );
    }

    #[test]
    fn deerflow_puts_reminders_and_the_request_back() {
        let lines = [
            "u reminder date",
            "u go",
            "a call c1",
            "t c1 x",
            "a call c2",
            "t c2 y",
        ];
        check(
            &lines,
            Preset::Deerflow,
            KeepBudget::Messages(2),
            &[0, 1, 4, 5],
        );
    }

    #[test]
    fn nous_sets_system_messages_apart_and_gives_leading_results_away() {
        let lines = ["s rules", "u go", "a call c1", "s note", "t c1 x", "a end"];
        check(&lines, Preset::Nous, KeepBudget::Messages(2), &[0, 3, 5]);
    }
}
