//! Thinking that its provider binds to all that stands before it, where the API is asked to drop what does not verify.
//!
//! What stays behind a summary is sent without its thinking, but for the open tool loop, whose thinking has to be there.
//! A model that checks it refuses it there. The second remedy is this field with its beta, which the API knows only where
//! it knows the check: so it is asked for once a refusal has told, or where the upstream's option says so.

use conspectus::wire::json::{Kind, Object, with_members};
use hyper::header::{HeaderMap, HeaderValue};
use memchr::memmem;

use crate::scan::{scan, slice};

const BETA: &str = "thinking-binding-controls-2026-08-01";
const HEADER: &str = "anthropic-beta";

/// The body with the field set; `None`: there is no thinking that it could be about, or the client says it itself.
pub(crate) fn dropping(body: &[u8]) -> Option<Vec<u8>> {
    let layout = scan(body, "messages", None)?;
    let has = |word: &[u8]| memmem::find(slice(body, layout.list), word).is_some();
    if !has(b"\"thinking\"") && !has(b"\"redacted_thinking\"") {
        return None;
    }
    let value = std::str::from_utf8(layout.get(body, "thinking")?).ok()?;
    let thinking = Object::of(value)?;
    let kind = thinking.string("type")?;
    if !["adaptive", "enabled"].contains(&&*kind) {
        return None;
    }
    let binding = match thinking.value("block_binding") {
        Some(binding) if Kind::of(binding) == Kind::Object => {
            if Object::of(binding)?
                .value("prefix_mismatch_behavior")
                .is_some()
            {
                return None;
            }
            binding
        }
        _ => "{}",
    };
    let said = (
        "prefix_mismatch_behavior",
        Some("\"drop_block\"".to_owned()),
    );
    let binding = with_members(binding, &[said])?;
    let thinking = with_members(value, &[("block_binding", Some(binding))])?;
    let at = value.as_ptr() as usize - body.as_ptr() as usize;
    Some([&body[..at], thinking.as_bytes(), &body[at + value.len()..]].concat())
}

/// The head asks for the beta, beside those that the client asks for.
pub(crate) fn ask(headers: &mut HeaderMap) {
    let has = |value: &HeaderValue| memmem::find(value.as_bytes(), BETA.as_bytes()).is_some();
    if headers.get_all(HEADER).iter().any(has) {
        return;
    }
    let first = headers.get(HEADER).and_then(|value| value.to_str().ok());
    let both = first.map_or(BETA.to_owned(), |first| format!("{first},{BETA}"));
    let Ok(both) = HeaderValue::from_str(&both) else {
        return;
    };
    match headers.get_mut(HEADER) {
        Some(first) => *first = both,
        None => {
            headers.insert(HEADER, both);
        }
    }
}

/// Whether an error says that thinking stands behind something else than it was made behind.
pub(crate) fn is_refused(error: &[u8]) -> bool {
    let says = |words: &str| memmem::find(error, words.as_bytes()).is_some();
    says("bound to a different conversation") || says("prefix_mismatch_behavior")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_set_where_there_is_thinking() {
        let check = |thinking: &str, block: &str, expect: Option<&str>| {
            let body = |thinking: &str| {
                format!(
                    r#"{{"thinking": {thinking},"messages":[{{"role":"assistant","content":[{{"type":"{block}"}}]}}],"n":1}}"#
                )
            };
            let got = dropping(body(thinking).as_bytes());
            let got = got.map(|got| String::from_utf8(got).expect("text"));
            assert_eq!(got, expect.map(body), "{thinking}");
        };
        const SAID: &str = r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}"#;
        check(
            r#"{"type":"adaptive"}"#,
            "thinking",
            Some(&format!(r#"{{"type":"adaptive",{SAID}}}"#)),
        );
        check(
            r#"{"type":"enabled","budget_tokens":9,"block_binding":{}}"#,
            "redacted_thinking",
            Some(&format!(r#"{{"type":"enabled","budget_tokens":9,{SAID}}}"#)),
        );
        check(r#"{"type":"adaptive"}"#, "text", None);
        check(r#"{"type":"disabled"}"#, "thinking", None);
        check("null", "thinking", None);
        let own = r#"{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"error"}}"#;
        check(own, "thinking", None);
    }

    #[test]
    fn the_beta_stands_beside_the_clients() {
        let check = |said: &[&'static str], expect: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in said {
                headers.append(HEADER, HeaderValue::from_static(value));
            }
            ask(&mut headers);
            let got: Vec<_> = headers.get_all(HEADER).iter().collect();
            assert_eq!(got, expect);
        };
        check(&[], &[BETA]);
        check(&["a,b"], &["a,b,thinking-binding-controls-2026-08-01"]);
        check(
            &["a", "b"],
            &["a,thinking-binding-controls-2026-08-01", "b"],
        );
        check(&["a", BETA], &["a", BETA]);
    }

    #[test]
    fn which_refusal_it_is() {
        let text = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
        assert!(is_refused(text.as_bytes()));
        assert!(!is_refused(b"max_tokens: required"));
    }
}
