//! Whether what a message says was overtaken by what came later, as far as the conversation's own structure tells.

use std::sync::Arc;

use conspectus_core::id::NodeId;
use conspectus_core::ledger::Ledger;
use conspectus_core::record::Record;
use conspectus_core::view::{PartRef, Texts};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::error::ThreadsError;
use super::message::handle;
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::store::{StoredMessage, ThreadKey, window};

/// A later message about the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Later {
    /// Its id.
    pub id: Option<Arc<str>>,
    /// Its place in the conversation, from 0.
    pub position: u64,
    /// What both are about.
    pub about: About,
}

/// What two messages are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A file, which was read or changed again.
    File(Arc<str>),
    /// A rule of the user, which was changed, said anew or taken back.
    Rule(Arc<str>),
    /// A call of this tool, which was made again with the same arguments.
    Call(Arc<str>),
}

/// A call that a message makes, or that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asking {
    pub(super) tool: Arc<str>,
    pub(super) arguments: String,
    node: NodeId,
}

impl Asking {
    /// Whether this message makes it.
    pub(super) fn is_of(&self, node: NodeId) -> bool {
        self.node == node
    }

    /// Whether another one asks for the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.tool, &self.arguments) == (&other.tool, &other.arguments)
    }
}

/// What the newest state knows.
pub(super) struct Outdated {
    ledger: Ledger,
    record: Option<Arc<Record>>,
    path: Vec<(NodeId, NodeId)>,
}

impl<C: Clock> Threads<C> {
    /// What the newest state knows. Costs what is in the window.
    pub(super) async fn outdated(&self, key: &ThreadKey) -> Result<Outdated, ThreadsError> {
        let Some(read) = window(self.store(), key).await? else {
            return Ok(Outdated {
                ledger: Ledger::default(),
                record: None,
                path: Vec::new(),
            });
        };
        let shelf = Shelf::of(&read.messages);
        let record = read.stored.records.last().cloned();
        let record = record.filter(|record| Some(record.id) == read.state.active());
        let mut ledger = read.stored.ledger.clone();
        let is_new = |m: &&StoredMessage| record.as_ref().is_none_or(|r| m.node > r.upto);
        for stored in read.messages.iter().filter(is_new) {
            ledger.fold(&stored.message.known.view, &shelf);
        }
        Ok(Outdated {
            ledger,
            record,
            path: read.state.path().to_vec(),
        })
    }
}

impl Outdated {
    /// The place of a message on the branch.
    pub(super) fn position(&self, node: NodeId) -> Option<u64> {
        let mut before = 0;
        for (first, last) in &self.path {
            if *first <= node && node <= *last {
                return Some(before + node.0 - first.0);
            }
            before += last.0 - first.0 + 1;
        }
        None
    }

    /// The message at a place of the branch.
    pub(super) fn node(&self, position: u64) -> Option<NodeId> {
        let mut before = 0;
        for (first, last) in &self.path {
            let count = last.0 - first.0 + 1;
            if position < before + count {
                return Some(NodeId(first.0 + position - before));
            }
            before += count;
        }
        None
    }

    pub(super) fn is_folded(&self, node: NodeId) -> bool {
        let record = self.record.as_ref();
        record.is_some_and(|record| record.removed.contains(node))
    }

    /// Later messages about what `stored` is about, which `asked` says.
    pub(super) fn of(&self, asked: &[Asking], stored: &StoredMessage) -> Vec<Later> {
        let Some(own) = self.position(stored.node) else {
            return Vec::new();
        };
        let files = self.ledger.files().filter(|(path, fact)| {
            let path = json_inner(path);
            let is_named = asked.iter().any(|asked| asked.arguments.contains(&path));
            fact.last > own
                && is_named
                && !asked.iter().any(|a| self.node(fact.last) == Some(a.node))
        });
        let files = files.map(|(path, fact)| Later {
            id: None,
            position: fact.last,
            about: About::File(path.into()),
        });
        let past = self.ledger.constraints().past().iter();
        let rules = past.filter(|rule| rule.message == own).map(|rule| Later {
            id: None,
            position: rule.superseded_by,
            about: About::Rule(rule.text.clone()),
        });
        files.chain(rules).collect()
    }

    /// The calls in a message, and those of `around` that it answers.
    pub(super) fn asked(&self, around: &[StoredMessage], stored: &StoredMessage) -> Vec<Asking> {
        let view = &stored.message.known.view;
        let answers: Vec<_> = view.results().map(|(_, id)| id).collect();
        let before = around.iter().filter(|other| other.node != stored.node);
        let mut found = Vec::new();
        for other in before.chain([stored]) {
            let shelf = Shelf::of(std::slice::from_ref(other));
            for (index, id, tool) in other.message.known.view.calls() {
                if other.node != stored.node && !answers.contains(&id) {
                    continue;
                }
                let at = PartRef {
                    message: handle(other.node),
                    part: u16::try_from(index).unwrap_or(u16::MAX),
                };
                found.push(Asking {
                    tool: tool.clone(),
                    arguments: shelf.text(at).into_owned(),
                    node: other.node,
                });
            }
        }
        found
    }
}

/// A text as it stands inside a JSON string.
fn json_inner(text: &str) -> String {
    conspectus_wire::json::string::encode_inner(text)
}
