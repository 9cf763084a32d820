//! Skills that were loaded: deer-flow's tools stamp what they read on their messages, and it outlives the messages.

use conspectus_wire::json::Object;
use serde_json::Value;

use super::json::Json;

/// Skills that are remembered, those read last.
const MAX_SKILLS: usize = 32;
/// Bytes of one entry beyond which it is none: they are a name, a path and one line.
const MAX_BYTES: usize = 4_000;

/// Takes note of what is stamped on a message (`additional_kwargs.skill_context_entry`). A skill that is read again is
/// the newest again. Whether anything changed.
pub(super) fn note(skills: &mut Vec<Value>, message: &Json) -> bool {
    let Some(entry) = entry(message.as_str()) else {
        return false;
    };
    skills.retain(|known| known["path"] != entry["path"]);
    skills.push(entry);
    let over = skills.len().saturating_sub(MAX_SKILLS);
    skills.drain(..over);
    true
}

fn entry(message: &str) -> Option<Value> {
    if !message.contains("\"skill_context_entry\"") {
        return None;
    }
    let outer = Object::of(message)?;
    let inner = ["data", "kwargs"].iter().find_map(|key| outer.object(key));
    let extra = inner.unwrap_or(outer).object("additional_kwargs")?;
    let json = extra.value("skill_context_entry")?;
    let entry: Value = serde_json::from_str(json).ok()?;
    let has_path = entry.get("path").is_some_and(Value::is_string);
    (has_path && json.len() <= MAX_BYTES).then_some(entry)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_skill_that_is_read_again_is_the_newest() {
        let mut skills = Vec::new();
        let message = |extra: Value| {
            let message = json!({"type": "tool", "content": "x", "additional_kwargs": extra});
            Json::from(&message)
        };
        let read = |path: &str| message(json!({"skill_context_entry": {"path": path}}));
        for path in ["a", "b", "a"] {
            assert!(note(&mut skills, &read(path)));
        }
        assert_eq!(skills, [json!({"path": "b"}), json!({"path": "a"})]);
        for none in [
            json!({}),
            json!({"skill_context_entry": 3}),
            json!({"skill_context_entry": {"name": "n"}}),
        ] {
            assert!(!note(&mut skills, &message(none)));
        }
        for n in 0..100 {
            note(&mut skills, &read(&n.to_string()));
        }
        assert_eq!(skills.len(), MAX_SKILLS);
    }
}
