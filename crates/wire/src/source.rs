//! The bytes of one file as text, and where its lines begin.

use std::sync::OnceLock;

use crate::error::ReadError;
use crate::json::Span;

const BOM: char = '\u{feff}';

/// How files begin that are no text but are kept by programs whose conversations are read here.
const PACKED: [(&[u8], &str, &str); 2] = [
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "goose: `goose session export --format json`",
    ),
    (
        b"PK\x03\x04",
        "an archive",
        "Inspect: `inspect log convert --to json`",
    ),
];

/// The text of a file, byte order mark included: spans are byte offsets in the file.
#[derive(Debug)]
pub(crate) struct Source {
    text: String,
    newlines: OnceLock<Vec<usize>>,
}

impl Source {
    /// # Errors
    /// When the bytes are not UTF-8, too many, or nothing but space.
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, ReadError> {
        if bytes.len() as u64 > ReadError::MAX_BYTES {
            return Err(ReadError::TooLarge);
        }
        if let Some((_, what, hint)) = PACKED.iter().find(|(start, ..)| bytes.starts_with(start)) {
            return Err(ReadError::Packed { what, hint });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            ReadError::NotUtf8 {
                line: 1 + bytes[..offset].iter().filter(|b| **b == b'\n').count(),
                offset,
                byte: bytes.get(offset).copied().unwrap_or_default(),
            }
        })?;
        let source = Self {
            text,
            newlines: OnceLock::new(),
        };
        if source.body().text(&source.text).trim().is_empty() {
            return Err(ReadError::Empty);
        }
        Ok(source)
    }

    /// The bytes that it was made of.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// All of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// All of it without the byte order mark.
    pub(crate) fn body(&self) -> Span {
        let start = self.text.strip_prefix(BOM).map_or(0, |_| BOM.len_utf8());
        Span::new(start, self.text.len())
    }

    /// The line of the byte at `offset`, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let newlines = self
            .newlines
            .get_or_init(|| self.text.match_indices('\n').map(|(at, _)| at).collect());
        1 + newlines.partition_point(|newline| *newline < offset)
    }

    /// The lines of the body, line ends left out.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Span> {
        let body = self.body();
        body.text(&self.text).split_inclusive('\n').map(|line| {
            let at = Span::of(&self.text, line);
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let bare = bare.strip_suffix('\r').unwrap_or(bare);
            Span::new(at.start, at.start + bare.len())
        })
    }
}
