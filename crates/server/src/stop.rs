//! How a server stops: no new connections, what runs is given time, then attempts are cancelled, then it is over.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};

/// How far stopping is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Running,
    /// Streams end; what was begun goes on.
    Draining,
    /// Attempts are given up.
    Cancelled,
}

/// Tells everybody who waits.
#[derive(Clone)]
pub(crate) struct Stop {
    phase: watch::Sender<Phase>,
    /// Every task holds a clone; when the last one is gone, the receiver ends.
    task: Arc<Mutex<Option<Task>>>,
}

/// Held by whoever must be waited for.
#[derive(Clone)]
pub(crate) struct Task {
    _alive: mpsc::Sender<()>,
}

/// Ends when every task has ended.
pub(crate) struct Tasks(mpsc::Receiver<()>);

impl Stop {
    pub(crate) fn new() -> (Self, Tasks) {
        let (alive, tasks) = mpsc::channel(1);
        let stop = Self {
            phase: watch::Sender::new(Phase::Running),
            task: Arc::new(Mutex::new(Some(Task { _alive: alive }))),
        };
        (stop, Tasks(tasks))
    }

    /// Goes on to a phase.
    pub(crate) fn go_to(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    pub(crate) fn is_running(&self) -> bool {
        *self.phase.borrow() == Phase::Running
    }

    /// Ends when stopping has come so far.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut phases = self.phase.subscribe();
        // The sender lives as long as `self`.
        let _ = phases.wait_for(|now| *now >= phase).await;
    }

    /// A task that is waited for. `None`: nobody waits any more.
    pub(crate) fn task(&self) -> Option<Task> {
        self.task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// From now on only the tasks that are there are waited for.
    pub(crate) fn last_task(&self) {
        self.task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

impl Tasks {
    pub(crate) async fn ended(&mut self) {
        while self.0.recv().await.is_some() {}
    }
}
