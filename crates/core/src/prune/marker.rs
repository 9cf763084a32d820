//! The words that stand where something was cut. English, ASCII, nothing that JSON would have to escape.

use crate::id::Ident;
use crate::view::MediaKind;

const PREFIX: &str = "cx-";
const DIGITS: usize = 12;

/// The reference of a cut: found again by a look-up in the records' patches.
pub(super) fn reference(removed: &str) -> String {
    reference_to(Ident::of(removed))
}

/// The same, where the digest of what is cut is known.
pub(super) fn reference_to(removed: Ident) -> String {
    [PREFIX, &removed.short(DIGITS)].concat()
}

/// The first reference of a pruned text in `text`, such as `cx-0123456789ab`.
///
/// A call whose arguments hold one was copied from a shortened history: a host can refuse it, or put the
/// full text back first.
pub fn find_reference(text: &str) -> Option<&str> {
    let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    text.match_indices(PREFIX).find_map(|(start, _)| {
        let digits = start + PREFIX.len();
        let candidate = text.as_bytes().get(digits..digits + DIGITS)?;
        let ends = !text
            .as_bytes()
            .get(digits + DIGITS)
            .is_some_and(u8::is_ascii_alphanumeric);
        (ends && candidate.iter().all(is_digit)).then(|| &text[start..digits + DIGITS])
    })
}

/// How many words a marker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Lines of its own.
    Long,
    /// Inside a line or a JSON string.
    Short,
}

impl Length {
    /// The marker for `removed` of `total` characters.
    pub(super) fn marker(self, reference: &str, removed: usize, total: usize) -> String {
        match self {
            Self::Long => format!(
                "\n[{reference}: {removed} of {total} characters are left out here. The full text is kept: \
                 recall it by this reference, or ask the tool again for the part that is needed.]\n"
            ),
            Self::Short => {
                format!(
                    "[{reference}: {removed} of {total} characters left out, recall by reference]"
                )
            }
        }
    }

    /// The most characters that a marker for a text of `total` characters can have.
    pub(super) fn longest(self, total: usize) -> usize {
        let reference = "c".repeat(PREFIX.len() + DIGITS);
        self.marker(&reference, total, total).len()
    }
}

/// For an answer that stands again in the answer to the call `id` (empty if it has none).
pub(super) fn duplicate_text(reference: &str, characters: usize, id: &str) -> String {
    // Ids are short; a long one is data, and must not make the marker longer than what it replaces.
    let id = if id.len() <= 64 { id } else { "" };
    if id.is_empty() {
        format!("[{reference}: {characters} characters left out, a later answer says the same]")
    } else {
        format!(
            "[{reference}: {characters} characters left out, the later answer to {id} says the same]"
        )
    }
}

/// For a picture, sound or file that stands again further on.
pub(super) fn duplicate_media(reference: &str, kind: MediaKind) -> String {
    let name = name(kind);
    format!("[{reference}: {name} left out, the same one stands further on]")
}

/// For an old picture, sound or file of so many bytes, as it was written.
pub(super) fn left_out_media(reference: &str, kind: MediaKind, bytes: u32) -> String {
    let name = name(kind);
    format!("[{reference}: {name} of {bytes} bytes left out, recall by reference]")
}

fn name(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "recording",
        MediaKind::Video => "video",
        MediaKind::File => "file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_whole() {
        let rows = [
            ("", None),
            ("x [cx-0123456789ab: 5 of 9", Some("cx-0123456789ab")),
            ("cx-0123456789a", None),
            ("cx-0123456789abc", None),
            ("cx-012345678Zab, cx-aaaaaaaaaaaa", Some("cx-aaaaaaaaaaaa")),
            ("cx-é123456789ab", None),
        ];
        for (text, found) in rows {
            assert_eq!(find_reference(text), found, "{text:?}");
        }
        let made = Length::Long.marker(&reference("gone"), 4, 9);
        assert_eq!(find_reference(&made), Some(reference("gone").as_str()));
    }
}
