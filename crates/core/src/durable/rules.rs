//! The user's standing rules as they are shown, and read back from where they were shown.
//!
//! One rule a line, with the ordinal of the message that says it; one of several lines stands between marks.

use std::fmt::Write as _;

use super::Source;
use crate::count::TokenCounter;
use crate::ledger::{Force, Rule};
use crate::planted::{Bug, planted};
use crate::view::Role;

const HEADING: &str = "## Standing rules of the user\nIn the user's own words; they hold until the user takes them back.\n";
const PINNED: &str = ", pinned";
const BY_HOST: &str = ", by the host";
const MARK: &str = "\"\"\"";

/// The section, within `tokens`; empty when there is no rule to show.
pub(super) fn render(source: &Source<'_>, tokens: u64, counter: &dyn TokenCounter) -> String {
    let constraints = source.ledger.constraints();
    let gone: Vec<&Rule> = constraints
        .standing()
        .iter()
        .filter(|rule| (source.is_gone)(rule.message))
        .skip(usize::from(planted(Bug::RuleLost)))
        .collect();
    if gone.is_empty() && constraints.dropped() == 0 {
        return String::new();
    }
    let size = |text: &str| counter.tokens(counter.text(text)) + 1;
    // Room for the line that counts what is left out.
    let spare = size(&left_out(99, &[9999; 8]));
    let mut left = tokens.saturating_sub(size(HEADING));
    // Pinned first, then the firm ones, then the rest; of equals the newest, which the user has said last.
    let mut order: Vec<usize> = (0..gone.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(gone[*at].force), std::cmp::Reverse(*at)));
    let all: u64 = gone.iter().map(|rule| size(&line(rule))).sum();
    if all > left || constraints.dropped() > 0 {
        left = left.saturating_sub(spare);
    }
    let mut shown = vec![false; gone.len()];
    for at in order {
        let tokens = size(&line(gone[at]));
        if tokens <= left {
            left -= tokens;
            shown[at] = true;
        }
    }
    let mut out = String::new();
    for (rule, _) in gone.iter().zip(&shown).filter(|(_, is_shown)| **is_shown) {
        out.push_str(&line(rule));
    }
    let hidden = gone.iter().zip(&shown).filter(|(_, is_shown)| !**is_shown);
    let hidden: Vec<u64> = hidden.map(|(rule, _)| rule.message).collect();
    let count = hidden.len() as u64 + constraints.dropped();
    if count > 0 {
        out.push_str(&left_out(count, &hidden));
    }
    let text = [HEADING, &out].concat();
    match size(&text) <= tokens.saturating_add(spare) && !out.is_empty() {
        true => text,
        false => String::new(),
    }
}

fn left_out(count: u64, messages: &[u64]) -> String {
    let mut named = String::new();
    for message in messages.iter().take(8) {
        let _ = write!(
            named,
            "{}{message}",
            if named.is_empty() {
                ": messages "
            } else {
                ", "
            }
        );
    }
    format!("- ({count} more rules left out for lack of room{named})\n")
}

fn line(rule: &Rule) -> String {
    let by = match (rule.force, rule.role) {
        (Force::Pinned, _) => PINNED,
        (_, Role::System) => BY_HOST,
        _ => "",
    };
    let mut out = match rule.earlier {
        Some(earlier) => format!("- [earlier message {earlier}{by}] "),
        None => format!("- [message {}{by}] ", rule.message),
    };
    if rule.text.contains('\n') {
        let _ = write!(out, "\n{MARK}\n{}\n{MARK}", rule.text);
    } else {
        out.push_str(&rule.text);
    }
    if let Some(old) = &rule.instead_of {
        let _ = write!(out, "\n  (instead of: {})", old.replace('\n', " "));
    }
    out.push('\n');
    out
}

/// The rules that a rendered text shows: text and message, oldest first. What only looks like a rule because a
/// rule quotes it stands between marks and is not one.
pub fn read(text: &str) -> Vec<(String, u64)> {
    let mut out = Vec::new();
    let Some((_, section)) = text.split_once(HEADING) else {
        return out;
    };
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("## ") {
            break;
        }
        let Some((message, said)) = line
            .strip_prefix("- [")
            .map(|l| l.strip_prefix("earlier ").unwrap_or(l))
            .and_then(|l| l.strip_prefix("message "))
            .and_then(|l| l.split_once("] "))
        else {
            continue;
        };
        let Ok(message) = message
            .trim_end_matches(PINNED)
            .trim_end_matches(BY_HOST)
            .parse()
        else {
            continue;
        };
        if !said.is_empty() {
            out.push((said.to_owned(), message));
            continue;
        }
        let mut lines = lines.by_ref().skip_while(|l| *l != MARK).skip(1);
        let inside: Vec<&str> = lines.by_ref().take_while(|l| *l != MARK).collect();
        out.push((inside.join("\n"), message));
    }
    out
}
