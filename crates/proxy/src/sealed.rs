//! Compactions that a client of the Responses API asks for: answered here with a capsule of ours.
//!
//! The client says it with a last item (`compaction_trigger`) or by `POST …/responses/compact`. It keeps what people said
//! and puts the capsule behind it; everything else that must stay is in the capsule.

use std::collections::BTreeSet;

use conspectus::core::thread::Manual;
use conspectus::wire::json::Object;
use conspectus::{Alone, CompactRequest, Control, Format, RenderContext};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::answer::Down;
use crate::api::Call;
use crate::capsule::seal;
use crate::handle::{App, own};
use crate::keeper::About;
use crate::list::open;
use crate::scan::{scan, slice};

/// What is in the capsule where nothing but what people said was there.
const NOTHING: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"(Nothing beside the messages above was said so far.)"}]}"#;

/// Whether a body asks for a compaction.
pub(crate) fn is_asked(call: Call, body: &[u8]) -> bool {
    match call {
        Call::Compact => true,
        Call::Responses => trigger(body).is_some(),
        _ => false,
    }
}

/// The body without the item that asks.
fn trigger(body: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(body, b"\"compaction_trigger\"")?;
    let layout = scan(body, "input", None)?;
    let last = *layout.elements.last()?;
    let item = Object::of(std::str::from_utf8(slice(body, last)).ok()?)?;
    if item.string("type").as_deref() != Some("compaction_trigger") {
        return None;
    }
    let before = match layout.elements.len() {
        1 => last.0,
        count => layout.elements[count - 2].1,
    };
    Some([&body[..before as usize], &body[last.1 as usize..]].concat())
}

/// The answer; `None`: something of ours failed, and the upstream is asked.
pub(crate) async fn answer(app: &App, about: &About, body: &Bytes) -> Option<Response<Down>> {
    let source = match about.call {
        Call::Compact => body.to_vec(),
        _ => trigger(body)?,
    };
    let asked = std::str::from_utf8(&source).ok().and_then(Object::of)?;
    let (is_stream, model) = (asked.is_true("stream"), asked.string("model")?.into_owned());
    let folded = folded(app, about, &source).await?;
    let key = &app.settings.capsule_key;
    let items = format!("[{}]", folded.items.join(","));
    let capsule = seal(key, &about.tenant, &items)?;
    let number = conspectus::core::id::Ident::of(&capsule).short(24);
    let item =
        json!({"id": format!("cmp_{number}"), "type": "compaction", "encrypted_content": capsule});
    let usage = json!({
        "input_tokens": folded.tokens.0,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": folded.tokens.1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": folded.tokens.0 + folded.tokens.1,
    });
    let created = app.keeper.now() / 1000;
    let id = format!("resp_{number}");
    if about.call == Call::Compact {
        let people = folded
            .people
            .iter()
            .map(|json| serde_json::from_str(json).ok());
        let mut output: Vec<Value> = people.collect::<Option<_>>()?;
        output.push(item);
        let answer = json!({"id": id, "object": "response.compaction", "created_at": created, "output": output, "usage": usage});
        return Some(own(StatusCode::OK, answer.to_string()));
    }
    let response = |status: &str, output: Vec<Value>, usage: Value| {
        json!({
            "id": id, "object": "response", "created_at": created, "status": status, "background": false,
            "error": null, "incomplete_details": null, "instructions": null, "max_output_tokens": null,
            "model": model, "output": output, "parallel_tool_calls": true, "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": 1.0,
            "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
            "truncation": "disabled", "usage": usage, "user": null, "metadata": {},
        })
    };
    let done = response("completed", vec![item.clone()], usage);
    if !is_stream {
        return Some(own(StatusCode::OK, done.to_string()));
    }
    let begun = response("in_progress", Vec::new(), Value::Null);
    let empty = json!({"id": item["id"], "type": "compaction", "encrypted_content": ""});
    let events = [
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": empty}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": done}),
    ];
    let mut stream = String::new();
    for (nth, mut event) in events.into_iter().enumerate() {
        event["sequence_number"] = nth.into();
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        stream.push_str(&format!("event: {name}\ndata: {event}\n\n"));
    }
    let mut response = Response::new(Down::own(stream));
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Some(response)
}

struct Folded {
    /// What goes into the capsule.
    items: Vec<String>,
    /// What people said, as it came.
    people: Vec<String>,
    /// Before and after, by the estimate.
    tokens: (u64, u64),
}

async fn folded(app: &App, about: &About, source: &[u8]) -> Option<Folded> {
    let document = open(source.to_vec(), Format::Responses)?;
    let conversation = document.conversations().first()?;
    let desk = app.keeper.desk(about, true);
    let request = CompactRequest {
        model: desk.profile,
        manual: Manual {
            force: true,
            below_keep: true,
            routes: desk.routes,
            ..Manual::default()
        },
        only_if_triggered: false,
        enable: true,
        ..CompactRequest::command(desk.options)
    };
    let compaction = desk
        .compactor
        .compact(conversation, &request, &Alone, &Control::new())
        .await
        .ok()?;
    let after = match compaction.is_change() {
        true => {
            let projection = compaction.projection();
            document
                .render(&[(0, &projection)], &RenderContext::default())
                .ok()?
        }
        false => source.to_vec(),
    };
    let (was, is) = (scan(source, "input", None)?, scan(&after, "input", None)?);
    let came: BTreeSet<&[u8]> = was.elements.iter().map(|e| slice(source, *e)).collect();
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let items = is.elements.iter().map(|e| slice(&after, *e));
    let items = items.filter(|item| !came.contains(item) || !is_resent(item));
    let mut items: Vec<String> = items.map(text).collect::<Option<_>>()?;
    if items.is_empty() {
        items.push(NOTHING.to_owned());
    }
    let people = was.elements.iter().map(|e| slice(source, *e));
    let people = people.filter(|item| speaker(item).as_deref() == Some("user"));
    let measured = compaction.report.measured;
    Some(Folded {
        items,
        people: people.map(text).collect::<Option<_>>()?,
        tokens: (
            measured.tokens_before,
            measured.tokens_after.unwrap_or(measured.tokens_before),
        ),
    })
}

/// Whether the client sends the item again by itself: what people and hosts said, and its tools.
fn is_resent(item: &[u8]) -> bool {
    match speaker(item).as_deref() {
        Some("assistant") => false,
        Some(_) => true,
        None => {
            let item = std::str::from_utf8(item).ok().and_then(Object::of);
            let kind = item.as_ref().and_then(|item| item.string("type"));
            matches!(
                kind.as_deref(),
                Some("additional_tools" | "configuration_update")
            )
        }
    }
}

/// Who speaks in a message; `None`: it is none. A string is a person's.
fn speaker(item: &[u8]) -> Option<String> {
    let item = std::str::from_utf8(item).ok()?;
    if item.starts_with('"') {
        return Some("user".to_owned());
    }
    let item = Object::of(item)?;
    let kind = item.string("type");
    if kind.is_some_and(|kind| kind != "message") {
        return None;
    }
    Some(item.string("role")?.into_owned())
}
