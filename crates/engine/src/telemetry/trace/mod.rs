//! Attempts, model calls and store writes as spans of `tracing` (feature `tracing`). Without it `untraced` stands here.
//!
//! Names and fields are OpenTelemetry's for generative AI where it has them; the others begin with `conspectus.`. Fields
//! named `otel.…` are what `tracing-opentelemetry` makes a span's name, kind and status of. Names, sizes, money and words
//! of closed sets are told; never a text of a conversation, a message of a failure, a key or an address with a path.
//!
//! A span ends when what it stands for ends or is dropped, so there is one end for each beginning.

mod store;
mod turn;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use conspectus_core::effect::{CallNumber, Failure, Millis, Reply, Route};
use conspectus_core::id::AttemptId;
use conspectus_core::outcome::Outcome;
use conspectus_core::view::Usage;
use tracing::field::Empty;
use tracing::instrument::Instrumented;
use tracing::{Instrument as _, Span, info_span};

pub(crate) use store::traced;
pub(crate) use turn::traced_turns;

use super::{Event, Labels, Stop};
use crate::model::{About, ModelCall};

/// Micro-dollars of a dollar.
const MICROS: f64 = 1e6;

/// An attempt.
pub(crate) struct AttemptTrace {
    span: Span,
    thread: Option<String>,
}

impl AttemptTrace {
    /// It begins; `provider` is that of the model that the conversation runs on.
    pub(crate) fn new(attempt: AttemptId, labels: &Labels, provider: Option<&str>) -> Self {
        let thread = labels.thread.as_deref();
        let span = info_span!(
            target: "conspectus",
            "compact",
            otel.kind = "internal",
            otel.status_code = Empty,
            gen_ai.operation.name = "compact",
            gen_ai.provider.name = provider,
            gen_ai.conversation.id = thread,
            gen_ai.agent.name = labels.agent_name.as_deref(),
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            "error.type" = Empty,
            conspectus.tenant = labels.tenant.as_deref(),
            conspectus.compaction.attempt = number(attempt.0),
            conspectus.compaction.dry_run = labels.dry_run,
            conspectus.compaction.trigger = Empty,
            conspectus.compaction.outcome = Empty,
            conspectus.compaction.reasons = Empty,
            conspectus.compaction.strategy = Empty,
            conspectus.compaction.model = Empty,
            conspectus.compaction.tokens_before = Empty,
            conspectus.compaction.tokens_after = Empty,
            conspectus.compaction.tokens_kept_cached = Empty,
            conspectus.compaction.messages_before = Empty,
            conspectus.compaction.messages_after = Empty,
            conspectus.compaction.cost_usd = Empty,
            conspectus.compaction.spent_usd = Empty,
            conspectus.compaction.saved_usd_per_call = Empty,
            conspectus.compaction.break_even_calls = Empty,
        );
        Self {
            span,
            thread: thread.map(str::to_owned),
        }
    }

    /// What happens in `work` happens in it.
    pub(crate) fn around<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.span.clone())
    }

    /// Its events become its fields.
    pub(crate) fn told(&self, event: &Event) {
        let span = &self.span;
        match event {
            Event::Start(start) => {
                let (numbers, of) = (&start.measurements, &start.metadata);
                span.record("conspectus.compaction.trigger", of.moment.as_str());
                let tokens = number(numbers.tokens_before);
                span.record("conspectus.compaction.tokens_before", tokens);
                let messages = number(of.messages_before);
                span.record("conspectus.compaction.messages_before", messages);
            }
            Event::Stop(stop) => self.stopped(stop),
            Event::Exception(exception) => {
                let kind = exception.metadata.kind.as_ref();
                span.record("otel.status_code", "ERROR");
                span.record("error.type", kind);
            }
        }
    }

    fn stopped(&self, stop: &Stop) {
        let (span, numbers, of) = (&self.span, &stop.measurements, &stop.metadata);
        let dollars = |micros: i64| micros as f64 / MICROS;
        let reasons: Vec<_> = of.reasons.iter().map(|reason| reason.as_str()).collect();
        span.record("conspectus.compaction.outcome", of.outcome.as_str());
        if !reasons.is_empty() {
            span.record("conspectus.compaction.reasons", reasons.join(","));
        }
        span.record(
            "conspectus.compaction.strategy",
            of.strategy.map(|way| way.as_str()),
        );
        span.record("conspectus.compaction.model", of.called.model.as_deref());
        for (name, count) in [
            ("tokens_before", Some(numbers.tokens_before)),
            ("tokens_after", numbers.tokens_after),
            ("tokens_kept_cached", numbers.tokens_kept_cached),
            ("messages_after", of.messages_after),
        ] {
            let name = ["conspectus.compaction.", name].concat();
            span.record(name.as_str(), count.map(number));
        }
        span.record(
            "conspectus.compaction.cost_usd",
            numbers.cost_micros.map(dollars),
        );
        if of.llm_called {
            let spent = numbers.spent_micros as f64 / MICROS;
            span.record("conspectus.compaction.spent_usd", spent);
        }
        span.record(
            "conspectus.compaction.saved_usd_per_call",
            numbers.saved_micros.map(dollars),
        );
        span.record(
            "conspectus.compaction.break_even_calls",
            numbers.break_even_tenths.map(|tenths| tenths as f64 / 10.0),
        );
        if let Some(usage) = &of.called.usage {
            used(span, usage);
        }
        if let Some(failure) = &of.failure {
            span.record("error.type", failure.kind());
        }
        if of.outcome == Outcome::Failed {
            span.record("otel.status_code", "ERROR");
        }
    }

    /// A model is called.
    pub(crate) fn call(
        &self,
        nth: CallNumber,
        route: &Route,
        about: &About,
        call: &ModelCall,
    ) -> CallTrace {
        let model = about.model.as_deref().or(route.model.as_deref());
        let name = ["chat", model.unwrap_or_default()];
        let output = call.schema.as_ref().map(|_| "json").unwrap_or("text");
        let span = info_span!(
            target: "conspectus",
            parent: &self.span,
            "chat",
            otel.name = name.join(" ").trim_end(),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = about.provider.as_deref(),
            gen_ai.conversation.id = self.thread.as_deref(),
            gen_ai.request.model = model,
            gen_ai.request.max_tokens = number(call.max_output_tokens),
            gen_ai.response.time_to_first_chunk = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            server.address = about.host.as_deref(),
            server.port = about.port.map(i64::from),
            "gen_ai.output.type" = output,
            "error.type" = Empty,
            conspectus.call.number = i64::from(nth.0),
            conspectus.call.replays = route.replay,
            conspectus.call.finish = Empty,
        );
        CallTrace::of(span)
    }
}

/// A call of a model.
pub(crate) struct CallTrace {
    span: Arc<Span>,
    is_alive: AtomicBool,
    is_over: bool,
}

impl CallTrace {
    fn of(span: Span) -> Self {
        Self {
            span: Arc::new(span),
            is_alive: AtomicBool::new(false),
            is_over: false,
        }
    }

    /// What happens in `work` happens in it.
    pub(crate) fn around<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(Span::clone(&self.span))
    }

    /// Something came, so long after the call began. The first counts.
    pub(crate) fn alive(&self, after: impl FnOnce() -> Millis) {
        if !self.is_alive.swap(true, Ordering::Relaxed) {
            let seconds = after() as f64 / 1e3;
            self.span
                .record("gen_ai.response.time_to_first_chunk", seconds);
        }
    }

    /// Takes what it is reported to cost, as long as it goes on.
    pub(crate) fn meter(&self) -> impl Fn(&Usage) + Send + Sync + 'static {
        // Whoever keeps what it was asked must not keep the call from ending.
        let span = Arc::downgrade(&self.span);
        move |usage| {
            if let Some(span) = span.upgrade() {
                used(&span, usage);
            }
        }
    }

    /// It ended.
    pub(crate) fn ended(mut self, with: &Result<Reply, Failure>) {
        self.is_over = true;
        match with {
            Ok(reply) => {
                self.span
                    .record("conspectus.call.finish", reply.finish.as_str());
                if let Some(usage) = &reply.usage {
                    used(&self.span, usage);
                }
            }
            Err(failure) => self.failed(failure.kind()),
        }
    }

    fn failed(&self, kind: &str) {
        self.span.record("otel.status_code", "ERROR");
        self.span.record("error.type", kind);
    }
}

impl Drop for CallTrace {
    /// A call that is dropped before its end was aborted, or broke.
    fn drop(&mut self) {
        if !self.is_over {
            self.failed("aborted");
        }
    }
}

fn used(span: &Span, usage: &Usage) {
    span.record("gen_ai.usage.input_tokens", number(usage.input));
    span.record("gen_ai.usage.output_tokens", number(usage.output));
    span.record(
        "gen_ai.usage.cache_read.input_tokens",
        number(usage.cache_read),
    );
    span.record(
        "gen_ai.usage.cache_write.input_tokens",
        number(usage.cache_write),
    );
}

/// OpenTelemetry has signed numbers only; others would be told as text.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
