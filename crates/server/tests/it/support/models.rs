//! Models that do what a test needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use conspectus::core::effect::{Failure, Finish, Reply};
use conspectus::{AgentModel, Boxed, ChatModel, Delta, ModelCall, Prompt, Turn, TurnRequest};
use conspectus_testkit::executor::VirtualTime;
use conspectus_testkit::model::{AgentReply, ScriptedAgent};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};

/// Writes a summary that its source bears out.
#[derive(Default)]
pub(crate) struct Says {
    /// How often it was asked.
    pub(crate) asked: AtomicU32,
}

impl ChatModel for Says {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        _: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { Ok(summary(&call)) })
    }
}

/// Fails.
pub(crate) struct Broken;

impl ChatModel for Broken {
    fn call<'a>(
        &'a self,
        _: ModelCall,
        _: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        let message = "the key is wrong".into();
        Box::pin(async { Err(Failure::Unusable { message }) })
    }
}

/// Says when it is asked, and waits until it may answer.
pub(crate) struct Held {
    pub(crate) asked: Notify,
    pub(crate) may: Semaphore,
}

impl Held {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            asked: Notify::new(),
            may: Semaphore::new(0),
        })
    }

    /// Waits until it is asked.
    pub(crate) fn wait(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(self.asked.notified());
    }
}

impl ChatModel for Held {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        _: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        self.asked.notify_one();
        Box::pin(async move {
            let permit = self.may.acquire().await;
            permit.expect("it is never closed").forget();
            Ok(summary(&call))
        })
    }
}

/// Names a file that stands in the source.
fn summary(call: &ModelCall) -> Reply {
    let text = match &call.prompt {
        Prompt::Text { .. } => {
            "The plan was gone through step by step; src/part1.rs is about step 1."
        }
        Prompt::Body(_) => "",
    };
    Reply {
        text: text.into(),
        finish: Finish::Stop,
        usage: None,
    }
}

/// A model of agents that answers one after another as scripted; the last answer repeats.
pub(crate) fn scripted(replies: Vec<AgentReply>) -> ScriptedAgent {
    ScriptedAgent::list(&VirtualTime::new(), replies)
}

/// One call.
pub(crate) fn calls(id: &str, tool: &str, args: Value) -> AgentReply {
    AgentReply::calls(&[(id, tool, args)])
}

/// A model of agents that says when it is asked, and waits until it may answer.
pub(crate) struct Gate(pub(crate) Arc<Held>);

impl AgentModel for Gate {
    fn turn<'a>(
        &'a self,
        _: &'a TurnRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>> {
        on_delta(Delta::Text("Tea".into()));
        self.0.asked.notify_one();
        Box::pin(async move {
            let permit = self.0.may.acquire().await;
            permit.expect("it is never closed").forget();
            on_delta(Delta::Text(" is ready.".into()));
            Ok(Turn::text("Tea is ready."))
        })
    }
}
