//! One attempt from its start to its one end, whatever happens in between.

use std::any::Any;
use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use conspectus_core::effect::{CallNumber, Failure, Millis, Reply, Route};
use conspectus_core::outcome::{Outcome, Reason, Report};
use conspectus_core::policy::Policy;
use conspectus_core::record::{Author, Record};
use conspectus_core::view::Usage;

use super::trace::AttemptTrace;
use super::{
    After, Called, Event, Exception, ExceptionMeasurements, ExceptionMetadata, Start, Stop,
    StopMeasurements, StopMetadata, Telemetry, Way,
};
use crate::clock::Clock;

/// No chain of errors is longer; one that leads back to itself is cut.
const MAX_CAUSES: usize = 16;

/// An attempt under way. When it is dropped without an end, that is told as one.
pub(crate) struct Span<'a, C: Clock> {
    telemetry: &'a Telemetry,
    clock: &'a C,
    policy: Arc<Policy>,
    trace: AttemptTrace,
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    /// There until the end is told.
    start: Option<Start>,
    calls: u64,
    called: Called,
    /// What each call was reported to cost.
    used: BTreeMap<CallNumber, Usage>,
}

impl<'a, C: Clock> Span<'a, C> {
    /// Nothing is told before [`Self::started`].
    pub(crate) fn new(
        telemetry: &'a Telemetry,
        clock: &'a C,
        policy: Arc<Policy>,
        trace: AttemptTrace,
    ) -> Self {
        Self {
            telemetry,
            clock,
            policy,
            trace,
            so_far: Mutex::default(),
        }
    }

    /// The attempt begins. From here on there will be an end.
    pub(crate) fn started(&self, event: &Event) {
        if let Event::Start(start) = event {
            self.so_far().start = Some(start.clone());
            self.tell(event);
        }
    }

    /// The attempt as a span.
    pub(crate) fn trace(&self) -> &AttemptTrace {
        &self.trace
    }

    /// A call was reported to cost so much so far.
    pub(crate) fn used(&self, call: CallNumber, usage: &Usage) {
        self.so_far().used.insert(call, usage.clone());
    }

    /// A model is called.
    pub(crate) fn call(&self) {
        self.so_far().calls += 1;
    }

    /// A model answered.
    pub(crate) fn answered(&self, call: CallNumber, route: &Route, reply: &Reply) {
        if let Some(usage) = &reply.usage {
            self.used(call, usage);
        }
        let called = &mut self.so_far().called;
        called.model.clone_from(&route.model);
        let said = reply.usage.as_ref().and_then(|u| u.provider.clone());
        called.provider = said.or_else(|| self.policy.provider.clone());
    }

    /// The event that ends an attempt with this report. `None`: it never began.
    pub(crate) fn end(
        &self,
        report: &Report,
        record: Option<&Record>,
        after: After,
    ) -> Option<Event> {
        let so_far = self.so_far();
        let start = so_far.start.as_ref()?;
        let is_change = matches!(report.outcome, Outcome::Compacted | Outcome::Pruned);
        let measured = &report.measured;
        let (change, cost) = (measured.change, measured.cost);
        Some(Event::Stop(Stop {
            measurements: StopMeasurements {
                duration: self.since(start),
                bytes_before: start.measurements.bytes_before,
                bytes_after: is_change.then_some(after.bytes),
                tokens_before: measured.tokens_before,
                tokens_after: measured.tokens_after.filter(|_| is_change),
                tokens_kept_cached: change.map(|c| c.same),
                tokens_invalidated: change.map(|c| c.before),
                spent_micros: measured.spent_micros,
                cost_micros: cost.map(|c| c.now_micros),
                saved_micros: cost.map(|c| c.saved_micros),
                break_even_tenths: cost.and_then(|c| c.break_even_tenths),
            },
            metadata: StopMetadata {
                start: start.metadata.clone(),
                messages_after: is_change.then_some(after.messages),
                llm_called: so_far.calls > 0,
                summarized: report.outcome == Outcome::Compacted,
                called: Called {
                    usage: so_far.used.values().cloned().reduce(|a, b| sum_of(&a, &b)),
                    ..so_far.called.clone()
                },
                outcome: report.outcome,
                reasons: report.reasons.clone(),
                strategy: way(report, record),
                failure: report
                    .failure
                    .clone()
                    .map(|failure| self.policy.redact.failure(failure)),
                record: report.record,
            },
        }))
    }

    /// The event that ends an attempt in which this happened. `None`: it never began.
    pub(crate) fn broken(&self, kind: &str, panic: &Panic) -> Option<Event> {
        let so_far = self.so_far();
        let start = so_far.start.as_ref()?;
        Some(Event::Exception(Exception {
            measurements: ExceptionMeasurements {
                duration: self.since(start),
            },
            metadata: ExceptionMetadata {
                start: start.metadata.clone(),
                messages_after: None,
                llm_called: so_far.calls > 0,
                kind: kind.into(),
                reason: self.policy.redact.redact_arc(&panic.reason),
                stacktrace: panic
                    .causes
                    .iter()
                    .map(|cause| self.policy.redact.redact_arc(cause))
                    .collect(),
            },
        }))
    }

    /// Tells the end.
    pub(crate) fn close(&self, event: Option<&Event>) {
        let is_open = self.so_far().start.take().is_some();
        if let Some(event) = event.filter(|_| is_open) {
            self.tell(event);
        }
    }

    fn tell(&self, event: &Event) {
        self.trace.told(event);
        self.telemetry.tell(event);
    }

    fn since(&self, start: &Start) -> Millis {
        let began = start.measurements.monotonic_time;
        self.clock.now().saturating_sub(began)
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Clock> Drop for Span<'_, C> {
    fn drop(&mut self) {
        let gone = Panic {
            reason: "nobody waited for the attempt any more".into(),
            causes: Vec::new(),
        };
        let event = self.broken("exit", &gone);
        self.close(event.as_ref());
    }
}

fn sum_of(a: &Usage, b: &Usage) -> Usage {
    let total = |u: &Usage| u.reported_total;
    Usage {
        input: a.input.saturating_add(b.input),
        output: a.output.saturating_add(b.output),
        cache_read: a.cache_read.saturating_add(b.cache_read),
        cache_write: a.cache_write.saturating_add(b.cache_write),
        reported_total: match (total(a), total(b)) {
            (None, None) => None,
            (x, y) => Some(x.unwrap_or(0).saturating_add(y.unwrap_or(0))),
        },
        provider: b.provider.clone().or_else(|| a.provider.clone()),
    }
}

fn way(report: &Report, record: Option<&Record>) -> Option<Way> {
    match report.outcome {
        Outcome::Pruned => return Some(Way::Prune),
        Outcome::Compacted => {}
        _ => return None,
    }
    let author = record.and_then(|r| r.summary.as_ref()).map(|s| &s.author);
    if author == Some(&Author::Digest) {
        return Some(Way::Digest);
    }
    report.reasons.iter().find_map(|reason| match reason {
        Reason::Replayed(_) => Some(Way::Replay),
        Reason::Transcribed(_) => Some(Way::Transcript),
        _ => None,
    })
}

/// A future whose panic is its result.
pub(crate) struct Caught<'a, F>(pub(crate) Pin<&'a mut F>);

impl<F: Future> Future for Caught<'_, F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx)));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(Panic::of(panic.as_ref()))),
        }
    }
}

/// What a panic says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panic {
    reason: Arc<str>,
    /// Where it carried an error: what that error came from, the nearest cause first.
    causes: Vec<Arc<str>>,
}

impl Panic {
    fn of(panic: &(dyn Any + Send)) -> Self {
        type Carried = Box<dyn Error + Send + Sync>;
        if let Some(error) = panic.downcast_ref::<Carried>() {
            let first = error.source();
            let causes = std::iter::successors(first, |cause: &&dyn Error| (*cause).source());
            return Self {
                reason: error.to_string().into(),
                causes: causes
                    .take(MAX_CAUSES)
                    .map(|cause| cause.to_string().into())
                    .collect(),
            };
        }
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self {
            reason: text.unwrap_or("a panic that says nothing").into(),
            causes: Vec::new(),
        }
    }
}

/// What a panic comes to for the caller.
pub(crate) fn failure(panic: &Panic) -> Failure {
    Failure::Broken {
        message: format!("the attempt panicked: {}", panic.reason).into(),
    }
}
