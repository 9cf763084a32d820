//! Reads an input into a document.

use std::fs;
use std::io::Read as _;
use std::time::{SystemTime, UNIX_EPOCH};

use conspectus::core::id::IdentHasher;
use conspectus::wire::Fault;
use conspectus::{Document, OpenOptions, ReadError};
use serde::Serialize;

use crate::fail::{Exit, Fail, io_words};
use crate::inputs::{Input, Skipped};

/// An input that was read.
pub(crate) struct Opened {
    /// What it holds.
    pub(crate) document: Document,
    /// When it was last written, in milliseconds since 1970: the time of what is appended to it, so that the
    /// same file gives the same output.
    pub(crate) written_ms: u64,
}

impl Opened {
    /// A number that belongs to these bytes.
    pub(crate) fn seed(&self) -> u64 {
        let mut hash = IdentHasher::new();
        hash.field(self.document.bytes());
        let digest = hash.finish().0;
        digest[..8]
            .iter()
            .fold(0, |n, byte| (n << 8) | u64::from(*byte))
    }
}

/// What reading came to.
pub(crate) enum Read {
    /// Conversations.
    Opened(Opened),
    /// A file that was found in a directory and is something else.
    Skipped(Skipped),
}

/// A place in a file that was not understood, for JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FaultLine {
    /// Line, from 1.
    pub(crate) line: usize,
    /// What is there.
    pub(crate) found: String,
    /// What was expected.
    pub(crate) expected: &'static str,
}

impl From<&Fault> for FaultLine {
    fn from(fault: &Fault) -> Self {
        Self {
            line: fault.line,
            found: fault.found.clone(),
            expected: fault.expected,
        }
    }
}

/// # Errors
/// When it cannot be read, or was named and is no conversation.
pub(crate) fn open(input: &Input, options: &OpenOptions) -> Result<Read, Fail> {
    let (bytes, written) = bytes_of(input)
        .map_err(|error| Fail::about(Exit::Input, input.name(), &io_words(&error)))?;
    match Document::open(bytes, options) {
        Ok(document) => Ok(Read::Opened(Opened {
            document,
            written_ms: written,
        })),
        Err(error) if input.is_found() && is_something_else(&error) => Ok(Read::Skipped(Skipped {
            path: input.name(),
            why: in_short(&error),
        })),
        Err(error) => {
            let hint = match error {
                ReadError::UnknownShape { .. } => " (--format)",
                ReadError::BadMessage { .. } => " (--lenient)",
                _ => "",
            };
            let why = format!("{error}{hint}");
            Err(Fail::about(Exit::Input, input.name(), &why))
        }
    }
}

/// Why a file among others was passed over.
fn in_short(error: &ReadError) -> String {
    match error {
        ReadError::UnknownShape { line, found } => {
            format!("line {line}: {found} is no conversation that is known")
        }
        error => error.to_string(),
    }
}

/// Among the files of a directory, not every one is meant for us.
fn is_something_else(error: &ReadError) -> bool {
    !matches!(error, ReadError::BadMessage { .. })
}

/// One byte more than can be read is enough to know: a device may never end.
const ENOUGH: u64 = ReadError::MAX_BYTES + 1;

/// All of it, and when it was written.
pub(crate) fn bytes_of(input: &Input) -> std::io::Result<(Vec<u8>, u64)> {
    let mut bytes = Vec::new();
    let time = match input {
        Input::Stdin => {
            let stdin = std::io::stdin().lock();
            stdin.take(ENOUGH).read_to_end(&mut bytes)?;
            now()
        }
        Input::File { path, .. } => {
            let file = fs::File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.len() < ENOUGH {
                let size = usize::try_from(metadata.len()).unwrap_or_default();
                bytes.try_reserve_exact(size)?;
            }
            file.take(ENOUGH).read_to_end(&mut bytes)?;
            metadata.modified().unwrap_or_else(|_| now())
        }
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok((bytes, u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the adapter that hands the time to the format's writer"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
