//! Writes JSON text by hand, so that numbers, key order, doubled keys and escapes stay as they are meant.

use super::Spelling;

/// A lone surrogate in JSON decodes to no character; the abstract text holds this one in its place, which
/// is also what a lossy reader shows.
pub(super) const LONE: char = char::REPLACEMENT_CHARACTER;

/// Writes in one spelling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer(pub(super) Spelling);

impl Writer {
    /// A JSON string.
    pub(super) fn string(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 2);
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                LONE => out.push_str("\\ud83d"),
                '/' if self.0.escaped => out.push_str("\\/"),
                c if c < ' ' || (self.0.escaped && !c.is_ascii()) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
        out
    }

    /// A JSON object of fields whose values are JSON text.
    pub(super) fn object(self, fields: &[(&str, String)]) -> String {
        let colon = if self.0.spaced { ": " } else { ":" };
        let fields: Vec<_> = fields
            .iter()
            .map(|(key, value)| [&self.string(key), colon, value].concat())
            .collect();
        ["{", &fields.join(self.comma()), "}"].concat()
    }

    /// A JSON array of values that are JSON text.
    pub(super) fn array(self, items: &[String]) -> String {
        ["[", &items.join(self.comma()), "]"].concat()
    }

    /// An array of messages.
    pub(super) fn list(self, items: &[String]) -> String {
        if self.0.spaced {
            ["[\n  ", &items.join(",\n  "), "\n]"].concat()
        } else {
            self.array(items)
        }
    }

    fn comma(self) -> &'static str {
        if self.0.spaced { ", " } else { "," }
    }
}

/// A JSON string in the plain spelling.
pub(super) fn plain_string(text: &str) -> String {
    Writer(Spelling::default()).string(text)
}

/// Whether `text` is a JSON object. Lone surrogates are fine, and so is any depth.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}
