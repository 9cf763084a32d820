//! The report of `conspectus inspect`.

use std::fmt::Write as _;

use conspectus::core::policy::WindowSource;
use conspectus::{Inspection, Share, TriggerState};

use super::{Style, Table, clip, count, number, percent, plain};
use crate::inspect::{Inspected, Looked};

/// Entries of a list that are shown.
const LISTED: usize = 6;
/// With more conversations than this in a file, each is one line.
const IN_FULL: usize = 3;

/// What a file holds.
pub(crate) fn inspection(looked: &Looked<Inspected>, style: Style) -> String {
    let format = looked.format.map_or("", |f| f.name());
    let bytes = count(looked.bytes.unwrap_or(0), "byte");
    let conversations = count(looked.conversations.len() as u64, "conversation");
    let mut out = format!(
        "{}  {}\n",
        style.bold(&plain(&looked.input)),
        style.dim(&format!("{format}, {bytes}, {conversations}"))
    );
    if looked.conversations.len() > IN_FULL {
        lines(&mut out, &looked.conversations, style);
    } else {
        for one in &looked.conversations {
            if looked.conversations.len() > 1 {
                let label = format!("conversation {}", plain(&one.label));
                let _ = writeln!(out, "\n{}", style.bold(&label));
            }
            in_full(&mut out, &one.inspection, style);
        }
    }
    for fault in &looked.faults {
        let text = format!(
            "line {}: {}, expected {}",
            fault.line, fault.found, fault.expected
        );
        let _ = writeln!(
            out,
            "{} {}",
            style.yellow("fault:"),
            clip(&plain(&text), 160)
        );
    }
    out
}

fn lines(out: &mut String, all: &[Inspected], style: Style) {
    let mut table = Table::new("lrrrll");
    let head = ["conversation", "messages", "tokens", "tool calls", "", ""];
    table.row(head.map(str::to_owned));
    for one in all {
        let inspection = &one.inspection;
        let calls = inspection.tools.iter().map(|t| t.count).sum();
        let fires = match (inspection.triggered, inspection.triggers_at_message) {
            (true, _) => "trigger reached".to_owned(),
            (false, Some(at)) => format!("trigger was reached at #{at}"),
            (false, None) => String::new(),
        };
        let faults = match inspection.pairing_faults.len() as u64 {
            0 => String::new(),
            n => count(n, "pairing fault"),
        };
        table.row([
            clip(&plain(&one.label), 40),
            number(inspection.messages),
            number(inspection.tokens),
            number(calls),
            fires,
            faults,
        ]);
    }
    let sum = |of: fn(&Inspection) -> u64| number(all.iter().map(|one| of(&one.inspection)).sum());
    table.row([
        "all".to_owned(),
        sum(|i| i.messages),
        sum(|i| i.tokens),
        sum(|i| i.tools.iter().map(|t| t.count).sum()),
        String::new(),
        String::new(),
    ]);
    out.push_str(&table.text());
    let hint = "--conversation LABEL shows one in full";
    let _ = writeln!(out, "{}", style.dim(hint));
}

fn in_full(out: &mut String, i: &Inspection, style: Style) {
    let known = match (i.window_source, &i.model) {
        (WindowSource::Given, Some(model)) => format!(" ({})", plain(model)),
        (WindowSource::Given, None) => String::new(),
        (WindowSource::Learnt, _) => ", learnt".to_owned(),
        (WindowSource::Assumed, _) => ", assumed".to_owned(),
    };
    let size = format!(
        "{}, {}",
        count(i.messages, "message"),
        count(i.tokens, "token")
    );
    let share = percent(i.tokens, i.window);
    let _ = writeln!(
        out,
        "{}  {share} of a window of {}{known}",
        style.bold(&size),
        number(i.window)
    );
    if let Some(reported) = i.reported_tokens {
        let _ = writeln!(
            out,
            "{} by what the provider last reported",
            count(reported, "token")
        );
    }
    if i.messages > 0 {
        roles(out, i);
        tools(out, &i.tools, i.tokens);
        largest(out, i);
    }
    faults(out, i, style);
    trigger(out, i, style);
}

fn roles(out: &mut String, i: &Inspection) {
    let mut table = Table::new("lrrr");
    table.row(["by role", "messages", "tokens", ""].map(str::to_owned));
    for role in &i.roles {
        table.row([
            role.name.clone(),
            number(role.count),
            number(role.tokens),
            percent(role.tokens, i.tokens),
        ]);
    }
    if i.fixed_tokens > 0 {
        table.row([
            "outside of the messages".to_owned(),
            String::new(),
            number(i.fixed_tokens),
            percent(i.fixed_tokens, i.tokens),
        ]);
    }
    let _ = write!(out, "\n{}", table.text());
}

fn tools(out: &mut String, tools: &[Share], whole: u64) {
    if tools.is_empty() {
        return;
    }
    let mut table = Table::new("lrrr");
    table.row(["by tool", "calls", "tokens", ""].map(str::to_owned));
    for tool in tools.iter().take(LISTED) {
        table.row([
            clip(&plain(&tool.name), 40),
            number(tool.count),
            number(tool.tokens),
            percent(tool.tokens, whole),
        ]);
    }
    let _ = write!(out, "\n{}", table.text());
    more(out, tools.len());
}

fn largest(out: &mut String, i: &Inspection) {
    let mut table = Table::new("lrll");
    table.row(["largest messages", "tokens", "", ""].map(str::to_owned));
    for large in i.largest_messages.iter().take(LISTED) {
        table.row([
            format!("#{}", large.message),
            number(large.tokens),
            large.role.to_owned(),
            clip(&plain(&large.begins), 60),
        ]);
    }
    let _ = write!(out, "\n{}", table.text());
    if i.largest_results.is_empty() {
        return;
    }
    let mut table = Table::new("lrl");
    table.row(["largest results", "characters", ""].map(str::to_owned));
    for large in i.largest_results.iter().take(LISTED) {
        table.row([
            format!("#{}", large.message),
            number(large.chars),
            clip(&plain(large.tool.as_deref().unwrap_or("")), 40),
        ]);
    }
    let _ = write!(out, "\n{}", table.text());
}

fn faults(out: &mut String, i: &Inspection, style: Style) {
    out.push('\n');
    if i.pairing_faults.is_empty() && !i.tools.is_empty() {
        let _ = writeln!(out, "every call has its result");
    }
    for fault in i.pairing_faults.iter().take(LISTED) {
        let _ = writeln!(out, "{} {}", style.yellow("pairing:"), plain(fault));
    }
    more(out, i.pairing_faults.len());
}

fn trigger(out: &mut String, i: &Inspection, style: Style) {
    if i.triggers.is_empty() {
        let _ = writeln!(out, "no trigger: nothing starts by itself");
        return;
    }
    let clauses: Vec<String> = i.triggers.iter().map(clause).collect();
    let now = match (i.triggered, i.triggers_at_message) {
        (true, Some(at)) => style.yellow(&format!("reached, first at message #{at}")),
        (true, None) => style.yellow("reached"),
        (false, Some(at)) => format!("not reached now, but it was at message #{at}"),
        (false, None) => {
            let size = i.reported_tokens.unwrap_or(i.tokens);
            let left = i.triggers.iter().filter_map(|t| t.tokens).min();
            match left.and_then(|at| at.checked_sub(size)) {
                Some(left) => format!("not reached, {} to go", count(left, "token")),
                None => "not reached".to_owned(),
            }
        }
    };
    let _ = writeln!(out, "trigger {}: {now}", clauses.join(" or "));
}

fn clause(trigger: &TriggerState) -> String {
    let tokens = trigger.tokens.map(|n| count(n, "token"));
    let messages = trigger.messages.map(|n| count(n, "message"));
    let all: Vec<String> = tokens.into_iter().chain(messages).collect();
    all.join(" and ")
}

fn more(out: &mut String, all: usize) {
    if all > LISTED {
        let rest = number((all - LISTED) as u64);
        let _ = writeln!(out, "  … and {rest} more (--json has all)");
    }
}
