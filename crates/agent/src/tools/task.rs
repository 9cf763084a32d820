//! Work given to a subagent: a run of its own on a thread of its own, within a time.

use std::sync::Arc;

use conspectus::store::ThreadKey;
use conspectus::threads::{CreateThread, Held, IfExists, Metadata, RunStatus};
use conspectus::{Boxed, ToolSpec};
use serde_json::{Value, json};

use crate::agent::{Core, Subagent};
use crate::cancel::Why;
use crate::channel::delegation::{Stamp, Status, TASK, sha256};
use crate::context::{Role, RunContext};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::message::{Kind, Message};
use crate::run::{End, Opening, run};
use crate::runs::Place;
use crate::tool::{Tool, ToolCall, ToolResult, schema};
use crate::wait::{Either, race};

/// How often a thread that somebody else holds is asked for again.
const POLL_MS: u64 = 1_000;

/// `task`: gives work to a subagent and waits for what comes of it. What it comes to is stamped on the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Task;

impl Tool for Task {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: TASK.into(),
            description: "Gives a piece of work to a subagent and waits for its result. Several calls in one reply run side by side. The subagent knows nothing of this conversation: the prompt says everything.".into(),
            parameters: schema(&[
                ("description", "string", "What is to be done, in a few words"),
                ("prompt", "string", "The whole task"),
                ("subagent_type", "string", "Which kind of subagent"),
            ]),
        }
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move {
            let stamp = delegate(cx, call).await;
            tell(cx, call, stamp.status.name());
            let text = match stamp.status {
                Status::Completed => stamp.text.to_string(),
                status => format!(
                    "Error: the subagent's work ended as {}. {}",
                    status.name(),
                    stamp.text
                ),
            };
            let capped = match stamp.stop_reason {
                Some(reason) => format!(
                    "\n(It was stopped by a limit, {}: the result may be partial.)",
                    reason.name()
                ),
                None => String::new(),
            };
            ToolResult {
                content: (text + &capped).into(),
                is_error: stamp.status != Status::Completed,
                extra: stamp.to_extra(),
            }
        })
    }

    /// The subagent's own thread knows how far it came.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn hears_cancel(&self) -> bool {
        true
    }
}

fn tell(cx: &RunContext, call: &ToolCall, status: &str) {
    cx.tell(RunEvent::Custom {
        name: TASK.into(),
        value: json!({"id": call.id, "status": status, "thread_id": key(&cx.key, &call.id).thread}),
    });
}

/// The thread of the subagent that a call begins: always the same.
pub(crate) fn key(parent: &ThreadKey, call: &str) -> ThreadKey {
    let digest = sha256(&format!("{}\0{call}", parent.thread));
    ThreadKey {
        tenant: parent.tenant.clone(),
        thread: format!("sub-{}", &digest[..32]).into(),
    }
}

fn ended(status: Status, text: impl Into<Arc<str>>) -> Stamp {
    Stamp {
        status,
        text: text.into(),
        stop_reason: None,
    }
}

async fn delegate(cx: &RunContext, call: &ToolCall) -> Stamp {
    let kind = call.text("subagent_type").unwrap_or_default();
    let Some(subagent) = cx.core.subagents.get(kind) else {
        let names: Vec<&str> = cx.core.subagents.keys().map(AsRef::as_ref).collect();
        let names = names.join(", ");
        return ended(
            Status::Failed,
            format!("There is no subagent {kind:?}; there are {names}."),
        );
    };
    let prompt = call.text("prompt").or_else(|| call.text("description"));
    let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) else {
        return ended(Status::Failed, "`prompt` is missing.");
    };
    let stopped = || ended(Status::Cancelled, "The run was cancelled.");
    let Either::Second(_place) = race(cx.cancel.wait(), cx.core.delegating.enter()).await else {
        return stopped();
    };
    tell(cx, call, "in_progress");
    let cancel = cx.cancel.child();
    let work = work(cx, call, subagent, prompt, cancel.clone());
    let mut work = std::pin::pin!(work);
    let end = match race(cx.sleep(subagent.timeout_ms), work.as_mut()).await {
        Either::Second(end) => end,
        Either::First(()) => {
            cancel.cancel(Why::TimedOut);
            work.await
        }
    };
    let end = match end {
        Ok(end) => end,
        Err(why) => return ended(Status::Failed, why.to_string()),
    };
    cx.tokens
        .fetch_add(end.tokens, std::sync::atomic::Ordering::SeqCst);
    stamp(&end, cancel.why())
}

fn stamp(end: &End, why: Option<Why>) -> Stamp {
    let has_text = !end.text.trim().is_empty();
    let status = match (end.status, why) {
        (RunStatus::Success, _) if has_text => Status::Completed,
        (RunStatus::Cancelled, Some(Why::TimedOut)) => Status::TimedOut,
        (RunStatus::Cancelled, _) => Status::Cancelled,
        _ => Status::Failed,
    };
    let text = match (status, &end.error) {
        (Status::Completed, _) => end.text.to_string(),
        (_, Some(error)) => error.to_string(),
        (Status::TimedOut, None) => "It did not finish in time.".to_owned(),
        (Status::Cancelled, None) => "It was cancelled.".to_owned(),
        (_, None) => "It ended without a result.".to_owned(),
    };
    Stamp {
        status,
        text: text.into(),
        stop_reason: end.stop_reason,
    }
}

/// Runs the subagent, or goes on with what it had begun.
async fn work(
    cx: &RunContext,
    call: &ToolCall,
    subagent: &Subagent,
    prompt: &str,
    cancel: crate::Cancel,
) -> Result<End, AgentError> {
    let (threads, key) = (cx.threads(), key(&cx.key, &call.id));
    let about = json!({"kind": "subagent", "parent": cx.key.thread, "call": call.id, "type": subagent.profile.name});
    let create = CreateThread {
        metadata: about.as_object().cloned().unwrap_or_else(Metadata::new),
        title: call.text("description").map(Arc::from),
        agent_name: Some(subagent.profile.name.clone()),
        if_exists: IfExists::DoNothing,
        ..CreateThread::default()
    };
    threads.create(&key, create).await?;
    // One that was killed holds its thread for a while.
    let held: Held = loop {
        match threads.hold(&key).await? {
            Some(held) => break held,
            None => {
                if let Either::First(_) = race(cancel.wait(), cx.sleep(POLL_MS)).await {
                    return Err(AgentError::Busy);
                }
            }
        }
    };
    let before = threads.note(&key).await?.run;
    let opening = match before.map(|mark| mark.status) {
        Some(RunStatus::Success) => {
            threads.let_go(&key, &held).await;
            return said(cx, &key).await;
        }
        Some(_) => Opening::Again,
        None => Opening::Input(vec![json!({"type": "human", "content": prompt})]),
    };
    // Its own model, else the one of the agent that it works for.
    let model = match &subagent.profile.model {
        Some(_) => cx.core.model(None, &subagent.profile),
        None => cx.model.clone(),
    };
    let place = RunContext::new(Place {
        core: cx.core.clone(),
        run_id: key.thread.clone(),
        key,
        profile: subagent.profile.clone(),
        model,
        held,
        role: Role::Subagent {
            parent: cx.key.clone(),
            call: call.id.clone(),
        },
        cancel,
    });
    Ok(run(place, opening).await)
}

/// What a subagent that ended before had said.
async fn said(cx: &RunContext, key: &ThreadKey) -> Result<End, AgentError> {
    let state = cx.threads().state(key, None).await?;
    let messages = state.values.messages.iter().rev().map(Message::of);
    let mut replies = messages.filter(|message| message.kind() == Kind::Ai);
    let text = replies.find(|reply| !reply.text().trim().is_empty());
    Ok(End {
        status: RunStatus::Success,
        error: None,
        stop_reason: None,
        questions: Vec::new(),
        text: text.map_or_else(|| "".into(), |reply| reply.text().into()),
        tokens: 0,
    })
}

/// The tool, naming the subagents that there are.
pub(crate) struct Named {
    inner: Arc<dyn Tool>,
    spec: ToolSpec,
}

impl Named {
    pub(crate) fn new(inner: Arc<dyn Tool>, core: &Core) -> Self {
        let mut spec = inner.spec();
        let kinds = core.subagents.iter();
        let kinds = kinds.map(|(name, kind)| format!("\n- {name}: {}", kind.description));
        spec.description = format!("{}{}", spec.description, kinds.collect::<String>()).into();
        let names: Vec<Value> = core.subagents.keys().map(|name| json!(name)).collect();
        if let Some(kind) = spec.parameters.pointer_mut("/properties/subagent_type") {
            kind["enum"] = Value::Array(names);
        }
        Self { inner, spec }
    }
}

impl Tool for Named {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        self.inner.call(cx, call)
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }

    fn hears_cancel(&self) -> bool {
        self.inner.hears_cancel()
    }
}
