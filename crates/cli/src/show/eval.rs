//! The report of `conspectus eval`.

use std::fmt::Write as _;

use super::{Style, Table, count, plain};
use crate::eval::EvalRow;

/// A table for each source, size and number of compactions.
pub(crate) fn eval(rows: &[EvalRow], short: usize, style: Style) -> String {
    let mut out = String::new();
    for group in rows.chunk_by(|a, b| head(a) == head(b)) {
        let Some(first) = group.first() else {
            continue;
        };
        if !out.is_empty() {
            out.push('\n');
        }
        let chained = match first.compactions {
            1 => String::new(),
            n => format!(", {n} compactions in a row"),
        };
        let _ = writeln!(
            out,
            "{}  {}",
            style.bold(&plain(&first.source)),
            style.dim(&format!(
                "{}, at {}%{chained}",
                count(u64::from(first.cases), "cut"),
                first.budget_percent
            ))
        );
        let mut table = Table::new("lrrrr");
        let heads = ["", "names", "files", "words", "tokens"];
        table.row(heads.map(str::to_owned));
        for row in group {
            table.row([
                row.method.to_owned(),
                share(row.names),
                share(row.files),
                share(row.words),
                format!("{:.0}", row.tokens),
            ]);
        }
        out.push_str(&table.text());
    }
    if short > 0 {
        let _ = writeln!(out, "\nleft out: {}", too_short(short));
    }
    out
}

/// Conversations that say nothing.
pub(crate) fn too_short(conversations: usize) -> String {
    let them = match conversations {
        1 => "is too short, or nothing in it is needed later",
        _ => "are too short, or nothing in them is needed later",
    };
    format!("{} {them}", count(conversations as u64, "conversation"))
}

fn head(row: &EvalRow) -> (&str, u32, usize) {
    (&row.source, row.budget_percent, row.compactions)
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}
