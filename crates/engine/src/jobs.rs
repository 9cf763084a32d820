//! What is on its way: futures that each end in one input, polled in a fixed order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use conspectus_core::effect::{CallNumber, Failure, Hook, Input};

use crate::model::Boxed;

/// Which effect a job performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    Call(CallNumber),
    Hook(Hook),
    Archive,
}

impl Job {
    /// What a panic in it comes to. A hook that fails is not fatal.
    fn broken(self) -> Input {
        let message = |what| Failure::Broken {
            message: format!("{what} panicked").into(),
        };
        match self {
            Self::Call(call) => Input::Failed(call, message("the model")),
            Self::Hook(hook) => Input::HookDone(hook),
            Self::Archive => Input::Archived(Err(message("the archive"))),
        }
    }
}

/// The jobs under way.
#[derive(Default)]
pub(crate) struct Jobs<'a>(Vec<(Job, Boxed<'a, Input>)>);

impl<'a> Jobs<'a> {
    pub(crate) fn start(&mut self, job: Job, future: Boxed<'a, Input>) {
        self.0.push((job, future));
    }

    /// Stops a call; nothing comes of it any more.
    pub(crate) fn abort(&mut self, call: CallNumber) {
        self.0.retain(|(job, _)| *job != Job::Call(call));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first that ended, in the order in which they were started: whoever replays a run gets the same one.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Option<Input> {
        for at in 0..self.0.len() {
            let (job, future) = &mut self.0[at];
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
            let input = match polled {
                Ok(Poll::Pending) => continue,
                Ok(Poll::Ready(input)) => input,
                Err(_) => job.broken(),
            };
            let (_, ended) = self.0.remove(at);
            // One that broke may break again while it goes.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(ended)));
            return Some(input);
        }
        None
    }
}
