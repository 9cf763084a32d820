//! Copilot CLI's sessions: JSON lines, one event each, `type` and `data`.
//!
//! A call stands in the model's message (`toolRequests`), its result in an event of its own. Calls that the client
//! made by itself have no request; they are known by the event of their start, so that their results are not
//! orphans. What a sub-agent said is not part of the conversation. A compaction puts its summary in the place of all
//! that was said; a truncation does not tell what it left out, so nothing is left out here.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::view::{PartKind, Role, Usage};

use crate::claude_code::RecordCounts;
use crate::conversation::{Conversation, Emptied, Home};
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Array, Object, Span};
use crate::log::{Log, Reading, file_as_text};
use crate::read::{Builder, Odd, text_or_json};
use crate::source::Source;

/// The format.
pub(crate) struct Copilot;

/// Kinds of events, by the part of their name before the dot.
const FAMILIES: [&str; 8] = [
    "assistant",
    "hook",
    "session",
    "skill",
    "subagent",
    "system",
    "tool",
    "user",
];

impl Log for Copilot {
    fn format(&self) -> Format {
        Format::Copilot
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, faults) = file_as_text(source, options.lenient)?;
        let text = source.text();
        let events: Vec<Event<'_>> = records.iter().map(|span| Event::of(text, *span)).collect();
        let session = events
            .iter()
            .find_map(|event| event.data.string("sessionId"));
        let mut reading = Reading::new(source, session.unwrap_or_default());
        reading.faults = faults;
        let requested: BTreeSet<String> = events.iter().flat_map(Event::requests).collect();
        let is_session = events.iter().any(|event| is_event(&event.kind));
        for event in &events {
            add(&mut reading, event, &requested);
        }
        tell_size(&mut reading, &events);
        reading.done(!is_session)
    }
}

/// What the file holds over all its events. Calls are those that the model asked for.
pub(crate) fn count(source: &Arc<Source>) -> RecordCounts {
    let (records, _) = file_as_text(source, true).unwrap_or_default();
    let text = source.text();
    let mut counts = RecordCounts::default();
    for span in records {
        let mut reading = Reading::new(source, "");
        let event = Event::of(text, span);
        let is_start = event.kind == "tool.execution_start";
        if is_start || event.kind.starts_with("session.") {
            counts.summaries += usize::from(event.compaction().is_some());
            continue;
        }
        add(&mut reading, &event, &BTreeSet::new());
        counts.add(&reading.conversation.views);
    }
    counts
}

/// One event.
struct Event<'a> {
    span: Span,
    kind: String,
    data: Object<'a>,
}

impl<'a> Event<'a> {
    fn of(text: &'a str, span: Span) -> Self {
        let record = Object::of(span.text(text)).unwrap_or_default();
        Self {
            span,
            kind: record.string("type").unwrap_or_default().into_owned(),
            data: record.object("data").unwrap_or_default(),
        }
    }

    /// The ids of the calls that the model asked for here.
    fn requests(&self) -> Vec<String> {
        let list = self.data.array("toolRequests").unwrap_or_default();
        let id = |json: &&str| Object::of(json)?.string("toolCallId").map(String::from);
        list.0.iter().filter_map(id).collect()
    }

    /// The summary of a compaction that worked.
    fn compaction(&self) -> Option<&'a str> {
        let is_done =
            self.kind == "session.compaction_complete" && self.data.get("success") != Some("false");
        let summary = self.data.value("summaryContent").filter(|_| is_done)?;
        (summary.len() > 2).then_some(summary)
    }
}

fn add(reading: &mut Reading<'_>, event: &Event<'_>, requested: &BTreeSet<String>) {
    let (span, data) = (event.span, &event.data);
    // A sub-agent's.
    if data.value("parentToolCallId").is_some() {
        return;
    }
    match event.kind.as_str() {
        "system.message" => {
            reading.add(span, Role::System, |builder| {
                builder.said(data.value("content"))
            });
            forget_repeated(reading);
        }
        "user.message" => {
            reading.add(span, Role::User, |builder| {
                builder.said(data.value("content"))?;
                attachments(builder, data);
                Ok(())
            });
        }
        "system.notification" => {
            let said = data.value("content");
            let view = reading.add(span, Role::User, |builder| builder.said(said));
            if let Some(view) = view {
                view.flags.hidden = true;
            }
        }
        "assistant.message" => {
            reading.add(span, Role::Assistant, |builder| reply(builder, data));
        }
        "tool.execution_start" => {
            let id = data.string("toolCallId").unwrap_or_default();
            if !requested.contains(id.as_ref()) {
                let kind = PartKind::Call {
                    id: CallId::from(id.as_ref()),
                    tool: data.string("toolName").unwrap_or_default().as_ref().into(),
                };
                let arguments = data.value("arguments");
                reading.add(span, Role::Assistant, |builder| {
                    let text = text_or_json(builder.source(), arguments);
                    builder.push(kind, text, span, Home::Whole);
                    Ok(())
                });
            }
        }
        "tool.execution_complete" => result(reading, span, data),
        _ => {
            if let Some(summary) = event.compaction() {
                compacted(reading, span, summary);
            }
        }
    }
}

/// The client tells the system prompt again with every start; the same one is sent once.
fn forget_repeated(reading: &mut Reading<'_>) {
    let views = &reading.conversation.views;
    let Some((last, before)) = views.split_last() else {
        return;
    };
    let leading = before.iter().take(8);
    let mut leading = leading.take_while(|view| view.role == Role::System);
    if last.role == Role::System && leading.any(|view| view.ident == last.ident) {
        reading.conversation.views.pop();
        reading.conversation.messages.pop();
    }
}

/// What was said so far is not seen any more, but for the system prompt.
fn compacted(reading: &mut Reading<'_>, span: Span, summary: &str) {
    let views = &reading.conversation.views;
    let leading = views.iter().take_while(|view| view.role == Role::System);
    let leading = leading.count();
    reading.conversation.views.truncate(leading);
    reading.conversation.messages.truncate(leading);
    if let Some(view) = reading.add(span, Role::User, |builder| builder.said(Some(summary))) {
        view.flags.summary = true;
    }
}

/// Reasoning, text, calls. The reasoning's own text is plain, with what the provider wants back beside it.
fn reply(builder: &mut Builder<'_>, data: &Object<'_>) -> Result<(), Odd> {
    let sealed = ["reasoningOpaque", "encryptedContent"]
        .iter()
        .any(|key| data.string(key).is_some_and(|text| !text.is_empty()));
    if let Some(text) = data.value("reasoningText").filter(|text| *text != "\"\"") {
        builder.text_of(PartKind::Reasoning { bound: sealed }, text);
    }
    builder.said(data.value("content"))?;
    let Some(list) = data.value("toolRequests") else {
        return Ok(());
    };
    let home = Home::Element {
        array: builder.span(list),
        emptied: Emptied::List,
    };
    let source = builder.source();
    for json in Array::of(list).unwrap_or_default().0 {
        let call = Object::of(json).unwrap_or_default();
        let kind = PartKind::Call {
            id: CallId::from(call.string("toolCallId").as_deref().unwrap_or_default()),
            tool: call.string("name").unwrap_or_default().as_ref().into(),
        };
        let arguments = text_or_json(source, call.value("arguments"));
        let span = builder.span(json);
        builder.push(kind, arguments, span, home);
    }
    Ok(())
}

fn result(reading: &mut Reading<'_>, span: Span, data: &Object<'_>) {
    let kind = PartKind::Result {
        id: CallId::from(data.string("toolCallId").as_deref().unwrap_or_default()),
        tool: data.string("toolName").map(|name| name.as_ref().into()),
        error: data.get("success") == Some("false"),
    };
    let result = data.value("result");
    let inner = result.and_then(Object::of);
    let error = data
        .object("error")
        .and_then(|error| error.value("message"));
    let said = match &inner {
        Some(inner) => inner.value("content").or(error),
        None => result.or(error),
    };
    reading.add(span, Role::Tool, |builder| builder.result_of(kind, said));
}

/// Files that the person named: their names, which is what the model is told.
fn attachments(builder: &mut Builder<'_>, data: &Object<'_>) {
    for json in data.array("attachments").unwrap_or_default().0 {
        let attachment = Object::of(json).unwrap_or_default();
        let reference = attachment
            .value("path")
            .or_else(|| attachment.value("displayName"));
        builder.text_of(PartKind::Text, reference.unwrap_or(json));
    }
}

/// The session tells at its end how large the context is.
fn tell_size(reading: &mut Reading<'_>, events: &[Event<'_>]) {
    let last = events
        .iter()
        .rposition(|event| event.kind == "assistant.message");
    let end = events
        .iter()
        .rposition(|event| event.kind == "session.shutdown");
    let (Some(last), Some(end)) = (last, end) else {
        return;
    };
    let size = events[end].data.number("currentTokens").unwrap_or(0);
    let output = events[last].data.number("outputTokens").unwrap_or(0);
    if last > end || size <= output {
        return;
    }
    if let Some(view) = reading.newest_reply() {
        view.usage = Some(Usage {
            input: size - output,
            output,
            ..Usage::default()
        });
    }
}

fn is_event(kind: &str) -> bool {
    kind.split_once('.')
        .is_some_and(|(family, _)| FAMILIES.contains(&family))
}

/// Whether records are Copilot CLI's.
pub(crate) fn is_it<'a>(mut records: impl Iterator<Item = &'a str>) -> bool {
    records.next().and_then(Object::of).is_some_and(|record| {
        let kind = record.string("type").unwrap_or_default();
        is_event(&kind) && record.object("data").is_some()
    })
}
