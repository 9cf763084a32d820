//! The ledger's facts as short texts, the most important first.

use super::Ledger;
use super::fact::{DelegationState, ErrorFact, TodoState};

/// A failure this many messages ago is history, overcome or not.
const ERROR_IS_NEWS: u64 = 40;

/// One fact as text. Rows of one label are shown together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What sort of fact it is.
    pub label: &'static str,
    /// The fact.
    pub text: String,
    /// A shorter form, where there is one.
    pub short: Option<String>,
}

impl Ledger {
    /// All facts but the rules (see [`Ledger::rules`]): open todos, last error, last test, changed files
    /// (newest first), git, running work, then what matters less.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut row = |label, text: String, short| rows.push(Row { label, text, short });
        for todo in self.todos.iter().filter(|t| t.state == TodoState::Active) {
            row("Now", todo.text.to_string(), None);
        }
        for todo in self.todos.iter().filter(|t| t.state == TodoState::Open) {
            row("Open", todo.text.to_string(), None);
        }
        let recent = |error: &&ErrorFact| self.messages - error.message <= ERROR_IS_NEWS;
        if let Some(error) = self.error.as_ref().filter(recent) {
            let text = format!("{} ({})", error.text, error.call);
            row("Last error", text, Some(error.text.to_string()));
        }
        if let Some(test) = &self.test {
            let verdict = match test.passed {
                Some(true) => "passed",
                Some(false) => "failed",
                None => "ran",
            };
            let summary = test.summary.as_deref().map(|s| format!(" ({s})"));
            let text = format!(
                "`{}` {verdict}{}",
                test.command,
                summary.unwrap_or_default()
            );
            row("Tests", text, Some(format!("{verdict}: {}", test.command)));
        }
        let mut files: Vec<_> = self.files().collect();
        files.sort_by_key(|(path, file)| (std::cmp::Reverse(file.last), *path));
        for (path, file) in files.iter().filter(|(_, file)| file.is_changed()) {
            let name = path.rsplit('/').next().unwrap_or(path);
            let text = format!("{path} ({})", file.state());
            row("Changed", text, Some(name.to_owned()));
        }
        for work in &self.delegations {
            let agent = work
                .agent
                .as_deref()
                .map(|a| format!("{a}: "))
                .unwrap_or_default();
            let state = match work.state {
                DelegationState::Running => "running",
                DelegationState::Done => "done",
                DelegationState::Failed => "failed",
            };
            let job = work
                .job
                .as_deref()
                .map(|j| format!(" [{j}]"))
                .unwrap_or_default();
            let open = match work.unmet.join("; ") {
                open if open.is_empty() => open,
                open => format!("; not met: {open}"),
            };
            let text = format!("{agent}{}{job} ({state}{open})", work.task);
            row("Delegated", text, None);
        }
        if let Some(branch) = &self.branch {
            row("Branch", branch.to_string(), None);
        }
        if let Some(commit) = &self.commit {
            let id = commit
                .id
                .as_deref()
                .map(|id| format!("{id} "))
                .unwrap_or_default();
            row("Commit", format!("{id}\"{}\"", commit.subject), None);
        }
        let done: Vec<_> = self
            .todos
            .iter()
            .filter(|t| t.state == TodoState::Done)
            .collect();
        for todo in done {
            row("Done", todo.text.to_string(), None);
        }
        for (path, _) in files.iter().filter(|(_, file)| !file.is_changed()) {
            row("Read", (*path).to_owned(), None);
        }
        for url in self.urls.iter().rev() {
            row("Fetched", url.to_string(), None);
        }
        rows
    }
}
