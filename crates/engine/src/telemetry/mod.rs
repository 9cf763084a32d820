//! What is told about compactions: one start and exactly one end for each attempt, as values.
//!
//! Names and measurements are those of Nous's plugin (`[:nous, :compaction, :start]`, `:stop`, `:exception`), and beside
//! them what was decided, what it cost and what it saves. A [`Compactor`](crate::Compactor) tells its [`Telemetry`];
//! exporters are [`Subscriber`]s. Nothing in an event holds text of the conversation.
//!
//! With the feature `tracing` attempts, model calls and store writes are spans of the crate of that name, too; who exports
//! them is the program's choice. Nothing in a span holds text of the conversation either.

mod event;
mod span;
#[cfg(feature = "tracing")]
mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "untraced.rs"]
mod trace;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub use event::{
    After, Called, Event, Exception, ExceptionMeasurements, ExceptionMetadata, Labels, Start,
    StartMeasurements, StartMetadata, Stop, StopMeasurements, StopMetadata, Way,
};
pub(crate) use span::{Caught, Span, failure};
pub(crate) use trace::{AttemptTrace, traced, traced_turns};

/// Listens to events. It is called where they happen, so it should be quick; what it panics with is lost.
pub trait Subscriber: Send + Sync {
    /// An event happened.
    fn told(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> Subscriber for F {
    fn told(&self, event: &Event) {
        self(event);
    }
}

/// Who listens.
#[derive(Clone, Default)]
pub struct Telemetry(Vec<Arc<dyn Subscriber>>);

impl Telemetry {
    /// Nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more, who is told after those before.
    #[must_use]
    pub fn with(mut self, subscriber: impl Subscriber + 'static) -> Self {
        self.0.push(Arc::new(subscriber));
        self
    }

    /// Tells everybody.
    pub fn tell(&self, event: &Event) {
        for subscriber in &self.0 {
            // Whoever listens must not break what it listens to.
            let _ = catch_unwind(AssertUnwindSafe(|| subscriber.told(event)));
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Telemetry({} subscribers)", self.0.len())
    }
}
