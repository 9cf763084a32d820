//! Edits of one message, in decoded coordinates, and how they look from inside the core.
//!
//! A patch says which part loses which range of its decoded text and what stands there instead. The
//! surface lowers it to what it holds; `wire` maps decoded offsets to source offsets and splices.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::Handle;
use crate::view::{MessageView, Part, PartRef, Texts};

/// Which text of a part a cut means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// The part's whole text.
    Text,
    /// The n-th string value (keys not counted, document order) of the JSON that the part's text is.
    Leaf(u32),
}

/// Why a part was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchCause {
    /// Longer than the limit for one result.
    Oversized,
    /// The same text or media is sent once, elsewhere.
    Duplicate,
    /// Long arguments of an old call.
    Arguments,
    /// An old result masked to reclaim a batch.
    Masked,
    /// An answer that no call asked for.
    Orphan,
    /// Reasoning that would no longer verify behind a changed history.
    Reasoning,
    /// Nothing goes: the summary stands at the end of the system prompt.
    Summary,
}

/// One edit of one message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Patch {
    /// `range` of the decoded text at `site` goes and `marker` stands there.
    Cut {
        /// Index of the part.
        part: u16,
        /// Which text of it.
        site: Site,
        /// Byte range in the decoded text; both ends are character boundaries.
        range: Range<u32>,
        /// What stands there instead.
        marker: Arc<str>,
        /// Why.
        cause: PatchCause,
    },
    /// The part is left out.
    Remove {
        /// Index of the part.
        part: u16,
        /// Why.
        cause: PatchCause,
    },
}

impl Patch {
    /// The part that is changed.
    pub fn part(&self) -> u16 {
        match self {
            Self::Cut { part, .. } | Self::Remove { part, .. } => *part,
        }
    }

    /// Why it is changed.
    pub fn cause(&self) -> PatchCause {
        match self {
            Self::Cut { cause, .. } | Self::Remove { cause, .. } => *cause,
        }
    }
}

/// The texts of one message as they are after its patches; other messages are read through.
///
/// Counting through this view gives the size of the patched message, so there is no second formula for it.
/// Removed parts read as empty. JSON leaves are replaced inside the arguments' text.
#[derive(Clone, Copy)]
pub struct Patched<'a> {
    inner: &'a dyn Texts,
    message: Handle,
    patches: &'a [Patch],
}

impl<'a> Patched<'a> {
    /// `inner` with `patches` applied to `message`.
    pub fn new(inner: &'a dyn Texts, message: Handle, patches: &'a [Patch]) -> Self {
        Self {
            inner,
            message,
            patches,
        }
    }

    fn of_part(&self, at: PartRef) -> impl Iterator<Item = &'a Patch> + use<'a> {
        let hit = at.message == self.message;
        self.patches
            .iter()
            .filter(move |p| hit && p.part() == at.part)
    }
}

impl Texts for Patched<'_> {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        let mut patches = self.of_part(at).peekable();
        if patches.peek().is_none() {
            return self.inner.text(at);
        }
        let mut text = self.inner.text(at).into_owned();
        let mut leaves = Vec::new();
        for patch in patches {
            match patch {
                Patch::Remove { .. } => return Cow::Borrowed(""),
                Patch::Cut {
                    site: Site::Leaf(leaf),
                    range,
                    marker,
                    ..
                } => {
                    leaves.push((*leaf, range.clone(), marker.as_ref()));
                }
                Patch::Cut {
                    site: Site::Text,
                    range,
                    marker,
                    ..
                } => {
                    text = cut(&text, range, marker);
                }
            }
        }
        if leaves.is_empty() {
            Cow::Owned(text)
        } else {
            Cow::Owned(crate::json::cut_leaves(&text, &leaves))
        }
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        let mut patches = self.of_part(at).peekable();
        let source = self.inner.json(at)?;
        if patches.peek().is_none() {
            return Some(source);
        }
        if patches.any(|p| matches!(p, Patch::Remove { .. })) {
            return Some(Cow::Borrowed("null"));
        }
        // The block's spelling around the text is unchanged; its string is what the text now is.
        let text = self.text(at);
        Some(Cow::Owned(crate::json::with_text(
            &source,
            &self.inner.text(at),
            &text,
        )))
    }
}

/// Bytes of the message's texts and media after `edits`.
pub fn bytes(view: &MessageView, edits: &[Patch]) -> u64 {
    let of_part = |(part, at): (&Part, u16)| {
        let mut left = u64::from(part.len);
        for patch in edits.iter().filter(|p| p.part() == at) {
            match patch {
                Patch::Remove { .. } => return 0,
                Patch::Cut { range, marker, .. } => {
                    left = left.saturating_sub(u64::from(range.end.saturating_sub(range.start)))
                        + marker.len() as u64;
                }
            }
        }
        left
    };
    view.parts.iter().zip(0..).map(of_part).sum()
}

/// `text` with `range` replaced by `marker`. A range that is no longer valid leaves the text alone.
pub fn cut(text: &str, range: &Range<u32>, marker: &str) -> String {
    let (start, end) = (range.start as usize, range.end as usize);
    match (text.get(..start), text.get(end..)) {
        (Some(head), Some(tail)) if start <= end => [head, marker, tail].concat(),
        _ => text.to_owned(),
    }
}
