//! A whole compaction of the evaluation's parts: the newest whole units as they are, the rest as a digest.

use conspectus_eval::{Digested, Session};

use crate::parts::{RawPart, Request, Transcript};

/// The text that the model would still see, at most the request's budget.
pub fn compact(request: &Request) -> String {
    let parts: Vec<RawPart> = request
        .parts
        .iter()
        .filter(|p| !matches!(p.kind.as_str(), "image" | "opaque") && p.role != "system")
        .cloned()
        .collect();
    let transcript = Transcript::new(&parts);
    let session = Session::new(String::new(), &transcript.messages, &transcript);
    let budget = usize::try_from(request.budget).unwrap_or(usize::MAX);
    Digested::default().compact(&session, transcript.messages.len(), budget)
}

#[cfg(test)]
mod tests {
    use conspectus_eval::tokens;

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
            assert!(tokens(&text) as u64 <= budget, "{budget}: {text}");
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
