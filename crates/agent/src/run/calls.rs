//! The tool calls of a reply: side by side, each answered whatever happens.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus::TurnCall;
use conspectus::core::id::CallId;
use serde_json::Value;

use super::{Over, Run};
use crate::channel::delegation::sha256;
use crate::context::RunContext;
use crate::error::AgentError;
use crate::event::{Question, RunEvent};
use crate::message::Message;
use crate::middleware::NextTool;
use crate::tool::{ToolCall, ToolOutcome, ToolResult};
use crate::tools::subagent_key;
use crate::wait::{Either, Gate, all, caught, race};

impl Run {
    /// Performs calls. `again`: they were begun before, by a run that was killed. `Some`: the run ends.
    pub(super) async fn perform(
        &mut self,
        calls: &[TurnCall],
        again: bool,
    ) -> Result<Option<Over>, AgentError> {
        let gate = Gate::new(self.cx.profile.limits.max_parallel_tools);
        let work = calls
            .iter()
            .map(|call| perform(&self.cx, &gate, call, again));
        let outcomes = all(work).await;
        let mut questions = Vec::new();
        for (call, outcome) in calls.iter().zip(outcomes) {
            match outcome {
                ToolOutcome::Done(result) => self.answer(call, &result),
                ToolOutcome::Ask(value) => questions.push(Question {
                    id: call.id.clone(),
                    value,
                }),
            }
        }
        if self.cx.cancel.why().is_some() {
            return Ok(Some(Over::Stopped));
        }
        if questions.is_empty() {
            return Ok(None);
        }
        self.asked = questions.iter().map(|q| CallId(q.id.clone())).collect();
        Ok(Some(Over::Asks(questions)))
    }

    /// Gives calls whose ids were there before other ones: an id names one piece of delegated work, and one answer.
    pub(super) fn name_apart(&self, calls: &mut [TurnCall]) {
        let messages = self.state.messages.iter();
        let mut taken: BTreeSet<Arc<str>> = messages
            .flat_map(Message::calls)
            .map(|call| call.id)
            .collect();
        let known = self.state.delegations.iter();
        taken.extend(known.map(|entry| entry.id.clone()));
        for (n, call) in calls.iter_mut().enumerate() {
            let child = subagent_key(&self.cx.key, &call.id).thread;
            if taken.contains(&call.id) || self.noted.children.contains(&child) {
                let place = format!("{} {} {n}", self.cx.run_id, self.state.step);
                call.id = format!("{}_{}", call.id, &sha256(&place)[..8]).into();
            }
            taken.insert(call.id.clone());
        }
    }

    /// Puts a result behind what is there.
    pub(super) fn answer(&mut self, call: &TurnCall, result: &ToolResult) {
        // Some servers repeat their ids, and what was folded is not here to compare.
        let id = format!("{}-{}-{}", self.cx.run_id, self.state.step, call.id);
        let max = self.cx.profile.limits.max_result_chars;
        let message = result.to_message(&call.id, &call.name, &id, max);
        self.state.messages.push(Message::new(message));
    }
}

/// A tool that breaks is a tool that failed.
async fn perform(cx: &Arc<RunContext>, gate: &Gate, call: &TurnCall, again: bool) -> ToolOutcome {
    let outcome = caught(perform_once(cx, gate, call, again)).await;
    outcome.unwrap_or_else(|why| {
        cx.warn(format!("tool {} broke: {why}", call.name));
        ToolOutcome::Done(ToolResult::error("the tool broke; try another way"))
    })
}

async fn perform_once(
    cx: &Arc<RunContext>,
    gate: &Gate,
    call: &TurnCall,
    again: bool,
) -> ToolOutcome {
    let tool = cx.tools.get(&call.name).cloned();
    let hears = tool.as_ref().is_some_and(|tool| tool.hears_cancel());
    let is_safe = tool.as_ref().is_none_or(|tool| tool.is_repeatable());
    if again && !is_safe {
        return ToolOutcome::Done(ToolResult::error(
            "the process ended while this call ran, and nobody knows whether it had an effect; look before you call it again",
        ));
    }
    let asked = ToolCall {
        id: call.id.clone(),
        name: call.name.clone(),
        args: call.parsed(),
    };
    let next = NextTool {
        rest: cx.profile.stack.all(),
        cx,
    };
    let limit = cx.profile.limits.tool_timeout_ms;
    let outcome = if hears {
        cx.tell(RunEvent::ToolStart {
            id: call.id.clone(),
            name: call.name.clone(),
        });
        next.run(&asked).await
    } else {
        let work = async {
            let _place = gate.enter().await;
            cx.tell(RunEvent::ToolStart {
                id: call.id.clone(),
                name: call.name.clone(),
            });
            race(cx.sleep(limit), next.run(&asked)).await
        };
        match race(cx.cancel.wait(), work).await {
            Either::First(_) => ToolOutcome::Done(ToolResult::error("the run was cancelled")),
            Either::Second(Either::First(())) => {
                let what = format!("no result within {} seconds; ask for less", limit / 1_000);
                ToolOutcome::Done(ToolResult::error(what))
            }
            Either::Second(Either::Second(outcome)) => outcome,
        }
    };
    let is_error = matches!(&outcome, ToolOutcome::Done(result) if result.is_error);
    cx.tell(RunEvent::ToolEnd {
        id: call.id.clone(),
        is_error,
    });
    outcome
}

/// The answers to questions: one for all, or each by the id of its call.
pub(crate) fn answer_of(answer: &Value, id: &str) -> String {
    let own = answer.as_object().and_then(|answers| answers.get(id));
    match own.unwrap_or(answer) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
