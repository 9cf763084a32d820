//! What a compaction did or would do, unit by unit, and what stays for which reason.

use std::collections::BTreeMap;

use conspectus_core::count::Weight;
use conspectus_core::outcome::Outcome;
use conspectus_core::plan::{Fate, Stay};
use conspectus_core::unit::Pos;
use conspectus_wire::Conversation;
use serde::Serialize;

use crate::compact::Compaction;
use crate::text::{begins, role_name};

/// What happens to one unit, for a line of `conspectus plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitLine {
    /// Indices of its messages.
    pub messages: Vec<usize>,
    /// `stays`, `goes` or `gone` (folded by an earlier compaction).
    pub fate: &'static str,
    /// Why it stays.
    pub why: Option<&'static str>,
    /// Its tokens, before anything was shortened.
    pub tokens: u64,
    /// Its tokens as it is sent afterwards; 0 when it goes.
    pub tokens_after: u64,
    /// Who speaks first, and the tools that are called.
    pub what: String,
    /// The beginning of its text.
    pub begins: String,
    /// Places that are shortened in it.
    pub shortened: u64,
}

/// Messages that stay for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StayShare {
    /// The reason, in words.
    pub why: &'static str,
    /// Messages.
    pub messages: u64,
    /// Their tokens, as they are sent now.
    pub tokens: u64,
}

/// The compaction, unit by unit, in the order of the conversation. Where no summary was committed, nothing
/// goes, whatever had been planned.
pub fn units(conversation: &Conversation, compaction: &Compaction) -> Vec<UnitLine> {
    let (thread, plan) = (&compaction.thread, &compaction.plan);
    let branch = thread.branch();
    let counter = compaction.counter.as_ref();
    let line = |members: &[usize]| {
        let first = branch.view(members[0]);
        let (fate, why) = match plan.fates[members[0]] {
            Fate::Stays(stay) => ("stays", Some(stay.words())),
            Fate::Gone => ("gone", None),
            Fate::Goes => match compaction.report.outcome {
                Outcome::Compacted => ("goes", None),
                Outcome::Pruned => ("stays", Some("shortening is enough")),
                Outcome::Rejected | Outcome::NothingToCompact => {
                    ("stays", Some("folding it would not pay"))
                }
                _ => ("stays", None),
            },
        };
        let mut tools: Vec<(&str, u64)> = Vec::new();
        for (_, _, tool) in members.iter().flat_map(|m| branch.view(*m).calls()) {
            match tools.last_mut().filter(|(last, _)| *last == tool.as_ref()) {
                Some((_, times)) => *times += 1,
                None => tools.push((tool, 1)),
            }
        }
        let weight = |of: &dyn Fn(Pos) -> Weight| -> u64 {
            counter.tokens(members.iter().map(|m| of(*m)).sum())
        };
        let now = |m| counter.patched(branch.view(m), conversation, thread.patches_at(m));
        UnitLine {
            messages: members.to_vec(),
            fate,
            why,
            tokens: weight(&|m| counter.message(branch.view(m), conversation)),
            tokens_after: match fate {
                "stays" => weight(&now),
                _ => 0,
            },
            what: what(role_name(first), &tools),
            begins: begins(conversation, first, &thread.policy().redact),
            shortened: members
                .iter()
                .map(|m| thread.patches_at(*m).len() as u64)
                .sum(),
        }
    };
    branch
        .units()
        .iter()
        .map(|unit| line(unit.members()))
        .collect()
}

/// What stays, by reason; the heaviest first.
pub fn stays(conversation: &Conversation, compaction: &Compaction) -> Vec<StayShare> {
    let (thread, counter) = (&compaction.thread, compaction.counter.as_ref());
    let branch = thread.branch();
    let mut shares: BTreeMap<Stay, (u64, u64)> = BTreeMap::new();
    for (at, why) in compaction.plan.staying() {
        let share = shares.entry(why).or_default();
        share.0 += 1;
        share.1 += counter.patched(branch.view(at), conversation, thread.patches_at(at));
    }
    let mut out: Vec<StayShare> = shares
        .into_iter()
        .map(|(why, (messages, weight))| StayShare {
            why: why.words(),
            messages,
            tokens: counter.tokens(weight),
        })
        .collect();
    out.sort_by_key(|share| std::cmp::Reverse(share.tokens));
    out
}

fn what(role: &str, tools: &[(&str, u64)]) -> String {
    if tools.is_empty() {
        return role.to_owned();
    }
    let tools: Vec<String> = tools
        .iter()
        .map(|(tool, times)| match times {
            1 => (*tool).to_owned(),
            times => format!("{tool} ×{times}"),
        })
        .collect();
    format!("{role} calls {}", tools.join(", "))
}
