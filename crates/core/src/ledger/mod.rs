//! The ledger: typed facts of a thread, folded message by message from structured data.
//!
//! What an agent did stands in its tool calls and their results: files read and changed, branch and commit,
//! the last test run, the last error, the open todos, delegated work, pages fetched. What the user demands
//! for good stands in the user's own words. Both are read by code, so they survive any number of
//! compactions whatever a summary says.
//!
//! [`Ledger::fold`] costs what the message holds. Everything is capped by the `MAX_…` constants; a ledger
//! never grows beyond some 100 KB. Facts come from structure only: a delegation's state is whether its
//! call was answered, not what the answer says.

mod action;
mod constraint;
mod fact;
mod outcome;
mod patch;
mod redact;
mod report;
mod row;
mod shell;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use constraint::{Ended, Force, MAX_PAST_RULES, PastRule, Rule, Rules, rules_of};
pub use fact::{
    CommitFact, Delegation, DelegationState, ErrorFact, FileFact, FileState, TestFact, Todo,
    TodoState,
};

pub use row::Row;

use crate::durable;
use crate::frame;
use crate::id::CallId;
use crate::redact::Redactor;
use crate::view::{MessageView, PartKind, PartRef, Role, Texts};
pub(crate) use action::words_of;
use action::{Action, actions};
use report::Report;

/// Files remembered; those only read and longest untouched go first.
pub const MAX_FILES: usize = 400;
/// Todos of one plan.
pub const MAX_TODOS: usize = 60;
/// Delegations remembered; the oldest finished ones go first.
pub const MAX_DELEGATIONS: usize = 60;
/// Fetched addresses remembered; the oldest go first.
pub const MAX_URLS: usize = 60;
/// Standing rules remembered; the oldest of the least firm ones but the first ten go first.
pub const MAX_RULES: usize = 60;
/// Calls that wait for their results.
pub const MAX_PENDING: usize = 256;
/// Bytes of any one text.
pub const MAX_TEXT: usize = 400;
/// Bytes of a result that are searched for an outcome, at each end.
const OUTCOME_WINDOW: usize = 8_000;

/// The facts of a thread so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ledger {
    /// Messages folded so far; facts name messages by their ordinal, from 0.
    messages: u64,
    files: BTreeMap<Arc<str>, FileFact>,
    branch: Option<Arc<str>>,
    commit: Option<CommitFact>,
    test: Option<TestFact>,
    error: Option<ErrorFact>,
    todos: Vec<Todo>,
    delegations: Vec<Delegation>,
    urls: Vec<Arc<str>>,
    rules: Rules,
    pending: Vec<Pending>,
}

/// A call whose result was not seen yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Pending {
    id: CallId,
    tool: Arc<str>,
    message: u64,
    actions: Vec<Action>,
}

impl Ledger {
    /// Takes one more message into account. Messages come in order, each once.
    pub fn fold(&mut self, message: &MessageView, texts: &dyn Texts) {
        self.fold_clear(message, texts, &Redactor::default());
    }

    /// The same, where patterns of a configuration know secrets, too: a fact is a piece of what was said, and no piece of
    /// a secret is kept that the pattern would not know any more. Whole secrets stay until [`Self::redacted`].
    pub fn fold_clear(&mut self, message: &MessageView, texts: &dyn Texts, redactor: &Redactor) {
        let redactor = whole::by_patterns(redactor);
        let ordinal = self.messages;
        self.messages += 1;
        if message.flags.summary {
            self.restore(message, texts, ordinal);
            return;
        }
        let heard = message.is_user_request()
            || (message.role == Role::System && !message.flags.hidden && ordinal > 0);
        for (index, part) in message.parts.iter().enumerate() {
            let Some(at) = part_ref(message, index) else {
                continue;
            };
            match &part.kind {
                PartKind::Text if heard && part.inside.is_none() => {
                    self.rules.hear(&texts.text(at), message, ordinal, redactor);
                }
                PartKind::Call { id, tool } => {
                    let arguments = whole::clean(texts.text(at), redactor);
                    let actions = actions(tool, &arguments);
                    self.called(id, tool, actions, ordinal);
                }
                PartKind::Result { id, error, .. } => {
                    let text = result_text(message, index, texts, redactor);
                    self.answered(id, *error, &text);
                }
                _ => {}
            }
        }
    }

    /// A block of our own, in a file that was compacted before: the messages that its rules come from are gone,
    /// but code has kept the rules verbatim. Nothing is taken from the summary beside them.
    fn restore(&mut self, message: &MessageView, texts: &dyn Texts, ordinal: u64) {
        let [_] = message.parts.as_slice() else {
            return;
        };
        let Some(at) = part_ref(message, 0) else {
            return;
        };
        let text = texts.text(at);
        let Some(kept) = frame::durable(&text).filter(|_| message.role == Role::User) else {
            return;
        };
        for (rule, earlier) in durable::read(kept) {
            self.rules.restore(&rule, earlier, message, ordinal);
        }
    }

    /// How many messages were folded.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Files touched, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &FileFact)> {
        self.files.iter().map(|(path, fact)| (path.as_ref(), fact))
    }

    /// The branch last seen checked out.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// The last commit made.
    pub fn commit(&self) -> Option<&CommitFact> {
        self.commit.as_ref()
    }

    /// The last test run.
    pub fn test(&self) -> Option<&TestFact> {
        self.test.as_ref()
    }

    /// The last failure that the same call has not overcome since.
    pub fn error(&self) -> Option<&ErrorFact> {
        self.error.as_ref()
    }

    /// The newest plan, finished steps included.
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// Work given to other agents, oldest first.
    pub fn delegations(&self) -> &[Delegation] {
        &self.delegations
    }

    /// Addresses fetched, oldest first.
    pub fn urls(&self) -> &[Arc<str>] {
        &self.urls
    }

    /// The user's standing rules, oldest first.
    pub fn rules(&self) -> &[Rule] {
        self.rules.standing()
    }

    /// The same with those that ended.
    pub fn constraints(&self) -> &Rules {
        &self.rules
    }

    fn called(&mut self, id: &CallId, tool: &Arc<str>, actions: Vec<Action>, message: u64) {
        for action in &actions {
            self.act(id, action, message);
        }
        if self.pending.len() == MAX_PENDING {
            self.pending.remove(0);
        }
        self.pending.push(Pending {
            id: id.clone(),
            tool: tool.clone(),
            message,
            actions,
        });
    }

    fn act(&mut self, id: &CallId, action: &Action, message: u64) {
        match action {
            Action::Read(path) => self.file(path, message, |file| file.reads += 1),
            Action::Create(path) => self.file(path, message, FileFact::written),
            Action::Edit(path) => self.file(path, message, |file| {
                file.edits += 1;
                file.deleted = false;
            }),
            Action::Delete(path) => self.file(path, message, |file| file.deleted = true),
            Action::Branch(name) => self.branch = Some(name.clone()),
            Action::Commit(subject) => {
                self.commit = Some(CommitFact {
                    id: None,
                    subject: subject.clone(),
                });
            }
            Action::Plan(todos) => self.todos.clone_from(todos),
            Action::Delegate { agent, task, job } => {
                if self.delegations.len() == MAX_DELEGATIONS {
                    let old = self.delegations.iter().position(Delegation::is_over);
                    self.delegations.remove(old.unwrap_or(0));
                }
                self.delegations.push(Delegation {
                    call: id.clone(),
                    agent: agent.clone(),
                    task: task.clone(),
                    job: job.clone(),
                    state: DelegationState::Running,
                    unmet: Vec::new(),
                });
            }
            Action::Fetch(url) => {
                self.urls.retain(|known| known != url);
                if self.urls.len() == MAX_URLS {
                    self.urls.remove(0);
                }
                self.urls.push(url.clone());
            }
            Action::Test(_) | Action::Command(_) => {}
        }
    }

    fn file(&mut self, path: &Arc<str>, message: u64, change: impl FnOnce(&mut FileFact)) {
        let fact = self.files.entry(path.clone()).or_default();
        change(fact);
        fact.last = message;
        if self.files.len() > MAX_FILES + MAX_FILES / 4 {
            let mut order: Vec<_> = self
                .files
                .iter()
                .map(|(path, fact)| (fact.is_changed(), fact.last, path.clone()))
                .collect();
            order.sort();
            for (_, _, path) in order.drain(..self.files.len() - MAX_FILES) {
                self.files.remove(&path);
            }
        }
    }

    fn answered(&mut self, id: &CallId, error: bool, text: &str) {
        // Some servers restart their ids: the newest message that called so, in its order.
        let newest = self.pending.iter().rev().find(|p| p.id == *id);
        let Some(message) = newest.map(|p| p.message) else {
            return;
        };
        let at = self
            .pending
            .iter()
            .position(|p| p.id == *id && p.message == message);
        let Some(call) = at.map(|at| self.pending.remove(at)) else {
            return;
        };
        let code = outcome::exit_code(text);
        let failed = error || code.is_some_and(|code| code != 0) || outcome::says_error(text);
        let what = call.what();
        let mut is_test = false;
        let report = match self.delegations.is_empty() {
            true => Report::default(),
            false => Report::of(text),
        };
        self.reported(&call, &report);
        for action in &call.actions {
            match action {
                Action::Test(command) => {
                    is_test = true;
                    let summary = outcome::test_summary(text);
                    let failed = failed || summary.as_deref().is_some_and(outcome::says_failures);
                    let passed = (failed || summary.is_some() || code.is_some()).then_some(!failed);
                    self.test = Some(TestFact {
                        command: command.clone(),
                        passed,
                        summary,
                    });
                }
                Action::Commit(_) | Action::Command(_) if !failed => {
                    if let Some((branch, commit)) = outcome::committed(text) {
                        self.branch = Some(branch);
                        self.commit = Some(commit);
                    } else if let Some(branch) = outcome::branch(text) {
                        self.branch = Some(branch);
                    }
                }
                Action::Delegate { .. } => {
                    let mut newest = self.delegations.iter_mut().rev();
                    if let Some(work) = newest.find(|d| d.call == *id) {
                        let answered = match failed {
                            true => DelegationState::Failed,
                            false => DelegationState::Done,
                        };
                        work.told(&report, answered);
                    }
                }
                Action::Create(path) | Action::Edit(path) | Action::Delete(path)
                    if error || outcome::says_error(text) =>
                {
                    self.undo(path, action);
                }
                _ => {}
            }
        }
        if failed {
            if !is_test || self.error.is_none() {
                let message = call.message;
                let error = |text| ErrorFact {
                    call: what,
                    text,
                    message,
                };
                self.error = outcome::error_line(text).map(error).or(self.error.take());
            }
        } else if self
            .error
            .as_ref()
            .is_some_and(|e| same_work(&e.call, &what))
        {
            self.error = None;
        }
    }

    /// Any call's result may tell of work that was given away before: a question after it, a notification.
    fn reported(&mut self, call: &Pending, report: &Report) {
        let (Some(job), Some(state)) = (&report.job, report.state) else {
            return;
        };
        let mut others = self.delegations.iter_mut().filter(|d| d.call != call.id);
        // States move forward only.
        if let Some(work) = others.find(|d| d.job.as_ref() == Some(job) && !d.is_over()) {
            work.told(report, state);
        }
    }

    /// The change did not happen after all.
    fn undo(&mut self, path: &Arc<str>, action: &Action) {
        let Some(fact) = self.files.get_mut(path) else {
            return;
        };
        match action {
            Action::Delete(_) => fact.deleted = false,
            Action::Create(_) if fact.edits == 0 => fact.created = false,
            _ => fact.edits = fact.edits.saturating_sub(1),
        }
        if *fact
            == (FileFact {
                last: fact.last,
                ..FileFact::default()
            })
        {
            self.files.remove(path);
        }
    }
}

impl Pending {
    /// The tool and what it ran or touched.
    fn what(&self) -> Arc<str> {
        let what = self.actions.iter().find_map(|action| match action {
            Action::Test(text) | Action::Command(text) => Some(text),
            Action::Read(path) | Action::Create(path) | Action::Edit(path) => Some(path),
            _ => None,
        });
        match what {
            Some(what) => [&self.tool, ": ", what].concat().into(),
            None => self.tool.clone(),
        }
    }
}

/// Whether two calls do the same work: the same tool on the same file, or commands that begin alike
/// (`git push`, then `git push -u origin main`).
fn same_work(one: &str, other: &str) -> bool {
    fn start(what: &str) -> impl Iterator<Item = &str> {
        let what = what.strip_prefix("cd ").map_or(what, |rest| {
            rest.split_once("&& ").map_or(rest, |(_, command)| command)
        });
        what.split(' ').take(2)
    }
    match (one.split_once(": "), other.split_once(": ")) {
        (Some((tool, one)), Some((other_tool, other))) => {
            tool == other_tool && start(one).eq(start(other))
        }
        _ => one == other,
    }
}

pub(crate) fn part_ref(message: &MessageView, part: usize) -> Option<PartRef> {
    Some(PartRef {
        message: message.handle,
        part: u16::try_from(part).ok()?,
    })
}

/// What a result says: its text, or the two ends of its pieces.
fn result_text(
    message: &MessageView,
    result: usize,
    texts: &dyn Texts,
    redactor: Option<&Redactor>,
) -> String {
    let mut out = String::new();
    for (index, part) in message.parts.iter().enumerate().skip(result) {
        let mine = index == result
            || (part.inside.is_some_and(|r| usize::from(r) == result)
                && part.kind == PartKind::Text);
        let Some(at) = part_ref(message, index).filter(|_| mine) else {
            continue;
        };
        let text = whole::clean(texts.text(at), redactor);
        if text.len() <= 2 * OUTCOME_WINDOW {
            out.push_str(&text);
        } else {
            out.push_str(&text[..text.floor_char_boundary(OUTCOME_WINDOW)]);
            out.push('\n');
            out.push_str(&text[text.ceil_char_boundary(text.len() - OUTCOME_WINDOW)..]);
        }
        out.push('\n');
    }
    out
}

/// `text` on one line, capped.
fn capped(text: &str) -> Arc<str> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // What comes next tells whether a secret is cut through.
        if line.len() > 2 * MAX_TEXT {
            break;
        }
    }
    redact::cut_clear(&line, MAX_TEXT).into()
}

#[cfg(test)]
mod tests;
