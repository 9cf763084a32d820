//! One message after its patches: the source with the patched texts spliced in and the removed parts cut out.
//!
//! Patches mean here exactly what [`conspectus_core::patch::Patched`] shows the core: several cuts of one text
//! apply one after the other, the first cut of a leaf counts, a cut that does not fit leaves its text alone.
//! Beyond that, opaque parts and signed reasoning are never changed, and a cut of a picture replaces its block
//! by a text block, since half a picture is none.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use conspectus_core::json::string_leaves;
use conspectus_core::patch::{Patch, Site, cut};
use conspectus_core::view::{MessageView, PartKind};

use crate::conversation::{Emptied, Home, Message, Place, TextAt};
use crate::json::{Array, Span, Splices, string};

/// The message's JSON after `patches`, or `None` when nothing of it is left (reasoning alone is nothing: it
/// belongs to what it led to).
pub(crate) fn edited(
    source: &str,
    view: &MessageView,
    message: &Message,
    patches: &[Patch],
) -> Option<String> {
    let gone = removed(view, patches);
    let is_outer = |n: &usize| view.parts[*n].inside.is_none();
    let is_left = |n: &usize| !gone.contains(n);
    let says = |n: &usize| !matches!(view.parts[*n].kind, PartKind::Reasoning { .. });
    let outer = || (0..view.parts.len()).filter(is_outer);
    let is_whole = |n: &usize| message.parts.get(*n).is_some_and(|p| p.home == Home::Whole);
    if gone.iter().any(is_whole) {
        return None;
    }
    if !gone.is_empty() {
        let anything = outer().filter(is_left).count() > 0;
        let said_something = outer().filter(says).count() > 0;
        let says_something = outer().filter(is_left).filter(says).count() > 0;
        if !anything || (said_something && !says_something) {
            return None;
        }
    }
    let cuts = Cuts::by_part(patches);
    let mut splices = Splices::new();
    let mut lists: BTreeMap<Span, (Emptied, BTreeSet<Span>)> = BTreeMap::new();
    let mut members: BTreeMap<Span, BTreeSet<Span>> = BTreeMap::new();
    for (n, place) in message.parts.iter().enumerate().take(view.parts.len()) {
        let part = &view.parts[n];
        let with_its_result = part.inside.is_some_and(|r| gone.contains(&usize::from(r)));
        if with_its_result {
            continue;
        }
        if gone.contains(&n) {
            for place in [place].into_iter().chain(&place.copies) {
                match place.home {
                    Home::Element { array, emptied } => {
                        let list = lists.entry(array).or_insert((emptied, BTreeSet::new()));
                        list.1.insert(place.block);
                    }
                    Home::Member(object) => {
                        members.entry(object).or_default().insert(place.block);
                    }
                    Home::Content(emptied) => {
                        empty(&mut splices, &mut members, source, place.block, emptied);
                    }
                    Home::Whole => {}
                }
            }
            continue;
        }
        if let Some(cuts) = cuts.get(&n) {
            change(&mut splices, source, &part.kind, place, cuts);
        }
    }
    for (array, (emptied, blocks)) in lists {
        let count = Array::of(array.text(source)).unwrap_or_default().0.len();
        if blocks.len() == count && emptied != Emptied::List {
            empty(&mut splices, &mut members, source, array, emptied);
        } else {
            splices.remove_elements(source, array, &blocks);
        }
    }
    for (object, values) in members {
        splices.remove_members(source, object, &values);
    }
    Some(splices.apply(source, message.span))
}

/// The parts that go. What stands inside a result goes with it.
fn removed(view: &MessageView, patches: &[Patch]) -> BTreeSet<usize> {
    let named = patches.iter().filter_map(|patch| match patch {
        Patch::Remove { part, .. } => Some(usize::from(*part)),
        Patch::Cut { .. } => None,
    });
    let mut gone: BTreeSet<usize> = named.filter(|n| *n < view.parts.len()).collect();
    let inside = (0..view.parts.len()).filter(|n| {
        view.parts[*n]
            .inside
            .is_some_and(|result| gone.contains(&usize::from(result)))
    });
    let inside: Vec<_> = inside.collect();
    gone.extend(inside);
    gone
}

fn empty(
    splices: &mut Splices,
    members: &mut BTreeMap<Span, BTreeSet<Span>>,
    source: &str,
    value: Span,
    emptied: Emptied,
) {
    match emptied {
        Emptied::Null => splices.replace(value, "null"),
        Emptied::Text => splices.replace(value, "\"\""),
        Emptied::List => splices.replace(value, "[]"),
        Emptied::Nothing(object) => {
            debug_assert!(object.text(source).contains(value.text(source)));
            members.entry(object).or_default().insert(value);
        }
    }
}

/// The cuts of one part.
#[derive(Default)]
struct Cuts<'a> {
    /// Of its whole text, one after the other.
    text: Vec<(&'a Range<u32>, &'a str)>,
    /// Of its leaves.
    leaves: BTreeMap<u32, (&'a Range<u32>, &'a str)>,
}

impl<'a> Cuts<'a> {
    fn by_part(patches: &'a [Patch]) -> BTreeMap<usize, Self> {
        let mut by_part: BTreeMap<usize, Self> = BTreeMap::new();
        for patch in patches {
            if let Patch::Cut {
                part,
                site,
                range,
                marker,
                ..
            } = patch
            {
                let cuts = by_part.entry(usize::from(*part)).or_default();
                match site {
                    Site::Text => cuts.text.push((range, marker)),
                    Site::Leaf(leaf) => {
                        cuts.leaves.entry(*leaf).or_insert((range, marker));
                    }
                }
            }
        }
        by_part
    }
}

fn change(splices: &mut Splices, source: &str, kind: &PartKind, place: &Place, cuts: &Cuts<'_>) {
    match kind {
        PartKind::Opaque { .. } | PartKind::Reasoning { bound: true } => {}
        PartKind::Media(_) => {
            if let (Home::Element { .. }, Some((_, marker))) = (place.home, cuts.text.last()) {
                let text = string::encode(marker);
                splices.replace(place.block, format!(r#"{{"type":"text","text":{text}}}"#));
            }
        }
        _ => {
            // A result that is a message's content may become a string whatever it was.
            let any_text =
                matches!(kind, PartKind::Result { .. }) && matches!(place.home, Home::Content(_));
            let before = place.text.read(source);
            for place in [place].into_iter().chain(&place.copies) {
                if place.text.read(source) == before {
                    change_text(splices, source, place.text, any_text, cuts);
                } else {
                    change_equal_leaves(splices, source, &before, place.text, cuts);
                }
            }
        }
    }
}

fn change_text(splices: &mut Splices, source: &str, at: TextAt, any_text: bool, cuts: &Cuts<'_>) {
    let (span, changed) = match at {
        TextAt::Nowhere => return,
        TextAt::String(span) => (span, cut_literal(span.text(source), cuts)),
        TextAt::Json(span) => (span, cut_json(span.text(source), any_text, cuts)),
        TextAt::Response(span) => {
            let cut = cut_json(span.text(source), true, cuts);
            let as_object = |text: String| match text.starts_with('{') {
                true => text,
                false => format!(r#"{{"output":{text}}}"#),
            };
            (span, cut.map(as_object))
        }
    };
    if let Some(changed) = changed {
        splices.replace(span, changed);
    }
}

/// A copy that spells the arguments differently: the leaves that say the same are cut the same.
fn change_equal_leaves(
    splices: &mut Splices,
    source: &str,
    before: &str,
    at: TextAt,
    cuts: &Cuts<'_>,
) {
    let here = at.read(source);
    let (Some(ours), Some(theirs)) = (string_leaves(before), string_leaves(&here)) else {
        return;
    };
    let says = |json: &str, leaves: &[Range<usize>], n: u32| {
        let range = leaves.get(n as usize)?.clone();
        Some(string::decode(json.get(range)?).into_owned())
    };
    let equal = |n: u32| {
        let text = says(before, &ours, n);
        text.is_some() && text == says(&here, &theirs, n)
    };
    let same = cuts.leaves.iter().filter(|(n, _)| equal(**n));
    let cuts = Cuts {
        text: Vec::new(),
        leaves: same.map(|(n, cut)| (*n, *cut)).collect(),
    };
    if !cuts.leaves.is_empty() {
        change_text(splices, source, at, false, &cuts);
    }
}

/// A string literal after the cuts of its text, and of the leaves of the JSON that its text is.
fn cut_literal(literal: &str, cuts: &Cuts<'_>) -> Option<String> {
    let mut now = literal.to_owned();
    for (range, marker) in &cuts.text {
        if let Some(next) = string::cut(&now, usize_range(range), marker) {
            now = next;
        }
    }
    if !cuts.leaves.is_empty() {
        // Twice: the leaf's offsets in the decoded JSON, and those in the literal.
        let json = string::decode(&now).into_owned();
        let inner = leaf_ranges(&json, cuts);
        let ranges: Vec<_> = inner.iter().map(|(range, _)| range.clone()).collect();
        let mut splices = Splices::new();
        for (outer, (_, marker)) in string::locate_all(&now, &ranges).into_iter().zip(inner) {
            if let Some(outer) = outer {
                splices.replace(outer.into(), string::encode_inner(&marker));
            }
        }
        now = splices.apply(&now, Span::new(0, now.len()));
    }
    (now != literal).then_some(now)
}

/// A JSON value after the cuts of its leaves. A cut of its text as a whole counts if JSON comes out of it,
/// or if any text will do.
fn cut_json(json: &str, any_text: bool, cuts: &Cuts<'_>) -> Option<String> {
    let mut splices = Splices::new();
    for (range, marker) in leaf_ranges(json, cuts) {
        splices.replace(range.into(), marker);
    }
    let mut now = splices.apply(json, Span::new(0, json.len()));
    let whole = cuts
        .text
        .iter()
        .fold(json.to_owned(), |text, (range, marker)| {
            cut(&text, range, marker)
        });
    if whole != json {
        if any_text {
            return Some(string::encode(&whole));
        }
        if serde_json::from_str::<&serde_json::value::RawValue>(&whole).is_ok() {
            now = whole;
        }
    }
    (now != json).then_some(now)
}

/// Where the leaf cuts lie in `json`, and the markers encoded for the inside of the leaf's literal.
fn leaf_ranges(json: &str, cuts: &Cuts<'_>) -> Vec<(Range<usize>, String)> {
    let leaves = match cuts.leaves.is_empty() {
        true => return Vec::new(),
        false => string_leaves(json).unwrap_or_default(),
    };
    let located = cuts.leaves.iter().filter_map(|(n, (range, marker))| {
        let leaf = leaves.get(*n as usize)?;
        let inside = string::locate(json.get(leaf.clone())?, usize_range(range))?;
        let range = inside.start + leaf.start..inside.end + leaf.start;
        Some((range, string::encode_inner(marker)))
    });
    located.collect()
}

fn usize_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
