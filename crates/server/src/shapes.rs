//! Threads and states as LangGraph's clients read them, with our own members beside theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus::store::Mark;
use conspectus::threads::{
    CheckpointId, Gauge, Metadata, Origin, ThreadInfo, ThreadState, ThreadStatus, Values,
};
use conspectus::wire::iso_time;
use serde::Serialize;
use serde_json::Value;

use crate::runs::{Interrupt, interrupts};

/// A thread. `values` and what follows up to `interrupts` are LangGraph's.
#[derive(Debug, Serialize)]
pub(crate) struct Thread {
    thread_id: Arc<str>,
    created_at: String,
    updated_at: String,
    metadata: Metadata,
    status: ThreadStatus,
    /// Its newest state's, where they were asked for.
    values: Option<Values>,
    /// By the run that asks.
    interrupts: BTreeMap<Arc<str>, Vec<Interrupt>>,
    /// The run that has it, or had it last.
    run_id: Option<Arc<str>>,
    title: Option<Arc<str>>,
    agent_name: Option<Arc<str>>,
    /// Options of its own over the server's.
    policy: Option<Value>,
    /// The thread that it was branched off.
    origin: Option<Origin>,
    /// Messages, over all branches.
    message_count: u64,
    /// Compactions and prunings that were committed.
    record_count: u64,
    checkpoint_id: Option<CheckpointId>,
    compaction_in_progress: Option<Mark>,
    /// Where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Gauge>,
}

/// `{}`
#[derive(Debug, Default, Serialize)]
pub(crate) struct Nothing {}

/// LangGraph's name of a state.
#[derive(Debug, Serialize)]
pub(crate) struct Checkpoint {
    thread_id: Arc<str>,
    checkpoint_ns: &'static str,
    /// `None`: the state of a thread without messages.
    checkpoint_id: Option<CheckpointId>,
    checkpoint_map: Option<Nothing>,
}

/// A state.
#[derive(Debug, Serialize)]
pub(crate) struct State {
    values: Values,
    /// `tools` where a run waits for an answer to a call.
    next: Vec<&'static str>,
    checkpoint: Checkpoint,
    parent_checkpoint: Option<Checkpoint>,
    metadata: StateMetadata,
    created_at: String,
    tasks: Vec<Waiting>,
    interrupts: Vec<Interrupt>,
}

/// LangGraph's word for what a run has begun and not ended.
#[derive(Debug, Serialize)]
struct Waiting {
    /// The run.
    id: Arc<str>,
    name: &'static str,
    error: Option<Nothing>,
    interrupts: Vec<Interrupt>,
    checkpoint: Option<Nothing>,
    state: Option<Nothing>,
    result: Option<Nothing>,
}

#[derive(Debug, Serialize)]
struct StateMetadata {
    /// What led to it.
    source: conspectus::threads::Cause,
    step: u64,
    /// The record in force.
    record: Option<u64>,
    writes: Option<Nothing>,
}

impl Thread {
    pub(crate) fn of(info: ThreadInfo, values: Option<Values>) -> Self {
        let messages = values.as_ref().map(|values| &*values.messages);
        let asked = interrupts(info.run.as_ref(), messages.unwrap_or_default());
        let run_id = info.run.map(|run| run.run_id);
        let asked = run_id.clone().zip(Some(asked));
        let asked = asked.filter(|(_, asked)| !asked.is_empty());
        Self {
            thread_id: info.thread_id,
            created_at: iso_time(info.created_ms),
            updated_at: iso_time(info.updated_ms),
            metadata: info.metadata,
            status: info.status,
            values,
            interrupts: asked.into_iter().collect(),
            run_id,
            title: info.title,
            agent_name: info.agent_name,
            policy: info.policy,
            origin: info.origin,
            message_count: info.messages,
            record_count: info.records,
            checkpoint_id: info.checkpoint_id,
            compaction_in_progress: info.compaction_in_progress,
            window: None,
        }
    }

    pub(crate) fn with_window(self, gauge: Gauge) -> Self {
        Self {
            window: Some(gauge),
            ..self
        }
    }
}

impl Checkpoint {
    pub(crate) fn of(thread: &Arc<str>, id: CheckpointId) -> Self {
        Self {
            thread_id: thread.clone(),
            checkpoint_ns: "",
            checkpoint_id: (id != CheckpointId::default()).then_some(id),
            checkpoint_map: None,
        }
    }
}

impl State {
    /// `info`: the thread now. Only its newest state waits for anything.
    pub(crate) fn of(info: &ThreadInfo, state: ThreadState) -> Self {
        let thread = &info.thread_id;
        let is_newest = info.checkpoint_id == Some(state.checkpoint_id);
        let run = info.run.as_ref().filter(|_| is_newest);
        let interrupts = interrupts(run, &state.values.messages);
        let run = run.filter(|_| !interrupts.is_empty());
        let tasks: Vec<Waiting> = run
            .map(|run| Waiting {
                id: run.run_id.clone(),
                name: "tools",
                error: None,
                interrupts: interrupts.clone(),
                checkpoint: None,
                state: None,
                result: None,
            })
            .into_iter()
            .collect();
        Self {
            values: state.values,
            next: tasks.iter().map(|task| task.name).collect(),
            checkpoint: Checkpoint::of(thread, state.checkpoint_id),
            parent_checkpoint: state.parent.map(|id| Checkpoint::of(thread, id)),
            metadata: StateMetadata {
                source: state.cause,
                step: state.step,
                record: state.record.map(|record| record.0),
                writes: None,
            },
            created_at: iso_time(state.created_ms),
            tasks,
            interrupts,
        }
    }
}
