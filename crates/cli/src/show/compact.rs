//! The report of `conspectus compact`.

use std::fmt::Write as _;

use conspectus::{Outcome, Shortened};

use super::{Style, Table, change, clip, count, number, plain, plain_lines};
use crate::inputs::Skipped;
use crate::report::{ConversationResult, FileResult, Written, WrittenState};

/// Lines of a summary that are shown.
const SUMMARY_LINES: usize = 12;
/// Characters of such a line.
const LINE_CHARS: usize = 110;
/// Entries of a list that are shown.
const LISTED: usize = 8;
/// Conversations of one file that are shown, one a line.
const CONVERSATIONS: usize = 20;

/// What became of one file.
pub(crate) fn file(result: &FileResult, style: Style) -> String {
    let mut out = heading(result, style);
    match result.conversations.as_slice() {
        [one] => conversation(&mut out, one, result, style),
        several => list(&mut out, several, result, style),
    }
    faults(&mut out, result, style);
    written(&mut out, result, style);
    out
}

/// What was passed over.
pub(crate) fn skipped(skipped: &[Skipped], is_all: bool, style: Style) -> String {
    let gap = if is_all { "" } else { "\n" };
    let mut out = format!("{gap}skipped {}:\n", count(skipped.len() as u64, "file"));
    for file in skipped.iter().take(CONVERSATIONS) {
        let _ = writeln!(
            out,
            "  {}",
            style.dim(&plain(&format!("{}: {}", file.path, file.why)))
        );
    }
    more(&mut out, skipped.len(), CONVERSATIONS);
    out
}

fn heading(result: &FileResult, style: Style) -> String {
    let format = result.format.map_or("", |f| f.name());
    let (conversations, verdict) = match result.conversations.as_slice() {
        [one] => (String::new(), verdict(one, style)),
        all => {
            let n = format!(", {}", count(all.len() as u64, "conversation"));
            (n, outcomes(all))
        }
    };
    format!(
        "{}  {}: {verdict}\n",
        style.bold(&plain(&result.input)),
        style.dim(&format!("{format}{conversations}"))
    )
}

fn verdict(one: &ConversationResult, style: Style) -> String {
    match one.verdict {
        Outcome::Compacted => style.green("compacted"),
        Outcome::Pruned => format!(
            "{}, shortening was enough and nothing was folded",
            style.green("pruned")
        ),
        Outcome::Skipped => format!("nothing done, no trigger is reached at {}", size(one)),
        Outcome::NothingToCompact => format!("nothing to compact in {}", size(one)),
        Outcome::Disabled => "nothing done, compaction is off in the configuration \
                              (set enabled: true)"
            .to_owned(),
        Outcome::Rejected => style.red("rejected, the result was no gain and nothing was changed"),
        Outcome::Cancelled => style.red("cancelled, nothing was changed"),
        other => style.red(other.as_str()),
    }
}

/// How many ended how.
fn outcomes(all: &[ConversationResult]) -> String {
    let mut outcomes: Vec<(&str, u64)> = Vec::new();
    for one in all {
        match outcomes.iter_mut().find(|(name, _)| *name == one.outcome) {
            Some((_, n)) => *n += 1,
            None => outcomes.push((one.outcome, 1)),
        }
    }
    let words = outcomes
        .iter()
        .map(|(name, n)| format!("{} {name}", number(*n)));
    words.collect::<Vec<_>>().join(", ")
}

fn conversation(out: &mut String, one: &ConversationResult, file: &FileResult, style: Style) {
    if is_change(one) {
        before_and_after(out, std::slice::from_ref(one), file);
    }
    out.push_str(&super::asked::asked(one.asked.iter(), style));
    // What a model said last is told already, with its name.
    let passed_over = one.asked.iter().flat_map(|asked| &asked.passed_over);
    let told = passed_over.map(|passed| &passed.failure).next_back();
    if let Some(failure) = one
        .failure
        .as_ref()
        .filter(|failure| told != Some(*failure))
    {
        let _ = writeln!(out, "{} {}", style.red("failure:"), plain(failure));
    }
    for reason in &one.reasons {
        let _ = writeln!(out, "{} {}", style.yellow("note:"), plain(&reason.text));
    }
    if one.reasons.iter().any(|r| is_about_size(r.code)) {
        stays(out, one, style);
    }
    // Where it could not be written, that is what matters now.
    if file.error.is_none() {
        shortened(out, &one.shortened, one.tokens_pruned);
        summary(out, one, style);
    }
}

fn is_change(one: &ConversationResult) -> bool {
    matches!(one.verdict, Outcome::Compacted | Outcome::Pruned) || !one.shortened.is_empty()
}

/// Reasons that the list of what stays explains.
fn is_about_size(code: &str) -> bool {
    matches!(
        code,
        "irreducible" | "not_smaller" | "target_missed" | "over_limit"
    )
}

fn size(one: &ConversationResult) -> String {
    format!(
        "{} and {}",
        count(one.messages_before, "message"),
        count(one.tokens_before, "token")
    )
}

fn before_and_after(out: &mut String, all: &[ConversationResult], file: &FileResult) {
    let sum = |of: fn(&ConversationResult) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let mut table = Table::new("lrrl");
    let folded = sum(|c| c.messages_folded);
    let head = ["", "before", "after", ""];
    table.row(head.map(str::to_owned));
    let summaries = all.iter().filter(|c| c.summary.is_some()).count();
    let note = match (folded, summaries) {
        (_, 0) => String::new(),
        (folded, 1) => format!("and a summary of the {} that went", number(folded)),
        (folded, n) => format!("and {n} summaries of the {} that went", number(folded)),
    };
    table.row([
        "messages".into(),
        number(sum(|c| c.messages_before)),
        number(sum(|c| c.messages_after)),
        note,
    ]);
    let (before, after) = (sum(|c| c.tokens_before), sum(|c| c.tokens_after));
    let counter = all.first().map_or("", |c| c.counter.as_str());
    let reported = all.iter().any(|c| c.reported);
    let by = match reported {
        true => "as last reported, estimated since",
        false => counter,
    };
    table.row([
        "tokens".into(),
        number(before),
        number(after),
        format!("{} ({by})", change(before, after)),
    ]);
    // Most of a session's reported size may be a system prompt and tools that the file does not hold.
    let counted = (sum(|c| c.counted_before), sum(|c| c.counted_after));
    if reported && counted.0 < before {
        table.row([
            "  of this file".into(),
            number(counted.0),
            number(counted.1),
            format!("{} ({counter})", change(counted.0, counted.1)),
        ]);
    }
    if let (Some(before), Some(after)) = (file.bytes_before, file.bytes_after) {
        let row = [
            "bytes".into(),
            number(before),
            number(after),
            change(before, after),
        ];
        table.row(row);
    }
    out.push_str(&table.text());
}

fn list(out: &mut String, all: &[ConversationResult], file: &FileResult, style: Style) {
    if all.iter().any(is_change) {
        before_and_after(out, all, file);
    }
    let asked = all.iter().filter_map(|one| one.asked.as_ref());
    out.push_str(&super::asked::asked(asked, style));
    let mut table = Table::new("lrrlll");
    for one in all.iter().take(CONVERSATIONS) {
        let reasons: Vec<&str> = one.reasons.iter().map(|r| r.text.as_str()).collect();
        table.row([
            clip(&plain(&one.label), 40),
            number(one.tokens_before),
            number(one.tokens_after),
            change(one.tokens_before, one.tokens_after),
            one.outcome.to_owned(),
            clip(&plain(&reasons.join("; ")), 80),
        ]);
    }
    out.push_str(&table.text());
    more(out, all.len(), CONVERSATIONS);
}

fn stays(out: &mut String, one: &ConversationResult, style: Style) {
    if one.stays.is_empty() {
        return;
    }
    let _ = writeln!(out, "what stays:");
    let mut table = Table::new("rll");
    for share in one.stays.iter().take(LISTED) {
        table.row([
            number(share.tokens),
            "tokens".to_owned(),
            format!("{} ({})", share.why, count(share.messages, "message")),
        ]);
    }
    out.push_str(&table.text());
    if one.stays.iter().any(|share| share.why == "recent") {
        let hint = "to fold more: a smaller --keep, or --below-keep";
        let _ = writeln!(out, "{}", style.dim(hint));
    }
}

fn shortened(out: &mut String, all: &[Shortened], saved: u64) {
    if all.is_empty() {
        return;
    }
    let saved = match saved {
        0 => String::new(),
        saved => format!(", {} saved", count(saved, "token")),
    };
    let _ = writeln!(out, "shortened {}{saved}:", count(all.len() as u64, "part"));
    let mut table = Table::new("lllrlrl");
    for part in all.iter().take(LISTED) {
        table.row([
            format!("#{}", part.message),
            clip(&plain(part.tool.as_deref().unwrap_or("")), 30),
            part.why.to_owned(),
            number(part.chars_before),
            "->".to_owned(),
            number(part.chars_after),
            "characters".to_owned(),
        ]);
    }
    out.push_str(&table.text());
    more(out, all.len(), LISTED);
}

fn summary(out: &mut String, one: &ConversationResult, style: Style) {
    let Some(summary) = &one.summary else {
        return;
    };
    let by = match (summary.author, &summary.model) {
        ("digest", _) => "extracted without a model".to_owned(),
        (_, Some(model)) => format!("written by {}", plain(model)),
        _ => "written by a model".to_owned(),
    };
    let _ = writeln!(out, "summary, {}, {by}:", count(summary.tokens, "token"));
    summary_lines(out, &summary.text, style);
}

/// How a summary begins.
pub(crate) fn summary_lines(out: &mut String, text: &str, style: Style) {
    let text = plain_lines(text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    for line in lines.iter().take(SUMMARY_LINES) {
        let _ = writeln!(
            out,
            "  {} {}",
            style.dim("|"),
            clip(line.trim_end(), LINE_CHARS)
        );
    }
    if lines.len() > SUMMARY_LINES {
        let rest = count((lines.len() - SUMMARY_LINES) as u64, "more line");
        let _ = writeln!(out, "  {}", style.dim(&format!("| ({rest})")));
    }
}

fn faults(out: &mut String, result: &FileResult, style: Style) {
    if result.faults.is_empty() {
        return;
    }
    let what = count(result.faults.len() as u64, "place");
    let _ = writeln!(
        out,
        "{} {what} not understood and kept as is:",
        style.yellow("note:")
    );
    for fault in result.faults.iter().take(LISTED) {
        let text = format!(
            "line {}: {}, expected {}",
            fault.line, fault.found, fault.expected
        );
        let _ = writeln!(out, "  {}", clip(&plain(&text), 140));
    }
    more(out, result.faults.len(), LISTED);
}

fn written(out: &mut String, result: &FileResult, style: Style) {
    let line = match &result.output {
        None if result.error.is_some() => style.red("nothing written"),
        None => "nothing written".to_owned(),
        Some(Written { path, state }) => {
            let path = match path.as_str() {
                "-" => "standard output".to_owned(),
                path => style.bold(&plain(path)),
            };
            match state {
                WrittenState::Written => format!("written to {path}"),
                WrittenState::Replaced => format!("written to {path} (replaced)"),
                WrittenState::AlreadyThere => {
                    format!("{path} is already there, with the same bytes")
                }
                WrittenState::DryRun => format!("dry run: nothing written (would be {path})"),
            }
        }
    };
    let _ = writeln!(out, "{line}");
}

fn more(out: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(
            out,
            "  … and {} more (--json has all)",
            number((all - shown) as u64)
        );
    }
}
