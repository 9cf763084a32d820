//! Calls of upstreams as spans of `tracing` (feature `tracing`), by OpenTelemetry's names for calls of models. Without it
//! `untraced` stands here. Never anything of a body, a key or a path.

use conspectus::Format;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::api::Call;
use crate::note::{Done, Line};

/// A call of an upstream, from its request to the end of its answer.
pub(crate) struct CallTrace(Span);

impl CallTrace {
    /// None that anything is to be said of.
    pub(crate) fn none() -> Self {
        Self(Span::none())
    }

    /// It is sent.
    pub(crate) fn new(call: Call, model: &str, host: &str, is_stream: bool) -> Self {
        let provider = match call.format() {
            Some(Format::Anthropic) => "anthropic",
            _ => "openai",
        };
        Self(info_span!(
            target: "conspectus",
            "chat",
            otel.name = format!("chat {model}"),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider,
            gen_ai.request.model = model,
            gen_ai.request.stream = is_stream,
            gen_ai.conversation.id = Empty,
            gen_ai.conversation.compacted = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            server.address = host,
            "error.type" = Empty,
            conspectus.proxy.outcome = Empty,
            conspectus.proxy.saved_tokens = Empty,
        ))
    }

    /// Its answer ended.
    pub(crate) fn ended(&self, line: &Line<'_>) {
        let span = &self.0;
        span.record("gen_ai.conversation.id", line.note.thread.as_deref());
        let compacted = match line.note.done {
            Done::Applied | Done::Compacted | Done::Recovered => Some(true),
            Done::Untouched | Done::Observed | Done::FailedOpen => Some(false),
            Done::Passed | Done::Answered | Done::Refused => None,
        };
        span.record("gen_ai.conversation.compacted", compacted);
        if let Some((input, cached)) = line.usage {
            span.record("gen_ai.usage.input_tokens", input);
            span.record("gen_ai.usage.cache_read.input_tokens", cached);
        }
        span.record("conspectus.proxy.outcome", line.note.done.as_str());
        if line.note.saved > 0 {
            span.record("conspectus.proxy.saved_tokens", line.note.saved);
        }
        if line.status >= 400 || line.is_cut {
            span.record("otel.status_code", "ERROR");
            let kind = match line.is_cut {
                true => "cut".to_owned(),
                false => line.status.to_string(),
            };
            span.record("error.type", kind);
        }
    }
}
