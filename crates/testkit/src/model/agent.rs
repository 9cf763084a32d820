//! A scripted model for agents, in virtual time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conspectus::{AgentModel, Boxed, Clock, Delta, Turn, TurnCall, TurnRequest};
use conspectus_core::effect::{Failure, Finish, Millis};
use conspectus_core::view::Usage;
use serde_json::Value;

use crate::executor::VirtualTime;

/// What a scripted agent's model does with one request.
#[derive(Clone, Debug)]
pub enum AgentReply {
    /// It answers.
    Turn(Turn),
    /// It fails.
    Fail(Failure),
    /// It never answers.
    Never,
    /// It does so after a time.
    After(Millis, Box<Self>),
}

impl AgentReply {
    /// Text alone.
    pub fn text(text: &str) -> Self {
        Self::Turn(Turn::text(text))
    }

    /// Calls: id, tool, arguments.
    pub fn calls(calls: &[(&str, &str, Value)]) -> Self {
        let calls = calls.iter().map(|(id, name, args)| TurnCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: args.to_string().into(),
        });
        Self::Turn(Turn {
            calls: calls.collect(),
            finish: Finish::ToolCalls,
            ..Turn::text("")
        })
    }

    /// With figures of the provider's.
    #[must_use]
    pub fn using(self, input: u64, output: u64) -> Self {
        match self {
            Self::Turn(turn) => Self::Turn(Turn {
                usage: Some(Usage {
                    input,
                    output,
                    ..Usage::default()
                }),
                ..turn
            }),
            other => other,
        }
    }

    /// After a time.
    #[must_use]
    pub fn after(self, ms: Millis) -> Self {
        Self::After(ms, Box::new(self))
    }
}

type Script = dyn FnMut(usize, &TurnRequest) -> AgentReply + Send;

/// A model that answers as scripted and keeps what it was asked. Clones are the same model.
#[derive(Clone)]
pub struct ScriptedAgent {
    time: VirtualTime,
    script: Arc<Mutex<Box<Script>>>,
    asked: Arc<Mutex<Vec<TurnRequest>>>,
    under_way: Arc<Mutex<usize>>,
}

impl ScriptedAgent {
    /// Call number `n`, counted from 0, is answered by `script`.
    pub fn new(
        time: &VirtualTime,
        script: impl FnMut(usize, &TurnRequest) -> AgentReply + Send + 'static,
    ) -> Self {
        Self {
            time: time.clone(),
            script: Arc::new(Mutex::new(Box::new(script))),
            asked: Arc::default(),
            under_way: Arc::default(),
        }
    }

    /// Answers one after another; the last one repeats.
    pub fn list(time: &VirtualTime, replies: Vec<AgentReply>) -> Self {
        Self::new(time, move |n, _| match replies.get(n).or(replies.last()) {
            Some(reply) => reply.clone(),
            None => AgentReply::text(""),
        })
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<TurnRequest> {
        lock(&self.asked).clone()
    }

    /// Calls that have neither ended nor been dropped.
    pub fn under_way(&self) -> usize {
        *lock(&self.under_way)
    }
}

impl AgentModel for ScriptedAgent {
    fn turn<'a>(
        &'a self,
        request: &'a TurnRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>> {
        let n = {
            let mut asked = lock(&self.asked);
            asked.push(request.clone());
            asked.len() - 1
        };
        let mut reply = lock(&self.script)(n, request);
        *lock(&self.under_way) += 1;
        let under_way = UnderWay(self.under_way.clone());
        Box::pin(async move {
            let _under_way = under_way;
            loop {
                match reply {
                    AgentReply::After(ms, then) => {
                        self.time.sleep_until(self.time.now() + ms).await;
                        reply = *then;
                    }
                    AgentReply::Never => {
                        let ms = request.timeout_ms;
                        self.time.sleep_until(self.time.now() + ms).await;
                        return Err(Failure::TimedOut { after_ms: ms });
                    }
                    AgentReply::Fail(failure) => return Err(failure),
                    AgentReply::Turn(turn) => {
                        tell(&turn, on_delta);
                        return Ok(turn);
                    }
                }
            }
        })
    }
}

/// A reply in pieces.
fn tell(turn: &Turn, on_delta: &(dyn Fn(Delta) + Send + Sync)) {
    let half = turn.text.floor_char_boundary(turn.text.len() / 2);
    let (start, rest) = turn.text.split_at(half);
    for piece in [start, rest].into_iter().filter(|piece| !piece.is_empty()) {
        on_delta(Delta::Text(piece.into()));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        on_delta(Delta::Call {
            index,
            id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            arguments: call.arguments.clone(),
        });
    }
}

struct UnderWay(Arc<Mutex<usize>>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        *lock(&self.0) -= 1;
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
