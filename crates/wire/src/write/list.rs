//! The list that the messages stand in, with its own spacing: an array, or the lines of a file.

use std::borrow::Cow;

use crate::conversation::Conversation;
use crate::json::{Span, compact};

use super::Slot;

/// The array at `array` with these messages in it. The spaces before a message stay with it; new ones, and
/// those that change place, are spaced like the list's second message.
pub(crate) fn array(conversation: &Conversation, array: Span, slots: &[Slot]) -> String {
    let source = conversation.source.text();
    // Every element of the array is a message.
    let spans: Vec<Span> = conversation.messages.iter().map(|m| m.span).collect();
    let mut out = String::with_capacity(array.len());
    out.push('[');
    let gap = |n: usize| {
        let from = match n {
            0 => array.start + 1,
            n => spans[n - 1].end,
        };
        let text = Span::new(from, spans[n].start).text(source);
        text.split_once(',').map_or(text, |(_, space)| space)
    };
    let first = if spans.is_empty() { "" } else { gap(0) };
    let usual = if spans.len() > 1 { gap(1) } else { first };
    let tail = |n: usize| {
        let to = spans.get(n + 1).map_or(array.end - 1, |next| next.start);
        let text = Span::new(spans[n].end, to).text(source);
        text.split_once(',').map_or(text, |(space, _)| space)
    };
    for (position, slot) in slots.iter().enumerate() {
        let index = match slot {
            Slot::Kept { handle, .. } => Some(handle.0 as usize).filter(|n| *n < spans.len()),
            Slot::Made(_) => None,
        };
        if position > 0 {
            out.push(',');
        }
        out.push_str(match (position, index) {
            (0, _) => first,
            (_, Some(n)) if n > 0 => gap(n),
            _ => usual,
        });
        out.push_str(text(conversation, slot));
        let is_last = position + 1 == slots.len();
        match index {
            _ if is_last => {}
            Some(n) if n + 1 < spans.len() => out.push_str(tail(n)),
            _ => {}
        }
    }
    match spans.len().checked_sub(1) {
        Some(last) if !slots.is_empty() => out.push_str(tail(last)),
        Some(_) => {}
        None if slots.is_empty() => return array.text(source).to_owned(),
        None => {}
    }
    out.push(']');
    out
}

/// What stands in the place of a message that was the list by itself: that message while it is alone, a list of
/// messages when it is not.
pub(crate) fn value(
    conversation: &Conversation,
    slots: &[Slot],
    as_message: impl Fn(&str) -> String,
) -> String {
    if let [Slot::Kept { .. }] = slots {
        return text(conversation, &slots[0]).to_owned();
    }
    let list = slots.iter().map(|slot| match slot {
        Slot::Made(text) => text.clone(),
        Slot::Kept { .. } => as_message(text(conversation, slot)),
    });
    format!("[{}]", list.collect::<Vec<_>>().join(","))
}

/// The JSON of each of `slots`.
pub(crate) fn texts<'a>(
    conversation: &'a Conversation,
    slots: &'a [Slot],
) -> impl Iterator<Item = &'a str> {
    slots.iter().map(|slot| text(conversation, slot))
}

/// The whole file as lines: what is no message (blank or unreadable lines) stays where it was.
pub(crate) fn lines(conversation: &Conversation, slots: &[Slot]) -> String {
    let source = conversation.source.text();
    let line_end = match source.find('\n') {
        Some(at) if source[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let mut out = String::with_capacity(source.len());
    // Everything before this offset is written or was left out.
    let mut done = conversation.source.body().start;
    out.push_str(&source[..done]);
    // A message alone in its file may be spread over lines; beside others it may not.
    let one_line = |slot| match text(conversation, slot) {
        text if slots.len() > 1 && text.contains('\n') => compact(text),
        text => Cow::Borrowed(text),
    };
    for slot in slots {
        let Slot::Kept { handle, .. } = slot else {
            start_line(&mut out, line_end);
            out.push_str(&one_line(slot));
            out.push_str(line_end);
            continue;
        };
        let Some(message) = conversation.message(*handle) else {
            continue;
        };
        if message.span.start >= done {
            skip(conversation, &mut out, done, message.span.start);
        }
        start_line(&mut out, line_end);
        out.push_str(&one_line(slot));
        done = done.max(message.span.end);
        // The rest of the line, its end included.
        let rest = &source[message.span.end..];
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        out.push_str(&rest[..end]);
        done = done.max(message.span.end + end);
    }
    skip(conversation, &mut out, done, source.len());
    out
}

/// Writes what stands between two offsets and is no message.
fn skip(conversation: &Conversation, out: &mut String, from: usize, to: usize) {
    let source = conversation.source.text();
    let messages = &conversation.messages;
    let first = messages.partition_point(|m| m.span.start < from);
    let mut done = from;
    for message in messages[first..].iter().take_while(|m| m.span.start < to) {
        out.push_str(Span::new(done, message.span.start).text(source));
        let rest = &source[message.span.end..to];
        done = message.span.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    }
    out.push_str(Span::new(done, to).text(source));
}

fn start_line(out: &mut String, line_end: &str) {
    if !out.is_empty() && !out.ends_with('\n') && !out.ends_with('\u{feff}') {
        out.push_str(line_end);
    }
}

/// The JSON of a slot.
fn text<'a>(conversation: &'a Conversation, slot: &'a Slot) -> &'a str {
    match slot {
        Slot::Made(text) => text,
        Slot::Kept {
            edited: Some(text), ..
        } => text,
        Slot::Kept { handle, .. } => conversation.json_of(*handle),
    }
}
