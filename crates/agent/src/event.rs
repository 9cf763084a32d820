//! What is told of a run while it goes on: kept from its beginning, so that whoever joins late hears it all.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use conspectus::Delta;
use conspectus::threads::{CheckpointId, Compacted, Json, RunStatus};
use serde::Serialize;
use serde_json::Value;

use crate::channel::delegation::StopReason;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// It begins, or is taken up again.
    Started {
        /// The run.
        run_id: Arc<str>,
        /// The model that it runs on.
        model: Arc<str>,
        /// It was begun before.
        resumed: bool,
    },
    /// A state is stored.
    Checkpoint {
        /// Its name.
        checkpoint_id: CheckpointId,
    },
    /// A message is stored.
    Message {
        /// The message.
        message: Json,
    },
    /// A reply goes on. It is stored as the message with this id once it is whole.
    Delta {
        /// The message's id.
        id: Arc<str>,
        /// The piece.
        delta: Delta,
    },
    /// The model is asked again, since it failed. What came of this reply so far does not count.
    Retry {
        /// The message's id.
        id: Arc<str>,
        /// What went wrong.
        failure: Arc<str>,
    },
    /// A tool begins.
    ToolStart {
        /// The call.
        id: Arc<str>,
        /// The tool.
        name: Arc<str>,
    },
    /// A tool ended.
    ToolEnd {
        /// The call.
        id: Arc<str>,
        /// It failed.
        is_error: bool,
    },
    /// Something that a middleware or a tool tells.
    Custom {
        /// Who tells it.
        name: Arc<str>,
        /// What.
        value: Value,
    },
    /// A compaction ended, or a check found a reason against one.
    Compaction {
        /// What it came to.
        compacted: Box<Compacted>,
        /// It ran beside the run.
        background: bool,
    },
    /// A hook or something else of no consequence failed.
    Warning {
        /// What.
        message: Arc<str>,
    },
    /// The run waits for answers.
    Interrupted {
        /// What it asks.
        questions: Vec<Question>,
    },
    /// It is over.
    Ended {
        /// How.
        status: RunStatus,
        /// What went wrong.
        error: Option<Arc<str>>,
        /// A limit ended it.
        stop_reason: Option<StopReason>,
    },
}

/// A question that a run waits to have answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// The call that asks.
    pub id: Arc<str>,
    /// What it asks, as the tool was called.
    pub value: Value,
}

/// An event with its number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// Counts the events of a run from 1.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// The events of one run in this process.
#[derive(Debug, Default)]
pub struct EventLog(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    told: Vec<Arc<Told>>,
    waiting: Vec<Waker>,
}

impl EventLog {
    /// Tells. After the end nothing is told any more.
    pub fn tell(&self, event: RunEvent) {
        let waiting = {
            let mut inner = self.lock();
            if inner.is_over() {
                return;
            }
            let seq = inner.told.len() as u64 + 1;
            inner.told.push(Arc::new(Told { seq, event }));
            std::mem::take(&mut inner.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Events behind number `after`, those there are.
    pub fn after(&self, after: u64) -> Vec<Arc<Told>> {
        let from = usize::try_from(after).unwrap_or(usize::MAX);
        self.lock().told.get(from..).unwrap_or_default().to_vec()
    }

    /// How it ended, if it did.
    pub fn end(&self) -> Option<Arc<Told>> {
        let inner = self.lock();
        inner.told.last().filter(|_| inner.is_over()).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn is_over(&self) -> bool {
        let last = self.told.last();
        last.is_some_and(|told| matches!(told.event, RunEvent::Ended { .. }))
    }
}

/// The events of a run as they come, from the first or from behind a number. Dropping it disturbs nobody.
#[derive(Clone, Debug)]
pub struct Events {
    log: Arc<EventLog>,
    after: u64,
}

impl Events {
    /// Those behind number `after`.
    pub fn new(log: Arc<EventLog>, after: u64) -> Self {
        Self { log, after }
    }

    /// The next one; `None` behind the last.
    pub async fn next(&mut self) -> Option<Arc<Told>> {
        let told = poll_fn(|cx| {
            let mut inner = self.log.lock();
            let at = usize::try_from(self.after).unwrap_or(usize::MAX);
            match inner.told.get(at) {
                Some(told) => Poll::Ready(Some(told.clone())),
                None if inner.is_over() => Poll::Ready(None),
                None => {
                    if !inner.waiting.iter().any(|w| w.will_wake(cx.waker())) {
                        inner.waiting.push(cx.waker().clone());
                    }
                    Poll::Pending
                }
            }
        })
        .await?;
        self.after = told.seq;
        Some(told)
    }
}
