//! The host's own request body with a few fields set. Every other byte stays, so that the provider's prefix cache
//! finds what it knows.

use conspectus::core::effect::Failure;
use conspectus::wire::json::{Object, with_members};

/// Sets `fields` at the top level of `body`, each to a JSON text; `None` removes one. Those that are there keep their
/// place, new ones stand at the end.
pub(crate) fn set(body: &[u8], fields: &[(&str, Option<String>)]) -> Result<Vec<u8>, Failure> {
    let wrong = |why: &str| Failure::Unusable {
        message: format!("the request body cannot be sent: {why}").into(),
    };
    let text = std::str::from_utf8(body).map_err(|_| wrong("it is not UTF-8"))?;
    let object = Object::parse(text).map_err(|_| wrong("it is not a JSON object"))?;
    if object.has_duplicates {
        return Err(wrong("a field occurs twice"));
    }
    let edited = with_members(text, fields).ok_or_else(|| wrong("it is not a JSON object"))?;
    Ok(edited.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_not_sent() {
        for body in [&b"[]"[..], b"", b"\xff", br#"{"a":1,"a":2}"#] {
            assert!(matches!(set(body, &[]), Err(Failure::Unusable { .. })));
        }
    }
}
