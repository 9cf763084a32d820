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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::count::Estimator;
    use crate::history::History;
    use crate::memory::{Memory, TestPart, call, result, text};

    #[test]
    fn where_a_conversation_stands() {
        let task = || call("c1", "task", r#"{"description":"survey","prompt":"look"}"#);
        let look = || call("c2", "look", "{}");
        let check = |said: Vec<(Role, TestPart)>, expect: Next| {
            let (mut memory, mut ledger) = (Memory::new(), Ledger::default());
            let (mut history, mut head) = (History::default(), None);
            for (role, part) in said {
                let view = memory.message(role, vec![part]);
                ledger.fold(&view, &memory);
                head = Some(history.append(head, Arc::new(view)));
            }
            let branch = Branch::to(&history, head, &memory, &Estimator::new());
            assert_eq!(Next::of(&branch, &ledger), expect);
        };
        use Role::{Assistant, Tool, User};
        check(vec![(User, text("go"))], Next::Continue);
        check(
            vec![(User, text("go")), (Assistant, look())],
            Next::Continue,
        );
        let looked = [
            (User, text("go")),
            (Assistant, look()),
            (Tool, result("c2", "a valve")),
        ];
        check(looked.to_vec(), Next::Continue);
        let answered = [looked.as_slice(), &[(Assistant, text("It is a valve."))]].concat();
        check(answered, Next::User);
        let delegated = vec![
            (User, text("go")),
            (Assistant, task()),
            (Assistant, text("It is on its way.")),
        ];
        check(delegated, Next::Delegates);
    }
}
