//! The host's own request body with a few fields set. Every other byte stays, so that the provider's prefix cache
//! finds what it knows.

use conspectus::core::effect::Failure;
use conspectus::wire::json::{Object, with_members};
use serde_json::{Map, Value};

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

/// `request` with `format`, a JSON text, as its field `key`, unless the user's own fields have one. It goes in as
/// it is: models write the fields of a schema in its order, and a map would sort them.
pub(crate) fn with_format(
    request: Map<String, Value>,
    key: &str,
    format: Option<String>,
) -> Vec<u8> {
    let is_taken = request.contains_key(key);
    let bytes = Value::Object(request).to_string().into_bytes();
    let format = format.filter(|format| !is_taken && serde_json::from_str::<Value>(format).is_ok());
    match format.map(|format| set(&bytes, &[(key, Some(format))])) {
        Some(Ok(with)) => with,
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_keeps_its_order() {
        let check = |format: &str, expect: &str| {
            let request = Map::from_iter([("m".to_owned(), Value::Null)]);
            let got = with_format(request, "f", Some(format.to_owned()));
            assert_eq!(String::from_utf8(got).expect("UTF-8"), expect);
        };
        check(r#"{"z":1,"a":2}"#, r#"{"m":null,"f":{"z":1,"a":2}}"#);
        check(r#"{"z":"#, r#"{"m":null}"#);
    }

    #[test]
    fn what_is_no_request_is_not_sent() {
        for body in [&b"[]"[..], b"", b"\xff", br#"{"a":1,"a":2}"#] {
            assert!(matches!(set(body, &[]), Err(Failure::Unusable { .. })));
        }
    }
}
