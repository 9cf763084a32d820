//! Which messages belong to a run.

use std::collections::BTreeSet;

use crate::message::{Kind, Message};

/// Where the messages of a run begin in `messages`. Without a run, all are looked at. Else the last human message
/// decides: the run's own begins it; one without a run begins it unless it was there before (`before`); for another
/// run's, it is what comes behind the last message that was there before, and nothing where none was.
pub fn begins_at(messages: &[Message], run: Option<&str>, before: &BTreeSet<String>) -> usize {
    let Some(run) = run else {
        return 0;
    };
    let was_there = |message: &Message| message.id().is_some_and(|id| before.contains(id));
    let last = messages.iter().rposition(|m| m.kind() == Kind::Human);
    if let Some(at) = last {
        let message = &messages[at];
        let of = message.extra("run_id").and_then(|id| id.as_str());
        match of {
            Some(of) if of == run => return at + 1,
            None if !was_there(message) => return at + 1,
            _ => {}
        }
    }
    let last_before = messages.iter().rposition(was_there);
    last_before.map_or(messages.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn b4_scope_the_last_human_message_decides_what_belongs_to_a_run() {
        let human = |id: &str, run: Option<&str>| {
            let extra = run.map_or(json!({}), |run| json!({"run_id": run}));
            Message::new(
                json!({"type": "human", "content": "x", "id": id, "additional_kwargs": extra}),
            )
        };
        let ai = |id: &str| Message::new(json!({"type": "ai", "content": "x", "id": id}));
        let check = |messages: &[Message], run: Option<&str>, before: &[&str], expect: usize| {
            let before = before.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(begins_at(messages, run, &before), expect);
        };
        let own = [
            human("h1", None),
            ai("a1"),
            human("h2", Some("r2")),
            ai("a2"),
        ];
        check(&own, None, &["a1"], 0);
        check(&own, Some("r2"), &[], 3);
        check(&own, Some("r3"), &["h1", "a1"], 2);
        check(&own, Some("r3"), &[], 4);
        let bare = [human("h1", None), ai("a1")];
        check(&bare, Some("r1"), &[], 1);
        check(&bare, Some("r1"), &["h1"], 1);
        check(&[ai("a1"), ai("a2")], Some("r1"), &["a1"], 1);
    }
}
