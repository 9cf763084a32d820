//! Ids for calls and responses that have none.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::view::{MessageView, PartKind};

/// How made-up ids begin.
const PREFIX: &str = "\u{2063}call-";

/// Whether an id was made up here: it is not written.
pub(super) fn is_made_up(id: &str) -> bool {
    id.is_empty() || id.starts_with(PREFIX)
}

/// Numbers the calls without ids, and gives their numbers to the responses without ids that follow: the first
/// response of a tool to its first call, and so on.
pub(super) fn make_up(views: &mut [MessageView]) {
    let mut next = 0usize;
    // By tool, calls without an answer so far, of the newest turn that has any.
    let mut open: BTreeMap<Arc<str>, VecDeque<CallId>> = BTreeMap::new();
    for view in views {
        if view.calls().any(|(_, id, _)| id.as_str().is_empty()) {
            open.clear();
        }
        for part in &mut view.parts {
            match &mut part.kind {
                PartKind::Call { id, tool } if id.as_str().is_empty() => {
                    *id = CallId::from(format!("{PREFIX}{next}").as_str());
                    next += 1;
                    open.entry(Arc::clone(tool))
                        .or_default()
                        .push_back(id.clone());
                }
                PartKind::Result { id, tool, .. } if id.as_str().is_empty() => {
                    let tool = tool.clone().or_else(|| open.keys().next().cloned());
                    let Some(tool) = tool else { continue };
                    let Some(calls) = open.get_mut(&tool) else {
                        continue;
                    };
                    if let Some(call) = calls.pop_front() {
                        *id = call;
                    }
                    if calls.is_empty() {
                        open.remove(&tool);
                    }
                }
                _ => {}
            }
        }
    }
}
