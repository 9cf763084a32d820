//! A summary as named fields: where a model can be held to a JSON schema, filling in fields is what it does
//! best. Code writes the text, so the sections are always the same and always closed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;

/// The schema of the fields that an answer has, for models that take one. Every field is required, as strict modes want it; an
/// empty list says that there is nothing.
pub const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["goal","state","decisions","artefacts","open_work","next_steps","open_questions"],"properties":{"goal":{"type":"string"},"state":{"type":"array","items":{"type":"string"}},"decisions":{"type":"array","items":{"type":"string"}},"artefacts":{"type":"array","items":{"type":"string"}},"open_work":{"type":"array","items":{"type":"string"}},"next_steps":{"type":"array","items":{"type":"string"}},"open_questions":{"type":"array","items":{"type":"string"}}}}"#;

/// What the instruction says about the fields, in place of the list of sections.
pub const FIELDS: &str = "\n\nReply with one JSON object: \
`goal` (text), and the lists `state`, `decisions`, `artefacts`, `open_work`, `next_steps`, `open_questions`, \
each item one short sentence. `state` says what was done and what was found out; `decisions` also what the user chose and prefers; \
`artefacts` holds every name, identifier, path, date, amount and number that may be needed again, each with what it is. \
An empty list says that there is nothing.";

/// A filled-in summary.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Form {
    goal: String,
    state: Vec<String>,
    decisions: Vec<String>,
    artefacts: Vec<String>,
    open_work: Vec<String>,
    next_steps: Vec<String>,
    open_questions: Vec<String>,
}

/// Whether a rendered form says no more than the goal: small models leave all lists empty, which is as good as no
/// summary of anything but a few words.
pub(crate) fn is_goal_only(rendered: &str) -> bool {
    rendered.starts_with("## Goal") && rendered.matches("\n## ").count() == 0
}

/// The text of a reply that was to be a form: rendered by code if it is one. `None`: it is not, or nothing
/// stands in it, or the same few sentences in one field after the other.
pub fn rendered(reply: &str) -> Option<String> {
    let form: Form = serde_json::from_str(unfenced(reply)).ok()?;
    let text = form.render();
    (!text.is_empty() && !form.repeats_itself()).then_some(text)
}

impl Form {
    fn render(&self) -> String {
        let mut out = String::new();
        let goal = std::slice::from_ref(&self.goal);
        section(&mut out, "Goal", goal, "");
        section(&mut out, "State", &self.state, "- ");
        section(&mut out, "Decisions", &self.decisions, "- ");
        section(&mut out, "Artefacts", &self.artefacts, "- ");
        section(&mut out, "Open work", &self.open_work, "- ");
        section(&mut out, "Next steps", &self.next_steps, "- ");
        section(&mut out, "Open questions", &self.open_questions, "- ");
        out.truncate(out.trim_end().len());
        out
    }
}

/// A form with fewer bytes may say things twice.
const REPEATS_BYTES: usize = 160;

impl Form {
    /// Two fifths of it and more stood there before.
    fn repeats_itself(&self) -> bool {
        let lists = [
            &self.state,
            &self.decisions,
            &self.artefacts,
            &self.open_work,
            &self.next_steps,
            &self.open_questions,
        ];
        let items = [&self.goal].into_iter().chain(lists.into_iter().flatten());
        let (mut said, mut all, mut again) = (BTreeSet::new(), 0, 0);
        for item in items.map(|item| item.trim()) {
            all += item.len();
            if !said.insert(item) {
                again += item.len();
            }
        }
        all >= REPEATS_BYTES && again * 5 >= all * 2
    }
}

/// One section, without items that say nothing or stood there before.
fn section(out: &mut String, title: &str, items: &[String], bullet: &str) {
    let mut said: Vec<&str> = Vec::new();
    for item in items.iter().map(|item| item.trim()) {
        if item.is_empty() || said.contains(&item) {
            continue;
        }
        if said.is_empty() {
            let _ = writeln!(out, "## {title}");
        }
        let _ = writeln!(
            out,
            "{bullet}{}",
            item.trim_start_matches(['-', '*', '•', ' '])
        );
        said.push(item);
    }
}

/// The object in a reply that wrapped it in a code fence.
fn unfenced(reply: &str) -> &str {
    let reply = reply.trim();
    let Some(inside) = reply.strip_prefix("```") else {
        return reply;
    };
    let inside = inside.split_once('\n').map_or(inside, |(_, rest)| rest);
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expect: Option<&str>) {
        assert_eq!(rendered(reply).as_deref(), expect, "{reply}");
    }

    #[test]
    fn fields_become_sections() {
        check(
            r#"{"goal":"Port the parser","state":["- lexer done","lexer done","",  "tests red"],"next_steps":["fix `a.rs`"]}"#,
            Some(
                "## Goal\nPort the parser\n## State\n- lexer done\n- lexer done\n- tests red\n## Next steps\n- fix `a.rs`",
            ),
        );
        check("```json\n{\"goal\":\"g\"}\n```", Some("## Goal\ng"));
        check(r#"{"goal":" ","state":[]}"#, None);
        check("The goal was to port it.", None);
        check("{\"goal\":\"cut off", None);
        check(r#"{"goal":["not","text"]}"#, None);
    }

    /// A model of half a billion parameters wrote this.
    #[test]
    fn one_sentence_in_every_field_is_no_summary() {
        let ask = "To assist you with booking a flight, I'll need your user ID. Could you please provide that?";
        let form = format!(
            r#"{{"goal":"Book a flight from New York to Seattle","state":["{ask}"],"decisions":["{ask}"],"next_steps":["{ask}"]}}"#
        );
        check(&form, None);
    }

    #[test]
    fn the_schema_is_json_and_names_every_field() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("it is JSON");
        let required = schema["required"].as_array().expect("a list");
        assert_eq!(required.len(), 7);
        for name in required {
            let name = name.as_str().expect("a name");
            assert!(schema["properties"].get(name).is_some(), "{name}");
            assert!(FIELDS.contains(&format!("`{name}`")), "{name}");
        }
    }
}
