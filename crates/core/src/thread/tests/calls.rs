//! Failing calls of a summary's model: who waits, what is tried again, how often in all.

use std::collections::BTreeMap;

use super::*;
use crate::effect::{CallNumber, Refusal};

/// An attempt of many chunks, driven by hand in virtual time.
struct Calls {
    scene: Scene,
    attempt: Attempt,
    now: u64,
    wakes: Vec<u64>,
    /// Calls on their way, with the chunk that each is about.
    open: Vec<(CallNumber, Arc<str>)>,
    /// Tokens of each call's request.
    tokens: Vec<u64>,
    /// How often each document was sent.
    sent: BTreeMap<Arc<str>, u32>,
    system: Vec<Arc<str>>,
    report: Option<Report>,
}

impl Calls {
    fn new(max_retries: u32) -> Self {
        Self::with(max_retries, &routes(1_200))
    }

    fn with(max_retries: u32, routes: &[Route]) -> Self {
        let lines: Vec<String> = (0..80).map(|n| format!("u fact{n} x30")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut options = options(tokens(1000), 1);
        options.max_retries = Some(max_retries);
        options.on_failure = Some(crate::policy::OnFailure::Unchanged);
        let mut scene = Scene::new(&options, &[&lines[..], &["a ok", "u now"]].concat());
        let src = Sources {
            texts: &scene.said,
            counter: &QuarterBytes,
        };
        let Decision::Start(attempt, _) = scene.thread.before_call(0, routes, src) else {
            panic!("the trigger is reached");
        };
        let mut calls = Self {
            scene,
            attempt: *attempt,
            now: 0,
            wakes: Vec::new(),
            open: Vec::new(),
            tokens: Vec::new(),
            sent: BTreeMap::new(),
            system: Vec::new(),
            report: None,
        };
        calls.go_on();
        calls
    }

    /// Until it waits or ends.
    fn go_on(&mut self) {
        loop {
            let src = Sources {
                texts: &self.scene.said,
                counter: &QuarterBytes,
            };
            let input = match self.attempt.poll(self.now, src) {
                Poll::Idle => return,
                Poll::Done(report) => {
                    self.report = Some(*report);
                    return;
                }
                Poll::Do(Effect::Call { call, request, .. }) => {
                    self.tokens.push(request.input_tokens);
                    let SummaryInput::Transcript { system, document } = request.input else {
                        panic!("a transcript was asked for")
                    };
                    *self.sent.entry(document.clone()).or_default() += 1;
                    self.system.push(system);
                    self.open.push((call, document));
                    continue;
                }
                Poll::Do(Effect::Abort(call)) => {
                    self.open.retain(|(open, _)| *open != call);
                    continue;
                }
                Poll::Do(Effect::CacheGet(key)) => Input::Cached(key, None),
                Poll::Do(Effect::WakeAt(at)) => {
                    self.wakes.push(at);
                    continue;
                }
                Poll::Do(Effect::Hook(hook, _)) => Input::HookDone(hook),
                Poll::Do(Effect::Archive(_)) => Input::Archived(Ok(())),
                Poll::Do(Effect::Commit(record, expect)) => {
                    Input::Committed(self.scene.thread.commit(&record, expect, src))
                }
                Poll::Do(_) => continue,
            };
            self.attempt.feed(self.now, input, src);
        }
    }

    fn answer(&mut self, call: CallNumber, answer: Result<Reply, Failure>) {
        self.open.retain(|(open, _)| *open != call);
        let input = match answer {
            Ok(reply) => Input::Reply(call, reply),
            Err(failure) => Input::Failed(call, failure),
        };
        let src = Sources {
            texts: &self.scene.said,
            counter: &QuarterBytes,
        };
        self.attempt.feed(self.now, input, src);
        self.go_on();
    }

    fn wait_until(&mut self, now: u64) {
        self.now = now;
        self.go_on();
    }

    fn numbers(&self) -> Vec<u32> {
        self.open.iter().map(|(call, _)| call.0).collect()
    }

    /// Answers all that is open, and what comes of it, until it ends; time goes on when nothing is open.
    fn always(&mut self, answer: impl Fn(CallNumber, &str) -> Result<Reply, Failure>) -> Outcome {
        for _ in 0..10_000 {
            if let Some(report) = &self.report {
                return report.outcome;
            }
            match self.open.first().cloned() {
                Some((call, document)) => self.answer(call, answer(call, &document)),
                None => {
                    let next = self.wakes.iter().copied().filter(|at| *at > self.now).min();
                    self.wait_until(next.expect("a wake"));
                }
            }
        }
        panic!("it does not end");
    }
}

/// One model that takes so many tokens.
fn routes(max_input: u64) -> Vec<Route> {
    let mut routes = Scene::routes();
    routes[0].max_input = max_input;
    routes
}

/// What a model answers to each call.
type Answers<'a> = dyn Fn(CallNumber) -> Result<Reply, Failure> + 'a;

fn rest(ms: Option<u64>) -> Result<Reply, Failure> {
    Err(Failure::Unavailable {
        message: "slow down".into(),
        retry_after_ms: ms,
    })
}

fn part(call: CallNumber) -> Result<Reply, Failure> {
    Ok(reply(&format!("part {}", call.0)))
}

#[test]
fn a_model_that_asks_for_rest_is_left_alone_by_all_calls() {
    let mut calls = Calls::new(1);
    assert_eq!(calls.numbers(), [0, 1, 2, 3], "four at a time");
    calls.answer(CallNumber(0), rest(Some(5_000)));
    calls.answer(CallNumber(1), part(CallNumber(1)));
    assert_eq!(calls.numbers(), [2, 3], "nothing starts while it rests");
    // The same refusal for calls that had started before uses no further try, but it can ask for more.
    calls.answer(CallNumber(2), rest(Some(7_000)));
    calls.answer(CallNumber(3), rest(None));
    calls.wait_until(6_999);
    assert_eq!(calls.numbers(), Vec::<u32>::new());
    calls.wait_until(7_000);
    assert_eq!(calls.numbers(), [4, 5, 6, 7]);
    assert_eq!(calls.always(|call, _| part(call)), Outcome::Compacted);
    let twice = calls.sent.values().filter(|sent| **sent == 2).count();
    assert_eq!(
        (twice, calls.sent.values().max()),
        (3, Some(&2)),
        "what was sent away was sent again, and nothing else"
    );
}

#[test]
fn a_rest_that_outlasts_the_attempt_is_not_waited_for() {
    let mut routes = routes(1_200);
    routes.push(Route {
        model: Some("second".into()),
        ..routes[0].clone()
    });
    let mut calls = Calls::with(3, &routes);
    let day = Some(24 * 60 * 60 * 1000);
    assert_eq!(
        calls.always(|call, _| if call.0 < 4 { rest(day) } else { part(call) }),
        Outcome::Compacted
    );
    assert_eq!(calls.now, 0, "the second model was asked at once");
}

#[test]
fn a_reply_that_is_no_summary_is_repaired_once_for_each_call() {
    // Enough tries: it is the call that is not asked a third time.
    let mut calls = Calls::new(10);
    let first = calls.open[0].1.clone();
    let outcome = calls.always(|call, document| match document == &*first {
        true => Ok(reply(" ")),
        false => part(call),
    });
    assert_eq!((outcome, calls.sent[&first]), (Outcome::Failed, 2));
    let asks_again = |system: &&Arc<str>| system.contains("could not be used");
    assert_eq!(
        calls.system.iter().filter(asks_again).count(),
        1,
        "the other calls are not told of it"
    );
    let failure = calls.report.and_then(|report| report.failure);
    assert_eq!(failure, Some(Failure::NotASummary(Refusal::Blank)));
}

/// Invariant 34: whatever a model answers, no document is sent more often than once and all tries, and permanent
/// errors are not tried again at all.
#[test]
fn calls_are_bounded_whatever_the_answers_are() {
    let permanent = || {
        Err(Failure::Unusable {
            message: "no such model".into(),
        })
    };
    let answers: [(&str, &Answers<'_>, u32); 6] = [
        ("permanent", &|_| permanent(), 1),
        ("rest", &|_| rest(Some(100)), 3),
        ("away", &|_| rest(None), 3),
        ("blank", &|_| Ok(reply("")), 2),
        ("late", &|_| Err(Failure::TimedOut { after_ms: 1 }), 3),
        (
            "in turn",
            &|call| match call.0 % 4 {
                0 => rest(Some(50)),
                1 => Ok(reply("")),
                2 => rest(None),
                _ => part(call),
            },
            3,
        ),
    ];
    for (name, answer, most) in answers {
        let mut calls = Calls::new(2);
        let chunks_at_once = 4;
        let outcome = calls.always(|call, _| answer(call));
        let sent = calls.sent.values().copied().max();
        assert!(sent <= Some(most), "{name}: {sent:?}");
        if name == "permanent" {
            assert_eq!(calls.system.len(), chunks_at_once, "what had started");
        }
        assert_ne!(outcome, Outcome::Cancelled, "{name}");
    }
    // What never fits is asked in ever smaller pieces, down to the smallest, and then no more.
    let mut calls = Calls::new(2);
    let outcome = calls.always(|_, _| Err(Failure::TOO_LARGE));
    assert_eq!(outcome, Outcome::Failed);
    assert!(calls.system.len() <= 4 * 4, "{}", calls.system.len());
}

/// Some servers cut what is longer than their context and say nothing (invariant 24).
#[test]
fn a_model_that_read_half_of_it_is_asked_in_smaller_pieces() {
    let mut calls = Calls::with(0, &routes(3_000));
    let first = calls.open[0].1.clone();
    let asked = calls.tokens[0];
    let context = asked / 2 - 10;
    let mut read_whole = String::new();
    for _ in 0..100 {
        let Some((call, document)) = calls.open.first().cloned() else {
            break;
        };
        let tokens = calls.tokens[call.0 as usize];
        if tokens <= context {
            read_whole.push_str(&document);
        }
        let usage = Usage {
            input: tokens.min(context),
            output: 5,
            ..Usage::default()
        };
        let reply = reply(&format!("part {}", call.0));
        calls.answer(
            call,
            Ok(Reply {
                usage: Some(usage),
                ..reply
            }),
        );
    }
    let outcome = calls.report.as_ref().map(|report| report.outcome);
    assert_eq!(outcome, Some(Outcome::Compacted));
    assert!(calls.tokens.iter().any(|tokens| *tokens > context));
    for n in 0..79 {
        assert!(read_whole.contains(&format!("fact{n}")), "fact{n}");
    }
    // Nothing was reported, or of so small a request that a count may be as far off: no cut.
    for usage in [None, Some(Usage::default())] {
        let mut calls = Calls::with(0, &routes(3_000));
        let outcome = calls.always(|call, _| {
            Ok(Reply {
                usage: usage.clone(),
                ..reply(&format!("part {}", call.0))
            })
        });
        assert_eq!(outcome, Outcome::Compacted);
        assert_eq!(calls.sent.get(&first), Some(&1));
    }
}
