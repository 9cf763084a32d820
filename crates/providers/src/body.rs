//! The host's own request body with a few fields set. Every other byte stays, so that the provider's prefix cache
//! finds what it knows.

use conspectus::core::effect::Failure;
use conspectus::wire::json::{Object, Span, Splices};
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
    let whole = Span::new(0, text.len());
    let mut splices = Splices::new();
    let mut gone = std::collections::BTreeSet::new();
    let mut new = Vec::new();
    for (key, value) in fields {
        match (object.get(key), value) {
            (Some(old), Some(value)) => splices.replace(Span::of(text, old), value.clone()),
            (Some(old), None) => {
                gone.insert(Span::of(text, old));
            }
            (None, Some(value)) => new.push(format!("\"{key}\":{value}")),
            (None, None) => {}
        }
    }
    splices.remove_members(text, Span::of(text, text.trim()), &gone);
    let mut edited = splices.apply(text, whole);
    if !new.is_empty() {
        let end = edited.rfind('}').expect("an object ends with a brace");
        let is_empty = object.members.len() == gone.len();
        let comma = if is_empty { "" } else { "," };
        edited.insert_str(end, &format!("{comma}{}", new.join(",")));
    }
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
    fn fields_are_set_in_place() {
        let check = |body: &str, fields: &[(&str, Option<&str>)], expect: &str| {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| (*key, value.map(str::to_owned)))
                .collect();
            let got = set(body.as_bytes(), &fields).expect("it can be sent");
            assert_eq!(String::from_utf8(got).expect("UTF-8"), expect);
        };
        check(
            r#"{"model": "a", "messages":[{"model":1.50}],"max_tokens":1 }"#,
            &[
                ("model", Some("\"b\"")),
                ("max_tokens", None),
                ("stream", Some("true")),
            ],
            r#"{"model": "b", "messages":[{"model":1.50}] ,"stream":true}"#,
        );
        check("{}", &[("a", Some("1")), ("b", None)], r#"{"a":1}"#);
        check(r#"{"a":1}"#, &[("a", None), ("b", Some("2"))], r#"{"b":2}"#);
        check(
            r#" {"a":"}","c":0} "#,
            &[("b", Some("2")), ("c", None)],
            r#" {"a":"}","b":2} "#,
        );
        check(r#"{"a":1}"#, &[], r#"{"a":1}"#);
    }

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
