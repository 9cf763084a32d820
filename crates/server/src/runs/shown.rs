//! Runs as LangGraph's clients read them.

use std::sync::Arc;

use conspectus::threads::{Json, Metadata, RunMark, RunStatus};
use conspectus::wire::iso_time;
use conspectus_agent::{Message, RunEnd};
use serde::Serialize;
use serde_json::{Value, json};

/// A run. The first eight members are LangGraph's.
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) run_id: Arc<str>,
    thread_id: Arc<str>,
    assistant_id: Value,
    created_at: String,
    updated_at: String,
    /// LangGraph's word for it.
    pub(crate) status: &'static str,
    metadata: Metadata,
    multitask_strategy: &'static str,
    /// Ours, which says more.
    pub(crate) state: Where,
    model: Value,
    /// Model calls so far.
    steps: u64,
    /// Tokens of them.
    tokens: u64,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Where {
    /// It is under way.
    Running,
    /// It waits for an answer.
    Interrupted,
    /// It ended.
    Success,
    /// It failed.
    Error,
    /// Somebody stopped it.
    Cancelled,
    /// Its process died.
    Killed,
}

impl From<RunStatus> for Where {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Running => Self::Running,
            RunStatus::Interrupted => Self::Interrupted,
            RunStatus::Success => Self::Success,
            RunStatus::Error => Self::Error,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl Where {
    /// LangGraph has no word for a run that was killed, and one for those that wait and those that were stopped.
    fn status(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted | Self::Cancelled => "interrupted",
            Self::Success => "success",
            Self::Error | Self::Killed => "error",
        }
    }
}

/// What is stored of a run, shown.
pub(crate) fn shown(thread: &Arc<str>, mark: &RunMark, updated_ms: u64, is_orphan: bool) -> Run {
    let state = match is_orphan {
        true => Where::Killed,
        false => mark.status.into(),
    };
    let details = &mark.details;
    Run {
        run_id: mark.run_id.clone(),
        thread_id: thread.clone(),
        assistant_id: details["agent"].clone(),
        created_at: iso_time(mark.since_ms),
        updated_at: iso_time(updated_ms.max(mark.since_ms)),
        status: state.status(),
        metadata: Metadata::new(),
        multitask_strategy: "reject",
        state,
        model: details["model"].clone(),
        steps: details["step"].as_u64().unwrap_or(0),
        tokens: details["tokens"].as_u64().unwrap_or(0),
    }
}

/// A run of which nothing is stored yet, or nothing any more. `end`: how it ended, if it did.
pub(crate) fn ended(thread: &Arc<str>, run: &Arc<str>, begun_ms: u64, end: Option<&RunEnd>) -> Run {
    let mark = RunMark {
        run_id: run.clone(),
        status: end.map_or(RunStatus::Running, |end| end.status),
        fence: Default::default(),
        since_ms: begun_ms,
        details: Value::Null,
    };
    shown(thread, &mark, begun_ms, false)
}

/// A question that a run waits to have answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Interrupt {
    /// The call that asks.
    pub(crate) id: Arc<str>,
    /// What it asks, as the tool was called.
    pub(crate) value: Value,
}

/// The questions of the last run, if it waits. `messages`: the window; a call that waits is never folded.
pub(crate) fn interrupts(mark: Option<&RunMark>, messages: &[Json]) -> Vec<Interrupt> {
    let Some(mark) = mark.filter(|mark| mark.status == RunStatus::Interrupted) else {
        return Vec::new();
    };
    let asked = mark.details["asked"].as_array();
    let asked = asked.into_iter().flatten().filter_map(Value::as_str);
    let found = asked.map(|id| {
        let mut messages = messages.iter().rev().map(Message::of);
        let call = messages.find_map(|m| m.calls().into_iter().find(|call| &*call.id == id));
        Interrupt {
            id: id.into(),
            value: call.map_or(json!({}), |call| call.args),
        }
    });
    found.collect()
}
