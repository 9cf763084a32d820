//! What hooks see of a run, and what they change: data in, data out.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus::threads::{BeforeCall, Metadata};
use serde_json::{Value, json};

use crate::channel::delegation::{self, Delegation};
use crate::channel::skill::{self, Skill};
use crate::message::Message;

/// The state of a run between two hooks.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The window: messages that no compaction folded, oldest first.
    pub messages: Vec<Message>,
    /// Messages of the branch that are folded.
    pub base: u64,
    /// What the run was begun with. Before the agent it is not among the messages yet.
    pub input: Vec<Message>,
    /// Work given away.
    pub delegations: Vec<Delegation>,
    /// Skills that were loaded.
    pub skills: Vec<Skill>,
    /// The thread's title.
    pub title: Option<Arc<str>>,
    /// Further channels by name.
    pub channels: Metadata,
    /// Ids of messages that were there before the run.
    pub before: BTreeSet<String>,
    /// Messages of the window that were captured already.
    pub captured: usize,
    /// Model calls of the run so far.
    pub step: u64,
}

/// What a hook changes. The fields are merged one by one, each by its own reducer.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Messages to append, by id: one whose id is there already is not appended again. Before the agent they come behind
    /// the input.
    pub messages: Vec<Value>,
    /// Before the agent: messages to append in front of the input.
    pub ahead: Vec<Value>,
    /// New and changed delegations.
    pub delegations: Vec<Delegation>,
    /// Skills that were loaded.
    pub skills: Vec<Skill>,
    /// Another title.
    pub title: Option<Arc<str>>,
    /// Further channels to set; `null` takes one away.
    pub channels: Metadata,
    /// So many messages of the window were captured.
    pub captured: Option<usize>,
    /// For whoever watches.
    pub warnings: Vec<String>,
    /// The window is another one: it is read again.
    pub is_folded: bool,
    /// The request as it was looked at last.
    pub prepared: Option<Box<BeforeCall>>,
    /// The run ends here.
    pub end: bool,
}

impl Update {
    /// Nothing.
    pub fn none() -> Self {
        Self::default()
    }
}

impl State {
    /// Takes an update in. Whether anything that is stored changed.
    pub fn merge(&mut self, update: &Update) -> bool {
        let mut is_changed = false;
        for value in &update.messages {
            let message = Message::new(value.clone());
            let is_known = message
                .id()
                .is_some_and(|id| self.messages.iter().any(|known| known.id() == Some(id)));
            if !is_known {
                self.messages.push(message);
                is_changed = true;
            }
        }
        if !update.delegations.is_empty() {
            self.delegations = delegation::reduce(&self.delegations, &update.delegations);
            is_changed = true;
        }
        if !update.skills.is_empty() {
            self.skills = skill::reduce(&self.skills, &update.skills);
            is_changed = true;
        }
        if let Some(title) = &update.title {
            is_changed |= self.title.as_ref() != Some(title);
            self.title = Some(title.clone());
        }
        for (key, value) in &update.channels {
            is_changed = true;
            match value {
                Value::Null => drop(self.channels.remove(key)),
                value => drop(self.channels.insert(key.clone(), value.clone())),
            }
        }
        self.captured = update.captured.unwrap_or(self.captured);
        is_changed
    }

    /// The channels as they are stored.
    pub(crate) fn to_channels(&self) -> Metadata {
        let mut channels = self.channels.clone();
        channels.insert(DELEGATIONS.into(), json!(self.delegations));
        channels.insert(SKILLS.into(), json!(self.skills));
        channels
    }

    /// The channels as they were stored. Whether there were any.
    pub(crate) fn read_channels(&mut self, mut channels: Metadata) -> bool {
        let delegations = channels.remove(DELEGATIONS);
        let is_there = delegations.is_some();
        let entries = delegations.iter().filter_map(Value::as_array).flatten();
        self.delegations = entries
            .filter_map(|entry| serde_json::from_value(entry.clone()).ok())
            .collect();
        self.skills = channels
            .remove(SKILLS)
            .map(|s| skill::read(&s))
            .unwrap_or_default();
        self.channels = channels;
        is_there
    }
}

const DELEGATIONS: &str = "delegations";
const SKILLS: &str = "skill_context";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_merged_by_id() {
        let mut state = State::default();
        let said = |id: &str, text: &str| json!({"type": "human", "id": id, "content": text});
        let update = |messages: Vec<Value>| Update {
            messages,
            ..Update::none()
        };
        assert!(state.merge(&update(vec![
            said("a", "1"),
            said("b", "2"),
            said("a", "3")
        ])));
        assert!(!state.merge(&update(vec![said("b", "4")])));
        let texts: Vec<String> = state
            .messages
            .iter()
            .map(|m| m.text().into_owned())
            .collect();
        assert_eq!(texts, ["1", "2"]);
    }

    #[test]
    fn other_channels_are_set_and_taken_away_one_by_one() {
        let mut state = State::default();
        let set = |key: &str, value: Value| Update {
            channels: Metadata::from_iter([(key.to_owned(), value)]),
            ..Update::none()
        };
        state.merge(&set("a", json!(1)));
        state.merge(&set("b", json!(2)));
        state.merge(&set("a", Value::Null));
        let mut again = State::default();
        assert!(again.read_channels(state.to_channels()));
        assert_eq!(
            again.channels,
            Metadata::from_iter([("b".to_owned(), json!(2))])
        );
        assert!(!State::default().read_channels(Metadata::new()));
    }
}
