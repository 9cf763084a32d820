//! The engine behind `COMPACT_CMD` of the retention evaluation: reads `{"budget":N,"parts":[…]}` on
//! standard input and prints the text that the model would still see: a digest of the older part and the
//! newest whole units.

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use conspectus_core::count::TokenCounter as _;
use conspectus_core::digest::{DigestSource, digest};
use conspectus_core::ledger::Ledger;
use conspectus_core::view::MessageView;
use conspectus_judge::parts::{EvalCounter, RawPart, Request, Transcript};

/// Percent of the budget that the newest whole units may take.
const TAIL: u64 = 20;
const RULE: &str = "\n---\n";

fn main() -> anyhow::Result<()> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let request: Request =
        serde_json::from_str(&input).context("the input is not a request with budget and parts")?;
    let out = compact(&request);
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}

fn compact(request: &Request) -> String {
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
