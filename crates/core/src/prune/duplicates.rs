//! Equal media and equal long answers: the newest copy stays, since it survives longest.

use std::collections::BTreeMap;

use super::marker::{duplicate_media, duplicate_text, reference_to};
use super::plan::Item;
use crate::id::Ident;
use crate::patch::{Patch, PatchCause, Site};
use crate::view::{MediaKind, MessageView, PartKind, PartRef, Texts};

/// Shorter answers are not worth a pointer. Bytes.
const LONG: u32 = 512;

/// How much of two texts of one length is compared before all of them are read. Bytes.
const HEAD: usize = 64;

/// What is compared: equal kinds of content only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Text,
    Media,
}

/// One copy of something.
struct Copy<'a> {
    index: usize,
    part: usize,
    class: Class,
    len: u32,
    media: Option<MediaKind>,
    /// The id of the call whose answer it stands in.
    answers: &'a str,
}

/// For each message of the window the patches that replace copies, oldest first. `may_go` says which parts
/// (message index, part index) can be replaced; every whole copy can be the one that stays.
pub(super) fn duplicates(
    window: &[Item<'_>],
    texts: &dyn Texts,
    may_go: impl Fn(usize, usize) -> bool,
) -> BTreeMap<usize, Vec<Patch>> {
    let copies: Vec<_> = window
        .iter()
        .enumerate()
        .flat_map(|(index, item)| candidates(index, item))
        .collect();
    // Most have a length of their own, or at least begin otherwise: only the rest is read.
    let copies = shared(copies, |copy| (copy.class, copy.len));
    let copies = shared(copies, |copy| {
        let head = texts.head(at(window, copy), HEAD);
        (copy.class, copy.len, head)
    });
    let mut groups: BTreeMap<(Class, Ident), Vec<&Copy<'_>>> = BTreeMap::new();
    for copy in &copies {
        let text = texts.text(at(window, copy));
        let group = groups.entry((copy.class, Ident::of(&text))).or_default();
        group.push(copy);
    }
    let mut patches: BTreeMap<usize, Vec<Patch>> = BTreeMap::new();
    for ((_, ident), group) in &groups {
        let Some((newest, older)) = group.split_last() else {
            continue;
        };
        for copy in older.iter().filter(|copy| may_go(copy.index, copy.part)) {
            let patch = pointer(copy, newest, &texts.text(at(window, copy)), *ident);
            patches.entry(copy.index).or_default().extend(patch);
        }
    }
    patches
}

/// Those whose key others have too, in order.
fn shared<'a, K: Ord>(copies: Vec<Copy<'a>>, key: impl Fn(&Copy<'a>) -> K) -> Vec<Copy<'a>> {
    let keys: Vec<K> = copies.iter().map(key).collect();
    let mut times: BTreeMap<&K, u32> = BTreeMap::new();
    for key in &keys {
        *times.entry(key).or_default() += 1;
    }
    let of_many = copies.into_iter().zip(&keys);
    of_many
        .filter(|(_, key)| times[key] > 1)
        .map(|(copy, _)| copy)
        .collect()
}

fn at(window: &[Item<'_>], copy: &Copy<'_>) -> PartRef {
    PartRef {
        message: window[copy.index].message.handle,
        part: u16::try_from(copy.part).unwrap_or(u16::MAX),
    }
}

/// The parts of a message that can have copies and are whole.
fn candidates<'a>(index: usize, item: &Item<'a>) -> impl Iterator<Item = Copy<'a>> {
    let (message, already) = (item.message, item.already);
    let parts = message.parts.iter().enumerate();
    parts.filter_map(move |(part, view)| {
        let answers = answered_by(message, part);
        let (class, media) = match view.kind {
            PartKind::Media(kind) if view.len > 0 => (Class::Media, Some(kind)),
            PartKind::Text if view.inside.is_some() && view.len >= LONG => (Class::Text, None),
            PartKind::Result { .. } if view.len >= LONG => (Class::Text, None),
            _ => return None,
        };
        let is_whole = already
            .iter()
            .all(|patch| usize::from(patch.part()) != part);
        is_whole.then_some(Copy {
            index,
            part,
            class,
            len: view.len,
            media,
            answers,
        })
    })
}

/// The id of the call that the result at or around `part` answers.
fn answered_by(message: &MessageView, part: usize) -> &str {
    let result = message.parts[part].inside.map_or(part, usize::from);
    match message.parts.get(result).map(|part| &part.kind) {
        Some(PartKind::Result { id, .. }) => id.as_str(),
        _ => "",
    }
}

/// Replaces `copy`, whose text is `text` with the digest `ident`. `None` when nothing would be gained.
fn pointer(copy: &Copy<'_>, newest: &Copy<'_>, text: &str, ident: Ident) -> Option<Patch> {
    let reference = reference_to(ident);
    let marker = match copy.media {
        Some(kind) => duplicate_media(&reference, kind),
        None => {
            let chars = text.chars().count();
            let marker = duplicate_text(&reference, chars, newest.answers);
            if marker.chars().count() >= chars {
                return None;
            }
            marker
        }
    };
    Some(Patch::Cut {
        part: u16::try_from(copy.part).ok()?,
        site: Site::Text,
        range: 0..u32::try_from(text.len()).ok()?,
        marker: marker.into(),
        cause: PatchCause::Duplicate,
    })
}
