//! What a run tells, on the terminal: its text as it is written, a line a tool call.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus::Delta;
use conspectus::core::outcome::Outcome;
use conspectus::threads::RunStatus;
use conspectus_agent::{Message, Question, RunEvent};
use serde_json::Value;

use crate::fail::Fail;
use crate::show::{Style, clip, number, plain, plain_lines};
use crate::ui;

/// The longest line about a call, in characters.
const WIDTH: usize = 100;

/// Tells one run.
pub(super) struct Hearing {
    style: Style,
    /// The output stands within a line.
    is_within: bool,
    /// The reply that is being written was heard in pieces.
    heard: bool,
    /// Calls by id: how each is shown.
    calls: BTreeMap<Arc<str>, String>,
    /// How it ended.
    pub(super) end: Option<RunStatus>,
}

impl Hearing {
    pub(super) fn new(style: Style) -> Self {
        Self {
            style,
            is_within: false,
            heard: false,
            calls: BTreeMap::new(),
            end: None,
        }
    }

    /// Tells an event.
    ///
    /// # Errors
    /// When nobody reads the output any more.
    pub(super) fn tell(&mut self, event: &RunEvent) -> Result<(), Fail> {
        match event {
            RunEvent::Delta {
                delta: Delta::Text(text),
                ..
            } => {
                self.heard = true;
                self.write(text)?;
            }
            RunEvent::Message { message } => {
                let message = Message::of(message);
                for call in message.calls() {
                    let args = match &call.args {
                        Value::Object(args) if args.is_empty() => String::new(),
                        args => args.to_string(),
                    };
                    let shown = clip(&plain(&format!("{} {args}", call.name)), WIDTH);
                    self.calls.insert(call.id, shown.trim_end().to_owned());
                }
                if message.kind() == conspectus_agent::Kind::Ai {
                    // A model that cannot be heard in pieces.
                    if !self.heard {
                        self.write(&message.text())?;
                    }
                    self.heard = false;
                    self.end_line()?;
                }
            }
            RunEvent::ToolEnd { id, is_error } => {
                let call = self.calls.remove(id).unwrap_or_else(|| "a call".to_owned());
                let result = match is_error {
                    true => self.style.red("failed"),
                    false => self.style.green("ok"),
                };
                self.note(&format!("  {}  {result}", self.style.dim(&call)))?;
            }
            RunEvent::Retry { failure, .. } => {
                self.heard = false;
                self.note(&format!(
                    "the model failed ({}); it is asked again",
                    plain(failure)
                ))?;
            }
            RunEvent::Compaction { compacted, .. } => {
                let sizes = &compacted.measured;
                if matches!(compacted.outcome, Outcome::Compacted | Outcome::Pruned) {
                    self.note(&self.style.dim(&format!(
                        "  {}: {} to {} tokens",
                        compacted.outcome.as_str(),
                        number(sizes.tokens_before),
                        number(compacted.total_tokens)
                    )))?;
                }
            }
            RunEvent::Interrupted { questions } => {
                self.end_line()?;
                for question in questions {
                    ask(question)?;
                }
            }
            RunEvent::Ended {
                status,
                error,
                stop_reason,
            } => {
                self.end = Some(*status);
                self.end_line()?;
                if let Some(error) = error {
                    ui::error(error);
                }
                if let Some(reason) = stop_reason {
                    self.note(&format!("it was stopped at a limit: {}", reason.name()))?;
                }
                if *status == RunStatus::Cancelled {
                    self.note("stopped; /continue goes on with it")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), Fail> {
        if text.is_empty() {
            return Ok(());
        }
        self.is_within = !text.ends_with('\n');
        Ok(ui::write_out(plain_lines(text).as_bytes())?)
    }

    fn end_line(&mut self) -> Result<(), Fail> {
        if std::mem::take(&mut self.is_within) {
            ui::write_out(b"\n")?;
        }
        Ok(())
    }

    /// A line that is no part of the conversation. Colours in it are ours.
    fn note(&mut self, line: &str) -> Result<(), Fail> {
        self.end_line()?;
        ui::note_styled(line);
        Ok(())
    }
}

/// A question of the agent's.
pub(super) fn ask(question: &Question) -> Result<(), Fail> {
    let value = &question.value;
    let mut text = match value["question"].as_str() {
        Some(text) => format!("{}\n", plain_lines(text.trim_end())),
        None => format!("{}\n", plain(&value.to_string())),
    };
    for option in value["options"].as_array().into_iter().flatten() {
        let option = option
            .as_str()
            .map_or_else(|| option.to_string(), str::to_owned);
        text += &format!("  - {}\n", plain(&option));
    }
    Ok(ui::write_out(text.as_bytes())?)
}
