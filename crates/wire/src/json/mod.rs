//! JSON whose bytes stay where they are.
//!
//! Nothing here builds a tree of values: an [`Object`] or an [`Array`] lists the *source text* of its
//! members, and [`Span::of`] says where in the file that text stands. Edits are [`Splices`] over those spans,
//! so whatever nobody touched keeps its own spelling. Strings are decoded, located and cut in [`string`].

mod compact;
mod list;
mod members;
pub mod splice;
pub mod string;

pub use compact::compact;
pub use list::{Array, Member, Object, TooManyKeys, depth};
pub use members::with_members;
pub use splice::Splices;

use std::ops::Range;

/// A range of bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// From `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Where `inner`, a piece of `outer`, stands in it.
    ///
    /// # Panics
    /// If `inner` is not a slice of `outer`: the two come from one file by construction.
    pub fn of(outer: &str, inner: &str) -> Self {
        let start = inner.as_ptr().addr().wrapping_sub(outer.as_ptr().addr());
        let end = start.wrapping_add(inner.len());
        assert!(
            start <= end && end <= outer.len(),
            "the inner text is a slice of the outer one"
        );
        Self { start, end }
    }

    /// The text that stands there.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }

    /// The number of bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// What a JSON text is, told by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
}

impl Kind {
    /// The kind of `json`, a JSON text without space around it.
    pub fn of(json: &str) -> Self {
        match json.as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }

    /// Its name with an article, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
        }
    }
}
