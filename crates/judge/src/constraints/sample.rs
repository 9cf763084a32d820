//! The labelled sample: what is found in messages of real users, against what a reader marked.

use anyhow::Context as _;
use conspectus_core::ledger::rules_of;
use serde::Deserialize;

/// A message with its labels; `data/README.md` says how it came to be.
#[derive(Clone, Debug, Deserialize)]
pub struct Labelled {
    /// The folder of the source.
    pub source: String,
    /// `dev` or `held_out`.
    pub half: String,
    /// The message.
    pub text: String,
    /// Where rules stand in it.
    pub rules: Vec<String>,
    /// What can be read either way.
    pub borderline: Vec<String>,
}

/// What was found in some messages.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Messages.
    pub messages: usize,
    /// Messages in which a reader marked a rule.
    pub with_rules: usize,
    /// Rules that a reader marked.
    pub labelled: usize,
    /// Of these found.
    pub recalled: usize,
    /// Finds.
    pub found: usize,
    /// Of these on a rule.
    pub right: usize,
    /// Of these on something that can be read either way.
    pub borderline: usize,
    /// Finds on nothing, each with its source.
    pub wrong: Vec<String>,
    /// Rules that were not found.
    pub missed: Vec<String>,
}

impl Tally {
    /// Wrong finds for each message; what can be read either way counts as wrong where `strictly`.
    pub fn wrong_per_message(&self, strictly: bool) -> f64 {
        let wrong = self.wrong.len() + if strictly { self.borderline } else { 0 };
        wrong as f64 / self.messages.max(1) as f64
    }

    /// The share of the rules that were found.
    pub fn recall(&self) -> f64 {
        self.recalled as f64 / self.labelled.max(1) as f64
    }

    /// The share of the finds that are right; what can be read either way is left out unless `strictly`.
    pub fn precision(&self, strictly: bool) -> f64 {
        let of = self.right + self.wrong.len() + if strictly { self.borderline } else { 0 };
        self.right as f64 / of.max(1) as f64
    }
}

/// The sample.
///
/// # Errors
/// When a line is not one of it.
pub fn labelled() -> anyhow::Result<Vec<Labelled>> {
    let lines = include_str!("../../data/user-messages.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).context("a labelled message"))
        .collect()
}

/// Finds the rules of each message and compares.
pub fn measure<'a>(messages: impl IntoIterator<Item = &'a Labelled>) -> Tally {
    let mut tally = Tally::default();
    for message in messages {
        tally.messages += 1;
        tally.with_rules += usize::from(!message.rules.is_empty());
        tally.labelled += message.rules.len();
        let found = rules_of(&message.text);
        tally.found += found.len();
        // A list's mark belongs to no sentence.
        let bare = |label: &String| label.trim_start_matches(['-', ' ']).to_owned();
        let meets =
            |label: &String, text: &str| text.contains(&bare(label)) || bare(label).contains(text);
        for label in &message.rules {
            if found.iter().any(|rule| meets(label, &rule.text)) {
                tally.recalled += 1;
            } else {
                tally.missed.push(format!("{}: {label}", message.source));
            }
        }
        for rule in &found {
            if message.rules.iter().any(|label| meets(label, &rule.text)) {
                tally.right += 1;
            } else if message
                .borderline
                .iter()
                .any(|label| meets(label, &rule.text))
            {
                tally.borderline += 1;
            } else {
                tally
                    .wrong
                    .push(format!("{}: {}", message.source, rule.text));
            }
        }
    }
    tally
}
