//! A whole compaction of the evaluation's parts: the newest whole units as they are, the rest as a digest.

use conspectus_core::count::TokenCounter as _;
use conspectus_core::digest::{DigestSource, digest};
use conspectus_core::ledger::Ledger;
use conspectus_core::view::MessageView;

use crate::parts::{EvalCounter, RawPart, Request, Transcript};

/// Percent of the budget that the newest whole units may take.
const TAIL: u64 = 15;
const RULE: &str = "\n---\n";

/// The text that the model would still see, at most the request's budget by [`EvalCounter`].
pub fn compact(request: &Request) -> String {
    let parts: Vec<RawPart> = request
        .parts
        .iter()
        .filter(|p| !matches!(p.kind.as_str(), "image" | "opaque") && p.role != "system")
        .cloned()
        .collect();
    let (cut, tail) = tail(&parts, request.budget * TAIL / 100);
    let removed = Transcript::new(&parts);
    let (gone, kept): (Vec<&MessageView>, Vec<&MessageView>) = {
        let until = Transcript::new(&parts[..cut]).messages.len();
        let views: Vec<&MessageView> = removed.messages.iter().collect();
        (views[..until].to_vec(), views[until..].to_vec())
    };
    let mut ledger = Ledger::default();
    for view in &gone {
        ledger.fold(view, &removed);
    }
    let source = DigestSource {
        messages: &gone,
        kept: &kept,
        texts: &removed,
        previous: None,
        beside: "",
        ledger: &ledger,
    };
    let kept_text = if tail.is_empty() {
        tail
    } else {
        [RULE, &tail].concat()
    };
    let weight = EvalCounter.text(&kept_text);
    let room = request.budget.saturating_sub(EvalCounter.tokens(weight));
    let summary = digest(&source, room, &EvalCounter);
    [summary.text, kept_text].concat()
}

/// Where the newest whole units start that fit `budget`, and their text. A unit is a message with the
/// results that follow.
fn tail(parts: &[RawPart], budget: u64) -> (usize, String) {
    let groups: Vec<&[RawPart]> = parts
        .chunk_by(|a, b| a.msg == b.msg || b.kind == "tool_result")
        .collect();
    let mut start = parts.len();
    let mut text = String::new();
    for group in groups.iter().rev() {
        let lines: Vec<String> = group.iter().map(RawPart::rendered).collect();
        let longer = if text.is_empty() {
            lines.join("\n")
        } else {
            [&lines.join("\n"), "\n", &text].concat()
        };
        if EvalCounter.tokens(EvalCounter.text(&longer)) > budget {
            break;
        }
        text = longer;
        start -= group.len();
    }
    (start, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(role: &str, kind: &str, text: &str, msg: u64) -> RawPart {
        RawPart {
            role: role.into(),
            kind: kind.into(),
            text: text.into(),
            name: "bash".into(),
            id: "c".into(),
            msg,
        }
    }

    #[test]
    fn the_budget_holds_and_the_newest_unit_stays_whole() {
        let long = "compiling module after module\n".repeat(400);
        let parts = vec![
            part("system", "text", "You are helpful.", 0),
            part(
                "user",
                "text",
                "Fix the build in src/main.rs. Never touch Cargo.lock.",
                1,
            ),
            part("assistant", "tool_call", r#"{"command":"cargo build"}"#, 2),
            part("tool", "tool_result", &long, 3),
            part("assistant", "text", "The build passes now.", 4),
        ];
        for budget in [0, 1, 7, 40, 120, 400] {
            let text = compact(&Request {
                budget,
                parts: parts.clone(),
            });
            assert!(
                EvalCounter.tokens(EvalCounter.text(&text)) <= budget,
                "{budget}: {text}"
            );
            if budget >= 120 {
                assert!(
                    text.ends_with("---\nassistant: The build passes now."),
                    "{text}"
                );
                assert!(text.contains("Never touch Cargo.lock."), "{text}");
            }
        }
    }
}
