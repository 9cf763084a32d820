//! Writes the chosen items as text, in the order in which they happened.

use std::fmt::Write as _;

use super::load::Mark;
use super::select::{Item, Selection};
use super::{Digest, DigestStats};
use crate::count::TokenCounter;

pub(super) const EARLIER: &str = "## Earlier";
pub(super) const SAID: &str = "## User";
pub(super) const RULES: &str = "## Rules";
pub(super) const COURSE: &str = "## Course";
pub(super) const NAMES: &str = "## Names";

/// The section that shows lines of a mark.
pub(super) fn section_of(mark: Mark) -> &'static str {
    match mark {
        Mark::User | Mark::System => SAID,
        Mark::Previous => EARLIER,
        _ => COURSE,
    }
}

/// A section's heading. The course explains its marks where that costs little of the budget.
pub(super) fn head_of(section: &'static str, budget: u64) -> &'static str {
    const EXPLAINED: &str = "## Course (A said, C called, W wrote, R returned, T thought, H host)";
    if section == COURSE && budget >= 400 {
        EXPLAINED
    } else {
        section
    }
}

/// The digest, within the budget whatever the counter does: items that are least important go first.
pub(super) fn fitted(selection: &Selection<'_>, counter: &dyn TokenCounter, budget: u64) -> Digest {
    let size = |text: &str| counter.tokens(counter.text(text));
    let mut count = selection.items.len();
    loop {
        let items = &selection.items[..count];
        let text = render(selection, items);
        let tokens = size(&text);
        if tokens <= budget || count == 0 {
            let text = if tokens <= budget && count > 0 {
                text
            } else {
                least(selection, counter, budget)
            };
            return Digest {
                stats: stats(selection, items, size(&text)),
                text,
            };
        }
        let share = (count as u128 * u128::from(budget) / u128::from(tokens.max(1))) as usize;
        count = share.min(count - 1);
    }
}

/// The best little that fits when not even one item does: the beginning of the newest request.
fn least(selection: &Selection<'_>, counter: &dyn TokenCounter, budget: u64) -> String {
    let newest = selection.pieces.iter().rev();
    let Some(piece) = newest
        .clone()
        .find(|p| p.mark == Mark::User)
        .or(newest.clone().next())
    else {
        return String::new();
    };
    let text = piece.text.trim();
    let (mut low, mut high) = (0, text.len().min(budget.saturating_mul(8) as usize));
    while low < high {
        let middle = text
            .ceil_char_boundary(low + (high - low).div_ceil(2))
            .min(high);
        let middle = text.floor_char_boundary(middle);
        if middle <= low {
            break;
        }
        if counter.tokens(counter.text(&text[..middle])) <= budget {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let text = text[..text.floor_char_boundary(low)].trim_end().to_owned();
    if counter.tokens(counter.text(&text)) <= budget {
        text
    } else {
        String::new()
    }
}

fn render(selection: &Selection<'_>, items: &[Item]) -> String {
    let mut lines: Vec<usize> = Vec::new();
    let mut names: Vec<u32> = Vec::new();
    let mut rules: Vec<usize> = Vec::new();
    let mut rows: Vec<(usize, bool)> = Vec::new();
    for item in items {
        match item {
            Item::Line(at) => lines.push(*at),
            Item::Name(id) => names.push(*id),
            Item::Rule(at) => rules.push(*at),
            Item::Row(at) => rows.push((*at, false)),
            Item::ShortRow(at) => rows.push((*at, true)),
        }
    }
    lines.sort_unstable();
    rows.sort_unstable();
    rules.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
    let pool = selection.pool;
    let in_section = |section: &'static str| {
        lines
            .iter()
            .copied()
            .filter(move |at| section_of(pool.lines[*at].mark) == section)
    };
    let mut out = String::new();
    course(selection, &mut out, EARLIER, in_section(EARLIER));
    spoken(selection, &mut out, in_section(SAID));
    if !rules.is_empty() {
        head(&mut out, RULES);
        for at in rules {
            let _ = writeln!(out, "- {}", selection.rules[at]);
        }
    }
    facts(selection, &mut out, &rows);
    course(selection, &mut out, COURSE, in_section(COURSE));
    listed(selection, &mut out, &mut names);
    out.truncate(out.trim_end().len());
    out
}

fn head(out: &mut String, section: &str) {
    out.push_str(section);
    out.push('\n');
}

/// The user's words: neighbouring sentences as they stood, a mark where something is left out.
fn spoken(selection: &Selection<'_>, out: &mut String, lines: impl Iterator<Item = usize>) {
    let mut before: Option<usize> = None;
    for at in lines {
        let line = &selection.pool.lines[at];
        match before {
            None => head(out, SAID),
            Some(last) if selection.pool.lines[last].piece == line.piece => {
                if last + 1 == at {
                    out.push_str(selection.between(last, at));
                } else {
                    out.push_str(" …\n");
                }
            }
            Some(_) => out.push('\n'),
        }
        if before.is_none_or(|last| selection.pool.lines[last].piece != line.piece) {
            out.push_str(if line.mark == Mark::System {
                "S: "
            } else {
                "U: "
            });
        }
        out.push_str(line.text);
        before = Some(at);
    }
    if before.is_some() {
        out.push('\n');
    }
}

fn facts(selection: &Selection<'_>, out: &mut String, rows: &[(usize, bool)]) {
    let mut label = "";
    for (at, short) in rows {
        let row = &selection.rows[*at];
        let text = row.short.as_ref().filter(|_| *short).unwrap_or(&row.text);
        if row.label == label {
            out.push_str(", ");
        } else {
            out.push_str(if label.is_empty() { "## State\n" } else { "\n" });
            let _ = write!(out, "{}: ", row.label);
            label = row.label;
        }
        out.push_str(text);
    }
    if !label.is_empty() {
        out.push('\n');
    }
}

fn course(
    selection: &Selection<'_>,
    out: &mut String,
    section: &'static str,
    lines: impl Iterator<Item = usize>,
) {
    let mut first = true;
    for at in lines {
        if std::mem::take(&mut first) {
            head(out, head_of(section, selection.budget));
        }
        let line = &selection.pool.lines[at];
        let mark = match line.mark {
            Mark::Assistant => "A: ",
            Mark::Call => "C: ",
            Mark::Written => "W: ",
            Mark::Result if line.error => "R! ",
            Mark::Result => "R: ",
            Mark::Thought => "T: ",
            Mark::Host => "H: ",
            // Headings of an earlier summary must not pass for sections of this one.
            Mark::Previous if line.text.starts_with('#') => "#",
            Mark::Previous | Mark::User | Mark::System => "",
        };
        let _ = writeln!(out, "{mark}{}", line.text);
    }
}

/// Names by kind, within a kind as they first came up.
fn listed(selection: &Selection<'_>, out: &mut String, names: &mut [u32]) {
    if names.is_empty() {
        return;
    }
    let pool = selection.pool;
    names.sort_unstable_by_key(|id| (pool.entities[*id as usize].kind, pool.first_seen(*id), *id));
    head(out, NAMES);
    let mut kind = None;
    for id in names.iter() {
        let entity = &pool.entities[*id as usize];
        if kind.is_some() {
            out.push_str(if kind == Some(entity.kind) {
                ", "
            } else {
                "\n"
            });
        }
        out.push_str(&entity.name);
        kind = Some(entity.kind);
    }
}

fn stats(selection: &Selection<'_>, items: &[Item], tokens: u64) -> DigestStats {
    let lines = &selection.pool.lines;
    let is_user = |at: &usize| lines[*at].mark == Mark::User;
    let shown: Vec<usize> = items
        .iter()
        .filter_map(|item| match item {
            Item::Line(at) => Some(*at),
            _ => None,
        })
        .collect();
    let count = |wanted: fn(&Item) -> bool| items.iter().filter(|item| wanted(item)).count();
    DigestStats {
        tokens,
        lines: lines.len(),
        lines_shown: shown.len(),
        user_lines: (0..lines.len()).filter(is_user).count(),
        user_lines_shown: shown.iter().filter(|at| is_user(at)).count(),
        entities: selection.pool.entities.len(),
        names_listed: count(|item| matches!(item, Item::Name(_))),
        facts_shown: count(|item| matches!(item, Item::Row(_) | Item::ShortRow(_) | Item::Rule(_))),
    }
}
