//! A model that is watched: every call with its sizes, time, answer, and the verdict of the core's own check.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conspectus::core::effect::{Failure, Millis, Refusal, Reply};
use conspectus::core::summary::accept;
use conspectus::{About, Boxed, ChatModel, Clock, Format, ModelCall, Prompt};
use conspectus_providers::TokioClock;

/// One call.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How long it took.
    pub took_ms: Millis,
    /// What came.
    pub answer: Result<Reply, Failure>,
    /// Why the reply is no summary by itself; whether it is short enough is judged later.
    pub refused: Option<Refusal>,
    /// It was asked again since the answer before was no good.
    pub is_repair: bool,
}

/// Passes calls on and keeps them.
pub struct Watched {
    model: Arc<dyn ChatModel>,
    clock: TokioClock,
    asked: Mutex<Vec<Asked>>,
}

impl Watched {
    /// Watches `model`.
    pub fn new(model: Arc<dyn ChatModel>, clock: TokioClock) -> Self {
        Self {
            model,
            clock,
            asked: Mutex::default(),
        }
    }

    /// The calls since this was asked last.
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for Watched {
    fn takes(&self) -> Option<Format> {
        self.model.takes()
    }

    fn about(&self) -> About {
        self.model.about()
    }

    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            let begun = self.clock.now();
            let as_fields = call.schema.is_some();
            let (system, given) = match &call.prompt {
                Prompt::Text { system, user } => (system.clone(), Some(user.clone())),
                Prompt::Body(_) => ("".into(), None),
            };
            let answer = self.model.call(call, alive).await;
            let refused = answer
                .as_ref()
                .ok()
                .and_then(|reply| accept(reply, given.iter().map(|g| g.as_ref()), as_fields).err());
            self.lock().push(Asked {
                took_ms: self.clock.now().saturating_sub(begun),
                answer: answer.clone(),
                refused,
                is_repair: system.contains("earlier answer"),
            });
            answer
        })
    }
}
