//! Objects and arrays as lists of source texts, one level at a time.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Kind, string};

/// One `"key": value` of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key, decoded.
    pub key: Cow<'a, str>,
    /// The key's source, quotes included.
    pub key_source: &'a str,
    /// The value's source.
    pub value: &'a str,
}

/// An object as the ordered list of its members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object<'a> {
    /// The members as they stand in the source.
    pub members: Vec<Member<'a>>,
    /// A key occurs more than once; which one counts differs by reader.
    pub has_duplicates: bool,
}

/// An array as the list of its elements' sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Array<'a>(pub Vec<&'a str>);

/// The error of [`Object::unique`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyKeys;

impl<'a> Object<'a> {
    /// Lists `json`. Only its own level is looked at; values are checked for syntax and left as they are.
    ///
    /// # Errors
    /// When `json` is not one well-formed object.
    pub fn parse(json: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Lists `json`, `None` when it is anything but an object.
    pub fn of(json: &'a str) -> Option<Self> {
        (Kind::of(json) == Kind::Object)
            .then(|| Self::parse(json).ok())
            .flatten()
    }

    /// The same object if no key occurs twice.
    ///
    /// # Errors
    /// When one does.
    pub fn unique(self) -> Result<Self, TooManyKeys> {
        if self.has_duplicates {
            Err(TooManyKeys)
        } else {
            Ok(self)
        }
    }

    /// The source of the value of `key`.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.members.iter().find(|m| m.key == key).map(|m| m.value)
    }

    /// Like [`Self::get`], with `null` taken for a missing member.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.get(key).filter(|value| *value != "null")
    }

    /// The decoded string at `key`.
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        self.value(key)
            .filter(|value| Kind::of(value) == Kind::String)
            .map(string::decode)
    }

    /// The object at `key`.
    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        self.value(key).and_then(Object::of)
    }

    /// The array at `key`.
    pub fn array(&self, key: &str) -> Option<Array<'a>> {
        self.value(key).and_then(Array::of)
    }

    /// The whole number at `key`.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.parse().ok()
    }

    /// Whether the value at `key` is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some("true")
    }
}

impl<'a> Array<'a> {
    /// The source of the first element of `json`, which is well-formed; what follows it is not looked at.
    pub fn first(json: &'a str) -> Option<&'a str> {
        let rest = json.trim_start().strip_prefix('[')?.trim_start();
        if rest.starts_with(']') {
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        values.next()?.ok().map(RawValue::get)
    }

    /// Lists `json`, `None` when it is anything but an array.
    pub fn of(json: &'a str) -> Option<Self> {
        (Kind::of(json) == Kind::Array)
            .then(|| serde_json::from_str(json).ok())
            .flatten()
    }
}

/// How deep `json` nests: 0 for a scalar, 1 for a list of scalars. One pass, no recursion.
pub fn depth(json: &str) -> usize {
    let (mut now, mut most) = (0usize, 0usize);
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'[' | b'{' => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            b'"' => at = string::end(bytes, at),
            _ => {}
        }
    }
    most
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<Member<'de>> = Vec::new();
        while let Some(key_source) = map.next_key::<&'de RawValue>()? {
            let value = map.next_value::<&'de RawValue>()?.get();
            let key_source = key_source.get();
            if Kind::of(key_source) != Kind::String {
                return Err(de::Error::custom("a key is not a string"));
            }
            let key = string::decode(key_source);
            members.push(Member {
                key,
                key_source,
                value,
            });
        }
        let has_duplicates = has_duplicates(&members);
        Ok(Object {
            members,
            has_duplicates,
        })
    }
}

/// Small objects are compared pair by pair, large ones through a set, so that no input costs O(n²).
fn has_duplicates(members: &[Member<'_>]) -> bool {
    if members.len() <= 24 {
        members
            .iter()
            .enumerate()
            .any(|(n, m)| members[..n].iter().any(|other| other.key == m.key))
    } else {
        let mut seen = BTreeSet::new();
        !members.iter().all(|m| seen.insert(m.key.as_ref()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Array<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ArrayVisitor)
    }
}

struct ArrayVisitor;

impl<'de> Visitor<'de> for ArrayVisitor {
    type Value = Array<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element::<&'de RawValue>()? {
            elements.push(element.get());
        }
        Ok(Array(elements))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Span;
    use super::*;

    #[test]
    fn members_keep_order_and_place() {
        let json = r#" { "a" : 1.50 , "b\u0041":[ "x" , {} ],"a":null } "#;
        let object = Object::parse(json).unwrap();
        let seen: Vec<_> = object
            .members
            .iter()
            .map(|m| (m.key.as_ref(), m.value))
            .collect();
        assert_eq!(
            seen,
            [("a", "1.50"), ("bA", r#"[ "x" , {} ]"#), ("a", "null")]
        );
        assert!(object.has_duplicates);
        let at = Span::of(json, object.members[1].value);
        assert_eq!(at.text(json), r#"[ "x" , {} ]"#);
        assert_eq!(object.members[1].key_source, r#""b\u0041""#);
        assert_eq!(
            Array::of(object.members[1].value).unwrap().0,
            [r#""x""#, "{}"]
        );
    }

    #[test]
    fn the_first_element_alone() {
        let check =
            |json: &str, expect: Option<&str>| assert_eq!(Array::first(json), expect, "{json}");
        check(r#" [ {"a":[1]} ,2]"#, Some(r#"{"a":[1]}"#));
        check("[12,3]", Some("12"));
        check("[ ]", None);
        check("{}", None);
    }

    #[test]
    fn duplicates_are_found_in_large_objects() {
        let members: Vec<_> = (0..100).map(|n| format!("\"k{n}\":{n}")).collect();
        let unique = format!("{{{}}}", members.join(","));
        assert!(!Object::parse(&unique).unwrap().has_duplicates);
        let twice = format!("{{{},\"k7\":0}}", members.join(","));
        assert!(Object::parse(&twice).unwrap().has_duplicates);
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        assert_eq!(depth(&deep), 200_000);
        assert_eq!(Array::of(&deep).unwrap().0.len(), 1);
        assert_eq!(depth(r#"{"a":"[[[\"[["}"#), 1);
        assert_eq!(depth("3"), 0);
    }
}
