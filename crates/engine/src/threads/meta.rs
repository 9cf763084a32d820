//! What is kept with a thread beside its messages.

use std::sync::Arc;

use conspectus_core::count::CounterId;
use conspectus_core::effect::Millis;
use conspectus_core::id::{AttemptId, NodeId};
use conspectus_core::outcome::{Measured, Moment, Outcome, Reason};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::note::Note;

/// Metadata of a thread, as the host gives it.
pub type Metadata = Map<String, Value>;

/// The version of the stored shape.
const META_FORMAT: u16 = 1;

/// What [`Head::meta`](crate::store::Head::meta) holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) format: u16,
    #[serde(default)]
    pub(crate) metadata: Metadata,
    #[serde(default)]
    pub(crate) title: Option<Arc<str>>,
    /// The agent whose model it runs on.
    #[serde(default)]
    pub(crate) agent: Option<Arc<str>>,
    /// The model that it runs on at its client, which is none of the host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runs_on: Option<RunsOn>,
    /// A policy of its own, laid over the host's.
    #[serde(default)]
    pub(crate) policy: Option<Value>,
    /// Where it was branched off.
    #[serde(default)]
    pub(crate) origin: Option<Origin>,
    /// What counted its stored weights.
    #[serde(default)]
    pub(crate) counter: Option<CounterId>,
    /// How the last attempt ended.
    #[serde(default)]
    pub(crate) last: Option<LastAttempt>,
    /// Skills that were loaded, newest last.
    #[serde(default)]
    pub(crate) skills: Vec<Value>,
    /// Messages that were pinned after they were folded: whoever reads the window alone does not come by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) folded_pins: Vec<NodeId>,
    /// What an agent keeps.
    #[serde(default, skip_serializing_if = "Note::is_empty")]
    pub(crate) note: Note,
}

impl Default for Meta {
    fn default() -> Self {
        Self {
            format: META_FORMAT,
            metadata: Metadata::new(),
            title: None,
            agent: None,
            runs_on: None,
            policy: None,
            origin: None,
            counter: None,
            last: None,
            skills: Vec::new(),
            folded_pins: Vec::new(),
            note: Note::default(),
        }
    }
}

impl Meta {
    /// A store may hold threads that another host made: what is no meta of ours is none.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(crate) fn to_text(&self) -> Arc<str> {
        let text = serde_json::to_string(self).expect("a tree of JSON values can be written");
        text.into()
    }
}

/// The model that a thread runs on at its client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunsOn {
    /// Its name.
    pub model: Arc<str>,
    /// Whose API it is asked by, where that says more than the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Arc<str>>,
}

/// Where a thread was branched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The thread.
    pub thread: Arc<str>,
    /// The last message that both have, by its id.
    pub message: Option<Arc<str>>,
}

/// How the last attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// When it happened in the conversation.
    pub moment: Moment,
    /// How.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What went wrong, for people. Secrets are taken out.
    pub failure: Option<Arc<str>>,
    /// Sizes.
    pub measured: Measured,
    /// When it ended.
    pub ended_ms: Millis,
}

/// Whether `metadata` has every member of `asked`, with equal values.
pub(crate) fn matches(metadata: &Metadata, asked: &Metadata) -> bool {
    asked
        .iter()
        .all(|(key, value)| metadata.get(key) == Some(value))
}

/// Sets members; `null` takes one away.
pub(crate) fn merge(metadata: &mut Metadata, changes: &Metadata) {
    for (key, value) in changes {
        match value {
            Value::Null => {
                metadata.remove(key);
            }
            value => {
                metadata.insert(key.clone(), value.clone());
            }
        }
    }
}
