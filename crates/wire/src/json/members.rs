//! Members of an object set, changed and taken away, each in its place.

use std::collections::BTreeSet;

use super::{Object, Span, Splices};

/// `object` with each of `fields` set to a JSON text, or removed where there is none. Those that are there keep their
/// place, new ones stand at the end; every other byte stays. `None`: it is no object, or a key occurs twice in it.
pub fn with_members(object: &str, fields: &[(&str, Option<String>)]) -> Option<String> {
    let listed = Object::of(object.trim()).filter(|listed| !listed.has_duplicates)?;
    let mut splices = Splices::new();
    let mut gone = BTreeSet::new();
    let mut new = Vec::new();
    for (key, value) in fields {
        match (listed.get(key), value) {
            (Some(old), Some(value)) => splices.replace(Span::of(object, old), value.clone()),
            (Some(old), None) => {
                gone.insert(Span::of(object, old));
            }
            (None, Some(value)) => new.push(format!("\"{key}\":{value}")),
            (None, None) => {}
        }
    }
    splices.remove_members(object, Span::of(object, object.trim()), &gone);
    let mut edited = splices.apply(object, Span::new(0, object.len()));
    if !new.is_empty() {
        let end = edited.rfind('}')?;
        let is_empty = listed.members.len() == gone.len();
        let comma = if is_empty { "" } else { "," };
        edited.insert_str(end, &format!("{comma}{}", new.join(",")));
    }
    Some(edited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_set_in_place() {
        let check = |body: &str, fields: &[(&str, Option<&str>)], expect: Option<&str>| {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| (*key, value.map(str::to_owned)))
                .collect();
            assert_eq!(with_members(body, &fields).as_deref(), expect, "{body}");
        };
        check(
            r#"{"model": "a", "messages":[{"model":1.50}],"max_tokens":1 }"#,
            &[
                ("model", Some("\"b\"")),
                ("max_tokens", None),
                ("stream", Some("true")),
            ],
            Some(r#"{"model": "b", "messages":[{"model":1.50}] ,"stream":true}"#),
        );
        check("{}", &[("a", Some("1")), ("b", None)], Some(r#"{"a":1}"#));
        let fields = [("a", None), ("b", Some("2"))];
        check(r#"{"a":1}"#, &fields, Some(r#"{"b":2}"#));
        check(
            r#" {"a":"}","c":0} "#,
            &[("b", Some("2")), ("c", None)],
            Some(r#" {"a":"}","b":2} "#),
        );
        check(r#"{"a":1}"#, &[], Some(r#"{"a":1}"#));
        check(r#"{"a":1,"a":2}"#, &[], None);
        check("[]", &[], None);
    }
}
