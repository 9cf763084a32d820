//! JSON as it came: stored and given back byte for byte.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value, unparsed. It serialises as itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// Checks that it is JSON. Space around it is left out.
    ///
    /// # Errors
    /// When it is not.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(json)?;
        Ok(Self(raw.get().into()))
    }

    /// Its source.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What was made here, so that it need not be checked.
    pub(crate) fn trusted(json: impl Into<Arc<str>>) -> Self {
        Self(json.into())
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer).map_err(D::Error::custom)?;
        Ok(Self(raw.get().into()))
    }
}
