//! Compacting a stored thread: what is asked for and what it comes to.

use std::sync::Arc;

use conspectus_core::effect::Failure;
use conspectus_core::id::{CallId, RecordId};
use conspectus_core::outcome::{Measured, Moment, Outcome, Reason, Report};
use conspectus_core::policy::{KeepOption, Strategy};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::json::Json;
use super::lease::Held;
use super::settings::{Asked, Run};
use crate::clock::Clock;
use crate::control::Control;
use crate::model::Boxed;
use crate::store::ThreadKey;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompactThread {
    /// Skips the trigger.
    pub force: bool,
    /// May go below `keep`, down to what the structural rules hold.
    pub below_keep: bool,
    /// Another `keep`, for this run only.
    pub keep: Option<KeepOption>,
    /// What the summary should pay attention to, for this run only.
    pub focus: Option<Arc<str>>,
    /// The model that the conversation runs on; `None`: its agent's, else the default.
    pub model_name: Option<Arc<str>>,
    /// The agent that it runs as; `None`: the thread's own.
    pub agent_name: Option<Arc<str>>,
    /// How a model is asked, for this run only.
    pub strategy: Option<Strategy>,
    /// What is made is kept, to be put in force later ([`Threads::apply`]).
    pub dry_run: bool,
    /// When it happens. Anything but [`Moment::Manual`] is subject to the breaker.
    pub moment: Moment,
    /// The call through which the model itself asked; its message stays.
    pub invoking: Option<CallId>,
    /// The provider's refusal that asks for it, where one does.
    pub refusal: Option<Failure>,
    /// What the host sends outside the messages: system prompt and tools. `None`: as it was said last.
    #[serde(skip)]
    pub fixed: Option<Arc<[Arc<str>]>>,
}

impl Default for CompactThread {
    fn default() -> Self {
        Self {
            force: true,
            below_keep: false,
            keep: None,
            focus: None,
            model_name: None,
            agent_name: None,
            strategy: None,
            dry_run: false,
            moment: Moment::Manual,
            invoking: None,
            refusal: None,
            fixed: None,
        }
    }
}

impl CompactThread {
    /// The check before a model call.
    pub fn check() -> Self {
        Self {
            force: false,
            moment: Moment::PreTurn,
            ..Self::default()
        }
    }

    pub(super) fn asked(&self) -> Asked<'_> {
        Asked {
            model_name: self.model_name.as_deref(),
            agent_name: self.agent_name.as_deref(),
            strategy: self.strategy,
        }
    }
}

/// Messages that are about to be folded: there is a summary of them, and they are all still there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folding {
    /// Those that go, in order.
    pub going: Vec<Json>,
    /// Those that stay, in order.
    pub staying: Vec<Json>,
}

/// Hears of messages before they are folded. The attempt waits for it; what fails in there is its own to log.
pub trait BeforeFold: Sync {
    /// These go.
    fn before_fold<'a>(&'a self, folding: Folding) -> Boxed<'a, ()>;
}

/// Nobody wants to hear of it.
pub(super) struct Nobody;

impl BeforeFold for Nobody {
    fn before_fold<'a>(&'a self, _: Folding) -> Boxed<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What it came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compacted {
    /// The thread.
    pub thread_id: Arc<str>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What went wrong, when something did.
    pub failure: Option<Failure>,
    /// Sizes, by one counter.
    pub measured: Measured,
    /// Messages that were folded.
    pub removed_message_count: u64,
    /// Messages of the active window now.
    pub preserved_message_count: u64,
    /// Whether there is a new summary.
    pub summary_updated: bool,
    /// The new summary.
    pub summary_text: Option<Arc<str>>,
    /// The new state, where there is one.
    pub checkpoint_id: Option<CheckpointId>,
    /// Tokens of the request now.
    pub total_tokens: u64,
    /// The record that was put in force, or of which there is a preview.
    pub record: Option<RecordId>,
    /// The name of what a dry run kept.
    pub preview: Option<Arc<str>>,
    /// The model that the conversation runs on.
    pub model: Option<Arc<str>>,
}

impl Compacted {
    /// Whether something was changed, or would be.
    pub fn is_change(&self) -> bool {
        matches!(self.outcome, Outcome::Compacted | Outcome::Pruned)
    }

    pub(super) fn of(key: &ThreadKey, report: Report, run: Option<&Run>) -> Self {
        let measured = report.measured;
        let is_change = matches!(report.outcome, Outcome::Compacted | Outcome::Pruned);
        let removed = if is_change {
            measured.messages_removed
        } else {
            0
        };
        Self {
            thread_id: key.thread.clone(),
            outcome: report.outcome,
            reasons: report.reasons,
            failure: report.failure,
            removed_message_count: removed,
            preserved_message_count: measured.messages_before.saturating_sub(removed),
            summary_updated: report.outcome == Outcome::Compacted,
            summary_text: None,
            checkpoint_id: None,
            total_tokens: measured
                .tokens_after
                .filter(|_| is_change)
                .unwrap_or(measured.tokens_before),
            measured,
            record: report.record,
            preview: None,
            model: run.and_then(|run| run.model.clone()),
        }
    }

    pub(super) fn without(key: &ThreadKey, outcome: Outcome, reasons: Vec<Reason>) -> Self {
        let report = Report::without_attempt(outcome, Measured::default(), reasons);
        Self::of(key, report, None)
    }
}

impl<C: Clock> Threads<C> {
    /// Compacts a thread. How it ended is the outcome; [`Outcome::Conflict`] when somebody else has the thread.
    ///
    /// Run it in a task that is not dropped: a future that is dropped leaves the thread held until the lease ends, and
    /// the next attempt reports it as abandoned.
    ///
    /// # Errors
    /// When there is no such thread, its policy cannot work, or the store fails before an attempt began.
    pub async fn compact(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
    ) -> Result<Compacted, ThreadsError> {
        self.compact_with(key, ask, &Control::new()).await
    }

    /// The same, to be stopped from outside.
    ///
    /// # Errors
    /// As [`Self::compact`].
    pub async fn compact_with(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
        control: &Control,
    ) -> Result<Compacted, ThreadsError> {
        if self.head(key).await?.state.is_none() {
            return Ok(Compacted::without(
                key,
                Outcome::NothingToCompact,
                Vec::new(),
            ));
        }
        let Some(held) = self.acquire(key).await? else {
            let why = vec![Reason::AttemptRunning];
            return Ok(Compacted::without(key, Outcome::Conflict, why));
        };
        let compacted = self.compact_held(key, ask, &held, control, &Nobody).await;
        self.release(key, &held).await;
        compacted
    }

    /// The same for whoever [holds](Self::hold) the thread, who may hear of what goes before it goes.
    ///
    /// # Errors
    /// As [`Self::compact`].
    pub async fn compact_under(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
        held: &Held,
        control: &Control,
        hook: &dyn BeforeFold,
    ) -> Result<Compacted, ThreadsError> {
        if self.head(key).await?.state.is_none() {
            let nothing = Outcome::NothingToCompact;
            return Ok(Compacted::without(key, nothing, Vec::new()));
        }
        self.compact_held(key, ask, held, control, hook).await
    }
}
