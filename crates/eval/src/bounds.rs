//! What lies below and above every compactor: lines by chance, and lines by who knows what will be needed.

use std::collections::BTreeSet;

use crate::entity::occurs;
use crate::part::{Part, quarters, render};

/// Lines drawn by chance until `budget` is full, in their order. The same `seed` draws the same.
pub(crate) fn random_lines(parts: &[Part], budget: usize, seed: u64) -> String {
    let lines = lines(parts);
    let mut order: Vec<(u64, usize)> = (0..lines.len())
        .map(|at| (mixed(seed ^ mixed(at as u64)), at))
        .collect();
    order.sort_unstable();
    fill(&lines, order.into_iter().map(|(_, at)| at), budget)
}

/// The oracle: lines that hold needed names, those first that hold the most which no line before them held, for their
/// size. A greedy choice: close to the best that whole lines can do, not proven to be it.
pub fn oracle<'a>(
    parts: &[Part],
    budget: usize,
    needed: impl IntoIterator<Item = &'a str>,
) -> String {
    let lines = lines(parts);
    let needed: Vec<&str> = needed.into_iter().collect();
    let holds = |line: &String| -> BTreeSet<usize> {
        let there = needed.iter().enumerate();
        let there = there.filter(|(_, name)| occurs(line, name));
        there.map(|(nth, _)| nth).collect()
    };
    let held = lines.iter().map(holds).enumerate();
    let mut open: Vec<(usize, BTreeSet<usize>)> =
        held.filter(|(_, names)| !names.is_empty()).collect();
    let (mut chosen, mut used) = (BTreeSet::new(), 0);
    loop {
        open.retain(|(at, names)| {
            !names.is_empty() && used + cost(&lines[*at]) <= budget.saturating_mul(4)
        });
        let worth =
            |(at, names): &(usize, BTreeSet<usize>)| names.len() as f64 / cost(&lines[*at]) as f64;
        // Of equals the last, which is the newest.
        let best = open.iter().max_by(|a, b| worth(a).total_cmp(&worth(b)));
        let Some((at, names)) = best.cloned() else {
            break;
        };
        used += cost(&lines[at]);
        chosen.insert(at);
        for (_, others) in &mut open {
            others.retain(|name| !names.contains(name));
        }
    }
    fill(&lines, chosen.into_iter(), budget)
}

fn lines(parts: &[Part]) -> Vec<String> {
    let parts = parts.iter().map(render);
    parts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.trim().is_empty())
        .collect()
}

/// In quarters of a token, with its line end.
fn cost(line: &str) -> usize {
    quarters(line) + 1
}

fn fill(lines: &[String], order: impl Iterator<Item = usize>, budget: usize) -> String {
    let (mut chosen, mut used) = (BTreeSet::new(), 0);
    for at in order {
        if used + cost(&lines[at]) <= budget.saturating_mul(4) {
            used += cost(&lines[at]);
            chosen.insert(at);
        }
    }
    let chosen: Vec<&str> = chosen.into_iter().map(|at| lines[at].as_str()).collect();
    chosen.join("\n")
}

/// splitmix64: every bit of the result depends on every bit of `x`.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::recall;
    use crate::part::{PartKind, tokens};

    fn talk() -> Vec<Part> {
        let said = |nth: u64| Part {
            role: "user".to_owned(),
            kind: PartKind::Text,
            text: format!("line {nth} of file_{nth}.rs\nand some words that nobody needs"),
            name: String::new(),
            message: nth,
        };
        (0..200).map(said).collect()
    }

    #[test]
    fn chance_stays_within_its_budget_and_repeats_itself() {
        let parts = talk();
        let drawn = random_lines(&parts, 300, 1);
        assert!(tokens(&drawn) <= 300 && tokens(&drawn) > 290);
        assert_eq!(drawn, random_lines(&parts, 300, 1));
        assert_ne!(drawn, random_lines(&parts, 300, 2));
    }

    #[test]
    fn the_oracle_finds_what_chance_does_not() {
        let parts = talk();
        let needed = ["file_3.rs", "file_77.rs", "file_150.rs"];
        let share = |text: &str| recall(text, needed).expect("some are needed");
        assert_eq!(share(&oracle(&parts, 60, needed)), 1.0);
        assert!(share(&random_lines(&parts, 60, 1)) < 1.0);
        assert_eq!(oracle(&parts, 0, needed), "");
    }
}
