//! Messages as role and parts, with everything that they hold.

use conspectus_core::view::{MediaKind, PartKind, Role, Usage};

use super::said::{Message, Part, Said};
use crate::conversation::Conversation;
use crate::json::{Kind, Object, string};
use crate::neutral::neutral_message;

/// Where formats put what their provider signed reasoning with.
const SIGNATURES: [&str; 8] = [
    "signature",
    "thinkingSignature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "reasoningOpaque",
    "redactedContent",
    "data",
];

/// The file that holds these conversations.
pub(super) fn file(conversations: &[String]) -> String {
    format!(
        "{{\"conspectus\":1,\"conversations\":[\n{}\n]}}\n",
        conversations.join(",\n")
    )
}

/// One conversation, a message a line.
pub(super) fn conversation(conversation: &Conversation, messages: &[Said<'_>]) -> String {
    let fixed = &conversation.fixed;
    let mut head = format!("\"id\":{}", string::encode(conversation.label()));
    if !fixed.system.is_empty() {
        head.push_str(&format!(",\"system\":{}", string::encode(&fixed.system)));
    }
    if !fixed.tools.is_empty() {
        let tools = one_line(&fixed.tools).unwrap_or_else(|| string::encode(&fixed.tools));
        head.push_str(&format!(",\"tools\":{tools}"));
    }
    // Behind a summary, reports of the longer list cannot be told from newer ones.
    let with_usage = !messages.iter().any(|said| said.flags().summary);
    let messages: Vec<String> = messages
        .iter()
        .map(|said| match said {
            Said::Message(message) => one(message, with_usage),
            Said::Block(block) => neutral_message(block),
        })
        .collect();
    format!("{{{head},\"messages\":[\n{}\n]}}", messages.join(",\n"))
}

fn one(message: &Message<'_>, with_usage: bool) -> String {
    let view = message.view;
    let role = match view.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut out = format!("{{\"role\":\"{role}\"");
    for (key, value) in [("id", message.id), ("name", view.name.as_deref())] {
        if let Some(value) = value {
            out.push_str(&format!(",\"{key}\":{}", string::encode(value)));
        }
    }
    let flags = [
        ("summary", view.flags.summary),
        ("hidden", view.flags.hidden),
        ("pinned", view.flags.pinned),
        ("reminder", view.flags.reminder),
    ];
    for (key, _) in flags.iter().filter(|(_, is_set)| *is_set) {
        out.push_str(&format!(",\"{key}\":true"));
    }
    if let Some(usage) = view.usage.as_ref().filter(|_| with_usage) {
        out.push_str(&format!(",\"usage\":{}", self::usage(usage)));
    }
    out.push_str(",\"parts\":[");
    let mut parts = message.parts.iter().peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let mut inside = Vec::new();
        while let Some(inner) = parts.next_if(|next| next.is_inside) {
            inside.push(self::part(inner, &[]));
        }
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        out.push_str(&self::part(part, &inside));
    }
    out.push_str("]}");
    out
}

fn usage(usage: &Usage) -> String {
    format!(
        "{{\"input\":{},\"output\":{},\"cache_read\":{},\"cache_write\":{}}}",
        usage.input, usage.output, usage.cache_read, usage.cache_write
    )
}

/// A part; `inside` are those of a result.
fn part(part: &Part<'_>, inside: &[String]) -> String {
    let text = || string::encode(&part.text);
    match &part.kind {
        PartKind::Text => format!(r#"{{"type":"text","text":{}}}"#, text()),
        PartKind::Reasoning { bound: false } => {
            format!(r#"{{"type":"reasoning","text":{}}}"#, text())
        }
        PartKind::Reasoning { bound: true } => {
            let signature = string::encode(&signature(part.json));
            format!(
                r#"{{"type":"reasoning","text":{},"signature":{signature}}}"#,
                text()
            )
        }
        PartKind::Call { id, tool } => {
            let (id, tool) = (string::encode(id.as_str()), string::encode(tool));
            let args = object(&part.text).unwrap_or_else(text);
            format!(r#"{{"type":"tool_call","id":{id},"name":{tool},"args":{args}}}"#)
        }
        PartKind::Result { id, tool, error } => {
            let id = string::encode(id.as_str());
            let name = tool.as_deref().map_or_else(String::new, |tool| {
                format!(r#","name":{}"#, string::encode(tool))
            });
            let error = if *error { r#","is_error":true"# } else { "" };
            let content = match inside.is_empty() {
                true => text(),
                false => format!("[{}]", inside.join(",")),
            };
            format!(
                r#"{{"type":"tool_result","tool_call_id":{id}{name}{error},"content":{content}}}"#
            )
        }
        PartKind::Media(kind) => {
            let name = match kind {
                MediaKind::Image => "image",
                MediaKind::Audio => "audio",
                MediaKind::Video => "video",
                MediaKind::File => "file",
            };
            let mime = mime(part.json).map_or_else(String::new, |mime| {
                format!(r#","mime_type":{}"#, string::encode(&mime))
            });
            format!(r#"{{"type":"{name}","data":{}{mime}}}"#, text())
        }
        PartKind::Opaque { label } => {
            let label = string::encode(label);
            let value = one_line(&part.text).unwrap_or_else(text);
            format!(r#"{{"type":"opaque","label":{label},"value":{value}}}"#)
        }
    }
}

/// What the provider signed it with: beside the text, or in an extra object.
fn signature(json: &str) -> String {
    let object = Object::of(json).unwrap_or_default();
    let found = SIGNATURES.iter().find_map(|key| object.string(key));
    let found = found.filter(|text| !text.is_empty());
    found.map_or_else(|| "unknown".to_owned(), String::from)
}

/// The kind of data, where the source says it.
pub(super) fn mime(json: &str) -> Option<String> {
    const KEYS: [&str; 4] = ["mimeType", "mime_type", "media_type", "mediaType"];
    let object = Object::of(json)?;
    let inner = ["inlineData", "inline_data", "fileData", "source"]
        .iter()
        .find_map(|key| object.object(key));
    let found = |object: &Object<'_>| {
        KEYS.iter()
            .find_map(|key| object.string(key))
            .map(String::from)
    };
    found(&object).or_else(|| found(&inner?))
}

/// `text` if it is an object, on one line.
pub(super) fn object(text: &str) -> Option<String> {
    (Kind::of(text.trim()) == Kind::Object)
        .then(|| one_line(text))
        .flatten()
}

/// `text` if it is JSON, without spaces between its tokens.
fn one_line(text: &str) -> Option<String> {
    let json = serde_json::from_str::<&serde_json::value::RawValue>(text).ok()?;
    Some(crate::json::compact(json.get()).into_owned())
}
