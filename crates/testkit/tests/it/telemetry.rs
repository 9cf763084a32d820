//! What is told of compactions: one start, one end, and true.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use conspectus::core::effect::{Delta, Event as CoreEvent, Failure, Reply, Route};
use conspectus::core::outcome::Outcome;
use conspectus::core::policy::{KeepOption, OnFailure, Options, Prices, Rates};
use conspectus::core::view::Usage;
use conspectus::telemetry::{Event, Labels, Telemetry, Way};
use conspectus::{
    Alone, Boxed, ChatModel, CompactRequest, Compaction, Compactor, Control, Decision, Document,
    ModelCall, ModelProfile, Models, OpenOptions, OpenThread, Shared, Sources, Surroundings,
    open_thread,
};
use conspectus_testkit::executor::VirtualTime;
use conspectus_testkit::model::{Behaviour, ScriptedChat, ScriptedModel};

pub(crate) struct World {
    pub(crate) time: VirtualTime,
    told: Arc<Mutex<Vec<Event>>>,
    pub(crate) compactor: Compactor<VirtualTime>,
    pub(crate) document: Document,
}

pub(crate) fn world(behaviour: Behaviour) -> World {
    let time = VirtualTime::new();
    let told: Arc<Mutex<Vec<Event>>> = Arc::default();
    let listen = {
        let told = told.clone();
        move |event: &Event| told.lock().expect("not poisoned").push(event.clone())
    };
    // Whoever breaks while listening breaks nothing.
    let telemetry = Telemetry::new()
        .with(|_: &Event| panic!("as told"))
        .with(listen);
    let model = ScriptedChat::new(ScriptedModel::new(behaviour), &time);
    let model: Result<Arc<dyn ChatModel>, String> = Ok(Arc::new(model));
    let compactor = Compactor::new(Models::new().with("m", model), time.clone());
    let messages: Vec<String> = (0..40)
        .map(|n| {
            let role = ["user", "assistant"][n % 2];
            let text = format!(
                "step {n} of the valve job: {}",
                "turn it a little. ".repeat(40)
            );
            format!(r#"{{"role":"{role}","content":"{text}"}}"#)
        })
        .collect();
    let json = format!(
        r#"[{},{{"role":"user","content":"And now?"}}]"#,
        messages.join(",")
    );
    World {
        time,
        told,
        compactor: compactor.with_telemetry(telemetry),
        document: Document::open(json.into_bytes(), &OpenOptions::default())
            .expect("a conversation"),
    }
}

pub(crate) fn request(is_asking: bool) -> CompactRequest {
    let options = Options {
        keep: Some(KeepOption::Messages(2)),
        on_failure: Some(OnFailure::Unchanged),
        ..Options::default()
    };
    let mut request = CompactRequest::command(options);
    let route = Route {
        model: Some("m".into()),
        replay: false,
        max_input: 100_000,
        max_output: 500,
        takes_schema: false,
    };
    request.manual.routes = vec![route; usize::from(is_asking)];
    request
}

impl World {
    pub(crate) fn compact(&self, is_asking: bool, around: &dyn Surroundings) -> Compaction {
        let (request, control) = (request(is_asking), Control::new());
        let conversation = &self.document.conversations()[0];
        let run = self
            .compactor
            .compact(conversation, &request, around, &control);
        self.time.run(run).expect("sane options")
    }

    fn told(&self) -> Vec<Event> {
        std::mem::take(&mut *self.told.lock().expect("not poisoned"))
    }
}

pub(crate) fn good() -> Behaviour {
    Behaviour::Slow {
        ms: 700,
        then: Box::new(Behaviour::text(
            "The valve was turned a little, step by step.",
        )),
    }
}

#[test]
fn a_summary_by_a_model() {
    let world = world(good());
    let compaction = world.compact(true, &Alone);
    let told = world.told();
    let [Event::Start(start), Event::Stop(stop)] = told.as_slice() else {
        panic!("{told:?}");
    };
    let measured = compaction.report.measured;
    assert_eq!(start.metadata.messages_before, 41);
    assert_eq!(stop.metadata.start, start.metadata);
    assert_eq!(stop.metadata.outcome, Outcome::Compacted);
    assert_eq!(
        stop.metadata.messages_after,
        Some(41 - measured.messages_removed)
    );
    assert!(stop.metadata.llm_called && stop.metadata.summarized);
    assert_eq!(stop.metadata.strategy, Some(Way::Transcript));
    assert_eq!(stop.metadata.record, compaction.report.record);
    let numbers = stop.measurements;
    assert_eq!(numbers.duration, 700);
    assert_eq!(numbers.tokens_before, measured.tokens_before);
    assert_eq!(numbers.tokens_after, measured.tokens_after);
    assert!(numbers.bytes_after.expect("some") < numbers.bytes_before);
    assert_eq!(numbers.bytes_before, start.measurements.bytes_before);
}

#[test]
fn a_digest() {
    let world = world(good());
    world.compact(false, &Alone);
    let told = world.told();
    let [Event::Start(_), Event::Stop(stop)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(!stop.metadata.llm_called && stop.metadata.summarized);
    assert_eq!(stop.metadata.strategy, Some(Way::Digest));
    assert_eq!(stop.metadata.called.model, None);
}

#[test]
fn what_failed_has_no_after() {
    let world = world(Behaviour::Panic);
    let compaction = world.compact(true, &Alone);
    assert_eq!(compaction.report.outcome, Outcome::Failed);
    let told = world.told();
    let [Event::Start(_), Event::Stop(stop)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(
        stop.metadata.llm_called && !stop.metadata.summarized && stop.metadata.failure.is_some()
    );
    assert_eq!(stop.metadata.messages_after, None);
    assert_eq!(
        (
            stop.measurements.bytes_after,
            stop.measurements.tokens_after
        ),
        (None, None)
    );
}

/// Breaks when a summary is there.
pub(crate) struct Broken;

impl Surroundings for Broken {
    fn emit(&self, event: &CoreEvent) {
        let is_end = matches!(event, CoreEvent::Progress { .. });
        assert!(
            !is_end,
            "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ is wrong"
        );
    }

    fn labels(&self) -> Labels {
        Labels {
            agent_name: Some("scribe".into()),
            ..Labels::default()
        }
    }
}

#[test]
fn a_panic_ends_the_attempt_and_not_the_program() {
    let world = world(good());
    let compaction = world.compact(true, &Broken);
    assert_eq!(compaction.report.outcome, Outcome::Failed);
    assert!(compaction.thread.active().is_none());
    let told = world.told();
    let [Event::Start(start), Event::Exception(exception)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(start.metadata.labels.agent_name.as_deref(), Some("scribe"));
    assert_eq!(exception.metadata.start, start.metadata);
    assert_eq!(exception.metadata.kind.as_ref(), "error");
    assert!(exception.metadata.llm_called && exception.metadata.messages_after.is_none());
    let reason = &exception.metadata.reason;
    assert!(
        reason.contains("is wrong") && !reason.contains("sk-ant"),
        "{reason}"
    );
}

/// Breaks with an error that has causes.
struct Carrying;

#[derive(Debug)]
struct Caused(&'static str, Option<Box<Caused>>);

impl std::fmt::Display for Caused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Caused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.1.as_deref()?)
    }
}

impl Surroundings for Carrying {
    fn emit(&self, event: &CoreEvent) {
        if let CoreEvent::Progress { .. } = event {
            let key = "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ is wrong";
            let deeper = Caused("the index is gone", Some(Box::new(Caused(key, None))));
            let error = Caused("the memory cannot be written", Some(Box::new(deeper)));
            let error: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
            std::panic::panic_any(error);
        }
    }
}

#[test]
fn the_error_that_a_panic_carries_tells_where_it_came_from() {
    let world = world(good());
    let compaction = world.compact(true, &Carrying);
    assert_eq!(compaction.report.outcome, Outcome::Failed);
    let told = world.told();
    let [Event::Start(_), Event::Exception(exception)] = told.as_slice() else {
        panic!("{told:?}");
    };
    let of = &exception.metadata;
    assert_eq!(of.reason.as_ref(), "the memory cannot be written");
    let [index, key] = of.stacktrace.as_slice() else {
        panic!("{:?}", of.stacktrace);
    };
    assert_eq!(index.as_ref(), "the index is gone");
    assert!(key.contains("is wrong") && !key.contains("sk-ant"), "{key}");
}

#[test]
fn an_attempt_that_nobody_waits_for_ends_too() {
    let world = world(Behaviour::NeverReturns);
    let (request, control) = (request(true), Control::new());
    let conversation = &world.document.conversations()[0];
    {
        let run = world
            .compactor
            .compact(conversation, &request, &Alone, &control);
        let mut run = pin!(run);
        world.time.run(poll_fn(|cx| {
            assert!(run.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        }));
    }
    let told = world.told();
    let [Event::Start(_), Event::Exception(exception)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(exception.metadata.kind.as_ref(), "exit");
}

#[test]
fn events_are_written_under_the_names_of_nous_and_read_again() {
    let world = world(good());
    world.compact(true, &Alone);
    let told = world.told();
    let members = |value: &serde_json::Value| {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect::<Vec<_>>()
    };
    let expected: [(&str, &[&str], &[&str]); 2] = [
        (
            "compaction.start",
            &["monotonic_time", "system_time"],
            &["agent_name", "messages_before"],
        ),
        (
            "compaction.stop",
            &["duration", "bytes_before", "bytes_after"],
            &[
                "agent_name",
                "messages_before",
                "messages_after",
                "llm_called",
                "summarized",
                "provider",
                "model",
                "usage",
            ],
        ),
    ];
    for (event, (name, measurements, metadata)) in told.iter().zip(expected) {
        let json = serde_json::to_value(event).expect("it can be written");
        assert_eq!(json["name"], name);
        let there = [members(&json["measurements"]), members(&json["metadata"])];
        for (there, named) in there.iter().zip([measurements, metadata]) {
            for name in named {
                assert!(there.iter().any(|t| t == name), "{name} in {there:?}");
            }
        }
        let again: Event = serde_json::from_value(json).expect("it can be read");
        assert_eq!(again, *event);
    }
}

/// Tells what it costs, then does not come to an end.
struct Metered {
    fails: bool,
}

impl ChatModel for Metered {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        _: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            for input in [900, 1_000] {
                call.meter.report(&Usage {
                    input,
                    ..Usage::default()
                });
            }
            match self.fails {
                true => Err(Failure::Unusable {
                    message: "the stream broke".into(),
                }),
                false => std::future::pending().await,
            }
        })
    }
}

/// At a dollar a thousand tokens.
pub(crate) fn metered(fails: bool) -> (World, CompactRequest) {
    let mut world = world(Behaviour::Panic);
    let model: Result<Arc<dyn ChatModel>, String> = Ok(Arc::new(Metered { fails }));
    let models = Models::new().with("m", model);
    let listen = {
        let told = world.told.clone();
        move |event: &Event| told.lock().expect("not poisoned").push(event.clone())
    };
    let telemetry = Telemetry::new().with(listen);
    world.compactor = Compactor::new(models, world.time.clone()).with_telemetry(telemetry);
    let mut request = request(true);
    let dollars = 1_000_000_000;
    request.model = ModelProfile {
        name: Some("m".into()),
        prices: Some(Prices::flat(Rates {
            input: dollars,
            output: dollars,
            cache_read: dollars,
            cache_write: dollars,
        })),
        ..ModelProfile::default()
    };
    request.options.max_retries = Some(0);
    (world, request)
}

#[test]
fn a_call_that_fails_after_it_told_its_usage_is_paid() {
    let (world, request) = metered(true);
    let (conversation, control) = (&world.document.conversations()[0], Control::new());
    let run = world
        .compactor
        .compact(conversation, &request, &Alone, &control);
    let compaction = world.time.run(run).expect("sane options");
    assert_eq!(compaction.report.outcome, Outcome::Failed);
    assert_eq!(compaction.report.measured.spent_micros, 1_000_000);
    assert_eq!(compaction.thread.spent().thread_micros, 1_000_000);
    let told = world.told();
    let [Event::Start(_), Event::Stop(stop)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(stop.measurements.spent_micros, 1_000_000);
    let input = stop.metadata.called.usage.as_ref().map(|usage| usage.input);
    assert_eq!(input, Some(1_000));
}

#[test]
fn a_call_that_is_stopped_after_it_told_its_usage_is_paid() {
    let (world, request) = metered(false);
    let (conversation, control) = (&world.document.conversations()[0], Control::new());
    let run = world
        .compactor
        .compact(conversation, &request, &Alone, &control);
    let mut run = pin!(run);
    let compaction = world.time.run(poll_fn(|cx| {
        let polled = run.as_mut().poll(cx);
        control.cancel();
        polled
    }));
    let compaction = compaction.expect("sane options");
    assert_eq!(compaction.report.outcome, Outcome::Cancelled);
    assert_eq!(compaction.report.measured.spent_micros, 1_000_000);
}

/// Nobody waits for the attempt any more, but the thread goes on.
#[test]
fn an_attempt_that_is_dropped_is_paid() {
    let (world, request) = metered(false);
    let conversation = &world.document.conversations()[0];
    let opened = open_thread(conversation, &request);
    let OpenThread {
        mut thread,
        counter,
        ..
    } = opened.expect("sane options");
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let Decision::Start(attempt, _) = thread.manual(0, &request.manual, src) else {
        panic!("there is something to fold");
    };
    let home = Shared::new(thread, conversation, counter.as_ref());
    let control = Control::new();
    {
        let run = world.compactor.run(&home, *attempt, &Alone, &control);
        let mut run = pin!(run);
        world.time.run(poll_fn(|cx| {
            // Once to call, once more to read what was told meanwhile.
            for _ in 0..2 {
                assert!(run.as_mut().poll(cx).is_pending());
                control.appended(Delta::default());
            }
            Poll::Ready(())
        }));
    }
    assert_eq!(home.into_thread().spent().thread_micros, 1_000_000);
}
