//! OpenHands' events: a list of actions and observations, or the `history` in each line of an evaluation.
//!
//! An observation answers the action that its `cause` names. What the agent and its runtime tell each other about
//! state is not seen by the model. The condenser's own compaction is an action: it names the events that it forgot
//! and may hold a summary that stands in their place. Old files have flat events, some in pairs.

mod condense;
mod event;

use std::sync::Arc;

use crate::claude_code::RecordCounts;
use crate::conversation::{Conversation, Fixed};
use crate::document::OpenOptions;
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Array, Kind, Object, Span, string};
use crate::log::{Log, Reading, file_as_text};
use crate::source::Source;

use event::Event;

/// The format.
pub(crate) struct OpenHands;

impl Log for OpenHands {
    fn format(&self) -> Format {
        Format::OpenHands
    }

    fn read(
        &self,
        source: &Arc<Source>,
        options: &OpenOptions,
    ) -> Result<(Vec<Conversation>, Vec<Fault>), ReadError> {
        let (records, mut faults) = file_as_text(source, options.lenient)?;
        let mut out = Vec::new();
        let histories = histories(source.text(), &records);
        if histories.is_empty() {
            return Err(crate::log::unknown(source));
        }
        for (label, spans) in histories {
            let mut reading = Reading::new(source, label);
            history(&mut reading, &spans);
            faults.append(&mut reading.faults);
            out.push(reading.conversation);
        }
        Ok((out, faults))
    }
}

/// What the events of all conversations hold, forgotten ones included. What was recalled counts as a result.
pub(crate) fn count(source: &Arc<Source>) -> RecordCounts {
    let (records, _) = file_as_text(source, true).unwrap_or_default();
    let mut counts = RecordCounts::default();
    for (_, spans) in histories(source.text(), &records) {
        let mut reading = Reading::new(source, "");
        for span in flat(source.text(), &spans) {
            let event = Event::of(source.text(), span);
            let before = reading.conversation.views.len();
            event.add(&mut reading);
            counts.add(&reading.conversation.views[before..]);
            counts.summaries += usize::from(event.condensation().is_some());
            counts.results += usize::from(event.is_recollection());
        }
    }
    counts
}

/// One history.
fn history(reading: &mut Reading<'_>, spans: &[Span]) {
    let text = reading.text();
    let events: Vec<Event<'_>> = flat(text, spans)
        .into_iter()
        .map(|span| Event::of(text, span))
        .collect();
    let plan = condense::plan(&events);
    let mut summary = plan.summary;
    let mut told = 0;
    for event in events.iter().filter(|event| !plan.is_forgotten(event)) {
        if let Some((event, _)) = summary.take_if(|(_, offset)| *offset <= told) {
            event.add_summary(reading);
        }
        let before = reading.conversation.views.len();
        event.add(reading);
        told += usize::from(reading.conversation.views.len() > before);
        if let Some(tools) = event.tools() {
            reading.conversation.fixed = Fixed {
                system: String::new(),
                tools: tools.to_owned(),
            };
        }
    }
    if let Some((event, _)) = summary {
        event.add_summary(reading);
    }
    if plan.has_forgotten() {
        let views = reading.conversation.views.iter_mut();
        views.for_each(|view| view.usage = None);
    }
}

/// The events themselves: some files hold pairs of them.
fn flat(text: &str, spans: &[Span]) -> Vec<Span> {
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        match Kind::of(span.text(text)) {
            Kind::Array => {
                let pair = Array::of(span.text(text)).unwrap_or_default().0;
                out.extend(pair.iter().map(|json| Span::of(text, json)));
            }
            _ => out.push(*span),
        }
    }
    out
}

/// The histories of a file with their labels: its lines', or the file as one.
fn histories(text: &str, records: &[Span]) -> Vec<(String, Vec<Span>)> {
    let elements =
        |list: Array<'_>| -> Vec<Span> { list.0.iter().map(|json| Span::of(text, json)).collect() };
    if let [one] = records
        && let Some(list) = Array::of(one.text(text))
    {
        let is_list = list.0.iter().any(|json| is_event_or_pair(json));
        return match is_list {
            true => vec![("0".to_owned(), elements(list))],
            false => Vec::new(),
        };
    }
    let mut out = Vec::new();
    let mut bare = Vec::new();
    for (n, span) in records.iter().enumerate() {
        let record = Object::of(span.text(text)).unwrap_or_default();
        match record.array("history") {
            Some(list) => out.push((label(&record, n), elements(list))),
            None if is_event_or_pair(span.text(text)) => bare.push(*span),
            None => {}
        }
    }
    if out.is_empty() && !bare.is_empty() {
        out.push(("0".to_owned(), bare));
    }
    out
}

fn label(record: &Object<'_>, n: usize) -> String {
    let number = || {
        let issue = record.object("issue")?;
        issue.value("number").map(str::to_owned)
    };
    let id = record.value("instance_id").map(|id| match Kind::of(id) {
        Kind::String => string::decode(id).into_owned(),
        _ => id.to_owned(),
    });
    id.or_else(number).unwrap_or_else(|| n.to_string())
}

fn is_event_or_pair(json: &str) -> bool {
    match Array::of(json) {
        Some(pair) => !pair.0.is_empty() && pair.0.iter().all(|json| is_event(json)),
        None => is_event(json),
    }
}

/// An action or an observation.
fn is_event(json: &str) -> bool {
    Object::of(json).is_some_and(|event| {
        let has = |key: &str| event.get(key).is_some();
        let named = |key: &str| event.string(key).is_some();
        !has("role")
            && ((named("action") && (has("source") || has("args") || has("message")))
                || (named("observation") && (has("content") || has("extras"))))
    })
}

/// Whether records are OpenHands'.
pub(crate) fn is_it<'a>(records: impl Iterator<Item = &'a str>) -> bool {
    let has_events = |list: Array<'_>| list.0.iter().take(20).any(|json| is_event_or_pair(json));
    for json in records {
        if let Some(list) = Array::of(json) {
            return has_events(list);
        }
        let record = Object::of(json).unwrap_or_default();
        if record.array("history").is_some_and(has_events) || is_event(json) {
            return true;
        }
    }
    false
}
