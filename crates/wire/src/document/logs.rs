//! Logs of other programs, told by what only they write. Looked at before messages are: some hold lists of messages
//! too.

use crate::format::Format;
use crate::json::{Array, Kind, Object};

/// The format of the log that these are the records of: a file's lines, or the one value that it is.
pub(super) fn of(records: &[&str]) -> Option<Format> {
    let all = || records.iter().copied();
    let is_list = matches!(records, [one] if Kind::of(one) == Kind::Array);
    // Messages are nobody's log.
    if records.first().is_some_and(|first| is_message(first)) && !crate::goose::is_it(all()) {
        return None;
    }
    if is_list {
        return crate::openhands::is_it(all()).then_some(Format::OpenHands);
    }
    if crate::pi::is_it(all()) {
        Some(Format::Pi)
    } else if crate::copilot::is_it(all()) {
        Some(Format::Copilot)
    } else if crate::inspect::is_it(all()) {
        Some(Format::Inspect)
    } else if crate::swe_agent::is_it(all()) {
        Some(Format::SweAgent)
    } else if crate::openhands::is_it(all()) {
        Some(Format::OpenHands)
    } else if crate::gemini_cli::is_it(all()) {
        Some(Format::GeminiCli)
    } else if crate::goose::is_it(all()) {
        Some(Format::Goose)
    } else {
        None
    }
}

fn is_message(json: &str) -> bool {
    match Kind::of(json) {
        Kind::Array => Array::first(json).and_then(Object::of),
        _ => Object::of(json),
    }
    .is_some_and(|object| object.get("role").is_some())
}
