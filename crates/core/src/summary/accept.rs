//! A summary is accepted, not assumed.

use crate::effect::{Finish, Refusal, Reply};
use crate::planted::{Bug, planted};

/// The summary's text, or why the reply is none. Size is judged later, against what it replaces.
///
/// # Errors
/// What is wrong with the reply.
pub fn accept(reply: &Reply) -> Result<&str, Refusal> {
    let text = reply.text.trim();
    match reply.finish {
        Finish::Length => return Err(Refusal::CutOff),
        Finish::Refused => return Err(Refusal::Refused),
        Finish::ToolCalls if text.is_empty() => return Err(Refusal::ToolCall),
        Finish::ToolCalls | Finish::Stop => {}
    }
    if text.is_empty() && !planted(Bug::BlankAccepted) {
        return Err(Refusal::Blank);
    }
    if is_markup(text) {
        return Err(Refusal::Markup);
    }
    if repeats_itself(text) {
        return Err(Refusal::Echo);
    }
    Ok(text)
}

/// Tool calls written as text: models that are denied tools do that.
fn is_markup(text: &str) -> bool {
    const OPENINGS: [&str; 7] = [
        "<tool_call",
        "<function_call",
        "<function=",
        "<invoke ",
        "<|tool",
        "[TOOL_CALLS]",
        "<think>",
    ];
    OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// A loop: most lines of a long text are lines that stood there before.
fn repeats_itself(text: &str) -> bool {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| l.len() > 12)
        .collect();
    let distinct: std::collections::BTreeSet<_> = lines.iter().collect();
    lines.len() >= 8 && distinct.len() * 3 < lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, finish: Finish, expect: Result<&str, Refusal>) {
        let reply = Reply {
            text: text.into(),
            finish,
            usage: None,
        };
        assert_eq!(accept(&reply), expect, "{text:?}");
    }

    #[test]
    fn only_finished_text_is_a_summary() {
        check(" Done. \n", Finish::Stop, Ok("Done."));
        check(
            "Done, and a call beside it",
            Finish::ToolCalls,
            Ok("Done, and a call beside it"),
        );
        check("", Finish::Stop, Err(Refusal::Blank));
        check(" \n\t", Finish::Stop, Err(Refusal::Blank));
        check("", Finish::ToolCalls, Err(Refusal::ToolCall));
        check("Half a senten", Finish::Length, Err(Refusal::CutOff));
        check("I cannot", Finish::Refused, Err(Refusal::Refused));
        check(
            "<tool_call>{\"name\":\"x\"}</tool_call>",
            Finish::Stop,
            Err(Refusal::Markup),
        );
        check(
            &"the same line again\n".repeat(9),
            Finish::Stop,
            Err(Refusal::Echo),
        );
    }
}
