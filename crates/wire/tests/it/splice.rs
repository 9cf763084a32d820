//! Any cut of any string, however it is spelled, equals decoding, cutting and encoding; and what is not cut keeps
//! its spelling.

use conspectus_core::json::{cut_leaves, leaf_text, string_leaves};
use conspectus_core::patch::{Patch, Patched, Site, cut};
use conspectus_core::view::{MessageView, PartKind, PartRef, Texts};
use conspectus_wire::json::{Array, Object, string};
use conspectus_wire::{Document, Format};
use proptest::prelude::*;

use crate::support::{self, cut_at, edit, fixtures, open_as, render};

/// What a lone surrogate is shown as.
const LONE: char = '\u{fffd}';

/// One character of a literal, in one of its spellings.
fn character() -> impl Strategy<Value = String> {
    let escaped = any::<char>().prop_map(|char| {
        let mut units = [0; 2];
        let units = char.encode_utf16(&mut units).iter();
        units
            .map(|unit| format!("\\u{unit:04x}"))
            .collect::<String>()
    });
    let plain = any::<char>().prop_map(|char| string::encode_inner(&char.to_string()));
    prop_oneof![
        4 => "[a-z {}\\[\\]:,]",
        2 => "[一-十]",
        1 => Just("😀".to_owned()),
        2 => prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\t", "\\b", "\\f", "\\r"]).prop_map(String::from),
        2 => escaped,
        1 => plain,
        1 => (0xd800..0xe000u32).prop_map(|unit| format!("\\u{unit:04X}")),
    ]
}

fn literal() -> impl Strategy<Value = String> {
    prop::collection::vec(character(), 0..24).prop_map(|chars| format!("\"{}\"", chars.concat()))
}

/// Two character boundaries of `text`, in order.
fn boundaries(
    text: &str,
    a: prop::sample::Index,
    b: prop::sample::Index,
) -> std::ops::Range<usize> {
    let mut all: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
    all.push(text.len());
    let (a, b) = (*a.get(&all), *b.get(&all));
    a.min(b)..a.max(b)
}

fn narrow(range: &std::ops::Range<usize>) -> std::ops::Range<u32> {
    u32::try_from(range.start).unwrap()..u32::try_from(range.end).unwrap()
}

/// The texts of a conversation after patches, as the core counts them, and after rendering, as the next reader
/// sees them.
fn check_patched(file: &str, document: &Document, message: usize, patches: &[Patch]) {
    let conversation = &document.conversations()[0];
    let view = &conversation.views()[message];
    let patched = Patched::new(conversation, view.handle, patches);
    let texts = |texts: &dyn Texts, view: &MessageView| -> Vec<String> {
        let at = |part| PartRef {
            message: view.handle,
            part,
        };
        (0..view.parts.len())
            .map(|n| texts.text(at(u16::try_from(n).unwrap())).into_owned())
            .collect()
    };
    let expect = texts(&patched, view);
    let count = u32::try_from(conversation.views().len()).unwrap();
    let index = view.handle.0;
    let done = render(
        document,
        (0..count).map(|n| {
            if n == index {
                edit(n, patches.to_vec())
            } else {
                support::keep(n)
            }
        }),
    );
    let again = open_as(&done, document.format());
    let again = &again.conversations()[0];
    let found = texts(again, &again.views()[message]);
    assert_eq!(found.len(), expect.len(), "{file} {patches:?}");
    for (found, expect) in found.iter().zip(expect) {
        let same_leaves = || {
            let leaves = |json: &str| -> Option<Vec<String>> {
                string_leaves(json)?
                    .iter()
                    .map(|range| leaf_text(json, range))
                    .collect()
            };
            leaves(found).is_some() && leaves(found) == leaves(&expect)
        };
        assert!(
            *found == expect || same_leaves(),
            "{file} {patches:?}: {found} {expect}"
        );
    }
}

/// The middle of a text, at character boundaries.
fn middle(text: &str) -> std::ops::Range<u32> {
    let (mut start, mut end) = (text.len() / 3, text.len() * 2 / 3);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    narrow(&(start..end))
}

#[test]
fn patches_mean_what_the_core_counts() {
    let mut files: Vec<(String, String)> = fixtures()
        .into_iter()
        .enumerate()
        .map(|(n, text)| (format!("fixture {n}"), text))
        .collect();
    match support::shared() {
        None => println!("shared data not found, 3 checks left out"),
        Some(folder) => {
            let names = [
                "deer-flow/5aa47db1-d0cb-4eb9-aea5-3dac1b371c5a__thread.json",
                "langchain-dumpd/summarization_seed_messages.json",
                "cline/session.messages.json",
            ];
            files.extend(names.map(|name| {
                let text = std::fs::read_to_string(folder.join("data").join(name)).unwrap();
                (name.to_owned(), text)
            }));
        }
    }
    let mut checked = 0;
    for (file, text) in files {
        let document = support::open(&text);
        let conversation = &document.conversations()[0];
        for (message, view) in conversation.views().iter().enumerate() {
            for (n, part) in view.parts.iter().enumerate() {
                let n = u16::try_from(n).unwrap();
                let text = conversation.text(PartRef {
                    message: view.handle,
                    part: n,
                });
                if text.is_empty() {
                    continue;
                }
                let patch = match &part.kind {
                    PartKind::Text
                    | PartKind::Result { .. }
                    | PartKind::Reasoning { bound: false } => {
                        support::cut(n, middle(&text), "[\"…\"]")
                    }
                    PartKind::Call { .. } => {
                        let Some(leaf) =
                            string_leaves(&text).and_then(|leaves| leaves.last().cloned())
                        else {
                            continue;
                        };
                        let last = u32::try_from(string_leaves(&text).unwrap().len() - 1).unwrap();
                        let value = leaf_text(&text, &leaf).unwrap();
                        cut_at(n, Site::Leaf(last), middle(&value), "[\"…\"]")
                    }
                    _ => continue,
                };
                check_patched(&file, &document, message, &[patch]);
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_the_source_equals_cutting_the_text(
        literal in literal(), a: prop::sample::Index, b: prop::sample::Index, marker in "[a\"\\\\…😀\n]{0,4}",
    ) {
        let text = string::decode(&literal).into_owned();
        let range = boundaries(&text, a, b);
        let source = string::locate(&literal, range.clone()).expect("character boundaries are located");
        let expect = cut(&text, &narrow(&range), &marker);
        match string::cut(&literal, range.clone(), &marker) {
            Some(done) => {
                prop_assert_eq!(string::decode(&done), expect);
                prop_assert!(done.starts_with(&literal[..source.start]));
                prop_assert!(done.ends_with(&literal[source.end..]));
            }
            // Only a cut that would make a pair of two lone surrogates.
            None => prop_assert!(marker.is_empty() && text.contains(LONE), "refused"),
        }
        // The same through a document, where an empty string is no part.
        prop_assume!(!text.is_empty());
        let before = format!(r#"[{{"role":"user","content":{literal},"z":1.0}}]"#);
        let done = render(&open_as(&before, Format::OpenAi), [edit(0, [support::cut(0, narrow(&range), &marker)])]);
        let message = Array::of(&done).unwrap().0[0];
        let content = Object::of(message).unwrap().get("content").unwrap();
        let expect = string::cut(&literal, range, &marker).unwrap_or(literal);
        prop_assert_eq!(content, expect);
        let rest_is_kept = done.ends_with(r#","z":1.0}]"#);
        prop_assert!(rest_is_kept);
    }

    #[test]
    fn anything_else_than_a_boundary_is_refused(literal in literal(), at in 0usize..200) {
        let text = string::decode(&literal).into_owned();
        prop_assert_eq!(string::locate(&literal, at..at).is_some(), text.is_char_boundary(at));
    }

    #[test]
    fn leaves_of_arguments_are_cut_through_both_layers(
        leaves in prop::collection::vec(literal(), 1..5), chosen: prop::sample::Index,
        a: prop::sample::Index, b: prop::sample::Index, marker in "[a\"\\\\…😀\n]{0,4}",
    ) {
        let members = leaves.iter().enumerate().map(|(n, leaf)| format!("\"k\\\"{n}\": [1, {leaf}]"));
        let json = format!("{{{}}}", members.collect::<Vec<_>>().join(", "));
        let leaf = chosen.index(leaves.len());
        let spans = string_leaves(&json).unwrap();
        // A leaf that holds a lone surrogate has no text in the core, which then leaves it alone.
        let Some(text) = leaf_text(&json, &spans[leaf]) else { return Ok(()); };
        let range = narrow(&boundaries(&text, a, b));
        let leaf = u32::try_from(leaf).unwrap();
        let expect = cut_leaves(&json, &[(leaf, range.clone(), &marker)]);
        let patch = cut_at(0, Site::Leaf(leaf), range, &marker);
        for arguments in [string::encode(&json), json.clone()] {
            let before = format!(r#"[{{"role":"assistant","tool_calls":[{{"id":"c","name":"f","arguments":{arguments}}}]}}]"#);
            let document = open_as(&before, Format::OpenAi);
            let done = render(&document, [edit(0, [patch.clone()])]);
            let again = open_as(&done, Format::OpenAi);
            let shown = support::shape(&again.conversations()[0])[0].clone();
            let shown = shown.strip_prefix("assistant: call c f=").unwrap();
            // Equal as JSON texts, and so leaf by leaf: the core spells the cut leaf anew, we keep its spelling.
            let texts = |json: &str| -> Vec<_> {
                string_leaves(json).unwrap().iter().map(|range| string::decode(&json[range.clone()]).into_owned()).collect()
            };
            prop_assert_eq!(texts(shown), texts(&expect));
        }
    }
}
