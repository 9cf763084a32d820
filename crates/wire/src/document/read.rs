//! From bytes to conversations.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::MessageView;

use super::detect;
use super::shape::{self, Found, Line, Messages, Shape};
use super::{Dialect, Document, OpenOptions, dialect, logs, session};
use crate::conversation::{Conversation, List};
use crate::error::{Fault, ReadError};
use crate::format::Format;
use crate::json::{Array, Object, Span, depth};
use crate::read::{MAX_DEPTH, Odd, opaque};
use crate::source::Source;

/// Lines that are looked at to tell session records from messages.
const LINES_TO_TELL: usize = 200;

/// # Errors
/// See [`Document::open`].
pub(super) fn open(source: Arc<Source>, options: &OpenOptions) -> Result<Document, ReadError> {
    if let Some(format) = options
        .format
        .filter(|format| session::of(*format).is_some())
    {
        return session(format, source, options);
    }
    let shape = shape::of(&source, options.lenient)?;
    if let (None, Some(format)) = (options.format, session_in(source.text(), &shape)) {
        return session(format, source, options);
    }
    let mut faults = Vec::new();
    let found = match &shape {
        Shape::Whole(json) => shape::of_value(&source, *json)?,
        Shape::Lines(lines) => {
            faults = broken_lines(&source, lines, options.lenient)?;
            shape::of_lines(&source, lines)?
        }
    };
    // Listing an array reads all of it, so that is done once.
    let lists: Vec<Vec<Span>> = found
        .iter()
        .map(|found| spans(source.text(), &found.messages))
        .collect();
    let format = match options.format {
        Some(format) => format,
        None => {
            refuse_strangers(&source, &found, &lists)?;
            detect_in(source.text(), &found, &lists)
        }
    };
    let Some(dialect) = dialect(format) else {
        return Err(ReadError::NoReader(format));
    };
    let mut conversations = Vec::with_capacity(found.len());
    for (found, spans) in found.into_iter().zip(lists) {
        conversations.push(conversation(
            &source,
            dialect,
            found,
            spans,
            options.lenient,
            &mut faults,
        )?);
    }
    Ok(Document {
        source,
        format,
        conversations,
        faults,
    })
}

fn session(
    format: Format,
    source: Arc<Source>,
    options: &OpenOptions,
) -> Result<Document, ReadError> {
    match session::of(format) {
        Some(session) => session.open(source, options),
        None => Err(ReadError::NoReader(format)),
    }
}

/// The session format whose records these are.
fn session_in(text: &str, shape: &Shape) -> Option<Format> {
    let records: Vec<_> = match shape {
        Shape::Whole(json) => vec![json.text(text)],
        Shape::Lines(lines) => {
            let good = lines.iter().filter(|line| line.broken.is_none());
            good.take(LINES_TO_TELL)
                .map(|line| line.span.text(text))
                .collect()
        }
    };
    if detect::is_rollout(records.iter().copied()) {
        Some(Format::Codex)
    } else if detect::is_session(records.iter().copied()) {
        Some(Format::Claude)
    } else {
        logs::of(&records)
    }
}

/// The records of a file: its lines, or the one value that it is.
///
/// # Errors
/// When it is no JSON, or a line of it is none and reading is not lenient.
pub(crate) fn file_records(
    source: &Source,
    lenient: bool,
) -> Result<(Vec<Span>, Vec<Fault>), ReadError> {
    match shape::of(source, lenient)? {
        Shape::Whole(json) => Ok((vec![json], Vec::new())),
        Shape::Lines(lines) => {
            let faults = broken_lines(source, &lines, lenient)?;
            let good = lines.iter().filter(|line| line.broken.is_none());
            Ok((good.map(|line| line.span).collect(), faults))
        }
    }
}

/// The error for a file that has nothing of the format that it was opened as.
pub(crate) fn unknown_file(source: &Source) -> ReadError {
    let first = file_records(source, true).ok();
    let first = first.and_then(|(records, _)| records.first().copied());
    shape::unknown(source, first.unwrap_or_else(|| source.body()))
}

fn broken_lines(source: &Source, lines: &[Line], lenient: bool) -> Result<Vec<Fault>, ReadError> {
    let mut faults = Vec::new();
    for line in lines {
        match &line.broken {
            None => {}
            Some(error) if !lenient => return Err(error.clone()),
            Some(error) => faults.push(Fault {
                line: source.line(line.span.start),
                found: error.to_string(),
                expected: "one JSON object",
            }),
        }
    }
    Ok(faults)
}

/// A list in which nothing looks like a message is some other list, whatever it is called.
fn refuse_strangers(
    source: &Source,
    found: &[Found],
    lists: &[Vec<Span>],
) -> Result<(), ReadError> {
    let text = source.text();
    let mut first = None;
    let is_value = |found: &Found| matches!(found.messages, Messages::Value { .. });
    if found.iter().any(is_value) {
        return Ok(());
    }
    let (mut items, mut others) = (false, false);
    for span in lists.iter().flatten() {
        let object = Object::of(span.text(text)).unwrap_or_default();
        let is_content = detect::is_content(&object);
        if object.get("role").is_some() || is_content || detect::is_langchain(&object) {
            return Ok(());
        }
        items |= detect::is_typed_item(&object);
        // Another program's, which says who speaks by the type and may have reasoning like ours between.
        let kind = object.string("type");
        others |= matches!(kind.as_deref(), Some("user" | "assistant" | "system"));
        first = first.or(Some(span));
    }
    match first {
        None => Ok(()),
        Some(_) if items && !others => Ok(()),
        Some(span) => Err(ReadError::UnknownShape {
            line: source.line(span.start),
            found: format!("{} in a list", shape::describe(span.text(text))),
        }),
    }
}

fn detect_in(text: &str, found: &[Found], lists: &[Vec<Span>]) -> Format {
    let requests = found.iter().filter_map(|found| match found.messages {
        Messages::Array { request, .. } => Some(request?.text(text)),
        Messages::Value { request, .. } => Some(request.text(text)),
        Messages::Lines(_) => None,
    });
    let messages = lists.iter().flatten();
    detect::format(requests, messages.map(|span| span.text(text)))
}

fn spans(text: &str, messages: &Messages) -> Vec<Span> {
    match messages {
        Messages::Array { array, .. } => elements(text, *array),
        Messages::Value { value, .. } => vec![*value],
        Messages::Lines(lines) => lines.clone(),
    }
}

fn elements(text: &str, array: Span) -> Vec<Span> {
    let list = Array::of(array.text(text)).unwrap_or_default().0;
    list.iter().map(|element| Span::of(text, element)).collect()
}

fn conversation(
    source: &Arc<Source>,
    dialect: &dyn Dialect,
    found: Found,
    spans: Vec<Span>,
    lenient: bool,
    faults: &mut Vec<Fault>,
) -> Result<Conversation, ReadError> {
    let text = source.text();
    let mut conversation = Conversation::new(found.label, Arc::clone(source));
    let request = match found.messages {
        Messages::Array { array, request } => {
            conversation.list = List::Array { array, request };
            request
        }
        Messages::Value { value, request } => {
            conversation.list = List::Value { value, request };
            Some(request)
        }
        Messages::Lines(_) => None,
    };
    if let Some(request) = request.and_then(|request| Object::of(request.text(text))) {
        conversation.fixed = dialect.fixed(&request);
    }
    for (index, span) in spans.into_iter().enumerate() {
        let handle = Handle(u32::try_from(index).unwrap_or(u32::MAX));
        let read = match depth(span.text(text)) {
            levels if levels > MAX_DEPTH => Err(Odd::new(
                format!("nesting {levels} levels deep"),
                "a message that nests less than 120 levels deep",
            )),
            _ => dialect.message(text, span, handle),
        };
        let (view, message) = match read {
            Ok(read) => read,
            Err(odd) if odd.is_no_message && !lenient => {
                return Err(ReadError::BadMessage {
                    line: source.line(span.start),
                    index,
                    found: odd.found,
                    expected: odd.expected,
                });
            }
            Err(odd) => {
                faults.push(Fault {
                    line: source.line(span.start),
                    found: odd.found,
                    expected: odd.expected,
                });
                opaque(text, span, handle, "unreadable")
            }
        };
        conversation.views.push(view);
        conversation.messages.push(message);
    }
    dialect.finish(&mut conversation, request, faults);
    forget_stale_reports(&mut conversation.views);
    Ok(conversation)
}

/// A list that was compacted before keeps messages with the reports of the longer list that they were written
/// in, and nothing tells them from newer ones: no report is better than one that starts a compaction at once.
fn forget_stale_reports(views: &mut [MessageView]) {
    if views.iter().any(|view| view.flags.summary) {
        views.iter_mut().for_each(|view| view.usage = None);
    }
}
