//! The scripted model behind the port of the async driver.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conspectus::{Boxed, ChatModel, Clock, ModelCall, Prompt};
use conspectus_core::effect::{Failure, Reply};

use super::{Ask, Said, ScriptedModel};
use crate::executor::VirtualTime;

/// A [`ScriptedModel`] in virtual time. Clones are the same model. It panics and hangs where it is told to, so it
/// keeps less of the contract than a driver may count on.
#[derive(Clone, Debug)]
pub struct ScriptedChat {
    time: VirtualTime,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    model: ScriptedModel,
    asked: Vec<ModelCall>,
    under_way: usize,
    most_under_way: usize,
}

impl ScriptedChat {
    /// This model, in this time.
    pub fn new(model: ScriptedModel, time: &VirtualTime) -> Self {
        let state = State {
            model,
            asked: Vec::new(),
            under_way: 0,
            most_under_way: 0,
        };
        Self {
            time: time.clone(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// What it was asked so far, in order.
    pub fn asked(&self) -> Vec<ModelCall> {
        self.lock().asked.clone()
    }

    /// Calls that have neither ended nor been dropped.
    pub fn under_way(&self) -> usize {
        self.lock().under_way
    }

    /// The most calls that there were at one time.
    pub fn most_under_way(&self) -> usize {
        self.lock().most_under_way
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for ScriptedChat {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        let answer = {
            let mut state = self.lock();
            state.under_way += 1;
            state.most_under_way = state.most_under_way.max(state.under_way);
            state.asked.push(call.clone());
            state.model.answer(&Ask::from(&call))
        };
        let ended = Ended(self.clone());
        Box::pin(async move {
            let _ended = ended;
            for _ in &answer.chunks {
                alive();
            }
            self.time
                .sleep_until(self.time.now() + answer.after_ms)
                .await;
            match answer.said.outcome() {
                _ if answer.said == Said::Panic => panic!("the scripted model panics as told"),
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        })
    }
}

impl From<&ModelCall> for Ask {
    /// Of a body all is one text.
    fn from(call: &ModelCall) -> Self {
        let (system, text) = match &call.prompt {
            Prompt::Text { system, user } => (system.to_string(), user.to_string()),
            Prompt::Body(body) => (String::new(), String::from_utf8_lossy(body).into_owned()),
        };
        Self {
            system,
            texts: vec![text],
            messages: 1,
            media: 0,
            max_output_tokens: Some(call.max_output_tokens),
        }
    }
}

struct Ended(ScriptedChat);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.lock().under_way -= 1;
    }
}
