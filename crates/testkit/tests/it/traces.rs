//! Attempts and calls as spans: each ends once whatever happens, says what it should, and nothing of what was said.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Once};
use std::task::Poll;

use conspectus::core::effect::Failure;
use conspectus::threads::Json;
use conspectus::{AgentModel, AgentModels, Alone, Control, Surroundings, TurnRequest};
use conspectus_testkit::executor::VirtualTime;
use conspectus_testkit::model::{AgentReply, Behaviour, ScriptedAgent};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::telemetry::{Broken, World, good, metered, request, world};

/// A span as it was told.
#[derive(Clone, Debug, Default)]
struct Told {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
    closed: u32,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// Keeps those of each thread, by id: a run in virtual time is one thread's. There is one for the process, since who
/// listens is decided once a place in the code.
struct Kept;

thread_local! {
    static KEPT: RefCell<BTreeMap<u64, Told>> = const { RefCell::new(BTreeMap::new()) };
}

fn told(id: &Id, change: impl FnOnce(&mut Told)) {
    KEPT.with_borrow_mut(|kept| change(kept.entry(id.into_u64()).or_default()));
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Kept {
    fn on_new_span(&self, of: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let parent = ctx.span(id).and_then(|span| span.parent());
        // Ids are used again.
        KEPT.with_borrow_mut(|kept| {
            if let Some(old) = kept.remove(&id.into_u64()) {
                kept.insert(u64::MAX - kept.len() as u64, old);
            }
        });
        told(id, |told| {
            told.name = of.metadata().name();
            told.parent = parent.map(|parent| parent.id().into_u64());
            of.record(told);
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        told(id, |told| values.record(told));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        told(&id, |told| told.closed += 1);
    }
}

/// The attempt's fields and those of its calls, after all of them ended once.
fn traced(world: &World, run: impl FnOnce(&World)) -> (Told, Vec<Told>) {
    let kept = kept(|| run(world));
    let mut attempts = kept.iter().filter(|(_, told)| told.name == "compact");
    let (id, attempt) = attempts.next().expect("one attempt");
    assert!(attempts.next().is_none());
    let calls: Vec<Told> = kept
        .values()
        .filter(|told| told.name == "chat")
        .cloned()
        .collect();
    assert!(calls.iter().all(|call| call.parent == Some(*id)));
    (attempt.clone(), calls)
}

/// The spans of a run, all of which ended once.
fn kept(run: impl FnOnce()) -> BTreeMap<u64, Told> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let all = tracing_subscriber::registry().with(Kept);
        subscriber::set_global_default(all).expect("nobody else listens");
    });
    KEPT.take();
    run();
    let kept = KEPT.take();
    for told in kept.values() {
        assert_eq!(told.closed, 1, "{told:?}");
        for said in ["valve", "turn it", "step 3", "sk-ant"] {
            assert!(!format!("{told:?}").contains(said), "{told:?}");
        }
    }
    kept
}

#[track_caller]
fn says(told: &Told, expect: &[(&str, &str)]) {
    for (field, expect) in expect {
        let got = told.fields.get(field).map(String::as_str);
        let expect = Some(*expect).filter(|e| !e.is_empty());
        assert_eq!(got, expect, "{field}: {told:?}");
    }
}

#[test]
fn a_summary_by_a_model() {
    let (attempt, calls) = traced(&world(good()), |world| {
        world.compact(true, &Alone);
    });
    says(
        &attempt,
        &[
            ("gen_ai.operation.name", "compact"),
            ("otel.kind", "internal"),
            ("otel.status_code", ""),
            ("conspectus.compaction.outcome", "compacted"),
            ("conspectus.compaction.strategy", "transcript"),
            ("conspectus.compaction.model", "m"),
            ("conspectus.compaction.messages_before", "41"),
            ("error.type", ""),
        ],
    );
    let [call] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    says(
        call,
        &[
            ("otel.name", "chat m"),
            ("otel.kind", "client"),
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "m"),
            ("gen_ai.request.max_tokens", "500"),
            ("conspectus.call.finish", "stop"),
            ("otel.status_code", ""),
        ],
    );
}

#[test]
fn a_digest_calls_nobody() {
    let (attempt, calls) = traced(&world(good()), |world| {
        world.compact(false, &Alone);
    });
    says(&attempt, &[("conspectus.compaction.strategy", "digest")]);
    assert!(calls.is_empty());
}

#[test]
fn a_model_that_panics_and_an_attempt_that_does() {
    let (attempt, calls) = traced(&world(Behaviour::Panic), |world| {
        world.compact(true, &Alone);
    });
    let failed = [("otel.status_code", "ERROR"), ("error.type", "broken")];
    says(&attempt, &failed);
    let aborted = [("otel.status_code", "ERROR"), ("error.type", "aborted")];
    says(&calls[0], &aborted);
    let around: &dyn Surroundings = &Broken;
    let (attempt, _) = traced(&world(good()), |world| {
        world.compact(true, around);
    });
    says(
        &attempt,
        &[("otel.status_code", "ERROR"), ("error.type", "error")],
    );
}

#[test]
fn an_attempt_that_nobody_waits_for_and_its_call() {
    let (attempt, calls) = traced(&world(Behaviour::NeverReturns), |world| {
        let (request, control) = (request(true), Control::new());
        let conversation = &world.document.conversations()[0];
        let run = world
            .compactor
            .compact(conversation, &request, &Alone, &control);
        let mut run = pin!(run);
        world.time.run(poll_fn(|cx| {
            assert!(run.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        }));
    });
    says(&attempt, &[("error.type", "exit")]);
    says(&calls[0], &[("error.type", "aborted")]);
}

#[test]
fn what_a_call_told_before_it_failed() {
    let (world, request) = metered(true);
    let (attempt, calls) = traced(&world, |world| {
        let conversation = &world.document.conversations()[0];
        let control = Control::new();
        let run = world
            .compactor
            .compact(conversation, &request, &Alone, &control);
        world.time.run(run).expect("sane options");
    });
    let used = [
        ("gen_ai.usage.input_tokens", "1000"),
        ("error.type", "unusable"),
    ];
    says(&calls[0], &used);
    says(&attempt, &used);
    says(&attempt, &[("conspectus.compaction.spent_usd", "1.0")]);
}

#[test]
fn turns_of_an_agent() {
    let time = VirtualTime::new();
    let look = AgentReply::calls(&[("c1", "look", json!({"at": "the valve"}))]);
    let busy = Failure::Unavailable {
        message: "the valve is busy".into(),
        retry_after_ms: None,
    };
    let replies = vec![
        look.using(900, 20),
        AgentReply::Fail(busy),
        AgentReply::Never,
    ];
    let scripted: Result<Arc<dyn AgentModel>, String> =
        Ok(Arc::new(ScriptedAgent::list(&time, replies)));
    let models = AgentModels::new().with("m", scripted);
    let request = TurnRequest {
        messages: vec![Json::parse(r#"{"type":"human","content":"the valve"}"#).expect("JSON")],
        tools: Vec::new().into(),
        max_output_tokens: Some(300),
        timeout_ms: 1_000,
    };
    let spans = kept(|| {
        let model = models.get("m").expect("it is there");
        for _ in 0..2 {
            let _ = time.run(model.turn(&request, &|_| ()));
        }
        let mut dropped = pin!(model.turn(&request, &|_| ()));
        time.run(poll_fn(|cx| {
            assert!(dropped.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        }));
    });
    let of = |field: &str, value: &str| {
        let is = |told: &&Told| told.fields.get(field).is_some_and(|v| v == value);
        spans.values().find(is).expect("one of them").clone()
    };
    assert_eq!(spans.len(), 3);
    says(
        &of("conspectus.call.finish", "tool_calls"),
        &[
            ("otel.name", "chat m"),
            ("gen_ai.request.max_tokens", "300"),
            ("gen_ai.usage.input_tokens", "900"),
            ("conspectus.call.tool_calls", "1"),
            ("conspectus.call.messages", "1"),
            ("error.type", ""),
        ],
    );
    says(
        &of("error.type", "unavailable"),
        &[("otel.status_code", "ERROR")],
    );
    of("error.type", "aborted");
}
