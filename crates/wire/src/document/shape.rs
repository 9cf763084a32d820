//! Which containers hold conversations, told by shape.
//!
//! Known are: a list of messages; an object with `messages`, or with `values.messages` (thread states), or with the
//! Responses API's `input` or `output`, or with Gemini's `contents`, or with a `request` or `request_params` that is one
//! of these (recorded exchanges); a list of objects with `messages`, `traj` (tau-bench) or `values.messages`; an object
//! with `simulations` (tau2-bench) or `conversations` (our own form) that each hold `messages`; lines that each are one
//! of these objects; lines that each are a message.

use crate::error::ReadError;
use crate::json::{Array, Kind, Object, Span};
use crate::source::Source;

/// A list of messages somewhere in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its label.
    pub(super) label: String,
    /// The list.
    pub(super) messages: Messages,
}

/// The messages of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Messages {
    /// An array, and the object that it is a member of.
    Array {
        /// The array.
        array: Span,
        /// The object.
        request: Option<Span>,
    },
    /// One message that is no list: a prompt as a string.
    Value {
        /// The string.
        value: Span,
        /// The object that it is a member of.
        request: Span,
    },
    /// Lines, those that are JSON.
    Lines(Vec<Span>),
}

/// The file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One JSON value.
    Whole(Span),
    /// One JSON value a line. Blank lines are left out; broken ones carry why.
    Lines(Vec<Line>),
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its JSON without space around it, or the whole line if it is none.
    pub(super) span: Span,
    /// Why it is no JSON.
    pub(super) broken: Option<ReadError>,
}

/// # Errors
/// When the file is neither one JSON value nor lines of JSON.
pub(super) fn of(source: &Source, lenient: bool) -> Result<Shape, ReadError> {
    let text = source.text();
    let body = source.body();
    let whole = match raw(body.text(text)) {
        Ok(json) => return Ok(Shape::Whole(Span::of(text, json))),
        Err(error) => syntax(&error, 0, body.text(text)),
    };
    let lines: Vec<_> = source
        .lines()
        .filter(|line| !line.text(text).trim().is_empty())
        .map(|span| match raw(span.text(text)) {
            Ok(json) => Line {
                span: Span::of(text, json),
                broken: None,
            },
            Err(error) => Line {
                span,
                broken: Some(syntax(&error, source.line(span.start) - 1, span.text(text))),
            },
        })
        .collect();
    let is_object = |line: &Line| line.broken.is_none() && line.span.text(text).starts_with('{');
    let looks_like_lines = match lenient {
        true => lines.iter().any(is_object),
        false => lines.first().is_some_and(is_object),
    };
    if lines.len() > 1 && looks_like_lines {
        Ok(Shape::Lines(lines))
    } else {
        Err(whole)
    }
}

/// The conversations of a JSON value.
///
/// # Errors
/// When there is none.
pub(super) fn of_value(source: &Source, json: Span) -> Result<Vec<Found>, ReadError> {
    let text = source.text();
    let value = json.text(text);
    if Kind::of(value) == Kind::Array {
        let first = Array::first(value);
        let list = || Array::of(value).unwrap_or_default();
        let holds_conversations = first
            .and_then(Object::of)
            .is_some_and(|first| in_object(text, &first, json, "").is_some());
        if holds_conversations {
            return Ok(each(text, &list()));
        }
        let is_messages = first.is_none_or(|first| first.starts_with('{'))
            || list().0.iter().any(|element| element.starts_with('{'));
        return match is_messages {
            true => Ok(vec![found("0", json, None)]),
            false => Err(unknown(source, json)),
        };
    }
    let object = Object::of(value).ok_or_else(|| unknown(source, json))?;
    if let Some(found) = in_object(text, &object, json, "0") {
        return Ok(vec![found]);
    }
    let in_our_form = object.array("conversations").map(|list| each(text, &list));
    if let Some(found) = in_our_form.filter(|found| !found.is_empty()) {
        return Ok(found);
    }
    match object.array("simulations") {
        Some(list) => Ok(each(text, &list)),
        None if looks_like_message(&object) => Ok(vec![Found {
            label: "0".to_owned(),
            messages: Messages::Lines(vec![json]),
        }]),
        None => Err(unknown(source, json)),
    }
}

/// The conversations of lines, and what is wrong with the others.
///
/// # Errors
/// When there is none.
pub(super) fn of_lines(source: &Source, lines: &[Line]) -> Result<Vec<Found>, ReadError> {
    let text = source.text();
    let good: Vec<Span> = lines
        .iter()
        .filter(|line| line.broken.is_none())
        .map(|line| line.span)
        .collect();
    let conversations: Vec<_> = good
        .iter()
        .enumerate()
        .filter_map(|(n, span)| {
            let object = Object::of(span.text(text))?;
            in_object(text, &object, *span, &n.to_string())
        })
        .collect();
    if !conversations.is_empty() {
        return Ok(conversations);
    }
    let has_message = good
        .iter()
        .any(|span| Object::of(span.text(text)).is_some_and(|o| looks_like_message(&o)));
    match good.first() {
        Some(_) if has_message => Ok(vec![Found {
            label: "0".to_owned(),
            messages: Messages::Lines(good),
        }]),
        Some(first) => Err(unknown(source, *first)),
        None => Err(ReadError::Empty),
    }
}

/// What a value is, for messages to people.
pub(super) fn describe(json: &str) -> String {
    let Some(object) = Object::of(json) else {
        return Kind::of(json).name().to_owned();
    };
    let keys: Vec<_> = object
        .members
        .iter()
        .take(6)
        .map(|m| format!("`{:.40}`", m.key))
        .collect();
    match (keys.len(), object.members.len()) {
        (0, _) => "an empty object".to_owned(),
        (shown, all) if shown < all => format!("an object with {}, …", keys.join(", ")),
        _ => format!("an object with {}", keys.join(", ")),
    }
}

fn each(text: &str, list: &Array<'_>) -> Vec<Found> {
    let of = |(n, element): (usize, &&str)| {
        let object = Object::of(element)?;
        in_object(text, &object, Span::of(text, element), &n.to_string())
    };
    list.0.iter().enumerate().filter_map(of).collect()
}

/// The list of messages of an object, labelled by the object's own id if it has one.
fn in_object(text: &str, object: &Object<'_>, span: Span, index: &str) -> Option<Found> {
    let direct = ["messages", "traj", "contents"]
        .iter()
        .filter(|key| object.members.iter().filter(|m| m.key == **key).count() == 1)
        .filter_map(|key| object.value(key))
        .find(|list| Kind::of(list) == Kind::Array)
        .map(|list| (list, span));
    let in_state = || {
        let values = object.value("values")?;
        let list = Object::of(values)?.value("messages")?;
        (Kind::of(list) == Kind::Array).then(|| (list, Span::of(text, values)))
    };
    if let Some((list, request)) = direct.or_else(in_state) {
        let list = Span::of(text, list);
        return Some(found(&label(object, index), list, Some(request)));
    }
    if let Some(messages) = responses(text, object, span) {
        let label = label(object, index);
        return Some(Found { label, messages });
    }
    let request = object
        .value("request")
        .or_else(|| object.value("request_params"))?;
    let inner = Object::of(request).filter(|inner| inner.get("request").is_none())?;
    in_object(text, &inner, Span::of(text, request), index)
}

/// The items of a request to the Responses API, or of its answer. Embeddings take an `input` too: strings, and
/// options of their own.
fn responses(text: &str, object: &Object<'_>, span: Span) -> Option<Messages> {
    let has = |key: &str| object.get(key).is_some();
    if object.has_duplicates || has("type") || has("encoding_format") || has("dimensions") {
        return None;
    }
    let is_answer = object
        .string("object")
        .is_some_and(|name| name == "response" || name == "response.compaction");
    let list = object.value(if is_answer { "output" } else { "input" })?;
    let at = Span::of(text, list);
    let known = is_answer || has("model") || has("previous_response_id") || has("instructions");
    match Kind::of(list) {
        Kind::Array => {
            let items = Array::of(list).unwrap_or_default().0;
            let any = items.iter().any(|item| super::detect::is_item(item));
            (any || (items.is_empty() && known)).then_some(Messages::Array {
                array: at,
                request: Some(span),
            })
        }
        Kind::String if has("model") => Some(Messages::Value {
            value: at,
            request: span,
        }),
        _ => None,
    }
}

/// Benchmarks name a run by its task and trial.
fn label(object: &Object<'_>, index: &str) -> String {
    let plain = |key: &str| {
        let value = object.value(key)?;
        match Kind::of(value) {
            Kind::String => object.string(key).map(String::from),
            Kind::Number => Some(value.to_owned()),
            _ => None,
        }
    };
    match plain("task_id") {
        Some(task) => format!(
            "{task}/{}",
            plain("trial").unwrap_or_else(|| "0".to_owned())
        ),
        None => ["id", "instance_id", "thread_id", "sessionId"]
            .iter()
            .find_map(|key| plain(key))
            .unwrap_or_else(|| index.to_owned()),
    }
}

fn found(label: &str, array: Span, request: Option<Span>) -> Found {
    Found {
        label: label.to_owned(),
        messages: Messages::Array { array, request },
    }
}

/// Whether an object that stands alone is a message.
fn looks_like_message(object: &Object<'_>) -> bool {
    let has = |key| object.get(key).is_some();
    (has("role") && (has("content") || has("tool_calls") || has("function_call")))
        || super::detect::is_langchain(object)
        || super::detect::is_typed_item(object)
}

/// The first JSON value of `text`, if nothing but space follows.
fn raw(text: &str) -> Result<&str, serde_json::Error> {
    serde_json::from_str::<&serde_json::value::RawValue>(text).map(|raw| raw.get())
}

pub(super) fn unknown(source: &Source, json: Span) -> ReadError {
    let found = describe(json.text(source.text()));
    let depth = crate::json::depth(json.text(source.text()));
    ReadError::UnknownShape {
        line: source.line(json.start),
        found: match depth > crate::read::MAX_DEPTH {
            true => format!("{found}, nested {depth} levels deep"),
            false => found,
        },
    }
}

fn syntax(error: &serde_json::Error, lines_before: usize, text: &str) -> ReadError {
    let found = error.to_string();
    let found = found
        .split(" at line ")
        .next()
        .unwrap_or_default()
        .to_owned();
    let starts_like_json = text.trim_start().starts_with(['{', '[']);
    ReadError::Syntax {
        line: lines_before + error.line(),
        column: error.column(),
        found: match error.is_eof() {
            true => format!("the text ends early ({found})"),
            false => found,
        },
        expected: match (error.is_eof(), starts_like_json) {
            (true, _) => "the rest of the JSON: the file looks cut off",
            (false, true) => "valid JSON",
            (false, false) => "a JSON object or list, or JSON lines",
        },
    }
}
