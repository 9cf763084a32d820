//! What stands around the loop of an agent: hooks, in an order.
//!
//! A [`Middleware`] is a value without state of a run: what belongs to a run is in its [`RunContext`] and [`State`].
//! Hooks before something run in the order of the [`Stack`](crate::Stack), hooks behind it in the other one, and the
//! first middleware wraps all others. What a hook wants changed is an [`Update`]; nothing is changed in place.
//!
//! ```
//! use conspectus::{Boxed, Turn};
//! use conspectus::core::effect::Failure;
//! use conspectus_agent::{Middleware, ModelRequest, NextModel, RunContext};
//!
//! /// Never asks for more than so many tokens.
//! struct Brief(u64);
//!
//! impl Middleware for Brief {
//!     fn name(&self) -> &'static str {
//!         "brief"
//!     }
//!
//!     fn wrap_model_call<'a>(
//!         &'a self,
//!         _: &'a RunContext,
//!         mut request: ModelRequest,
//!         next: NextModel<'a>,
//!     ) -> Boxed<'a, Result<Turn, Failure>> {
//!         request.max_output_tokens = Some(self.0);
//!         next.run(request)
//!     }
//! }
//! ```

mod clarification;
mod durable;
mod dynamic;
mod memory;
mod skills;
pub(crate) mod summarization;
mod thread_data;
mod title;

use std::future::ready;
use std::sync::Arc;

use conspectus::core::effect::Failure;
use conspectus::core::policy::Placement;
use conspectus::threads::{Folding, Json};
use conspectus::{Boxed, ToolSpec, Turn, TurnRequest};
use serde_json::json;

pub use clarification::Clarification;
pub use durable::DurableContext;
pub use dynamic::DynamicContext;
pub use memory::{Fact, Memory, facts, memory_key};
pub use skills::SkillActivation;
pub use summarization::Summarization;
pub use thread_data::ThreadData;
pub use title::Title;

use crate::context::RunContext;
use crate::error::AgentError;
use crate::state::{State, Update};
use crate::tool::{Tool, ToolCall, ToolOutcome, ToolResult};

/// What a hook gives.
pub type Hooked<'a> = Boxed<'a, Result<Update, AgentError>>;

/// Hooks around the loop of an agent. Each has a default that does nothing.
pub trait Middleware: Send + Sync {
    /// Its name, for those that are put before or behind it.
    fn name(&self) -> &'static str;

    /// Tools that come with it.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// A section of the system prompt. Asked once a run, so that the prompt stays the same.
    fn system(&self, cx: &RunContext) -> Option<String> {
        let _ = cx;
        None
    }

    /// Its hook before the model works on what is stored, so that all changes so far are stored before.
    fn reads_store(&self) -> bool {
        false
    }

    /// Once, before the first model call of a run, also of one that is taken up again.
    fn before_agent<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        let _ = (cx, state);
        Box::pin(ready(Ok(Update::none())))
    }

    /// Before each model call.
    fn before_model<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        let _ = (cx, state);
        Box::pin(ready(Ok(Update::none())))
    }

    /// Around each model call. May change the request and the reply, and call `next` more than once, or never.
    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a RunContext,
        request: ModelRequest,
        next: NextModel<'a>,
    ) -> Boxed<'a, Result<Turn, Failure>> {
        let _ = cx;
        next.run(request)
    }

    /// Behind each model call, before its tools run; the reply is the newest message.
    fn after_model<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        let _ = (cx, state);
        Box::pin(ready(Ok(Update::none())))
    }

    /// Around each tool call.
    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a RunContext,
        call: &'a ToolCall,
        next: NextTool<'a>,
    ) -> Boxed<'a, ToolOutcome> {
        let _ = cx;
        next.run(call)
    }

    /// Once, behind the last model call of a run that ended well.
    fn after_agent<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        let _ = (cx, state);
        Box::pin(ready(Ok(Update::none())))
    }

    /// Behind the last message of a run, however it ended.
    fn at_end(&self, cx: &RunContext, state: &State) -> Update {
        let _ = (cx, state);
        Update::none()
    }

    /// There is a summary of these messages, and they are about to be folded. In the order of the stack. What fails in
    /// here is told as a warning and stops nothing.
    fn before_fold<'a>(
        &'a self,
        cx: &'a RunContext,
        folding: &'a Folding,
    ) -> Boxed<'a, Result<(), String>> {
        let _ = (cx, folding);
        Box::pin(ready(Ok(())))
    }
}

/// A request to the model, before it is one.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: Arc<str>,
    /// What the thread shows: see [`Request`](conspectus::threads::Request).
    pub messages: Vec<Json>,
    /// Places in it of what a compaction shows for what it folded.
    pub blocks: Vec<usize>,
    /// The summary in force and what code keeps beside it.
    pub summary: Option<(Arc<str>, Arc<str>)>,
    /// How it is shown.
    pub placement: Placement,
    /// The tools.
    pub tools: Arc<[ToolSpec]>,
    /// The most that the reply may have.
    pub max_output_tokens: Option<u64>,
    /// The time for the call.
    pub timeout_ms: u64,
    /// Delegations and skills as they are.
    pub shown: Shown,
}

/// Sections that are shown of the channels.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Of delegations.
    pub delegations: Arc<str>,
    /// Of skills.
    pub skills: Arc<str>,
}

impl ModelRequest {
    /// As the model is asked.
    pub fn to_turn(&self) -> TurnRequest {
        let mut messages = Vec::with_capacity(self.messages.len() + 1);
        if !self.system.is_empty() {
            messages.push(Json::from(
                &json!({"type": "system", "content": self.system}),
            ));
        }
        messages.extend(self.messages.iter().cloned());
        TurnRequest {
            messages,
            tools: self.tools.clone(),
            max_output_tokens: self.max_output_tokens,
            timeout_ms: self.timeout_ms,
        }
    }
}

/// What is left of the stack around a model call.
#[derive(Clone, Copy)]
pub struct NextModel<'a> {
    pub(crate) rest: &'a [Arc<dyn Middleware>],
    pub(crate) cx: &'a RunContext,
}

impl<'a> NextModel<'a> {
    /// Asks the rest of the stack, and at its end the model.
    pub fn run(self, request: ModelRequest) -> Boxed<'a, Result<Turn, Failure>> {
        match self.rest.split_first() {
            Some((first, rest)) => {
                let next = NextModel { rest, cx: self.cx };
                first.wrap_model_call(self.cx, request, next)
            }
            None => Box::pin(self.cx.ask(request)),
        }
    }
}

/// What is left of the stack around a tool call.
#[derive(Clone, Copy)]
pub struct NextTool<'a> {
    pub(crate) rest: &'a [Arc<dyn Middleware>],
    pub(crate) cx: &'a RunContext,
}

impl<'a> NextTool<'a> {
    /// Calls the rest of the stack, and at its end the tool.
    pub fn run(self, call: &'a ToolCall) -> Boxed<'a, ToolOutcome> {
        if let Some((first, rest)) = self.rest.split_first() {
            let next = NextTool { rest, cx: self.cx };
            return first.wrap_tool_call(self.cx, call, next);
        }
        let tools = self.cx.tools();
        match (tools.get(&call.name), &call.args) {
            (None, _) => {
                let (name, names) = (&call.name, tools.names());
                let what = format!("there is no tool {name:?}; there are {names}");
                Box::pin(ready(ToolOutcome::Done(ToolResult::error(what))))
            }
            (Some(_), None) => {
                let what = "the arguments are no JSON object; call the tool again with one";
                Box::pin(ready(ToolOutcome::Done(ToolResult::error(what))))
            }
            (Some(tool), Some(_)) => {
                Box::pin(async move { ToolOutcome::Done(tool.call(self.cx, call).await) })
            }
        }
    }
}
