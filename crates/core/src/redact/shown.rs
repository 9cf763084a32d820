//! Texts as a summary may see them: shortened, and without secrets.

use std::borrow::Cow;
use std::ops::Range;

use super::{Found, Redactor};
use crate::id::Handle;
use crate::json::{leaf_text, string_leaves};
use crate::patch::{Patch, Patched, Site};
use crate::view::{PartRef, Texts};

/// The texts of one message after its patches, or of all messages where there are none, without secrets.
///
/// A cut that ends inside of a secret would leave a piece of it that nobody knows any more, so it is made to take
/// the whole.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    inner: &'a dyn Texts,
    redactor: &'a Redactor,
    message: Handle,
    patches: &'a [Patch],
}

impl<'a> Shown<'a> {
    /// The texts of all messages as they are.
    pub fn all(inner: &'a dyn Texts, redactor: &'a Redactor) -> Self {
        Self::patched(inner, redactor, Handle(0), &[])
    }

    /// The texts of a message after its patches.
    pub fn patched(
        inner: &'a dyn Texts,
        redactor: &'a Redactor,
        message: Handle,
        patches: &'a [Patch],
    ) -> Self {
        Self {
            inner,
            redactor,
            message,
            patches,
        }
    }

    /// The patches of a part, none of which cuts through a secret.
    fn widened(&self, at: PartRef) -> Vec<Patch> {
        let text = self.inner.text(at);
        let in_text = self.redactor.find(&text);
        let mut leaves = None;
        let mine = self.patches.iter().filter(|p| p.part() == at.part);
        mine.map(|patch| {
            let mut patch = patch.clone();
            if let Patch::Cut { site, range, .. } = &mut patch {
                match site {
                    Site::Text => widen(range, &in_text),
                    Site::Leaf(leaf) => {
                        let leaves =
                            leaves.get_or_insert_with(|| string_leaves(&text).unwrap_or_default());
                        let source = leaves.get(*leaf as usize);
                        if let Some(leaf) = source.and_then(|range| leaf_text(&text, range)) {
                            widen(range, &self.redactor.find(&leaf));
                        }
                    }
                }
            }
            patch
        })
        .collect()
    }
}

fn widen(range: &mut Range<u32>, found: &[Found]) {
    let is_inside =
        |f: &&Found, at: u32| f.range.start < at as usize && (at as usize) < f.range.end;
    let small = |at: usize, old: u32| u32::try_from(at).unwrap_or(old);
    if let Some(f) = found.iter().find(|f| is_inside(f, range.start)) {
        range.start = small(f.range.start, range.start);
    }
    if let Some(f) = found.iter().find(|f| is_inside(f, range.end)) {
        range.end = small(f.range.end, range.end);
    }
}

impl Texts for Shown<'_> {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        let is_patched =
            at.message == self.message && self.patches.iter().any(|p| p.part() == at.part);
        let text = if is_patched && self.redactor.is_on() {
            let patches = self.widened(at);
            let patched = Patched::new(self.inner, at.message, &patches);
            Cow::Owned(patched.text(at).into_owned())
        } else if is_patched {
            let patched = Patched::new(self.inner, at.message, self.patches);
            Cow::Owned(patched.text(at).into_owned())
        } else {
            self.inner.text(at)
        };
        match text {
            Cow::Borrowed(text) => self.redactor.redact(text),
            Cow::Owned(text) => match self.redactor.redact(&text) {
                Cow::Owned(redacted) => Cow::Owned(redacted),
                Cow::Borrowed(_) => Cow::Owned(text),
            },
        }
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        let json = self.inner.json(at)?;
        Some(Cow::Owned(self.redactor.redact(&json).into_owned()))
    }
}
