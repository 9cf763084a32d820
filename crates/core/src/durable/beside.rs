//! What a host keeps beside the summary: facts that stand in no message, or that it knows better than the messages tell.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Text of the host that is shown beside every summary from now on, in the same frame. The host caps it and escapes
/// what is not its own; the budget of other facts does not hold for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Beside {
    /// Sections, each under a heading of its own.
    pub text: Arc<str>,
    /// It tells of delegated work, so that what the calls tell of it is not shown twice.
    pub tells_delegations: bool,
}

impl Beside {
    /// Puts it behind what is there.
    pub(super) fn add_to(&self, out: &mut String) {
        let text = self.text.trim();
        if !text.is_empty() {
            out.push_str(text);
            out.push('\n');
        }
    }
}
