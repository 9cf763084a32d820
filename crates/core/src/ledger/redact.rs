//! The facts without secrets: what a record stores and a digest shows.
//!
//! The ledger that a thread goes on with keeps the words as they were said, so that a later message still takes back
//! the rule or finishes the work it means.

use std::sync::Arc;

use super::action::Action;
use super::{Ledger, Pending};
use crate::digest::cut_end;
use crate::redact::Redactor;

/// The beginning of a text that is too long, not cut inside of a secret: a piece of one is known by nobody any more, so
/// it could not be taken out later. Known are those that are known without a policy.
pub(super) fn cut_clear(text: &str, max: usize) -> String {
    let cut = cut_end(text, max);
    if cut.len() >= text.len() {
        return cut;
    }
    let end = max.saturating_sub("…".len());
    let found = Redactor::default().find(text);
    match found.iter().find(|f| f.range.contains(&end)) {
        Some(secret) => [text[..secret.range.start].trim_end(), "…"].concat(),
        None => cut,
    }
}

impl Ledger {
    /// The same facts, secrets replaced by markers. Of two files whose paths differ only there, one stays.
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let mut ledger = self.clone();
        // Whoever adds a field decides what becomes of its texts.
        let Self {
            messages: _,
            files,
            branch,
            commit,
            test,
            error,
            todos,
            delegations,
            urls,
            rules,
            pending,
        } = &mut ledger;
        let clean = |text: &mut Arc<str>| *text = redactor.redact_arc(text);
        *files = std::mem::take(files)
            .into_iter()
            .map(|(path, fact)| (redactor.redact_arc(&path), fact))
            .collect();
        branch.iter_mut().for_each(clean);
        if let Some(commit) = commit {
            commit.id.iter_mut().for_each(clean);
            clean(&mut commit.subject);
        }
        if let Some(test) = test {
            clean(&mut test.command);
            test.summary.iter_mut().for_each(clean);
        }
        if let Some(error) = error {
            clean(&mut error.call);
            clean(&mut error.text);
        }
        todos.iter_mut().for_each(|todo| clean(&mut todo.text));
        for work in delegations {
            work.agent.iter_mut().for_each(clean);
            clean(&mut work.task);
            work.job.iter_mut().for_each(clean);
            work.unmet.iter_mut().for_each(clean);
        }
        urls.iter_mut().for_each(clean);
        rules.clean(clean);
        for Pending { tool, actions, .. } in pending {
            clean(tool);
            for action in actions {
                match action {
                    Action::Read(text)
                    | Action::Create(text)
                    | Action::Edit(text)
                    | Action::Delete(text)
                    | Action::Command(text)
                    | Action::Test(text)
                    | Action::Branch(text)
                    | Action::Commit(text)
                    | Action::Fetch(text) => clean(text),
                    Action::Plan(todos) => todos.iter_mut().for_each(|todo| clean(&mut todo.text)),
                    Action::Delegate { agent, task, job } => {
                        job.iter_mut().for_each(clean);
                        agent.iter_mut().for_each(clean);
                        clean(task);
                    }
                }
            }
        }
        ledger
    }
}
