//! What stands in the place of [`trace`](super::trace) without the feature `tracing`: nothing is told.

use std::sync::Arc;

use conspectus_core::effect::{CallNumber, Failure, Millis, Reply, Route};
use conspectus_core::id::AttemptId;
use conspectus_core::view::Usage;

use super::{Event, Labels};
use crate::model::{About, ModelCall};
use crate::store::ThreadStore;
use crate::turn::AgentModel;

pub(crate) struct AttemptTrace;

impl AttemptTrace {
    pub(crate) fn new(_: AttemptId, _: &Labels, _: Option<&str>) -> Self {
        Self
    }

    pub(crate) fn around<F: Future>(&self, work: F) -> F {
        work
    }

    pub(crate) fn told(&self, _: &Event) {}

    pub(crate) fn call(&self, _: CallNumber, _: &Route, _: &About, _: &ModelCall) -> CallTrace {
        CallTrace
    }
}

pub(crate) struct CallTrace;

impl CallTrace {
    pub(crate) fn around<F: Future>(&self, work: F) -> F {
        work
    }

    pub(crate) fn alive(&self, _: impl FnOnce() -> Millis) {}

    pub(crate) fn meter(&self) -> impl Fn(&Usage) + Send + Sync + 'static {
        |_| {}
    }

    pub(crate) fn ended(self, _: &Result<Reply, Failure>) {}
}

pub(crate) fn traced_turns(_: &Arc<str>, model: Arc<dyn AgentModel>) -> Arc<dyn AgentModel> {
    model
}

pub(crate) fn traced(store: Arc<dyn ThreadStore>) -> Arc<dyn ThreadStore> {
    store
}
