//! Session files: one record a line, each a JSON object. What a record means is the format's.

use crate::error::{Fault, ReadError};
use crate::json::{Kind, Object, Span};
use crate::source::Source;

const A_RECORD: &str = "one record a line, each a JSON object";

/// A line that is not blank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The whole file, which spans count in.
    pub(crate) file: &'a str,
    /// Its number, from 1.
    pub(crate) number: usize,
    /// What stands in it, without white space around.
    pub(crate) json: &'a str,
}

/// Reads every line that is not blank with `record`. When lenient, a line that is none becomes a fault.
///
/// # Errors
/// When not lenient: what `record` says of the first line that is none.
pub(crate) fn read<T>(
    source: &Source,
    lenient: bool,
    record: impl Fn(Line<'_>) -> Result<T, ReadError>,
) -> Result<(Vec<T>, Vec<Fault>), ReadError> {
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    let file = source.text();
    for (index, span) in source.lines().enumerate() {
        let (number, json) = (index + 1, span.text(file).trim());
        if json.is_empty() {
            continue;
        }
        let line = Line { file, number, json };
        match record(line) {
            Ok(record) => records.push(record),
            Err(error) if !lenient => return Err(error),
            Err(error) => faults.push(line.fault(error)),
        }
    }
    Ok((records, faults))
}

impl<'a> Line<'a> {
    /// Where it stands.
    pub(crate) fn span(self) -> Span {
        Span::of(self.file, self.json)
    }

    /// The line as an object.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn object(self) -> Result<Object<'a>, ReadError> {
        Object::parse(self.json).map_err(|error| match error.is_data() {
            true => self.bad(Kind::of(self.json).name(), A_RECORD),
            false => self.syntax(&error),
        })
    }

    /// The error of a record that does not hold what it should.
    pub(crate) fn bad(self, found: &str, expected: &'static str) -> ReadError {
        ReadError::BadMessage {
            line: self.number,
            index: self.number - 1,
            found: found.to_owned(),
            expected,
        }
    }

    fn syntax(self, error: &serde_json::Error) -> ReadError {
        let found = error.to_string();
        let found = found.split(" at line ").next().unwrap_or_default();
        ReadError::Syntax {
            line: self.number,
            column: error.column(),
            found: found.to_owned(),
            expected: match error.is_eof() {
                true => "the rest of the record: the line is cut off",
                false => A_RECORD,
            },
        }
    }

    fn fault(self, error: ReadError) -> Fault {
        let (found, expected) = match error {
            ReadError::BadMessage {
                found, expected, ..
            }
            | ReadError::Syntax {
                found, expected, ..
            } => (found, expected),
            other => (other.to_string(), A_RECORD),
        };
        Fault {
            line: self.number,
            found,
            expected,
        }
    }
}
