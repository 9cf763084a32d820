//! Calls of the models that agents run on as spans, under the names of a summary's calls.

use std::sync::Arc;

use conspectus_core::effect::Failure;
use tracing::field::Empty;
use tracing::info_span;

use super::{CallTrace, number, used};
use crate::model::Boxed;
use crate::turn::{AgentModel, Delta, Turn, TurnRequest};

/// The same model, whose calls are spans.
pub(crate) fn traced_turns(name: &Arc<str>, model: Arc<dyn AgentModel>) -> Arc<dyn AgentModel> {
    let name = name.clone();
    Arc::new(Traced { name, model })
}

struct Traced {
    name: Arc<str>,
    model: Arc<dyn AgentModel>,
}

impl AgentModel for Traced {
    fn turn<'a>(
        &'a self,
        request: &'a TurnRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>> {
        let span = info_span!(
            target: "conspectus",
            "chat",
            otel.name = ["chat", &*self.name].join(" "),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.request.model = &*self.name,
            gen_ai.request.max_tokens = request.max_output_tokens.map(number),
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            "error.type" = Empty,
            conspectus.call.finish = Empty,
            conspectus.call.messages = number(request.messages.len() as u64),
            conspectus.call.tool_calls = Empty,
        );
        let mut trace = CallTrace::of(span);
        Box::pin(async move {
            let ended = trace.around(self.model.turn(request, on_delta)).await;
            trace.is_over = true;
            let span = &trace.span;
            match &ended {
                Ok(turn) => {
                    span.record("conspectus.call.finish", turn.finish.as_str());
                    span.record("gen_ai.response.model", turn.model.as_deref());
                    let calls = number(turn.calls.len() as u64);
                    span.record("conspectus.call.tool_calls", calls);
                    if let Some(usage) = &turn.usage {
                        used(span, usage);
                    }
                }
                Err(failure) => trace.failed(failure.kind()),
            }
            ended
        })
    }
}
