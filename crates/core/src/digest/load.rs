//! Turns messages into pieces of readable text: what users and the model wrote as it is, calls as one
//! line, results without their JSON clothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::DigestSource;
use super::noise::said;
use super::sentence::{cut_end, lines, sentences};
use crate::frame;
use crate::id::CallId;
use crate::ledger::{part_ref, words_of};
use crate::view::{PartKind, Role};

/// Where a piece comes from. The order is by how much it tells about the way on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    User,
    System,
    Previous,
    Assistant,
    Call,
    /// Long arguments: file contents, patches.
    Written,
    Result,
    Thought,
    /// Put into the user's place by the host: an expanded command, a skill.
    Host,
}

/// A text with its origin.
pub(super) struct Piece<'a> {
    pub(super) mark: Mark,
    /// Index of the message among the removed ones.
    pub(super) message: usize,
    pub(super) text: Cow<'a, str>,
    /// `name=value` pairs, of which the names are no entities.
    pub(super) keyed: bool,
    /// The result says that it failed.
    pub(super) error: bool,
}

impl Piece<'_> {
    /// The lines or sentences that can be shown one by one.
    pub(super) fn split<'p>(&'p self, each: &mut dyn FnMut(&'p str)) {
        match self.mark {
            Mark::Call => each(self.text.trim()),
            Mark::Result | Mark::Written => lines(&self.text, each),
            _ => sentences(&self.text, each),
        }
    }
}

/// A longer JSON result is read as plain text.
const MAX_JSON: usize = 2_000_000;
/// Longer arguments go to [`Mark::Written`].
const SHORT_ARGUMENT: usize = 160;
/// A call's line.
const MAX_CALL: usize = 320;

/// The pieces of the removed messages, in order.
pub(super) fn load<'a>(source: &DigestSource<'a>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut plans: Vec<&CallId> = Vec::new();
    if let Some(previous) = source.previous {
        let text = Cow::Borrowed(previous);
        pieces.push(Piece {
            mark: Mark::Previous,
            message: 0,
            text,
            keyed: false,
            error: false,
        });
    }
    for (message, view) in source.messages.iter().enumerate() {
        let mut failed = false;
        let mut skipped = None;
        if view.calls().next().is_some() {
            plans.clear();
        }
        for (index, part) in view.parts.iter().enumerate() {
            let Some(at) = part_ref(view, index).filter(|_| part.len > 0) else {
                continue;
            };
            if part.inside.is_none() {
                failed = false;
            } else if part.inside == skipped {
                continue;
            }
            let mut add = |mark, text, keyed, error| {
                pieces.push(Piece {
                    mark,
                    message,
                    text,
                    keyed,
                    error,
                });
            };
            match &part.kind {
                PartKind::Text if part.inside.is_some() => {
                    add_result(source.texts.text(at), failed, &mut add);
                }
                PartKind::Text if view.flags.summary => {
                    let text = source.texts.text(at);
                    // A frame of ours is not part of what was said.
                    match frame::content(&text) {
                        Some(inside) => {
                            add(Mark::Previous, Cow::Owned(inside.to_owned()), false, false)
                        }
                        None if frame::is_ours(&text) => {}
                        None => add(Mark::Previous, text, false, false),
                    }
                }
                PartKind::Text => {
                    let mark = match view.role {
                        _ if view.flags.reminder => continue,
                        Role::User if view.flags.hidden => Mark::Host,
                        Role::User => Mark::User,
                        Role::System => Mark::System,
                        Role::Assistant => Mark::Assistant,
                        Role::Tool => Mark::Result,
                    };
                    let text = source.texts.text(at);
                    let text = match mark {
                        Mark::User | Mark::System | Mark::Host => {
                            Cow::Owned(said(&text).trim().to_owned())
                        }
                        _ => text,
                    };
                    add(mark, text, false, false);
                }
                PartKind::Reasoning { .. } => {
                    add(Mark::Thought, source.texts.text(at), false, false);
                }
                // The ledger holds the newest plan; older ones and their receipts tell nothing.
                PartKind::Call { id, tool } if is_plan(tool) => plans.push(id),
                PartKind::Result { id, .. } if plans.contains(&id) => {
                    skipped = u16::try_from(index).ok();
                }
                PartKind::Call { tool, .. } => {
                    let (line, written) = call(tool, &source.texts.text(at));
                    add(Mark::Call, line.into(), true, false);
                    if !written.is_empty() {
                        add(Mark::Written, written.into(), false, false);
                    }
                }
                PartKind::Result { error, .. } => {
                    failed = *error;
                    add_result(source.texts.text(at), failed, &mut add);
                }
                PartKind::Media(_) | PartKind::Opaque { .. } => {}
            }
        }
    }
    pieces.retain(|piece| !piece.text.trim().is_empty());
    pieces
}

fn add_result<'a>(
    text: Cow<'a, str>,
    failed: bool,
    add: &mut impl FnMut(Mark, Cow<'a, str>, bool, bool),
) {
    match json(&text) {
        Some(value) => {
            let mut out = String::new();
            flatten("", &value, &mut out);
            add(Mark::Result, out.into(), true, failed);
        }
        // Hosts put their own reminders behind what a tool returned.
        None if text.contains("<system-reminder>") => {
            add(Mark::Result, said(&text).into_owned().into(), false, failed);
        }
        None => add(Mark::Result, text, false, failed),
    }
}

fn json(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) || text.len() > MAX_JSON {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// One line an object: its scalars as `name=value`; what is nested follows on lines of its own.
fn flatten(name: &str, value: &Value, out: &mut String) {
    let mut nested: Vec<(&str, &Value)> = Vec::new();
    let mut line = String::new();
    let mut scalar = |key: &str, value: &Value| {
        let text = scalar_text(value);
        if text.is_empty() {
            return;
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        if !key.is_empty() {
            line.push_str(key);
            line.push('=');
        }
        line.push_str(&text);
    };
    match value {
        Value::Object(fields) => {
            for (key, value) in sorted(fields) {
                if is_nested(value) {
                    nested.push((key, value));
                } else {
                    scalar(key, value);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                if is_nested(item) {
                    nested.push((name, item));
                } else {
                    scalar("", item);
                }
            }
        }
        other => scalar(name, other),
    }
    if !line.is_empty() {
        if !name.is_empty() {
            out.push_str(name);
            out.push_str(": ");
        }
        out.push_str(&line);
        out.push('\n');
    }
    for (key, value) in nested {
        flatten(key, value, out);
    }
}

/// Fields by name: the order of the map type depends on how the JSON library was built.
fn sorted(fields: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let mut fields: Vec<(&str, &Value)> = fields.iter().map(|(k, v)| (k.as_str(), v)).collect();
    fields.sort_unstable_by_key(|(key, _)| *key);
    fields.into_iter()
}

/// Lists, objects, and texts of several lines.
fn is_nested(value: &Value) -> bool {
    value.is_array() || value.is_object() || value.as_str().is_some_and(|s| s.contains('\n'))
}

fn scalar_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// A call as one line, and its long arguments as text.
fn call(tool: &str, arguments: &str) -> (String, String) {
    let mut line = format!("{tool}: ");
    let mut written = String::new();
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => {
            let mut first = true;
            argument("", &value, &mut |key, text| {
                if is_trivial(key, text) {
                    return;
                }
                if is_content(key) {
                    written.push_str(text);
                    written.push('\n');
                } else if text.len() > SHORT_ARGUMENT || text.contains('\n') {
                    written.push_str(text);
                    written.push('\n');
                    // Commands and prompts open with what they are about.
                    let head = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
                    if line.len() > MAX_CALL {
                        return;
                    }
                    push(
                        &mut line,
                        &mut first,
                        key,
                        &cut_end(head.trim(), SHORT_ARGUMENT),
                    );
                } else if line.len() <= MAX_CALL {
                    push(&mut line, &mut first, key, text);
                } else {
                    written.push_str(text);
                    written.push('\n');
                }
            });
        }
        Err(_) => {
            line.push_str(&cut_end(
                arguments.lines().next().unwrap_or(""),
                SHORT_ARGUMENT,
            ));
            if arguments.len() > SHORT_ARGUMENT {
                written.push_str(arguments);
            }
        }
    }
    // Names of tools and arguments are data too: they must not begin a line of their own.
    (line.replace(char::is_control, " "), written)
}

fn push(line: &mut String, first: &mut bool, key: &str, text: &str) {
    if !std::mem::take(first) {
        line.push_str(", ");
    }
    if !key.is_empty() && !is_obvious(key) {
        line.push_str(key);
        line.push('=');
    }
    line.push_str(text);
}

fn argument<'v>(key: &'v str, value: &'v Value, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Object(fields) => sorted(fields).for_each(|(k, v)| argument(k, v, each)),
        Value::Array(items) => items.iter().for_each(|v| argument(key, v, each)),
        other => {
            let text = scalar_text(other);
            if !text.is_empty() {
                each(key, &text);
            }
        }
    }
}

/// Arguments whose value speaks for itself.
fn is_obvious(key: &str) -> bool {
    matches!(
        key,
        "command"
            | "cmd"
            | "path"
            | "file_path"
            | "pattern"
            | "query"
            | "url"
            | "description"
            | "thought"
            | "filePath"
            | "filename"
            | "expression"
            | "prompt"
            | "content"
            | "message"
    )
}

/// Tools that only write down what is to be done.
fn is_plan(tool: &str) -> bool {
    let words = words_of(tool);
    let is_todo = |word: &String| matches!(word.as_str(), "todo" | "todos");
    words.iter().any(is_todo) || words == ["update", "plan"]
}

/// Arguments that say how, not what, and text that is no more.
fn is_trivial(key: &str, text: &str) -> bool {
    const KEYS: &[&str] = &[
        "old_string",
        "old_str",
        "oldText",
        "timeout",
        "limit",
        "offset",
        "timeout_ms",
        "yield_time_ms",
    ];
    matches!(text, "true" | "false") || KEYS.contains(&key)
}

/// Arguments whose beginning tells little.
fn is_content(key: &str) -> bool {
    matches!(
        key,
        "content"
            | "contents"
            | "file_text"
            | "old_string"
            | "new_string"
            | "old_str"
            | "new_str"
            | "oldText"
            | "newText"
            | "new_source"
            | "diff"
            | "patch"
    )
}
