//! JSON with the order of its keys and the spelling of its numbers, which a trace has to give back.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`, a truth value or a number, as it is spelled.
    Plain(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The string at `key`.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// The whole number at `key`.
    pub fn number_at(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Self::Plain(number) => number.parse().ok(),
            _ => None,
        }
    }

    /// Whether `key` says `true`.
    pub fn is_true_at(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Self::Plain(word)) if word == "true")
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Plain(word) if word == "null")
    }

    /// The elements; none for anything but an array.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The members; none for anything but an object.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of the list at `key`.
    pub fn items_at(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// The strings of the list at `key`.
    pub fn texts_at(&self, key: &str) -> impl Iterator<Item = &str> {
        self.items_at(key).iter().filter_map(Self::text)
    }

    /// The object without these members.
    pub fn without(mut self, keys: &[&str]) -> Self {
        if let Self::Object(members) = &mut self {
            members.retain(|(key, _)| !keys.contains(&key.as_str()));
        }
        self
    }

    /// Every string in it, in order, keys left out.
    pub fn leaves(&self) -> Vec<&str> {
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().flat_map(Self::leaves).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, v)| v.leaves()).collect(),
        }
    }

    /// The same as a value of `serde_json`.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.to_string()).unwrap_or_default()
    }

    /// Writes it with these separators.
    pub fn write(&self, out: &mut String, comma: &str, colon: &str) {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Plain(word) => out.push_str(word),
            Self::Text(text) => out.push_str(&quoted(text)),
            Self::List(items) => {
                out.push('[');
                for (n, item) in items.iter().enumerate() {
                    out.push_str(if n > 0 { comma } else { "" });
                    item.write(out, comma, colon);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (n, (key, value)) in members.iter().enumerate() {
                    out.push_str(if n > 0 { comma } else { "" });
                    out.push_str(&quoted(key));
                    out.push_str(colon);
                    value.write(out, comma, colon);
                }
                out.push('}');
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, ",", ":");
        f.write_str(&out)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Plain(number.to_string())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let read = match raw.as_bytes()[0] {
            b'"' => serde_json::from_str(raw).map(Self::Text),
            b'[' => serde_json::from_str(raw).map(Self::List),
            b'{' => serde_json::from_str::<Members>(raw).map(|m| Self::Object(m.0)),
            _ => Ok(Self::Plain(raw.to_owned())),
        };
        read.map_err(D::Error::custom)
    }
}

struct Members(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_survive() {
        for text in [
            r#"{"b":1.0,"a":[true,null,-2e5],"é":"x\"\n"}"#,
            "[]",
            "{}",
            r#""t""#,
            "1.50",
        ] {
            assert_eq!(Json::parse(text).expect("JSON").to_string(), text);
        }
        assert!(Json::parse("{").is_err());
    }
}
