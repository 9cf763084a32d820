//! Compaction before every model call, by the engine. When, what and with which model is its decision; this middleware
//! asks it at the right time, and waits.

use std::sync::Arc;

use conspectus::core::effect::Failure;
use conspectus::core::outcome::Outcome;
use conspectus::core::thread::Due;
use conspectus::threads::{CompactThread, Compacted, ThreadsError};
use conspectus::{Boxed, Control, Moment, Turn};

use super::{Hooked, Middleware, ModelRequest, NextModel};
use crate::context::{RunContext, lock};
use crate::event::RunEvent;
use crate::state::{State, Update};
use crate::wait::{Promise, beside};

/// Compacts the thread when that is due: beside the run from the soft trigger on, before the call at the hard one, and
/// once more where the provider refuses a request as too large.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summarization;

impl Middleware for Summarization {
    fn name(&self) -> &'static str {
        "summarization"
    }

    fn reads_store(&self) -> bool {
        true
    }

    fn before_model<'a>(&'a self, cx: &'a RunContext, _: &'a State) -> Hooked<'a> {
        Box::pin(async move {
            let ask = cx.compaction(Moment::PreTurn);
            let mut is_folded = settle(cx, false).await;
            let mut ready = cx.threads().before_call(&cx.key, &ask).await?;
            match ready.due {
                Due::Nothing(_) => {}
                Due::Background => begin(cx, &ask),
                Due::Now => {
                    if settle(cx, true).await {
                        is_folded = true;
                        ready = cx.threads().before_call(&cx.key, &ask).await?;
                    }
                    if ready.due == Due::Now {
                        let compacted = compact(cx, &ask).await?;
                        is_folded |= compacted.is_change();
                        ready = cx.threads().before_call(&cx.key, &ask).await?;
                    }
                }
            }
            Ok(Update {
                is_folded,
                prepared: Some(Box::new(ready)),
                ..Update::none()
            })
        })
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a RunContext,
        request: ModelRequest,
        next: NextModel<'a>,
    ) -> Boxed<'a, Result<Turn, Failure>> {
        Box::pin(async move {
            let failure = match next.run(request.clone()).await {
                Err(failure) if failure.is_context_overflow() => failure,
                ended => return ended,
            };
            match smaller(cx, &failure, request).await {
                Some(request) => next.run(request).await,
                None => Err(failure),
            }
        })
    }
}

/// The request after a compaction that the refusal asks for. `None`: it cannot be made smaller.
async fn smaller(
    cx: &RunContext,
    refusal: &Failure,
    request: ModelRequest,
) -> Option<ModelRequest> {
    settle(cx, true).await;
    let ask = CompactThread {
        refusal: Some(refusal.clone()),
        ..cx.compaction(Moment::Overflow)
    };
    let compacted = compact(cx, &ask).await;
    if let Err(why) = &compacted {
        cx.warn(format!(
            "the request is too large, and compacting it failed: {why}"
        ));
    }
    compacted.ok().filter(Compacted::is_change)?;
    let ready = cx.threads().before_call(&cx.key, &ask).await.ok()?;
    Some(ModelRequest {
        messages: ready.request.messages,
        blocks: ready.request.blocks,
        summary: ready.summary,
        placement: ready.placement,
        ..request
    })
}

/// Compacts now; stops with the run.
async fn compact(cx: &RunContext, ask: &CompactThread) -> Result<Compacted, ThreadsError> {
    let control = Control::new();
    let stop = async {
        cx.cancel.wait().await;
        control.cancel();
    };
    let compacted = beside(cx.compact(ask, &control), stop).await?;
    if !matches!(compacted.outcome, Outcome::Skipped | Outcome::Disabled) {
        tell(cx, &compacted, false);
    }
    Ok(compacted)
}

/// Compacts beside the run, once at a time.
fn begin(cx: &RunContext, ask: &CompactThread) {
    let promise = Arc::new(Promise::default());
    {
        let mut running = lock(&cx.background);
        if running.is_some() {
            return;
        }
        *running = Some(promise.clone());
    }
    let (cx, ask) = (cx.shared(), ask.clone());
    (cx.core.spawn.clone())(Box::pin(async move {
        let compacted = match cx.compact(&ask, &Control::new()).await {
            Ok(compacted) => Ok(compacted),
            Err(why) => Err(why.to_string()),
        };
        promise.keep(compacted);
    }));
}

/// What a compaction beside the run came to, if it ended or is waited for. Whether the window is another one.
pub(crate) async fn settle(cx: &RunContext, wait: bool) -> bool {
    let Some(running) = lock(&cx.background).clone() else {
        return false;
    };
    let ended = match (running.take(), wait) {
        (Some(ended), _) => ended,
        (None, true) => running.wait().await,
        (None, false) => return false,
    };
    *lock(&cx.background) = None;
    match ended {
        Ok(compacted) => {
            tell(cx, &compacted, true);
            compacted.is_change()
        }
        Err(why) => {
            cx.warn(format!("the compaction beside the run failed: {why}"));
            false
        }
    }
}

fn tell(cx: &RunContext, compacted: &Compacted, background: bool) {
    cx.tell(RunEvent::Compaction {
        compacted: Box::new(compacted.clone()),
        background,
    });
}
