//! What a thread shows at one of its states.

use std::sync::Arc;

use conspectus_core::id::NodeId;
use conspectus_core::ledger::{Delegation, Ledger, Todo};
use conspectus_core::record::Record;
use serde::Serialize;
use serde_json::Value;

use super::json::Json;
use super::message::handle;
use super::meta::Meta;
use super::shelf::Shelf;
use crate::store::{Mark, StoredMessage};

/// The values of a thread's state, under the names that deer-flow and LangGraph use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Values {
    /// The active window: what no compaction folded. Results that were shortened are short here too.
    pub messages: Vec<Json>,
    /// The summary of what was folded.
    pub summary_text: Option<Arc<str>>,
    /// What code keeps beside it, as the model is shown it.
    pub durable_context: Option<Arc<str>>,
    /// Work given to other agents.
    pub delegations: Vec<Delegation>,
    /// Skills that were loaded, as their tools stamped them on messages, newest last. Those of the newest state.
    pub skill_context: Vec<Value>,
    /// The newest plan.
    pub todos: Vec<Todo>,
    /// The title.
    pub title: Option<Arc<str>>,
    /// Summaries that were committed up to this state.
    pub summary_count: u32,
    /// The attempt under way; only at the newest state.
    pub compaction_in_progress: Option<Mark>,
}

/// The values at `head`, with `record` in force. `messages`: at least those of the branch that it does not fold,
/// ascending.
pub(crate) fn values(
    meta: &Meta,
    record: Option<&Record>,
    messages: &[&StoredMessage],
    shelf: &Shelf,
) -> Values {
    let is_shown = |node: NodeId| record.is_none_or(|record| !record.removed.contains(node));
    let patches = |node| record.and_then(|record| record.patches.get(&node));
    let shown = messages
        .iter()
        .filter(|m| is_shown(m.node))
        .filter_map(|m| match patches(m.node) {
            Some(patches) => shelf.edited(handle(m.node), patches),
            None => shelf.json(m.node),
        });
    let ledger = ledger(record, messages, shelf);
    Values {
        messages: shown.collect(),
        summary_text: record
            .and_then(|r| r.summary.as_ref())
            .map(|s| s.text.clone()),
        durable_context: record
            .map(|r| r.durable.clone())
            .filter(|text| !text.is_empty()),
        delegations: ledger.delegations().to_vec(),
        skill_context: meta.skills.clone(),
        todos: ledger.todos().to_vec(),
        title: meta.title.clone(),
        summary_count: record.map_or(0, |r| r.summaries),
        compaction_in_progress: None,
    }
}

/// The facts at the newest of `messages`.
fn ledger(record: Option<&Record>, messages: &[&StoredMessage], shelf: &Shelf) -> Ledger {
    let mut ledger = record.map(|r| r.ledger.clone()).unwrap_or_default();
    // All that came behind the record is there.
    for stored in messages
        .iter()
        .filter(|m| record.is_none_or(|r| m.node > r.upto))
    {
        ledger.fold(&stored.message.known.view, shelf);
    }
    ledger
}
