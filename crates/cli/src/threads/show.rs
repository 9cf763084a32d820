//! Reports on threads for people. What a place answered in, text out.

use std::fmt::Write as _;

use conspectus::Reason;
use serde_json::Value;

use super::glimpse::glimpse;
use crate::show::{
    Style, Table, change, clip, count, number, percent, plain, plain_lines, summary_lines,
};

/// Characters of a message that are shown.
const LINE: usize = 100;
/// Lines of a message that was found.
const FOUND_LINES: usize = 4;

fn uint(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn all<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// `2026-11-30T12:00:00.000Z` -> `2026-11-30 12:00`.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

/// Milliseconds since 1970 likewise.
fn minute_of(ms: u64) -> String {
    minute(&conspectus::wire::iso_time(ms))
}

/// Threads.
pub(super) fn list(answer: &Value, place: &str, style: Style) -> String {
    let threads = all(answer, "threads");
    if threads.is_empty() {
        return format!("no threads in {}\n", plain(place));
    }
    let mut table = Table::new("lrrll");
    table.row(["id", "messages", "compactions", "written", "title"].map(str::to_owned));
    for thread in threads {
        let busy = match word(thread, "status") {
            "busy" => " (busy)",
            _ => "",
        };
        table.row([
            plain(word(thread, "thread_id")),
            number(uint(thread, "message_count")),
            number(uint(thread, "record_count")),
            minute(word(thread, "updated_at")),
            format!("{}{busy}", clip(&plain(word(thread, "title")), 60)),
        ]);
    }
    let mut out = table.text();
    if let Some(next) = answer.get("next").and_then(Value::as_str) {
        let hint = format!("there are more: --after {next}");
        let _ = writeln!(out, "{}", style.dim(&hint));
    }
    out
}

/// A thread in one line; `what`: what was done with it, or nothing.
pub(super) fn thread(answer: &Value, what: &str, place: &str, style: Style) -> String {
    let title = match word(answer, "title") {
        "" => String::new(),
        title => format!(", {:?}", plain(title)),
    };
    let what = match what {
        "" => String::new(),
        what => format!("{what} "),
    };
    format!(
        "{}  {what}in {}: {}, {}{title}\n",
        style.bold(&plain(word(answer, "thread_id"))),
        plain(place),
        count(uint(answer, "message_count"), "message"),
        count(uint(answer, "record_count"), "compaction"),
    )
}

/// Where a thread stands.
pub(crate) fn status(answer: &Value, style: Style) -> String {
    let (size, window) = (&answer["size"], &answer["window"]);
    let (tokens, limit) = (uint(size, "tokens"), uint(window, "input_limit"));
    let model = match word(answer, "model") {
        "" => String::new(),
        model => format!(" ({})", plain(model)),
    };
    let mut table = Table::new("ll");
    let mut row = |name: &str, text: String| table.row([name.to_owned(), text]);
    row(
        "window",
        format!(
            "{} in {}, {} of {}{model}",
            count(tokens, "token"),
            count(uint(size, "messages"), "message"),
            percent(tokens, limit),
            number(limit),
        ),
    );
    let next = &answer["next"];
    row(
        "next compaction",
        match (next["reached"].as_bool(), next["tokens_left"].as_u64()) {
            _ if answer["enabled"].as_bool() == Some(false) => {
                "none by itself, compaction is off".to_owned()
            }
            (Some(true), _) => "due now".to_owned(),
            (_, Some(left)) => format!("in {}", count(left, "token")),
            (_, None) => match next["messages_left"].as_u64() {
                Some(left) => format!("in {}", count(left, "message")),
                None => "none by itself, only by hand".to_owned(),
            },
        },
    );
    if let Some(last) = answer.get("last").filter(|last| last.is_object()) {
        let mut text = format!(
            "{}, {}",
            word(last, "outcome").replace('_', " "),
            minute_of(uint(last, "ended_ms"))
        );
        if let Some(failure) = last["failure"].as_str() {
            let _ = write!(text, ": {}", clip(&plain(failure), LINE));
        }
        row("last attempt", text);
    }
    if answer["breaker"]["open"].as_bool() == Some(true) {
        let failures = uint(&answer["breaker"], "failures");
        row(
            "breaker",
            style.yellow(&format!("open after {}", count(failures, "failure"))),
        );
    }
    if let Some(mark) = answer
        .get("compaction_in_progress")
        .filter(|m| m.is_object())
    {
        let since = minute_of(uint(mark, "since_ms"));
        row("in progress", style.yellow(&format!("since {since}")));
    }
    table.text()
}

/// What was said, folds in the place of what was folded unless `is_all`.
pub(super) fn visible(answer: &Value, is_all: bool, style: Style) -> String {
    let mut out = String::new();
    let mut shown_fold = None;
    for message in all(answer, "messages") {
        let at = uint(message, "position");
        let is_folded = message["folded"].as_bool() == Some(true);
        let folds = all(answer, "folds");
        let fold = folds
            .iter()
            .find(|fold| (uint(fold, "first")..=uint(fold, "last")).contains(&at));
        if let (Some(fold), false, true) = (fold, is_all, is_folded) {
            let first = uint(fold, "first");
            if shown_fold != Some(first) {
                shown_fold = Some(first);
                out.push_str(&fold_line(fold, style));
            }
            continue;
        }
        let mut marks = Vec::new();
        for (key, mark) in [
            ("folded", "folded"),
            ("shortened", "shortened"),
            ("pinned", "pinned"),
            ("hidden", "hidden"),
        ] {
            if message[key].as_bool() == Some(true) {
                marks.push(mark);
            }
        }
        let marks = match marks.as_slice() {
            [] => String::new(),
            marks => format!("({}) ", marks.join(", ")),
        };
        let (role, text) = glimpse(&message["message"]);
        let _ = writeln!(
            out,
            "  #{at:<5} {role:<9} {}{}",
            style.dim(&marks),
            clip(&plain(&text), LINE)
        );
    }
    if answer["has_before"].as_bool() == Some(true) {
        let first = all(answer, "messages").first();
        let first = first.map_or(0, |message| uint(message, "position"));
        let hint = format!("  earlier ones: --before {first}\n");
        out.insert_str(0, &style.dim(&hint));
    }
    out
}

fn fold_line(fold: &Value, style: Style) -> String {
    let (first, last) = (uint(fold, "first"), uint(fold, "last"));
    let mut out = format!(
        "  #{first} to #{last}  {} (--all shows them)\n",
        style.bold(&format!("{} folded", count(last - first + 1, "message")))
    );
    if let Some(text) = fold["summary_text"].as_str() {
        summary_lines(&mut out, text, style);
    }
    out
}

/// What a compaction came to.
pub(crate) fn compacted(answer: &Value, place: &str, style: Style) -> String {
    let id = plain(word(answer, "thread_id"));
    let is_preview = answer["preview"].is_string();
    let outcome = match word(answer, "outcome") {
        "compacted" | "pruned" if is_preview => "preview made, the thread is as it was".to_owned(),
        "compacted" => style.green("compacted"),
        "pruned" => format!(
            "{}, shortening was enough and nothing was folded",
            style.green("pruned")
        ),
        "skipped" => "nothing done, no trigger is reached".to_owned(),
        "nothing_to_compact" => "nothing to compact".to_owned(),
        "disabled" => "nothing done, compaction is off in its policy (enabled: true)".to_owned(),
        "rejected" => style.red("rejected, the result was no gain and nothing was changed"),
        "cancelled" => style.red("cancelled, nothing was changed"),
        other => style.red(other),
    };
    let mut out = format!("{}  in {}: {outcome}\n", style.bold(&id), plain(place));
    if ["compacted", "pruned"].contains(&word(answer, "outcome")) {
        let removed = uint(answer, "removed_message_count");
        let stay = uint(answer, "preserved_message_count");
        let (before, after) = (uint(answer, "tokens_before"), uint(answer, "total_tokens"));
        let note = match removed {
            0 => String::new(),
            removed => format!("and a summary of the {} that went", number(removed)),
        };
        let mut table = Table::new("lrrl");
        table.row(["", "before", "after", ""].map(str::to_owned));
        table.row([
            "messages".into(),
            number(removed + stay),
            number(stay),
            note,
        ]);
        table.row([
            "tokens".into(),
            number(before),
            number(after),
            change(before, after),
        ]);
        out.push_str(&table.text());
    }
    if let Some(detail) = answer["detail"].as_str() {
        let _ = writeln!(out, "{} {}", style.red("failure:"), plain(detail));
    }
    notes(&mut out, answer, style);
    let entry = &answer["entry"];
    let text = entry["summary_text"]
        .as_str()
        .or(answer["summary_text"].as_str());
    if let Some(text) = text.filter(|_| word(answer, "outcome") == "compacted") {
        let tokens = entry["measured"]["summary_tokens"].as_u64();
        let tokens = tokens.map_or(String::new(), |n| format!(", {}", count(n, "token")));
        let _ = writeln!(out, "summary{tokens}{}:", author(&entry["author"]));
        summary_lines(&mut out, text, style);
    }
    if let Some(preview) = answer["preview"].as_str() {
        let hint = format!(
            "to put it in force: conspectus thread apply {id} {}",
            plain(preview)
        );
        let _ = writeln!(out, "{hint}");
    }
    out
}

fn notes(out: &mut String, answer: &Value, style: Style) {
    for reason in all(answer, "reasons") {
        let text = match serde_json::from_value::<Reason>(reason.clone()) {
            Ok(reason) => reason.to_string(),
            // A newer service may have more of them.
            Err(_) => reason.to_string(),
        };
        let _ = writeln!(out, "{} {}", style.yellow("note:"), plain(&text));
    }
}

fn author(author: &Value) -> String {
    match author {
        Value::Null => String::new(),
        Value::String(_) => ", extracted without a model".to_owned(),
        author => match author["model"].as_str() {
            Some(model) => format!(", written by {}", plain(model)),
            None => ", written by a model".to_owned(),
        },
    }
}

/// The compactions of a thread.
pub(super) fn log(answer: &Value, thread: &str, is_whole: bool, style: Style) -> String {
    let entries = answer.as_array().map_or(&[][..], Vec::as_slice);
    if entries.is_empty() {
        return format!("{}: no compaction yet\n", plain(thread));
    }
    let mut out = String::new();
    for entry in entries {
        let measured = &entry["measured"];
        let before = uint(measured, "tokens_before");
        let after = measured["tokens_after"].as_u64().unwrap_or(before);
        let state = match entry["active"].as_bool() {
            Some(true) => style.green("in force"),
            _ => "not in force".to_owned(),
        };
        let history: Vec<&str> = all(entry, "history")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let _ = writeln!(
            out,
            "{}  {}, {state} ({})",
            style.bold(&format!("record {}", entry["record"])),
            word(entry, "moment").replace('_', " "),
            history.join(", "),
        );
        let mut table = Table::new("ll");
        let mut row = |name: &str, text: String| table.row([name.to_owned(), text]);
        row(
            "tokens",
            format!(
                "{} -> {} {}",
                number(before),
                number(after),
                change(before, after)
            ),
        );
        let went = uint(measured, "messages_removed");
        let pruned = uint(measured, "messages_pruned");
        let mut text = count(went, "message");
        if pruned > 0 {
            let _ = write!(
                text,
                ", and {} shortened by {}",
                number(pruned),
                count(uint(measured, "tokens_pruned"), "token")
            );
        }
        row("went", text);
        if entry["summary_text"].is_string() {
            let tokens = count(uint(measured, "summary_tokens"), "token");
            row("summary", format!("{tokens}{}", author(&entry["author"])));
        }
        let paid = uint(measured, "spent_micros");
        if paid > 0 {
            row("paid", dollars(paid));
        }
        out.push_str(&table.text());
        notes(&mut out, entry, style);
        if let Some(text) = entry["summary_text"].as_str().filter(|_| is_whole) {
            for line in plain_lines(text).lines() {
                let _ = writeln!(out, "  {} {line}", style.dim("|"));
            }
        }
    }
    out
}

/// Millionths of a dollar.
fn dollars(micros: u64) -> String {
    let digits = format!("${}.{:06}", number(micros / 1_000_000), micros % 1_000_000);
    let short = digits.trim_end_matches('0');
    let cents = digits.len() - 4;
    digits[..short.len().max(cents)].to_owned()
}

/// What was found.
pub(crate) fn recalled(answer: &Value, thread: &str, is_full: bool, style: Style) -> String {
    let found = all(answer, "messages");
    if found.is_empty() {
        return format!("nothing found in {}\n", plain(thread));
    }
    let mut out = String::new();
    for one in found {
        let place = match one["position"].as_u64() {
            Some(at) => format!("#{at}"),
            None => "on a branch that was left".to_owned(),
        };
        let (role, text) = glimpse(&one["message"]);
        let folded = match one["folded"].as_bool() {
            Some(true) => "  folded",
            _ => "",
        };
        let head = format!("{place}  {role}");
        let head = match one["hit"].as_bool() {
            Some(false) => style.dim(&head),
            _ => style.bold(&head),
        };
        let _ = writeln!(
            out,
            "{head}  {}{folded}  {}",
            minute_of(uint(one, "stored_ms")),
            style.dim(&plain(word(one, "id")))
        );
        for later in all(one, "superseded_by") {
            let about = later["about"]
                .as_object()
                .and_then(|about| about.iter().next());
            let (kind, what) = about.map_or(("it", ""), |(kind, what)| {
                (kind.as_str(), what.as_str().unwrap_or(""))
            });
            let text = format!(
                "outdated: {kind} {} comes again at #{}",
                clip(&plain(what), 60),
                uint(later, "position")
            );
            let _ = writeln!(out, "  {}", style.yellow(&text));
        }
        let text = one["text"].as_str().unwrap_or(&text);
        let text = plain_lines(text);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let shown = if is_full { lines.len() } else { FOUND_LINES };
        for line in lines.iter().take(shown) {
            let line = if is_full {
                (*line).to_owned()
            } else {
                clip(line, LINE)
            };
            let _ = writeln!(out, "  {line}");
        }
        if lines.len() > shown {
            let rest = count((lines.len() - shown) as u64, "more line");
            let _ = writeln!(
                out,
                "  {}",
                style.dim(&format!("({rest}, --full shows all)"))
            );
        }
    }
    out
}

/// What was taken out.
pub(super) fn purged(answer: &Value, thread: &str, style: Style) -> String {
    let messages = all(answer, "messages").len() as u64;
    let records = all(answer, "records").len() as u64;
    let mut out = format!(
        "{}: taken out of {}, {} and {} for good\n",
        style.bold(&plain(thread)),
        count(messages, "message"),
        count(records, "compaction"),
        count(uint(answer, "events"), "event"),
    );
    if answer["withdrawn"].as_bool() == Some(true) {
        out.push_str(
            "the summary in force was made of it, so the one before it is in force again\n",
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money() {
        let check = |micros, expect: &str| assert_eq!(dollars(micros), expect);
        check(0, "$0.00");
        check(1_500, "$0.0015");
        check(12_340_000, "$12.34");
        check(2_000_000, "$2.00");
    }

    #[test]
    fn whatever_is_answered_something_is_shown() {
        let style = Style::new(false);
        for answer in [
            Value::Null,
            serde_json::json!({"messages": [3, null], "threads": [[]]}),
        ] {
            assert!(!list(&answer, "here", style).is_empty());
            assert!(!status(&answer, style).is_empty());
            assert!(!compacted(&answer, "here", style).is_empty());
            assert!(!recalled(&answer, "tea", false, style).is_empty());
            assert!(!purged(&answer, "tea", style).is_empty());
            assert!(!log(&answer, "tea", true, style).is_empty());
            let _ = visible(&answer, false, style);
        }
    }
}
