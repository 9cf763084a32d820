//! What the agent is to do after a compaction, read from where the conversation stands.

use crate::ledger::Ledger;
use crate::view::Role;
use crate::window::Branch;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// The work is under way, or a request is not answered yet.
    Continue,
    /// The model has answered: it is the user's turn.
    User,
    /// Delegated work is still running.
    Delegates,
}

impl Next {
    /// Where the conversation stands at its head.
    pub fn of(branch: &Branch, ledger: &Ledger) -> Self {
        let last = branch.views().last();
        let is_answered = last.is_some_and(|view| {
            view.role == Role::Assistant && view.calls().next().is_none() && !view.flags.partial
        });
        match is_answered {
            true if ledger.delegations().iter().any(|d| !d.is_over()) => Self::Delegates,
            true => Self::User,
            false => Self::Continue,
        }
    }

    /// In words, for the model.
    pub fn words(self) -> &'static str {
        match self {
            Self::Continue => {
                "When this was written the work was under way: go on with it, without asking again."
            }
            Self::User => {
                "When this was written the last request was answered: what the user says next decides."
            }
            Self::Delegates => {
                "When this was written delegated work was still running: wait for it or ask for it, do not start it again."
            }
        }
    }
}
