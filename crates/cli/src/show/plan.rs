//! The report of `conspectus plan`.

use std::fmt::Write as _;

use conspectus::{Outcome, UnitLine};

use super::cost::cost;
use super::{Style, Table, change, clip, count, number, plain};
use crate::inspect::Looked;
use crate::plan::Planned;

/// The plan for the conversations of a file.
pub(crate) fn plan(looked: &Looked<Planned>, style: Style) -> String {
    let mut out = String::new();
    let format = looked.format.map_or("", |f| f.name());
    for (at, planned) in looked.conversations.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let label = match looked.conversations.len() {
            1 => String::new(),
            _ => format!(", conversation {}", plain(&planned.result.label)),
        };
        let _ = writeln!(
            out,
            "{}  {}",
            style.bold(&plain(&looked.input)),
            style.dim(&format!("{format}{label}"))
        );
        one(&mut out, planned, style);
    }
    out
}

fn one(out: &mut String, planned: &Planned, style: Style) {
    let mut table = Table::new("lrlll");
    for unit in &planned.units {
        table.row([
            fate(unit),
            number(unit.tokens),
            positions(&unit.messages),
            clip(&plain(&unit.what), 44),
            clip(&plain(&unit.begins), 60),
        ]);
    }
    for (line, unit) in table.text().lines().zip(&planned.units) {
        let line = match unit.fate {
            "stays" => line.to_owned(),
            _ => style.dim(line),
        };
        let _ = writeln!(out, "{line}");
    }
    totals(out, planned, style);
}

fn fate(unit: &UnitLine) -> String {
    let mut words = match unit.why {
        Some(why) => format!("{}: {why}", unit.fate),
        None => unit.fate.to_owned(),
    };
    if unit.shortened > 0 && unit.fate == "stays" {
        let _ = write!(words, ", shortened to {}", number(unit.tokens_after));
    }
    words
}

fn totals(out: &mut String, planned: &Planned, style: Style) {
    let result = &planned.result;
    let of = |fate: &str| {
        let units = planned.units.iter().filter(move |u| u.fate == fate);
        units.fold((0, 0), |(messages, tokens), unit| {
            let size = match unit.fate {
                "stays" => unit.tokens_after,
                _ => unit.tokens,
            };
            (messages + unit.messages.len() as u64, tokens + size)
        })
    };
    for (fate, words) in [("goes", "go"), ("stays", "stay")] {
        let (messages, tokens) = of(fate);
        let _ = writeln!(
            out,
            "{} of {} {words}",
            count(messages, "message"),
            count(tokens, "token")
        );
    }
    let sizes = format!(
        "{} -> {} tokens {}",
        number(result.tokens_before),
        number(result.tokens_after),
        change(result.tokens_before, result.tokens_after)
    );
    let verdict = match result.verdict {
        Outcome::Compacted => format!(
            "{}, of which the summary takes {}",
            style.bold(sizes.trim_end()),
            number(result.summary.as_ref().map_or(0, |s| s.tokens))
        ),
        Outcome::Pruned => format!("{} by shortening alone", style.bold(sizes.trim_end())),
        Outcome::NothingToCompact => "nothing to compact".to_owned(),
        Outcome::Disabled => "compaction is off in the configuration".to_owned(),
        other => other.as_str().to_owned(),
    };
    let _ = writeln!(out, "{verdict}");
    if let Some(economics) = &result.cost {
        out.push_str(&cost(economics, style));
    }
    for reason in &result.reasons {
        let _ = writeln!(out, "{} {}", style.yellow("note:"), plain(&reason.text));
    }
    if !planned.now && matches!(result.verdict, Outcome::Compacted | Outcome::Pruned) {
        let words = "no trigger is reached: compact would do nothing now, and this once one is";
        let _ = writeln!(out, "{} {words}", style.yellow("note:"));
    }
}

/// `#3`, `#3-7`, `#3,5,9`.
fn positions(messages: &[usize]) -> String {
    let (Some(first), Some(last)) = (messages.first(), messages.last()) else {
        return String::new();
    };
    if first == last {
        return format!("#{first}");
    }
    if last - first + 1 == messages.len() {
        return format!("#{first}-{last}");
    }
    let all: Vec<String> = messages.iter().map(ToString::to_string).collect();
    clip(&format!("#{}", all.join(",")), 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_short() {
        let check = |messages: &[usize], expect: &str| assert_eq!(positions(messages), expect);
        check(&[3], "#3");
        check(&[3, 4, 5], "#3-5");
        check(&[3, 5, 9], "#3,5,9");
        check(&[], "");
    }
}
