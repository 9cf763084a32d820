//! Messages as they come: LangChain's JSON, dictionaries with a role, which LangChain takes too, and what stands in the
//! requests of OpenAI's and Anthropic's APIs.

use std::sync::Arc;

use conspectus_core::id::{Handle, Ident, NodeId};
use conspectus_core::view::{MessageView, Role};
use conspectus_wire::json::{Object, string, with_members};
use conspectus_wire::{Document, Format, OpenOptions, ReadError, message_format};

use super::error::ThreadsError;
use super::json::Json;

const EXPECTED: &str =
    "a LangChain message (`type` and `content`) or an object with `role` and `content`";

/// A message that was read.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) json: Json,
    /// Its id, where it came with one.
    pub(crate) id: Option<Arc<str>>,
    pub(crate) view: MessageView,
}

/// Reads messages of a list.
///
/// # Errors
/// The first that is none.
pub(crate) fn read_all(messages: &[Json]) -> Result<Vec<Message>, ThreadsError> {
    let read = |(index, json): (usize, &Json)| {
        read(json).map_err(|found| ThreadsError::BadMessage {
            index,
            found,
            expected: EXPECTED,
        })
    };
    messages.iter().enumerate().map(read).collect()
}

fn read(json: &Json) -> Result<Message, String> {
    let document = open(json.as_str().as_bytes()).map_err(|why| match why {
        ReadError::BadMessage { found, .. } | ReadError::UnknownShape { found, .. } => found,
        other => other.to_string(),
    })?;
    let view = document
        .conversations()
        .first()
        .and_then(|c| c.views().first())
        .ok_or("nothing")?;
    if let Some(odd) = odd(&inner(json.as_str()).unwrap_or_default(), view) {
        return Err(odd.into());
    }
    Ok(Message {
        id: id_in(json.as_str()),
        view: view.clone(),
        json: json.clone(),
    })
}

/// What no client means, though it could be kept.
fn odd(message: &Object<'_>, view: &MessageView) -> Option<&'static str> {
    let begins_with = |key: &str, with: &[u8]| {
        let first = message.value(key).and_then(|v| v.bytes().next());
        first.is_none_or(|first| with.contains(&first))
    };
    let only_calls = view.role == Role::Assistant && !view.parts.is_empty();
    // A result that stands beside messages, as in requests to Responses.
    let content = message.value("content").or(message.value("output"));
    if !only_calls && content.is_none() {
        Some("no `content`")
    } else if !begins_with("content", b"\"[") {
        Some("`content` that is neither a string nor a list")
    } else if !begins_with("id", b"\"") {
        Some("an `id` that is no string")
    } else {
        None
    }
}

/// The object that has the message's members: LangChain also wraps it.
fn inner(message: &str) -> Option<Object<'_>> {
    let object = Object::of(message)?;
    let inner = ["kwargs", "data"].iter().find_map(|key| object.object(key));
    Some(inner.unwrap_or(object))
}

/// One message as a document of its own, whose only message has the handle 0. The same bytes always give the same.
pub(crate) fn open(message: &[u8]) -> Result<Document, ReadError> {
    let text = String::from_utf8_lossy(message);
    let options = OpenOptions {
        format: Some(format(&text)),
        lenient: false,
    };
    let list = [b"[", message, b"]"].concat();
    Document::open(list, &options)
}

/// How it is written. Where both could be meant, a type of LangChain's stands over a role.
fn format(message: &str) -> Format {
    let Some(object) = Object::of(message) else {
        return Format::LangChain;
    };
    if is_langchain(&object) {
        return Format::LangChain;
    }
    // Lists that clients of a proxy keep hold what their provider takes.
    match (message_format(message), object.string("role")) {
        (Some(format @ (Format::Anthropic | Format::Responses)), _) => format,
        (_, Some(_)) => Format::OpenAi,
        (_, None) => Format::LangChain,
    }
}

fn is_langchain(object: &Object<'_>) -> bool {
    let kind = object.string("type");
    let names = [
        "human",
        "ai",
        "system",
        "tool",
        "function",
        "chat",
        "constructor",
    ];
    kind.is_some_and(|kind| {
        let kind = kind.strip_suffix("Chunk").unwrap_or(&kind);
        names.contains(&kind) || kind.ends_with("Message")
    })
}

/// The id that the message itself has, whichever way it is written.
fn id_in(message: &str) -> Option<Arc<str>> {
    let id = inner(message)?.string("id")?;
    let id = id.trim();
    (!id.is_empty()).then(|| id.into())
}

/// The id of a message that came without one: made of what lies before it, what it says and its place.
pub(crate) fn made_id(prefix: Ident, node: NodeId) -> Arc<str> {
    let digest = prefix.then(Ident::of(&node.0.to_string()));
    format!("msg-{}", digest.short(20)).into()
}

/// The message with its id in it, as clients want to see it. What came with one stays byte for byte.
pub(crate) fn with_id(message: &str, id: Option<&str>) -> Json {
    let Some(id) = id.filter(|_| id_in(message).is_none()) else {
        return Json::trusted(message);
    };
    let id = string::encode(id);
    let object = Object::of(message).unwrap_or_default();
    let inner = ["kwargs", "data"]
        .iter()
        .find_map(|key| Some((*key, object.value(key).filter(|v| Object::of(v).is_some())?)));
    let set = |object: &str| with_members(object, &[("id", Some(id.clone()))]);
    let edited = match inner {
        Some((key, value)) => {
            set(value).and_then(|inner| with_members(message, &[(key, Some(inner))]))
        }
        None => set(message),
    };
    Json::trusted(edited.unwrap_or_else(|| message.to_owned()))
}

/// The view of a message as it stands in a thread: its handle is its number.
pub(crate) fn placed(view: &MessageView, node: NodeId) -> MessageView {
    MessageView {
        handle: handle(node),
        ..view.clone()
    }
}

/// The handle of a message: its number. Past four billion messages they would repeat, which no thread comes near.
pub(crate) fn handle(node: NodeId) -> Handle {
    Handle(u32::try_from(node.0).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, role: Role, id: Option<&str>) {
        let json = Json::parse(json).expect("json");
        let message = read(&json).expect("a message");
        assert_eq!(message.view.role, role, "{json}");
        assert_eq!(message.id.as_deref(), id, "{json}");
        assert_eq!(message.json, json);
    }

    #[test]
    fn every_way_of_writing_a_message_is_taken() {
        check(
            r#"{"type":"human","content":"hi","id":"a"}"#,
            Role::User,
            Some("a"),
        );
        check(
            r#"{"type":"ai","content":"","tool_calls":[{"name":"t","args":{},"id":"1"}]}"#,
            Role::Assistant,
            None,
        );
        check(
            r#"{"type":"tool","content":"x","tool_call_id":"1","id":null}"#,
            Role::Tool,
            None,
        );
        check(r#"{"role":"user","content":"hi"}"#, Role::User, None);
        check(
            r#"{"role":"assistant","content":"hi"}"#,
            Role::Assistant,
            None,
        );
        check(
            r#"{"role":"tool","tool_call_id":"1","content":"x"}"#,
            Role::Tool,
            None,
        );
        check(
            r#"{"type":"human","data":{"content":"hi","id":"b"}}"#,
            Role::User,
            Some("b"),
        );
        check(
            r#"{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"hi","id":"c","type":"human"}}"#,
            Role::User,
            Some("c"),
        );
        check(
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}"#,
            Role::User,
            None,
        );
    }

    #[test]
    fn what_stands_in_requests_is_taken_too() {
        check(
            r#"{"type":"function_call","call_id":"1","name":"t","arguments":"{}","id":"fc"}"#,
            Role::Assistant,
            Some("fc"),
        );
        check(
            r#"{"type":"function_call_output","call_id":"1","output":"x"}"#,
            Role::Tool,
            None,
        );
        check(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#,
            Role::User,
            None,
        );
        check(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"y"}]}"#,
            Role::Assistant,
            None,
        );
    }

    #[test]
    fn what_is_no_message_is_named() {
        for json in [
            "3",
            "null",
            "[]",
            "{}",
            r#"{"content":"x"}"#,
            r#"{"role":"user","id":""}"#,
            r#"{"role":"assistant"}"#,
            r#"{"type":"human","data":{"id":"b"}}"#,
            r#"{"role":"user","content":{}}"#,
            r#"{"role":"not-known"}"#,
            r#"{"type":"tool","tool_call_id":"1"}"#,
            r#"{"role":"user","content":"","id":{}}"#,
            r#"{"type":"human","content":"","id":3}"#,
        ] {
            let json = Json::parse(json).expect("json");
            assert!(read(&json).is_err(), "{json}");
        }
    }

    #[test]
    fn an_id_is_put_where_it_belongs_and_nothing_else_changes() {
        let check = |before: &str, after: &str| {
            assert_eq!(with_id(before, Some("n")).as_str(), after);
        };
        check(
            r#"{"type":"human","id":"a"}"#,
            r#"{"type":"human","id":"a"}"#,
        );
        check(
            r#"{"type":"human", "id": null}"#,
            r#"{"type":"human", "id": "n"}"#,
        );
        check(r#"{"role":"user"}"#, r#"{"role":"user","id":"n"}"#);
        check(
            r#"{"type":"human","data":{"content":1.50}}"#,
            r#"{"type":"human","data":{"content":1.50,"id":"n"}}"#,
        );
    }
}
