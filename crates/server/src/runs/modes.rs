//! What a reader of a run wants to hear: LangGraph's stream modes.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The modes that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modes {
    /// The whole state, whenever it changed.
    pub(crate) values: bool,
    /// What each step added.
    pub(crate) updates: bool,
    /// Messages as they grow.
    pub(crate) messages: bool,
    /// Pieces of messages, each with its metadata.
    pub(crate) tuples: bool,
    /// What tools, middlewares and compactions tell.
    pub(crate) custom: bool,
}

const OFFERED: &str = "values, updates, messages, messages-tuple or custom";

impl Modes {
    /// What LangGraph gives where none is named.
    pub(crate) const VALUES: Self = Self {
        values: true,
        updates: false,
        messages: false,
        tuples: false,
        custom: false,
    };

    /// With one more, by its name.
    ///
    /// # Errors
    /// When there is none of that name here.
    pub(crate) fn with(mut self, name: &str) -> Result<Self, String> {
        let mode = match name {
            "values" => &mut self.values,
            "updates" => &mut self.updates,
            "messages" => &mut self.messages,
            "messages-tuple" => &mut self.tuples,
            "custom" => &mut self.custom,
            _ => return Err(format!("stream_mode is {OFFERED}")),
        };
        *mode = true;
        Ok(self)
    }

    /// As queries spell it: a name, names with commas between them, or a JSON list.
    ///
    /// # Errors
    /// The first name that there is not.
    pub(crate) fn of_query(self, said: &str) -> Result<Self, String> {
        let said = said.trim();
        let names: Vec<String> = match said.starts_with('[') {
            true => serde_json::from_str(said).map_err(|_| format!("stream_mode is {OFFERED}"))?,
            false => said.split(',').map(|name| name.trim().to_owned()).collect(),
        };
        names.iter().try_fold(self, |modes, name| modes.with(name))
    }

    /// These, or the usual one.
    pub(crate) fn or_values(self) -> Self {
        match self == Self::default() {
            true => Self::VALUES,
            false => self,
        }
    }
}

/// A name, or a list of names.
impl<'de> Deserialize<'de> for Modes {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Said {
            One(String),
            Many(Vec<String>),
        }
        let names = match Said::deserialize(reader) {
            Ok(Said::One(name)) => vec![name],
            Ok(Said::Many(names)) => names,
            Err(_) => {
                return Err(D::Error::custom(format!(
                    "stream_mode is {OFFERED}, or a list"
                )));
            }
        };
        let modes = names
            .iter()
            .try_fold(Self::default(), |modes, name| modes.with(name));
        modes.map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_bodies_and_queries_spell_it() {
        let both = Modes {
            custom: true,
            ..Modes::VALUES
        };
        let body = |text: &str| serde_json::from_str::<Modes>(text).ok();
        assert_eq!(body(r#""values""#), Some(Modes::VALUES));
        assert_eq!(body(r#"["custom","values"]"#), Some(both));
        assert_eq!(body("[]").map(Modes::or_values), Some(Modes::VALUES));
        for wrong in [r#""debug""#, r#"["values","x"]"#, "7", r#"[1]"#] {
            assert_eq!(body(wrong), None, "{wrong}");
        }
        let query = |text: &str| Modes::default().of_query(text).ok();
        assert_eq!(query("values"), Some(Modes::VALUES));
        assert_eq!(query("values, custom"), Some(both));
        assert_eq!(query(r#"["values","custom"]"#), Some(both));
        assert_eq!(query("values,"), None);
        assert_eq!(query("[values]"), None);
    }
}
