//! What every command that goes through inputs begins and ends with.

use std::fs;

use serde::Serialize;

use crate::Done;
use crate::fail::{Exit, Fail};
use crate::inputs::{Input, Inputs, Skipped};
use crate::job::PolicyJob;
use crate::report::ErrorLine;
use crate::show;
use crate::ui::{self, Stream, Talk, Ui};

/// From here on inputs are worth showing progress for, in bytes.
const LONG_INPUT: u64 = 2_000_000;

/// One command on its way through the inputs.
pub(crate) struct Round<'j> {
    pub(crate) ui: Ui,
    command: &'static str,
    /// The report is a JSON document.
    json: bool,
    /// What the command was told about when and how, if that matters to it.
    policy: Option<&'j PolicyJob>,
    skipped: Vec<Skipped>,
    errors: Vec<ErrorLine>,
    /// Something was shown already.
    has_shown: bool,
}

/// The JSON document.
#[derive(Serialize)]
struct Report<'a, R> {
    command: &'static str,
    version: &'static str,
    exit_code: u8,
    results: &'a [R],
    skipped: &'a [Skipped],
    warnings: &'a [String],
    advice: &'a [String],
    errors: &'a [ErrorLine],
}

impl<'j> Round<'j> {
    /// Says what is to be said before the first input: warnings, and directories that cannot be listed.
    pub(crate) fn begin(
        command: &'static str,
        stream: Stream,
        talk: Talk,
        policy: Option<&'j PolicyJob>,
        inputs: &Inputs,
    ) -> Self {
        if let Some(policy) = policy {
            policy.warnings.borrow().iter().for_each(|w| ui::warning(w));
            if talk != Talk::Quiet {
                policy.advice.iter().for_each(|a| ui::advice(a));
            }
        }
        inputs
            .failed
            .iter()
            .for_each(|fail| ui::error(&fail.message()));
        Self {
            ui: Ui::new(stream, is_long(&inputs.all), talk),
            command,
            json: talk == Talk::Json,
            policy,
            skipped: inputs.skipped.clone(),
            errors: inputs.failed.iter().map(ErrorLine::from).collect(),
            has_shown: false,
        }
    }

    /// A file of a directory that is none of ours.
    pub(crate) fn skip(&mut self, skipped: Skipped) {
        self.skipped.push(skipped);
    }

    /// Shows what one input came to, unless the report is JSON.
    pub(crate) fn show(&mut self, text: impl FnOnce(show::Style) -> String) -> Result<(), Fail> {
        if self.json {
            return Ok(());
        }
        let gap = if self.has_shown { "\n" } else { "" };
        self.has_shown = true;
        self.ui.say(&format!("{gap}{}", text(self.ui.style)))?;
        Ok(())
    }

    /// The report, and how the program ends: `exits` are those of the results.
    pub(crate) fn end<R: Serialize>(
        self,
        results: &[R],
        exits: impl Iterator<Item = Exit>,
    ) -> Done {
        let exit = exits.chain(self.errors.iter().map(|e| e.exit)).max();
        let exit = exit.unwrap_or(Exit::Done);
        if self.json {
            let policy = self.policy;
            self.ui.json(&Report {
                command: self.command,
                version: env!("CARGO_PKG_VERSION"),
                exit_code: exit.code(),
                results,
                skipped: &self.skipped,
                warnings: &policy.map_or_else(Vec::new, |policy| policy.warnings.borrow().clone()),
                advice: policy.map_or(&[], |policy| &policy.advice),
                errors: &self.errors,
            })?;
        } else if !self.skipped.is_empty() {
            let text = show::skipped(&self.skipped, results.is_empty(), self.ui.style);
            self.ui.say(&text)?;
        }
        // A directory without any conversation.
        if results.is_empty() && self.errors.is_empty() {
            return Err(Fail::new(
                Exit::Input,
                anyhow::anyhow!(
                    "no conversation was found there; name a file, perhaps with --format"
                ),
            ));
        }
        Ok(exit)
    }
}

/// Whether progress is worth showing.
fn is_long(inputs: &[Input]) -> bool {
    let bytes = |input: &Input| match input {
        Input::File { path, .. } => fs::metadata(path).map_or(0, |m| m.len()),
        Input::Stdin => 0,
    };
    inputs.iter().map(bytes).fold(0, u64::saturating_add) >= LONG_INPUT
}
