//! How a call ended, read from its result: exit codes, errors, test summaries, commits.

use std::sync::Arc;

use super::capped;
use super::fact::CommitFact;

/// The exit code that the result states, in the spellings of common harnesses.
pub(super) fn exit_code(text: &str) -> Option<i64> {
    const BEFORE: &[&str] = &[
        "exit_code\":",
        "exit_code:",
        "exit code",
        "Exit code",
        "Exit Code:",
        "exited with code",
        "<returncode>",
        "\"returncode\":",
        "returncode:",
    ];
    let head = &text[..text.floor_char_boundary(400)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(400))..];
    [tail, head].into_iter().find_map(|window| {
        // Most results have none of them, and looking forward is faster than backward.
        let mut marks = BEFORE.iter().filter(|mark| window.contains(**mark));
        marks.find_map(|mark| {
            let at = window.rfind(mark)? + mark.len();
            let digits = window[at..].trim_start_matches([' ', ':', '=']);
            let end = digits
                .find(|c: char| !c.is_ascii_digit() && c != '-')
                .unwrap_or(digits.len());
            digits[..end].parse().ok()
        })
    })
}

/// The result opens by saying that the tool failed.
pub(super) fn says_error(text: &str) -> bool {
    let head = text.trim_start().trim_start_matches(['{', '"', '[']);
    [
        "Error",
        "ERROR",
        "error:",
        "error\"",
        "<tool_use_error>",
        "Traceback (most recent",
    ]
    .iter()
    .any(|mark| head.starts_with(mark))
}

/// The line that says most about what went wrong.
pub(super) fn error_line(text: &str) -> Option<Arc<str>> {
    let decoded = unescaped(text);
    let mut last_named = None;
    let mut last_said = None;
    let mut first = None;
    let told = |line: &&str| line.contains(char::is_alphabetic) && line.len() > 3;
    for line in decoded.lines().map(untagged).filter(told) {
        first = first.or(Some(line));
        let word = line.split([':', ' ', '(']).next().unwrap_or("");
        if (word.ends_with("Error") || word.ends_with("Exception")) && word.len() < line.len() {
            last_named = Some(line);
        } else if line.starts_with("error")
            || line.contains("rror:")
            || line.contains("panicked at")
            || line.starts_with("FAILED")
            || line.starts_with("fatal:")
            || line.contains("not found")
        {
            last_said = Some(line);
        }
    }
    last_named.or(last_said).or(first).map(capped)
}

/// `<error>text</error>` without its tags.
fn untagged(line: &str) -> &str {
    let line = line.trim();
    let inner = line.strip_prefix('<').and_then(|rest| {
        let (_, inner) = rest.split_once('>')?;
        Some(inner.rsplit_once("</").map_or(inner, |(text, _)| text))
    });
    inner.unwrap_or(line).trim()
}

/// The line in which a test runner sums up.
pub(super) fn test_summary(text: &str) -> Option<Arc<str>> {
    let decoded = unescaped(text);
    let mut found = None;
    for line in decoded.lines() {
        let line = line.trim().trim_matches('=').trim();
        if line.starts_with("test result:") || counts_tests(line) {
            found = Some(line);
        }
    }
    found.map(capped)
}

/// `3 passed`, `1 failed`, `12 tests, 2 failures`, `Ran 5 tests in …`, `Tests: 1 failed, 2 total`.
fn counts_tests(line: &str) -> bool {
    if line.len() > 240 {
        return false;
    }
    let mut number_before = false;
    for word in line
        .split([' ', ',', ';', '(', ')', ':'])
        .filter(|w| !w.is_empty())
    {
        if number_before && is_count_word(word) {
            return true;
        }
        number_before = word.bytes().all(|b| b.is_ascii_digit());
    }
    false
}

fn is_count_word(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    matches!(
        word,
        "passed"
            | "failed"
            | "tests"
            | "test"
            | "failures"
            | "failure"
            | "examples"
            | "passing"
            | "failing"
            | "errors"
            | "error"
            | "skipped"
    )
}

/// The summary counts at least one failure.
pub(super) fn says_failures(summary: &str) -> bool {
    if summary.contains("FAILED") {
        return true;
    }
    let words: Vec<&str> = summary
        .split([' ', ',', ';', '(', ')', ':', '='])
        .filter(|w| !w.is_empty())
        .collect();
    words.windows(2).any(|pair| {
        let many = pair[0].parse::<u64>().is_ok_and(|n| n > 0);
        many && matches!(
            pair[1].trim_end_matches('.'),
            "failed" | "failures" | "failure" | "failing" | "errors" | "error"
        )
    })
}

/// `[branch 1a2b3c4] subject`, as git prints after a commit.
pub(super) fn committed(text: &str) -> Option<(Arc<str>, CommitFact)> {
    let decoded = unescaped(text);
    decoded.lines().rev().find_map(|line| {
        let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let mut words = head.split(' ').filter(|w| *w != "(root-commit)");
        let (branch, id) = (words.next()?, words.next_back()?);
        let is_id = (7..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
        is_id.then(|| {
            let commit = CommitFact {
                id: Some(id.into()),
                subject: capped(subject),
            };
            (capped(branch), commit)
        })
    })
}

/// The branch that git names in its output.
pub(super) fn branch(text: &str) -> Option<Arc<str>> {
    let decoded = unescaped(text);
    decoded.lines().rev().find_map(|line| {
        let line = line.trim();
        let quoted = ["Switched to branch '", "Switched to a new branch '"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark)?.strip_suffix('\''));
        quoted
            .or_else(|| line.strip_prefix("On branch "))
            .filter(|name| !name.is_empty() && !name.contains(' '))
            .map(capped)
    })
}

/// Results that are JSON objects around an output: that output. Cut JSON only gets its line ends back.
fn unescaped(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.starts_with(['{', '[']) {
        return text.into();
    }
    let fields: Option<serde_json::Map<_, _>> = serde_json::from_str(text).ok();
    let outputs: Vec<&str> = ["error", "output", "stdout", "stderr", "message", "content"]
        .iter()
        .filter_map(|key| fields.as_ref()?.get(*key)?.as_str())
        .filter(|output| !output.trim().is_empty())
        .collect();
    if outputs.is_empty() {
        text.replace("\\n", "\n").into()
    } else {
        outputs.join("\n").into()
    }
}
