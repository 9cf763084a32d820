//! Where a thread stands, and why it was or was not compacted.

use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::policy::{Keep, PolicyWarning, Threshold, WindowSource};
use conspectus_core::thread::{BreakerState, Learnt, Size, Spent};
use serde::Serialize;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::meta::LastAttempt;
use super::open::{Much, Opened};
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::{Mark, ThreadKey};

/// The status of a thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadStatusReport {
    /// The thread.
    pub thread_id: Arc<str>,
    /// The model that it runs on.
    pub model: Option<Arc<str>>,
    /// Whether compaction is on.
    pub enabled: bool,
    /// The window.
    pub window: WindowReport,
    /// What may be used of it.
    pub budget: BudgetReport,
    /// What is used now.
    pub size: Size,
    /// Of the input limit, in thousandths.
    pub used_permille: u64,
    /// How far it is to the next compaction.
    pub next: NextTrigger,
    /// Whether automatic attempts are stopped because earlier ones failed.
    pub breaker: BreakerReport,
    /// The attempt that is under way, or was when its process died.
    pub compaction_in_progress: Option<Mark>,
    /// How the last attempt ended, and why.
    pub last: Option<LastAttempt>,
    /// Summaries that were committed and are in force, each built on the one before.
    pub summary_count: u32,
    /// Records of the thread.
    pub records: u64,
    /// A compaction can be taken back.
    pub can_undo: bool,
    /// One that was taken back can be put in force again.
    pub can_redo: bool,
    /// What each call is spared.
    pub saved: SavedReport,
    /// The number of the newest event.
    pub last_event: u64,
    /// What summaries have cost.
    pub spent: Spent,
    /// The state.
    pub checkpoint_id: CheckpointId,
    /// What the owner of the policy should be told.
    #[serde(serialize_with = "as_texts")]
    pub warnings: Vec<PolicyWarning>,
}

/// What each call is spared by what is folded and shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SavedReport {
    /// Tokens of the request if nothing were folded or shortened, by the thread's counter.
    pub whole_tokens: u64,
    /// Of these: not sent.
    pub tokens: u64,
    /// Micro-dollars that the compaction in force saves with each call, where the prices are known.
    pub micros_per_call: Option<i64>,
}

/// The model's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WindowReport {
    /// Tokens.
    pub tokens: u64,
    /// Where that is known from.
    pub source: WindowSource,
    /// What refusals taught beyond it.
    pub learnt: Learnt,
    /// The most that a request may hold: the window without the reply's part, or less where a refusal told so.
    pub input_limit: u64,
}

/// What may be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetReport {
    /// Tokens of the window that belong to the reply.
    pub output_reserve: u64,
    /// Any of these starts a compaction.
    pub triggers: Vec<Threshold>,
    /// From here on one may run in the background.
    pub soft_tokens: Option<u64>,
    /// What a compaction aims at.
    pub target_tokens: Option<u64>,
    /// What stays.
    pub keep: Keep,
    /// Tokens of system prompt and tools; alone over the trigger, nothing helps.
    pub fixed_tokens: u64,
    /// They are.
    pub fixed_over_trigger: bool,
}

/// How far it is to the next compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NextTrigger {
    /// A trigger is reached now.
    pub reached: bool,
    /// Tokens until the lowest token trigger.
    pub tokens_left: Option<u64>,
    /// Messages until the lowest trigger that counts messages alone.
    pub messages_left: Option<u64>,
    /// About so many messages of the size that the window's have until the token trigger.
    pub estimated_messages: Option<u64>,
}

/// The breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BreakerReport {
    /// Automatic attempts are stopped now.
    pub open: bool,
    /// Failed attempts in a row.
    pub failures: u32,
    /// Until when, where it was opened.
    pub open_until_ms: Option<Millis>,
}

impl BreakerReport {
    fn of(breaker: BreakerState, now: Millis) -> Self {
        Self {
            open: breaker.is_open(now),
            failures: breaker.failures,
            open_until_ms: breaker.open_until,
        }
    }
}

impl<C: Clock> Threads<C> {
    /// Where a thread stands. Costs what is in the window.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn status(&self, key: &ThreadKey) -> Result<ThreadStatusReport, ThreadsError> {
        let opened = self.open(key, Much::Window, &Asked::default()).await?;
        let (thread, policy) = (&opened.thread, &opened.run.policy);
        let size = thread.size(opened.sources());
        let active = thread.active();
        let limit = thread.input_limit();
        let whole = self.whole_tokens(key, &opened, size.fixed).await?;
        let trigger = policy.trigger_tokens();
        let report = ThreadStatusReport {
            thread_id: key.thread.clone(),
            model: opened.run.model.clone(),
            enabled: policy.enabled,
            window: WindowReport {
                tokens: policy.window,
                source: policy.window_source,
                learnt: thread.learnt(),
                input_limit: limit,
            },
            budget: BudgetReport {
                output_reserve: policy.output_reserve,
                triggers: policy.triggers.clone(),
                soft_tokens: policy.soft_tokens,
                target_tokens: policy.target_tokens(),
                keep: policy.keep,
                fixed_tokens: size.fixed,
                fixed_over_trigger: trigger.is_some_and(|trigger| size.fixed >= trigger),
            },
            used_permille: size.tokens.saturating_mul(1_000) / limit.max(1),
            next: next(&policy.triggers, &size, thread.is_triggered(&size)),
            breaker: BreakerReport::of(thread.breaker(), self.now()),
            compaction_in_progress: opened.head.mark,
            last: opened.meta.last.clone(),
            summary_count: active.map_or(0, |record| record.summaries),
            records: opened.head.records,
            can_undo: active.is_some(),
            can_redo: thread.can_redo(),
            saved: SavedReport {
                whole_tokens: whole.max(size.request),
                tokens: whole.saturating_sub(size.request),
                micros_per_call: active
                    .and_then(|record| record.measured.cost)
                    .map(|cost| cost.saved_micros),
            },
            last_event: self.last_event(key).await?,
            spent: thread.spent(),
            checkpoint_id: opened.checkpoint(),
            size,
            warnings: opened.run.warnings.clone(),
        };
        self.leave_open(key, opened);
        Ok(report)
    }
}

impl<C: Clock> Threads<C> {
    /// What the whole conversation would be as a request.
    async fn whole_tokens(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        fixed: u64,
    ) -> Result<u64, ThreadsError> {
        let Some(head) = opened.thread.branch().head() else {
            return Ok(fixed);
        };
        let weight = self.weight_upto(key, head).await?;
        Ok(opened.counter().tokens(weight).saturating_add(fixed))
    }
}

fn next(triggers: &[Threshold], size: &Size, reached: bool) -> NextTrigger {
    let tokens = triggers.iter().filter_map(|t| t.tokens).min();
    let alone = triggers.iter().filter(|t| t.tokens.is_none());
    let messages = alone.filter_map(|t| t.messages).min();
    let tokens_left = tokens.map(|tokens| tokens.saturating_sub(size.tokens));
    let each = size.tokens.saturating_sub(size.fixed) / size.messages.max(1);
    NextTrigger {
        reached,
        tokens_left,
        messages_left: messages.map(|messages| messages.saturating_sub(size.messages)),
        estimated_messages: tokens_left
            .filter(|_| size.messages > 0)
            .map(|left| left / each.max(1)),
    }
}

fn as_texts<S: serde::Serializer>(
    warnings: &[PolicyWarning],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(warnings.iter().map(ToString::to_string))
}
