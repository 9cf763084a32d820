//! Secrets that a configuration's patterns know are taken out before anything is cut.
//!
//! Facts are pieces: a line of a result, an argument, the beginning of a command. A pattern may need more than the piece
//! that is kept, before it, behind it or around it, so it is tried on what was said as a whole. What is built in is known
//! by what stands close to it; for that a look at the place of the cut is enough
//! ([`cut_clear`](super::redact::cut_clear)), and it costs nothing where there are no patterns.

use std::borrow::Cow;

use serde_json::Value;

use crate::redact::{Found, Redactor};

/// The redactor, where it has patterns of a configuration.
pub(super) fn by_patterns(redactor: &Redactor) -> Option<&Redactor> {
    redactor.has_patterns().then_some(redactor)
}

/// A text of which pieces will be kept.
pub(super) fn clean<'t>(text: Cow<'t, str>, redactor: Option<&Redactor>) -> Cow<'t, str> {
    let Some(redactor) = redactor else {
        return text;
    };
    let text = match redactor.redact(&text) {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => text,
    };
    // In JSON line ends and quotation marks are spelled in other ways than they are meant.
    if !text.trim_start().starts_with(['{', '[']) {
        return text;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
        return text;
    };
    match clean_value(&mut value, redactor) {
        true => Cow::Owned(value.to_string()),
        false => text,
    }
}

/// The strings of a value. Whether any was changed.
pub(super) fn clean_value(value: &mut Value, redactor: &Redactor) -> bool {
    match value {
        Value::String(text) => match redactor.redact(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        },
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, item| clean_value(item, redactor) | any),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |any, field| clean_value(field, redactor) | any),
        _ => false,
    }
}

/// A message of which sentences are kept as they were said, so that later words still mean them.
#[derive(Default)]
pub(super) struct Message<'a> {
    text: &'a str,
    found: Vec<Found>,
    redactor: Option<&'a Redactor>,
}

impl<'a> Message<'a> {
    pub(super) fn new(text: &'a str, redactor: Option<&'a Redactor>) -> Self {
        Self {
            text,
            found: redactor.map(|r| r.find(text)).unwrap_or_default(),
            redactor,
        }
    }

    /// A part of it: word for word, unless it begins or ends inside of a secret. What is left of that would be known by
    /// nobody, so it goes at once.
    pub(super) fn part<'p>(&self, part: &'p str) -> Cow<'p, str> {
        let range = (part.as_ptr() as usize)
            .checked_sub(self.text.as_ptr() as usize)
            .map(|start| start..start + part.len())
            .filter(|range| self.text.get(range.clone()) == Some(part));
        let (Some(range), Some(redactor)) = (range, self.redactor) else {
            return Cow::Borrowed(part);
        };
        let is_cut = |f: &Found| {
            let is_inside = |at: usize| f.range.start < at && at < f.range.end;
            is_inside(range.start) || is_inside(range.end)
        };
        match self.found.iter().any(is_cut) {
            true => Cow::Owned(redactor.redact_stretch(self.text, range)),
            false => Cow::Borrowed(part),
        }
    }
}
