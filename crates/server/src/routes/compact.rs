//! Compacting by hand: the seed's endpoint, word for word where it has a word, and our options beside its own.

use std::pin::pin;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use conspectus::Control;
use conspectus::core::effect::Failure;
use conspectus::core::policy::{KeepOption, Strategy};
use conspectus::threads::{CheckpointId, CompactThread, Compacted, ThreadsError};
use conspectus::{Outcome, Reason};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::parts::{Object, exact_of};
use crate::problem::Problem;
use crate::read::{Body, Named};
use crate::stop::Phase;

/// The longest name of an agent or a model.
const MAX_NAME: usize = 128;
/// What may be said about what matters, in characters.
const MAX_FOCUS: usize = 2000;

const IN_FLIGHT: &str = "Thread has a run in flight. Compact after the run finishes.";
const DISABLED: &str = "Context compaction is disabled.";
const FAILED: &str = "Failed to compact thread context.";

/// What is asked for. The first four are the seed's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Compact {
    force: bool,
    keep: Option<Object<Size>>,
    agent_name: Option<Arc<str>>,
    model_name: Option<Arc<str>>,
    below_keep: bool,
    focus: Option<Arc<str>>,
    strategy: Option<Strategy>,
    dry_run: bool,
}

impl Default for Compact {
    fn default() -> Self {
        Self {
            force: true,
            keep: None,
            agent_name: None,
            model_name: None,
            below_keep: false,
            focus: None,
            strategy: None,
            dry_run: false,
        }
    }
}

/// A size of the context, as deer-flow writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    #[serde(rename = "type")]
    unit: Unit,
    value: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Messages,
    Tokens,
    Fraction,
}

impl Size {
    fn keep(&self) -> Result<KeepOption, Problem> {
        let value = self.value;
        let whole = || {
            let number = exact_of(value);
            number.ok_or_else(|| Problem::invalid("keep.value is a whole number >= 0"))
        };
        match self.unit {
            Unit::Messages => whole().map(KeepOption::Messages),
            Unit::Tokens => whole().map(KeepOption::Tokens),
            Unit::Fraction if value > 0.0 && value <= 1.0 => Ok(KeepOption::Fraction(value)),
            Unit::Fraction => Err(Problem::invalid("keep.value is above 0 and at most 1")),
        }
    }
}

impl Compact {
    fn ask(self) -> Result<CompactThread, Problem> {
        for (name, value) in [
            ("agent_name", &self.agent_name),
            ("model_name", &self.model_name),
        ] {
            if value
                .as_ref()
                .is_some_and(|value| value.chars().count() > MAX_NAME)
            {
                return Err(Problem::invalid(format!(
                    "{name} has at most {MAX_NAME} characters"
                )));
            }
        }
        if self
            .focus
            .as_ref()
            .is_some_and(|focus| focus.chars().count() > MAX_FOCUS)
        {
            return Err(Problem::invalid(format!(
                "focus has at most {MAX_FOCUS} characters"
            )));
        }
        Ok(CompactThread {
            force: self.force,
            below_keep: self.below_keep,
            keep: self.keep.map(|Object(keep)| keep.keep()).transpose()?,
            focus: self.focus.filter(|focus| !focus.trim().is_empty()),
            model_name: self.model_name,
            agent_name: self.agent_name,
            strategy: self.strategy,
            dry_run: self.dry_run,
            ..CompactThread::default()
        })
    }
}

/// What it came to. The first eight are the seed's.
#[derive(Debug, Serialize)]
pub(crate) struct Done {
    thread_id: Arc<str>,
    compacted: bool,
    reason: Option<&'static str>,
    removed_message_count: u64,
    preserved_message_count: u64,
    summary_updated: bool,
    checkpoint_id: Option<CheckpointId>,
    total_tokens: u64,
    outcome: Outcome,
    reasons: Vec<Reason>,
    tokens_before: u64,
    /// Of a dry run; otherwise the newest state has it.
    summary_text: Option<Arc<str>>,
    /// What a dry run kept, for `apply`.
    preview: Option<Arc<str>>,
    /// The model that the conversation runs on.
    model: Option<Arc<str>>,
}

pub(crate) async fn compact(
    State(app): State<Arc<App>>,
    named: Named,
    Body(compact): Body<Compact>,
) -> Answered<Done> {
    let key = named.key();
    let ask = compact.ask()?;
    let control = Control::new();
    let work = app.threads.compact_with(&key, &ask, &control);
    done(until_stopped(&app, &control, work).await?, ask.dry_run)
}

/// A preview to put in force.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Apply {
    preview: Arc<str>,
}

pub(crate) async fn apply(
    State(app): State<Arc<App>>,
    named: Named,
    Body(apply): Body<Apply>,
) -> Answered<Done> {
    done(
        app.threads.apply(&named.key(), &apply.preview).await?,
        false,
    )
}

/// Waits. A server that stops cancels the attempt, and waits on for how it ended.
async fn until_stopped(
    app: &App,
    control: &Control,
    work: impl Future<Output = Result<Compacted, ThreadsError>>,
) -> Result<Compacted, ThreadsError> {
    let mut work = pin!(work);
    tokio::select! {
        compacted = &mut work => return compacted,
        () = app.stop.reached(Phase::Cancelled) => control.cancel(),
    }
    work.await
}

/// Outcomes as statuses: the table in `docs/service.md`.
fn done(compacted: Compacted, is_preview: bool) -> Answered<Done> {
    let reason = match compacted.outcome {
        Outcome::Compacted | Outcome::Pruned if is_preview => Some("dry_run"),
        Outcome::Compacted => None,
        Outcome::Pruned => Some("pruned"),
        Outcome::NothingToCompact | Outcome::Skipped => Some("not_enough_messages"),
        Outcome::Rejected => Some("rejected"),
        Outcome::Conflict => return Err(conflict(&compacted.reasons)),
        Outcome::Deferred => return Err(deferred(&compacted.reasons)),
        Outcome::Disabled => return Err(Problem::conflict("disabled", DISABLED)),
        Outcome::Cancelled => {
            let detail = "the server is stopping; ask again later";
            return Err(Problem::unavailable("cancelled", detail));
        }
        Outcome::Failed | Outcome::ConfigError => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let mut problem = Problem::new(status, "compaction_failed", FAILED);
            problem.cause = Some(compacted.failure.as_ref().map_or("unknown", Failure::kind));
            return Err(problem);
        }
    };
    let is_change = compacted.is_change() && !is_preview;
    Ok(Answer(Done {
        thread_id: compacted.thread_id,
        compacted: is_change,
        reason,
        removed_message_count: compacted.removed_message_count,
        preserved_message_count: compacted.preserved_message_count,
        summary_updated: compacted.summary_updated && is_change,
        checkpoint_id: compacted.checkpoint_id,
        total_tokens: compacted.total_tokens,
        outcome: compacted.outcome,
        reasons: compacted.reasons,
        tokens_before: compacted.measured.tokens_before,
        summary_text: compacted.summary_text.filter(|_| is_preview),
        preview: compacted.preview,
        model: compacted.model,
    }))
}

/// Somebody else has the thread, or had it.
fn conflict(reasons: &[Reason]) -> Problem {
    match reasons.contains(&Reason::AttemptRunning) {
        true => Problem::conflict("run_in_flight", IN_FLIGHT),
        false => {
            let detail = "the history changed below while it was compacted; ask again";
            Problem::conflict("history_changed", detail)
        }
    }
}

/// The engine chose not to try.
fn deferred(reasons: &[Reason]) -> Problem {
    let detail = match reasons.first() {
        Some(reason) => format!("it waits: {reason}"),
        None => "it waits; ask again later".to_owned(),
    };
    Problem::conflict("deferred", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(body: &str) -> Result<CompactThread, String> {
        let body: Compact = serde_json::from_str(body).map_err(|error| error.to_string())?;
        body.ask().map_err(|problem| problem.detail)
    }

    #[test]
    fn the_seeds_request() {
        let said = ask("{}").expect("every member may be left out");
        assert!(said.force && !said.below_keep && !said.dry_run);
        let keep = |body: &str| ask(body).map(|ask| ask.keep);
        assert_eq!(keep(r#"{"keep":null}"#), Ok(None));
        let messages = r#"{"keep":{"type":"messages","value":5.0}}"#;
        assert_eq!(keep(messages), Ok(Some(KeepOption::Messages(5))));
        let fraction = r#"{"keep":{"type":"fraction","value":0.3}}"#;
        assert_eq!(keep(fraction), Ok(Some(KeepOption::Fraction(0.3))));
        for wrong in [
            r#"{"keep":{"type":"messages","value":1.5}}"#,
            r#"{"keep":{"type":"messages","value":-1}}"#,
            r#"{"keep":{"type":"tokens","value":1e300}}"#,
            r#"{"keep":{"type":"fraction","value":0}}"#,
            r#"{"keep":{"type":"lines","value":1}}"#,
            r#"{"keep":{"type":"messages","value":5,"more":1}}"#,
            r#"{"forced":true}"#,
            r#"{"force":null}"#,
        ] {
            assert!(ask(wrong).is_err(), "{wrong}");
        }
        let long = format!(r#"{{"model_name":"{}"}}"#, "m".repeat(129));
        assert_eq!(
            ask(&long).err().as_deref(),
            Some("model_name has at most 128 characters")
        );
    }
}
