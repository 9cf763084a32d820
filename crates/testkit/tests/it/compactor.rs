//! The async driver: what it asks at once, what it survives, and that it never leaves anything behind.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use conspectus::core::count::Estimator;
use conspectus::core::effect::{Event, Failure, Refusal, Route};
use conspectus::core::policy::{KeepOption, OnFailure, Options};
use conspectus::core::record::Author;
use conspectus::core::view::{PartRef, Role};
use conspectus::{
    Alone, ChatModel, Clock, CompactRequest, Compaction, Compactor, Control, Decision, Document,
    Home, Manual, ModelProfile, Models, OpenOptions, Outcome, Policy, Shared, Sources,
    Surroundings, Thread, open_thread,
};
use conspectus_testkit::executor::VirtualTime;
use conspectus_testkit::model::{Behaviour, ScriptedChat, ScriptedModel};
use conspectus_testkit::transcript::MemoryTexts;

/// About 12,000 tokens in 40 messages.
fn document() -> Document {
    let messages: Vec<String> = (0..40)
        .map(|n| {
            let role = ["user", "assistant"][n % 2];
            let text = format!(
                "step {n} of the valve job: {}",
                "turn it a little. ".repeat(60)
            );
            format!(r#"{{"role":"{role}","content":"{text}"}}"#)
        })
        .collect();
    let last = r#"{"role":"user","content":"And now?"}"#;
    let json = format!("[{},{last}]", messages.join(","));
    Document::open(json.into_bytes(), &OpenOptions::default()).expect("it is a conversation")
}

fn route(name: Option<&str>) -> Route {
    Route {
        model: name.map(Into::into),
        replay: false,
        max_input: 3_000,
        max_output: 500,
        takes_schema: false,
    }
}

fn request(routes: &[Option<&str>]) -> CompactRequest {
    let mut options = Options {
        keep: Some(KeepOption::Messages(2)),
        ..Options::default()
    };
    options.on_failure = Some(OnFailure::Unchanged);
    options.max_parallel = Some(3);
    let mut request = CompactRequest::command(options);
    request.manual.routes = routes.iter().map(|name| route(*name)).collect();
    request
}

fn chat(behaviour: Behaviour, time: &VirtualTime) -> ScriptedChat {
    ScriptedChat::new(ScriptedModel::new(behaviour), time)
}

fn made(model: &ScriptedChat) -> Result<Arc<dyn ChatModel>, String> {
    Ok(Arc::new(model.clone()))
}

fn good() -> Behaviour {
    Behaviour::Slow {
        ms: 700,
        then: Box::new(Behaviour::text(
            "The valve was turned a little, step by step.",
        )),
    }
}

/// One compaction by one model.
fn compacted(behaviour: Behaviour) -> (Compaction, ScriptedChat, VirtualTime) {
    let time = VirtualTime::new();
    let model = chat(behaviour, &time);
    let compactor = Compactor::new(Models::new().with("m", made(&model)), time.clone());
    let document = document();
    let ask = request(&[Some("m")]);
    let conversation = &document.conversations()[0];
    let control = Control::new();
    let run = compactor.compact(conversation, &ask, &Alone, &control);
    let compaction = time.run(run).expect("the options are sane");
    assert_eq!(model.under_way(), 0, "a call was left behind");
    (compaction, model, time)
}

#[test]
fn chunks_are_asked_side_by_side_within_the_limit() {
    let (compaction, model, time) = compacted(good());
    assert_eq!(compaction.report.outcome, Outcome::Compacted);
    let record = compaction.thread.active().expect("it was committed");
    let author = &record.summary.as_ref().expect("with a summary").author;
    assert_eq!(*author, Author::Model(Some("m".into())));
    let calls = model.asked().len();
    assert!(calls >= 4, "{calls}");
    assert_eq!(model.most_under_way(), 3);
    // Three at a time, 700 ms each.
    assert_eq!(time.now(), 700 * calls.div_ceil(3) as u64);
    for ask in model.asked() {
        assert!(
            ask.timeout_ms > 0 && ask.max_output_tokens == 500,
            "{ask:?}"
        );
    }
}

#[test]
fn the_same_run_is_the_same_every_time() {
    let told = || {
        let (compaction, model, time) = compacted(Behaviour::FailCall {
            n: 2,
            then: Box::new(good()),
        });
        (compaction.report, model.asked(), time.now())
    };
    let first = told();
    assert_eq!(first.0.outcome, Outcome::Compacted);
    assert_eq!(first, told());
}

#[test]
fn whatever_a_model_does_the_history_stays_and_time_ends() {
    let check = |behaviour: Behaviour, expect: fn(&Failure) -> bool| {
        let (compaction, model, time) = compacted(behaviour.clone());
        let report = &compaction.report;
        assert_eq!(report.outcome, Outcome::Failed, "{behaviour:?}");
        let failure = report.failure.as_ref().expect("a failure says why");
        assert!(expect(failure), "{behaviour:?}: {failure:?}");
        assert!(compaction.thread.active().is_none(), "{behaviour:?}");
        let deadline = compaction.thread.policy().summary.deadline_ms;
        assert!(time.now() <= deadline, "{behaviour:?}: {}", time.now());
        assert!(model.asked().len() <= 12, "{behaviour:?}");
    };
    let error = |status, message: &str| Behaviour::Error {
        status,
        message: message.into(),
    };
    check(Behaviour::NeverReturns, |f| {
        matches!(f, Failure::TimedOut { .. })
    });
    check(Behaviour::StreamThenStall("The va".into()), |f| {
        matches!(f, Failure::TimedOut { .. })
    });
    check(Behaviour::Panic, |f| {
        *f == Failure::Broken {
            message: "the model panicked".into(),
        }
    });
    check(Behaviour::text(" \n"), |f| {
        *f == Failure::NotASummary(Refusal::Blank)
    });
    check(error(401, "no"), |f| matches!(f, Failure::Unusable { .. }));
    check(error(503, "later"), |f| {
        matches!(f, Failure::Unavailable { .. })
    });
    check(Behaviour::ToolCalls(serde_json::json!([{}])), |f| {
        *f == Failure::NotASummary(Refusal::ToolCall)
    });
}

#[test]
fn the_next_model_takes_over_from_one_that_broke_or_could_not_be_made() {
    for broken in [
        Behaviour::Panic,
        Behaviour::Error {
            status: 401,
            message: "no".into(),
        },
    ] {
        let time = VirtualTime::new();
        let (first, run) = (chat(broken, &time), chat(good(), &time));
        let models = Models::new()
            .with("cheap", made(&first))
            .with("unmade", Err("the key file is missing"))
            .with_run(made(&run));
        let compactor = Compactor::new(models, time.clone());
        let listener = Listener::default();
        let document = document();
        let ask = request(&[Some("cheap"), Some("unmade"), Some("nowhere"), None]);
        let control = Control::new();
        let compaction =
            time.run(compactor.compact(&document.conversations()[0], &ask, &listener, &control));
        let compaction = compaction.expect("the options are sane");
        assert_eq!(compaction.report.outcome, Outcome::Compacted);
        let passed: Vec<_> = listener.passed_over();
        assert_eq!(passed.len(), 3, "{passed:?}");
        assert!(passed[1].contains("could not be made: the key file is missing"));
        assert!(passed[2].contains("no model is called \"nowhere\""));
        assert!(!run.asked().is_empty());
    }
}

#[derive(Default)]
struct Listener(Mutex<Vec<Event>>);

impl Listener {
    fn passed_over(&self) -> Vec<String> {
        let events = self.0.lock().expect("nobody panics with it");
        let failures = events.iter().filter_map(|event| match event {
            Event::ModelFailed { failure, .. } => Some(failure.to_string()),
            _ => None,
        });
        failures.collect()
    }
}

impl Surroundings for Listener {
    fn emit(&self, event: &Event) {
        self.0
            .lock()
            .expect("nobody panics with it")
            .push(event.clone());
    }
}

#[test]
fn a_second_attempt_does_not_pay_for_what_the_first_one_got() {
    let time = VirtualTime::new();
    let refusal = Behaviour::Error {
        status: 401,
        message: "no".into(),
    };
    let mut answers = vec![good(); 3];
    answers.push(refusal);
    answers.extend(vec![good(); 40]);
    let model = chat(Behaviour::Sequence(answers), &time);
    let compactor = Compactor::new(Models::new().with("m", made(&model)), time.clone());
    let document = document();
    let ask = request(&[Some("m")]);
    let mut outcomes = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..2 {
        let before = model.asked().len();
        let control = Control::new();
        let run = compactor.compact(&document.conversations()[0], &ask, &Alone, &control);
        outcomes.push(time.run(run).expect("the options are sane").report.outcome);
        calls.push(model.asked().len() - before);
    }
    assert_eq!(outcomes, [Outcome::Failed, Outcome::Compacted]);
    let (_, all, _) = compacted(good());
    // The first attempt got all but the chunk that was refused and those that were not asked any more.
    assert!(calls[0] >= 4 && calls[1] < all.asked().len(), "{calls:?}");
    let asked = model.asked();
    let answered: Vec<_> = asked[..3].iter().map(|ask| &ask.prompt).collect();
    let again = &asked[calls[0]..];
    assert!(again.iter().all(|ask| !answered.contains(&&ask.prompt)));
}

#[test]
fn retry_after_is_obeyed() {
    struct Busy(VirtualTime, Mutex<Vec<u64>>);
    impl ChatModel for Busy {
        fn call<'a>(
            &'a self,
            _: conspectus::ModelCall,
            _: &'a (dyn Fn() + Send + Sync),
        ) -> conspectus::Boxed<'a, Result<conspectus::core::effect::Reply, Failure>> {
            self.1
                .lock()
                .expect("nobody panics with it")
                .push(self.0.now());
            Box::pin(std::future::ready(Err(Failure::Unavailable {
                message: "busy".into(),
                retry_after_ms: Some(4_321),
            })))
        }
    }
    let time = VirtualTime::new();
    let busy = Arc::new(Busy(time.clone(), Mutex::default()));
    let models = Models::new().with::<String>("m", Ok(busy.clone()));
    let compactor = Compactor::new(models, time.clone());
    let document = document();
    let mut ask = request(&[Some("m")]);
    // One chunk: what the others do meanwhile is not asked here.
    ask.manual.routes[0].max_input = 100_000;
    let control = Control::new();
    let run = compactor.compact(&document.conversations()[0], &ask, &Alone, &control);
    let report = time.run(run).expect("the options are sane").report;
    assert_eq!(report.outcome, Outcome::Failed);
    let times = busy.1.lock().expect("nobody panics with it").clone();
    assert_eq!(times, [0, 4_321, 8_642]);
}

/// A thread at home, with an attempt of it under way.
fn with_attempt(check: impl FnOnce(&Shared<'_>, conspectus::core::attempt::Attempt)) {
    let document = document();
    let conversation = &document.conversations()[0];
    let ask = request(&[Some("m")]);
    let opened = open_thread(conversation, &ask).expect("the options are sane");
    let home = Shared::new(opened.thread, conversation, opened.counter.as_ref());
    let attempt = home.with(|thread, src| begin(thread, src, &ask.manual));
    check(&home, attempt.expect("nothing is under way"));
}

fn begin(
    thread: &mut Thread,
    src: Sources<'_>,
    manual: &Manual,
) -> Option<conspectus::core::attempt::Attempt> {
    match thread.manual(0, manual, src) {
        Decision::Start(attempt, _) => Some(*attempt),
        Decision::Send(_) | Decision::Wait(_) => None,
    }
}

/// A conversation that goes on while it is compacted.
struct Live(Mutex<(Thread, MemoryTexts)>);

impl Home for Live {
    fn with<R>(&self, f: impl FnOnce(&mut Thread, Sources<'_>) -> R) -> R {
        let mut live = self.0.lock().expect("nobody panics with it");
        let (thread, texts) = &mut *live;
        let counter = &Estimator;
        f(thread, Sources { texts, counter })
    }
}

impl Live {
    fn say(&self, role: Role, text: &str) {
        let mut live = self.0.lock().expect("nobody panics with it");
        let (thread, texts) = &mut *live;
        let view = texts.say(role, text);
        let counter = &Estimator;
        thread.append([view], Sources { texts, counter });
    }
}

#[test]
fn what_is_said_meanwhile_is_kept() {
    let ask = request(&[Some("m")]);
    let resolved = Policy::resolve(&ask.options, &ModelProfile::default());
    let policy = Arc::new(resolved.expect("the options are sane").policy);
    let live = Live(Mutex::new((Thread::new(policy), MemoryTexts::new())));
    for n in 0..20 {
        let role = [Role::User, Role::Assistant][n % 2];
        live.say(role, &"turn the valve a little. ".repeat(60));
    }
    live.say(Role::User, "And now?");
    let attempt = live.with(|thread, src| begin(thread, src, &ask.manual));
    let time = VirtualTime::new();
    let model = chat(good(), &time);
    let compactor = Compactor::new(Models::new().with("m", made(&model)), time.clone());
    let control = Control::new();
    let report = time.run(async {
        let attempt = attempt.expect("nothing is under way");
        let mut run = std::pin::pin!(compactor.run(&live, attempt, &Alone, &control));
        let polled = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending() && model.under_way() > 0);
        live.say(Role::Assistant, "Now it is open.");
        live.say(Role::User, "Well done.");
        let seen = 21;
        control.appended(live.with(|thread, _| thread.delta(seen)));
        run.await
    });
    assert_eq!(report.outcome, Outcome::Compacted);
    live.with(|thread, src| {
        assert_eq!(thread.branch().len(), 23);
        assert!((20..23).all(|at| !thread.is_folded(at)));
        let message = thread.branch().view(22).handle;
        let last = src.texts.text(PartRef { message, part: 0 });
        assert_eq!(last, "Well done.");
        assert!(thread.is_folded(5));
    });
}

#[test]
fn a_cancel_from_outside_stops_the_calls() {
    with_attempt(|home, attempt| {
        let time = VirtualTime::new();
        let model = chat(Behaviour::NeverReturns, &time);
        let compactor = Compactor::new(Models::new().with("m", made(&model)), time.clone());
        let control = Control::new();
        let report = time.run(async {
            let mut run = std::pin::pin!(compactor.run(home, attempt, &Alone, &control));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(run.as_mut().poll(&mut cx).is_pending());
            assert_eq!(model.under_way(), 3);
            control.cancel();
            run.await
        });
        assert_eq!(report.outcome, Outcome::Cancelled);
        assert_eq!(model.under_way(), 0);
        assert_eq!(time.now(), 0);
    });
}

#[test]
fn a_dropped_run_clears_the_way() {
    with_attempt(|home, attempt| {
        let time = VirtualTime::new();
        let model = chat(Behaviour::NeverReturns, &time);
        let compactor = Compactor::new(Models::new().with("m", made(&model)), time.clone());
        let control = Control::new();
        let manual = request(&[Some("m")]).manual;
        {
            let mut run = std::pin::pin!(compactor.run(home, attempt, &Alone, &control));
            let polled = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending));
            let second = home.with(|thread, src| begin(thread, src, &manual));
            assert!(second.is_none(), "one is under way");
        }
        assert_eq!(model.under_way(), 0);
        let second = home.with(|thread, src| begin(thread, src, &manual));
        assert!(second.is_some(), "the way is clear");
    });
}

#[test]
fn a_run_can_go_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    with_attempt(|home, attempt| {
        let compactor = Compactor::new(Models::new(), VirtualTime::new());
        let control = Control::new();
        is_send(&compactor.run(home, attempt, &Alone, &control));
    });
}
