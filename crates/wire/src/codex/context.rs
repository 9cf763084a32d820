//! Who said an item: the person, the model, or the client on its own account.

use conspectus_core::view::{MessageView, PartKind, Role};

use crate::conversation::Message;
use crate::json::{Kind, Object, string};

/// How texts begin that the client writes into the user's place.
const CLIENT_TEXTS: [&str; 12] = [
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<apps_instructions>",
    "<environment_context>",
    "<permissions instructions>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
    "<hook_prompt",
];

/// How the summaries of the client's own compactions begin.
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary";

/// What newer clients call a summary's part.
const SUMMARY_KIND: &str = "compaction.summary";

/// Notes on a view what the client said by itself.
pub(super) fn tell(source: &str, view: &mut MessageView, message: &Message) {
    if view.role != Role::User || view.flags.hidden || view.flags.summary {
        return;
    }
    let item = Object::of(message.span.text(source)).unwrap_or_default();
    let mut texts = message.parts.iter().map(|place| place.text.read(source));
    view.flags.summary =
        is_marked_summary(&item) || texts.next().is_some_and(|t| t.starts_with(SUMMARY));
    let only_texts = view.parts.iter().all(|part| part.kind == PartKind::Text);
    view.flags.hidden = !view.flags.summary
        && !view.parts.is_empty()
        && only_texts
        && message
            .parts
            .iter()
            .all(|place| is_client_text(&place.text.read(source)));
}

/// A message of the person: with it a turn begins.
pub(super) fn is_request(item: &Object<'_>) -> bool {
    is_message_of(item, &["user"]) && !is_by_client(item)
}

/// Something that the client tells before the person says anything.
pub(super) fn is_context(item: &Object<'_>) -> bool {
    item.string("type").as_deref() == Some("additional_tools")
        || is_message_of(item, &["developer", "system"])
        || (is_message_of(item, &["user"]) && is_by_client(item))
}

/// An item that the model wrote.
pub(super) fn is_of_model(item: &Object<'_>) -> bool {
    let kind = item.string("type");
    match kind.as_deref() {
        Some("message") | None => is_message_of(item, &["assistant"]),
        Some(kind) => kind == "reasoning" || kind.ends_with("_call"),
    }
}

fn is_message_of(item: &Object<'_>, roles: &[&str]) -> bool {
    let is_message = item.string("type").is_none_or(|kind| kind == "message");
    is_message
        && item
            .string("role")
            .is_some_and(|role| roles.contains(&role.as_ref()))
}

fn is_by_client(item: &Object<'_>) -> bool {
    if is_marked_summary(item) {
        return true;
    }
    let is_theirs = |text: &str| is_client_text(text) || text.starts_with(SUMMARY);
    match item.value("content") {
        Some(text) if Kind::of(text) == Kind::String => is_theirs(&string::decode(text)),
        _ => {
            let parts = item.array("content").unwrap_or_default().0;
            let is_theirs = |part: &&str| {
                let text = Object::of(part).and_then(|part| part.string("text"));
                text.is_some_and(|text| is_theirs(&text))
            };
            !parts.is_empty() && parts.iter().all(is_theirs)
        }
    }
}

fn is_marked_summary(item: &Object<'_>) -> bool {
    let marks = item.object("internal_chat_message_metadata_passthrough");
    let kinds = marks.and_then(|marks| marks.array("content_item_kinds"));
    kinds.is_some_and(|kinds| {
        kinds
            .0
            .iter()
            .any(|kind| string::decode(kind) == SUMMARY_KIND)
    })
}

fn is_client_text(text: &str) -> bool {
    let text = text.trim_start();
    CLIENT_TEXTS.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_said_it() {
        let check = |json: &str, expect: [bool; 3]| {
            let item = Object::of(json).expect("an object");
            let found = [is_request(&item), is_context(&item), is_of_model(&item)];
            assert_eq!(found, expect, "{json}");
        };
        let said = |role: &str, text: &str| {
            format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
            )
        };
        check(&said("user", "fix it"), [true, false, false]);
        check(
            &said("user", "<environment_context>x"),
            [false, true, false],
        );
        check(
            &said("user", "what is <environment_context>?"),
            [true, false, false],
        );
        check(&said("developer", "rules"), [false, true, false]);
        check(&said("assistant", "done"), [false, false, true]);
        check(r#"{"role":"user","content":"hi"}"#, [true, false, false]);
        check(r#"{"type":"reasoning","summary":[]}"#, [false, false, true]);
        check(
            r#"{"type":"custom_tool_call","call_id":"c"}"#,
            [false, false, true],
        );
        check(
            r#"{"type":"function_call_output","call_id":"c"}"#,
            [false, false, false],
        );
        check(
            r#"{"type":"additional_tools","role":"developer","tools":[]}"#,
            [false, true, false],
        );
    }
}
