//! JSON that is changed in place.

use conspectus_wire::json::{
    Array, Kind, Object, Span, Splices, compact as compacted, depth, string,
};

use super::MAX_BYTES;

/// JSON in place: listing, decoding, cutting and splicing. The first byte picks what is taken out.
pub fn splice(data: &[u8]) {
    let (Some((pick, rest)), true) = (data.split_first(), data.len() <= MAX_BYTES) else {
        return;
    };
    let Ok(source) = std::str::from_utf8(rest) else {
        return;
    };
    let pick = usize::from(*pick);
    let _ = depth(source);
    let json = source.trim_matches([' ', '\t', '\r', '\n']);
    if serde_json::from_str::<&serde_json::value::RawValue>(json).is_err() {
        return;
    }
    let deep = depth(json) > 100;
    let same = |a: &str, b: &str| {
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text);
        match (value(a), value(b)) {
            (Ok(a), Ok(b)) => assert_eq!(a, b),
            // A lone surrogate, a number out of range, or levels without end: nothing to compare.
            (a, b) => assert_eq!(a.is_ok(), b.is_ok() && a.is_ok()),
        }
    };
    if !deep {
        same(json, &compacted(json));
    }
    match Kind::of(json) {
        Kind::Object => {
            let object = Object::parse(json).expect("well-formed");
            let spans = object.members.iter().map(|m| Span::of(json, m.value));
            taken_out(
                json,
                &spans.collect::<Vec<_>>(),
                pick,
                Splices::remove_members,
                |left| Object::parse(left).map(|o| o.members.len()).ok(),
            );
        }
        Kind::Array => {
            let array = Array::of(json).expect("well-formed");
            let spans = array
                .0
                .iter()
                .map(|e| Span::of(json, e))
                .collect::<Vec<_>>();
            taken_out(json, &spans, pick, Splices::remove_elements, |left| {
                Array::of(left).map(|a| a.0.len())
            });
        }
        Kind::String => literal(json, pick),
        _ => {}
    }
}

/// Takes some of the values out; what is left is well-formed and has as many fewer.
fn taken_out(
    json: &str,
    spans: &[Span],
    pick: usize,
    remove: impl Fn(&mut Splices, &str, Span, &std::collections::BTreeSet<Span>),
    count: impl Fn(&str) -> Option<usize>,
) {
    let gone = spans
        .iter()
        .enumerate()
        .filter(|(at, _)| (pick >> (at % 8)) & 1 == 1)
        .map(|(_, span)| *span)
        .collect();
    let whole = Span::new(0, json.len());
    let mut splices = Splices::new();
    remove(&mut splices, json, whole, &gone);
    let left = splices.apply(json, whole);
    assert_eq!(
        count(&left),
        Some(spans.len() - gone.len()),
        "{json} -> {left}"
    );
    // Every value replaced by a number.
    let mut splices = Splices::new();
    spans.iter().for_each(|span| splices.replace(*span, "0"));
    let left = splices.apply(json, whole);
    assert_eq!(count(&left), Some(spans.len()), "{json} -> {left}");
}

fn literal(json: &str, pick: usize) {
    let text = string::decode(json);
    assert_eq!(string::decode(&string::encode(&text)), text);
    let start = text.floor_char_boundary(text.len() * (pick % 16) / 16);
    let end = text
        .floor_char_boundary(text.len() * (pick / 16) / 16)
        .max(start);
    if let Some(cut) = string::cut(json, start..end, "[m]") {
        let expect = [&text[..start], "[m]", &text[end..]].concat();
        assert_eq!(string::decode(&cut), expect, "{json} {start}..{end}");
        let whole: Result<&serde_json::value::RawValue, _> = serde_json::from_str(&cut);
        assert!(whole.is_ok(), "{cut}");
    }
    if let Some(range) = string::locate(json, start..end) {
        assert!(json.get(range).is_some(), "on characters of the source");
    }
}
