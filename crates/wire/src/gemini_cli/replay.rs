//! The list of messages that a chat file comes to.

use std::collections::BTreeMap;

use crate::json::{Object, Span};
use crate::log::MESSAGES_TO_TELL;

/// What the records come to.
#[derive(Default)]
pub(super) struct Replay {
    /// The session's id.
    pub(super) session: Option<String>,
    /// The messages, in order.
    pub(super) messages: Vec<Span>,
    /// There was something that a chat has.
    pub(super) is_chat: bool,
}

/// Replays the records of a file: one object, or lines that patch a list.
pub(super) fn of(text: &str, records: &[Span]) -> Replay {
    let mut replay = Replay::default();
    let mut places = Places::default();
    for span in records {
        let record = Object::of(span.text(text)).unwrap_or_default();
        if let Some(id) = record.string("$rewindTo") {
            let at = places.of(&id).unwrap_or(0);
            replay.messages.truncate(at);
            places.ids.truncate(at);
            continue;
        }
        let patch = record.object("$set");
        let is_head = record.get("sessionId").is_some()
            || record.get("history").is_some()
            || (record.get("messages").is_some() && record.get("type").is_none());
        if patch.is_some() || is_head {
            replay.is_chat = true;
            if replay.session.is_none() {
                replay.session = record.string("sessionId").map(String::from);
            }
            let from = patch.as_ref().unwrap_or(&record);
            let list = ["messages", "history"]
                .iter()
                .find_map(|key| from.array(key));
            if let Some(list) = list {
                replay.messages.clear();
                places.ids.clear();
                for json in list.0 {
                    let message = Object::of(json).unwrap_or_default();
                    places.add(message.string("id").unwrap_or_default().into_owned());
                    replay.messages.push(Span::of(text, json));
                }
            }
            continue;
        }
        let Some(id) = record.string("id").map(String::from) else {
            continue;
        };
        replay.is_chat = true;
        match places.of(&id) {
            Some(at) => replay.messages[at] = *span,
            None => {
                places.add(id);
                replay.messages.push(*span);
            }
        }
    }
    replay
}

/// Where the message with an id stands.
#[derive(Default)]
struct Places {
    /// The id of each message, empty where there is none.
    ids: Vec<String>,
    /// The place where an id was last put; it may be gone since.
    known: BTreeMap<String, usize>,
}

impl Places {
    fn of(&self, id: &str) -> Option<usize> {
        let at = *self.known.get(id)?;
        (self.ids.get(at).is_some_and(|there| there == id)).then_some(at)
    }

    fn add(&mut self, id: String) {
        self.known.insert(id.clone(), self.ids.len());
        self.ids.push(id);
    }
}

/// Whether records are Gemini CLI's: a header without a type in front of messages, or an object with messages that
/// say who speaks by `type`.
pub(crate) fn is_it<'a>(records: impl Iterator<Item = &'a str>) -> bool {
    let is_message = |message: &Object<'_>| {
        let has = |key: &str| message.get(key).is_some();
        let kind = message.string("type");
        let is_speaker = matches!(
            kind.as_deref(),
            Some("user" | "gemini" | "info" | "warning" | "error")
        );
        is_speaker && has("content") && has("id") && !has("message") && !has("role")
    };
    let (mut head, mut of_model) = (false, false);
    for record in records.filter_map(Object::of) {
        let has = |key: &str| record.get(key).is_some();
        for key in ["messages", "history"] {
            let list = record.array(key).unwrap_or_default().0.into_iter();
            let mut list = list.take(MESSAGES_TO_TELL).filter_map(Object::of);
            if !has("type") && list.any(|m| is_message(&m) || is_old(&m)) {
                return true;
            }
        }
        head |= has("sessionId") && has("projectHash") && !has("type");
        if has("$set") || has("$rewindTo") {
            return true;
        }
        of_model |= is_message(&record) && record.string("type").as_deref() == Some("gemini");
    }
    head || of_model
}

/// Messages of old checkpoints, whose model is called by its name.
fn is_old(message: &Object<'_>) -> bool {
    message.string("role").as_deref() == Some("gemini") && message.array("parts").is_some()
}
