//! Models that do what a test needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use conspectus::core::effect::{Failure, Finish, Reply};
use conspectus::{Boxed, ChatModel, ModelCall, Prompt};
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
