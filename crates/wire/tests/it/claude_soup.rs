//! Session files that no client would write: any records, any ids, any links.

use conspectus_core::id::Ident;
use conspectus_core::projection::Piece;
use conspectus_wire::{Document, Format, OpenOptions, RenderContext};
use proptest::prelude::*;

use crate::support::{everything, keep, script, shape, summary};

/// Few ids, so that they repeat, dangle and run in circles.
fn id() -> impl Strategy<Value = String> {
    (0..12u8).prop_map(|n| format!("i{n}"))
}

fn record() -> impl Strategy<Value = String> {
    let parent = prop_oneof![
        3 => id().prop_map(|id| format!("\"parentUuid\":\"{id}\",")),
        1 => Just("\"parentUuid\":null,".to_owned()),
        1 => Just(String::new()),
    ];
    let uuid = prop_oneof![
        6 => id().prop_map(|id| format!("\"uuid\":\"{id}\",")),
        1 => Just(String::new()),
        1 => Just("\"uuid\":7,".to_owned()),
    ];
    let call = (0..3u8, id()).prop_map(|(n, reply)| {
        format!(r#""type":"assistant","message":{{"id":"{reply}","role":"assistant","content":[{{"type":"tool_use","id":"c{n}","name":"T","input":{{}}}}]}}"#)
    });
    let result = (0..3u8).prop_map(|n| {
        format!(r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"out"}}]}}"#)
    });
    let boundary = (id(), prop::collection::vec(id(), 0..4)).prop_map(|(anchor, list)| {
        format!(
            r#""type":"system","subtype":"compact_boundary","compactMetadata":{{"preservedMessages":{{"anchorUuid":"{anchor}","uuids":{list:?}}}}}"#
        )
    });
    let segment = (id(), id(), id()).prop_map(|(head, anchor, tail)| {
        format!(
            r#""type":"system","subtype":"compact_boundary","compactMetadata":{{"preservedSegment":{{"headUuid":"{head}","anchorUuid":"{anchor}","tailUuid":"{tail}"}}}}"#
        )
    });
    let body = prop_oneof![
        4 => "[a-z]{1,4}".prop_map(|t| format!(r#""type":"user","message":{{"role":"user","content":"{t}"}}"#)),
        3 => id().prop_map(|reply| format!(r#""type":"assistant","message":{{"id":"{reply}","role":"assistant","content":[{{"type":"text","text":"t"}}]}}"#)),
        3 => call,
        3 => result,
        1 => boundary,
        1 => segment,
        1 => Just(r#""type":"progress""#.to_owned()),
        1 => Just(r#""type":"system","subtype":"local_command","content":"out""#.to_owned()),
        1 => Just(r#""type":"user","isCompactSummary":true,"message":{"role":"user","content":"old summary"}"#.to_owned()),
        1 => Just(r#""type":"user","message":{"role":"user","content":[]}"#.to_owned()),
        1 => Just(r#""type":"user","type":"user","message":{"role":"user","content":"twice"}"#.to_owned()),
        1 => Just(r#""type":"user","message":7"#.to_owned()),
    ];
    let whole =
        (parent, uuid, prop::bool::weighted(0.2), body).prop_map(|(parent, uuid, side, body)| {
            format!("{{{parent}{uuid}\"isSidechain\":{side},{body}}}\n")
        });
    prop_oneof![
        20 => whole,
        1 => "[{\\[\"x][^\n]{0,20}\n",
    ]
}

fn open(text: &str) -> Document {
    let options = OpenOptions {
        format: Some(Format::Claude),
        lenient: true,
    };
    Document::open(text.as_bytes().to_vec(), &options).expect("lenient reading goes on")
}

proptest! {
    #[test]
    fn what_is_kept_is_what_is_read(
        records in prop::collection::vec(record(), 1..24),
        choice in prop::collection::vec(any::<bool>(), 24),
        with_summary in any::<bool>(),
    ) {
        let text = records.concat();
        let document = open(&text);
        let conversation = &document.conversations()[0];
        let whole = document.render(&[(0, &everything(conversation))], &RenderContext::default());
        prop_assert_eq!(whole.unwrap(), text.as_bytes());

        let shown = shape(conversation);
        let mut pieces: Vec<Piece> = Vec::new();
        let mut expect: Vec<(String, Option<Ident>)> = Vec::new();
        if with_summary {
            pieces.push(summary("S"));
            expect.push(("user!summary: text=S".to_owned(), None));
        }
        for (n, view) in conversation.views().iter().enumerate() {
            if choice[n % choice.len()] {
                pieces.push(keep(view.handle.0));
                expect.push((shown[n].clone(), Some(view.ident)));
            }
        }
        let bytes = document.render(&[(0, &script(pieces))], &RenderContext::default()).unwrap();
        let after = String::from_utf8(bytes).unwrap();
        prop_assert!(after.starts_with(&text));
        let again = open(&after);
        let conversation = &again.conversations()[0];
        // A copy of what is opaque says the same but for its id, so its digest and text differ.
        let plain = |row: &str| !row.contains("opaque");
        let rows: Vec<_> = shape(conversation).into_iter().zip(conversation.views()).collect();
        prop_assert_eq!(rows.len(), expect.len(), "{}", after);
        for ((row, view), (expected, ident)) in rows.into_iter().zip(expect) {
            if plain(&expected) {
                prop_assert_eq!(&row, &expected, "{}", after);
                prop_assert!(ident.is_none_or(|ident| ident == view.ident));
            }
        }
    }
}
