//! Who is asked for a summary and what that costs, for people: a line before, a few after.

use std::fmt::Write as _;

use super::cost::dollars;
use super::{Style, Table, count, number, plain};
#[cfg(feature = "models")]
use crate::asked::Ahead;
use crate::asked::{Asked, PassedOver, Used, UsedLine};

/// The line before the first call.
#[cfg(feature = "models")]
pub(crate) fn ahead(ahead: &Ahead<'_>) -> String {
    let estimate = ahead.estimate;
    let place = match ahead.place {
        Some(place) => format!(" at {}", plain(place)),
        None => String::new(),
    };
    let calls = match estimate.calls {
        1 => String::new(),
        n => format!(" in {}", count(n, "call")),
    };
    let cost = match estimate.micros {
        Some(micros) => format!("at most {}", money(micros)),
        None => "its prices are not known".to_owned(),
    };
    let (verb, end) = match ahead.is_dry {
        true => (
            "would ask",
            "; a dry run asks nobody, so this shows the digest's summary",
        ),
        false => ("asking", ""),
    };
    format!(
        "{verb} {}{place}: about {}{calls}, at most {} back, {cost}{end}",
        plain(ahead.model),
        count(estimate.input_tokens, "token"),
        number(estimate.output_tokens),
    )
}

/// What it came to, for one conversation or for all of a file.
pub(super) fn asked<'a>(all: impl Iterator<Item = &'a Asked>, style: Style) -> String {
    let (passed_over, used) = together(all);
    let mut out = String::new();
    for passed in passed_over {
        let _ = writeln!(
            out,
            "{} {}: {}",
            style.yellow("passed over"),
            plain(&passed.model),
            plain(&passed.failure)
        );
        if let Some(hint) = passed.hint {
            let _ = writeln!(out, "  {}", style.dim(&format!("to try: {hint}")));
        }
    }
    let mut table = Table::new("llrrrl");
    let head = ["asked", "", "in", "of it cached", "out", "cost"];
    table.row(head.map(str::to_owned));
    for line in &used {
        table.row(row(line));
    }
    if !used.is_empty() {
        out += &table.text();
    }
    out
}

/// Each failure once, and each model once.
fn together<'a>(all: impl Iterator<Item = &'a Asked>) -> (Vec<&'a PassedOver>, Vec<UsedLine>) {
    let mut passed_over: Vec<&PassedOver> = Vec::new();
    let mut used: Vec<UsedLine> = Vec::new();
    for asked in all {
        for passed in &asked.passed_over {
            let is_same = |known: &&PassedOver| {
                (&known.model, &known.failure) == (&passed.model, &passed.failure)
            };
            if !passed_over.iter().any(is_same) {
                passed_over.push(passed);
            }
        }
        for line in &asked.used {
            match used.iter_mut().find(|known| known.model == line.model) {
                Some(known) => {
                    known.used.join(&line.used);
                    known.micros = known.micros.zip(line.micros).map(|(a, b)| a + b);
                }
                None => used.push(line.clone()),
            }
        }
    }
    (passed_over, used)
}

fn row(line: &UsedLine) -> [String; 6] {
    let used = &line.used;
    let failed = match used.failed {
        0 => String::new(),
        n => format!(", {} failed", number(n)),
    };
    let told = |n: u64| match is_silent(used) {
        true => "?".to_owned(),
        false => number(n),
    };
    [
        plain(&line.model),
        count(used.calls, "call") + &failed,
        told(used.input_tokens),
        told(used.cache_read_tokens),
        told(used.output_tokens),
        line.micros.map_or_else(|| "not known".to_owned(), money),
    ]
}

/// It answered and never said what that took.
fn is_silent(used: &Used) -> bool {
    used.unreported > 0 && used.input_tokens == 0
}

fn money(micros: u64) -> String {
    dollars(i64::try_from(micros).unwrap_or(i64::MAX))
}
