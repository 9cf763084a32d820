//! Processes that die in the middle of a compaction, and what they leave in the store.
//!
//! The runner starts itself as the process that dies. That one opens a copy of the store, compacts, tells what it did so
//! far, and aborts at a step of the transaction that commits the summary: no destructor runs, nothing is rolled back by
//! anybody but whoever opens the file next.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use conspectus_core::effect::{Millis, SummaryRequest};
use conspectus_store::{Failpoint, STEPS};
use serde::{Deserialize, Serialize};

use super::json::Json;

/// What the runner is called with to be the process that dies.
pub const DIES: &str = "--dies";

/// When to die: the n-th time that a commit passes this step, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Instant {
    pub(super) step: String,
    pub(super) nth: usize,
}

impl Instant {
    /// The instants that a case's name of a point means. A store in one transaction has no temporary file: what is
    /// written there is written inside the transaction, and its rename is the commit. Of a name that says nothing to us
    /// every step is meant.
    pub(super) fn of_point(point: &str) -> Vec<Self> {
        let at = |step: &str, nth| Self {
            step: step.to_owned(),
            nth,
        };
        match point {
            "after_summary_call" => vec![at("before the transaction", 1)],
            // Some statements have written, others have not.
            "after_temp_write" => vec![at("before a statement", 2)],
            "before_rename" => vec![at("before the commit", 1)],
            "after_rename" => vec![at("after the commit", 1)],
            _ => STEPS.iter().map(|step| at(step, 1)).collect(),
        }
    }

    /// Dies there.
    pub(super) fn failpoint(self) -> Failpoint {
        let passed = AtomicUsize::new(0);
        Arc::new(move |step| {
            if step == self.step && passed.fetch_add(1, Ordering::SeqCst) + 1 == self.nth {
                die(&Word::Died {
                    at: Some(&self.step),
                })
            }
        })
    }
}

/// Everything that the process that dies has to know. What is in the store is not here.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// The case.
    pub(super) case: String,
    /// Which of its steps this is.
    pub(super) step: usize,
    /// The thread.
    pub(super) thread: String,
    /// The store.
    pub(super) file: PathBuf,
    /// When to die.
    pub(super) instant: Instant,
    /// The clock.
    pub(super) now: Millis,
    /// Commands so far.
    pub(super) commands: usize,
    /// What the summariser was asked so far.
    pub(super) asked: Vec<SummaryRequest>,
}

/// What a process did before it died.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// Calls of the summariser, as JSON texts.
    pub(super) calls: Vec<String>,
    /// What it was asked.
    pub(super) asked: Vec<SummaryRequest>,
    /// Names of events.
    pub(super) events: Vec<String>,
    /// The clock.
    pub(super) now: Millis,
}

/// A line of the process that dies.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Word<'a> {
    Done(&'a Done),
    Died { at: Option<&'a str> },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Heard {
    Done(Done),
    Died { at: Option<String> },
}

/// How a process died.
#[derive(Debug)]
pub(super) struct Death {
    /// What it did, in order.
    pub(super) done: Vec<Done>,
    /// Where; `None`: it never came to the instant and died when all was done.
    pub(super) at: Option<String>,
}

impl Order {
    /// Starts the process and waits until it is dead.
    ///
    /// # Errors
    /// When it cannot be started, or ended in another way.
    pub(super) fn carry_out(&self) -> anyhow::Result<Death> {
        let this = std::env::current_exe().context("where this program is")?;
        let mut child = Command::new(this)
            .arg(DIES)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the process that dies")?;
        let mut input = child.stdin.take().context("its input is piped")?;
        input.write_all(serde_json::to_string(self)?.as_bytes())?;
        drop(input);
        let output = child.wait_with_output()?;
        let mut death = None;
        let mut done = Vec::new();
        for line in String::from_utf8(output.stdout)?.lines() {
            match serde_json::from_str(line)? {
                Heard::Done(more) => done.push(more),
                Heard::Died { at } => death = Some(at),
            }
        }
        let at = death.filter(|_| !output.status.success());
        let at = at.with_context(|| format!("the process did not die: {}", output.status))?;
        Ok(Death { done, at })
    }
}

/// Tells the process that waits what was done.
///
/// # Errors
/// When nobody listens.
pub(super) fn tell(done: &Done) -> anyhow::Result<()> {
    say(&Word::Done(done)).context("somebody listens")
}

/// The end of a process that never came to its instant.
pub(super) fn die_at_the_end() -> ! {
    die(&Word::Died { at: None })
}

fn die(word: &Word<'_>) -> ! {
    // Whoever waits finds out if this was not heard.
    let _ = say(word);
    std::process::abort()
}

fn say(word: &Word<'_>) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(word)?)?;
    out.flush()
}

/// A call as it is told.
pub(super) fn read_calls(done: &Done) -> serde_json::Result<Vec<Json>> {
    done.calls.iter().map(|call| Json::parse(call)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_steps_of_the_store() {
        let known = [
            "after_summary_call",
            "after_temp_write",
            "before_rename",
            "after_rename",
        ];
        for point in known {
            let instants = Instant::of_point(point);
            assert_eq!(instants.len(), 1, "{point}");
            assert!(STEPS.contains(&instants[0].step.as_str()), "{point}");
        }
        assert_eq!(Instant::of_point("elsewhere").len(), STEPS.len());
    }
}
