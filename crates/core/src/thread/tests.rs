//! The two machines together, over conversations written as lines.

/// When automatic attempts stop, and when they go on.
mod breaker;
/// What reports teach about the counter.
mod calibration;
/// Failing calls: who waits, what is tried again, how often.
mod calls;
mod corners;
/// What a cache, prices and caps do to decisions.
mod economics;

use std::sync::Arc;

use super::*;
use crate::attempt::{Attempt, Poll};
use crate::effect::{Effect, Event, Failure, Finish, Input, Reply, Route, SummaryInput};
use crate::lines::{Conversation, QuarterBytes};
use crate::outcome::{Outcome, Reason, Report};
use crate::policy::{Clause, KeepOption, ModelProfile, Options, TriggerOption};
use crate::projection::BlockKind;
use crate::record::Author;

/// What stays behind a change goes without reasoning that is bound to what was before.
mod reasoning;
/// What the first refusal teaches.
mod refusals;
/// How a model is asked, and what follows when it does not take that.
mod replaying;
/// What models write, and what of it is committed.
mod summaries;

/// Answers the n-th call.
type Model = Box<dyn Fn(usize, &SummaryInput) -> Result<Reply, Failure>>;

/// A conversation, its thread, and how the outside behaves.
struct Scene {
    said: Conversation,
    thread: Thread,
    model: Model,
    calls: usize,
    events: Vec<Event>,
    log: Vec<Input>,
}

fn options(trigger: Option<Clause>, keep: u64) -> Options {
    Options {
        trigger: trigger.map_or(TriggerOption::Never, |clause| {
            TriggerOption::Any(vec![clause])
        }),
        keep: Some(KeepOption::Messages(keep)),
        max_context: Some(50_000),
        max_retries: Some(1),
        ..Options::default()
    }
}

fn tokens(n: u64) -> Option<Clause> {
    Some(Clause {
        tokens: Some(n),
        ..Clause::default()
    })
}

fn reply(text: &str) -> Reply {
    Reply {
        text: text.into(),
        finish: Finish::Stop,
        usage: None,
    }
}

impl Scene {
    fn new(options: &Options, lines: &[&str]) -> Self {
        let policy = Policy::resolve(options, &ModelProfile::default())
            .unwrap()
            .policy;
        let mut scene = Self {
            said: Conversation::parse(&[]),
            thread: Thread::new(Arc::new(policy)),
            model: Box::new(|_, _| Ok(reply("The story so far."))),
            calls: 0,
            events: Vec::new(),
            log: Vec::new(),
        };
        scene.say(lines);
        scene
    }

    fn say(&mut self, lines: &[&str]) {
        for line in lines {
            self.said.push(line);
            let view = self.said.views().last().unwrap().clone();
            self.thread.append(
                [view],
                Sources {
                    texts: &self.said,
                    counter: &QuarterBytes,
                },
            );
        }
    }

    fn routes() -> Vec<Route> {
        vec![Route {
            model: Some("m".into()),
            replay: false,
            max_input: 40_000,
            max_output: 4_000,
            takes_schema: false,
        }]
    }

    fn check(&mut self, routes: &[Route]) -> Report {
        let src = Sources {
            texts: &self.said,
            counter: &QuarterBytes,
        };
        match self.thread.before_call(0, routes, src) {
            Decision::Send(report) => report,
            Decision::Start(attempt, _) => self.run(*attempt),
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    fn command(&mut self, request: &Manual) -> Report {
        let src = Sources {
            texts: &self.said,
            counter: &QuarterBytes,
        };
        match self.thread.manual(0, request, src) {
            Decision::Send(report) => report,
            Decision::Start(attempt, _) => self.run(*attempt),
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    /// Drives an attempt to its end, in virtual time.
    fn run(&mut self, mut attempt: Attempt) -> Report {
        let mut now = 0;
        let mut wakes = Vec::new();
        for _ in 0..10_000 {
            let src = Sources {
                texts: &self.said,
                counter: &QuarterBytes,
            };
            let input = match attempt.poll(now, src) {
                Poll::Done(report) => {
                    self.thread.ended(attempt.id(), report.outcome, now);
                    return *report;
                }
                Poll::Idle => {
                    now = wakes
                        .iter()
                        .copied()
                        .filter(|w| *w > now)
                        .min()
                        .expect("idle without a wake");
                    continue;
                }
                Poll::Do(Effect::Call { call, request, .. }) => {
                    self.calls += 1;
                    match (self.model)(self.calls, &request.input) {
                        Ok(reply) => Input::Reply(call, reply),
                        Err(failure) => Input::Failed(call, failure),
                    }
                }
                Poll::Do(Effect::CacheGet(key)) => Input::Cached(key, None),
                Poll::Do(Effect::WakeAt(at)) => {
                    wakes.push(at);
                    continue;
                }
                Poll::Do(Effect::Hook(hook, _)) => Input::HookDone(hook),
                Poll::Do(Effect::Archive(_)) => Input::Archived(Ok(())),
                Poll::Do(Effect::Commit(record, expect)) => {
                    Input::Committed(self.thread.commit(&record, expect, src))
                }
                Poll::Do(Effect::LookUp(id, record)) => {
                    Input::Found(self.thread.has_record(id, record))
                }
                Poll::Do(Effect::Emit(event)) => {
                    self.events.push(event);
                    continue;
                }
                Poll::Do(Effect::Abort(_) | Effect::CachePut(..)) => continue,
            };
            self.log.push(input.clone());
            attempt.feed(now, input, src);
        }
        panic!("the attempt does not end");
    }

    /// The request, one word a piece: position, `*` behind an edit, `[summary]`.
    fn shown(&self) -> String {
        let word = |piece: &Piece| match piece {
            Piece::Keep(handle) => handle.0.to_string(),
            Piece::Edit(handle, _) => format!("{}*", handle.0),
            Piece::Insert(block) => match &block.kind {
                BlockKind::Summary => "[summary]".into(),
                BlockKind::Answer { id, .. } => format!("[answer {}]", id.as_str()),
                other => format!("{other:?}"),
            },
        };
        self.thread
            .projection()
            .pieces()
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

const LONG: [&str; 9] = [
    "s be good",
    "u first request x40",
    "a answer one x40",
    "u second request x40",
    "a call c1",
    "t c1 result x60",
    "a done x40",
    "u third request",
    "a final answer",
];

#[test]
fn a_trigger_starts_a_compaction_and_the_record_shapes_the_request() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let report = scene.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(scene.shown(), "0 [summary] 7 8");
    assert_eq!(scene.calls, 1);
    assert!(report.measured.tokens_after.unwrap() < report.measured.tokens_before);
    assert_eq!(
        report.measured.messages_before - report.measured.messages_removed,
        3
    );
    let record = scene.thread.active().unwrap();
    assert_eq!(
        record.summary.as_ref().unwrap().author,
        Author::Model(Some("m".into()))
    );
    // The request after it extends these bytes.
    scene.say(&["u fourth"]);
    assert_eq!(scene.shown(), "0 [summary] 7 8 9");
    // At once again: nothing is called, nothing changes.
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Skipped);
    assert_eq!(scene.calls, 1);
    let starts = scene
        .events
        .iter()
        .filter(|e| matches!(e, Event::Started { .. }))
        .count();
    let stops = scene
        .events
        .iter()
        .filter(|e| matches!(e, Event::Stopped { .. }))
        .count();
    assert_eq!((starts, stops), (1, 1));
}

#[test]
fn below_the_trigger_nothing_happens() {
    let mut scene = Scene::new(&options(tokens(30_000), 2), &LONG);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Skipped);
    let mut off = Scene::new(&options(None, 2), &LONG);
    assert_eq!(off.check(&Scene::routes()).outcome, Outcome::Disabled);
    assert!(scene.thread.projection().is_untouched() && off.thread.projection().is_untouched());
    assert_eq!((scene.calls, off.calls), (0, 0));
}

#[test]
fn without_a_model_the_digest_is_the_summary() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let report = scene.check(&[]);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(
        scene
            .thread
            .active()
            .unwrap()
            .summary
            .as_ref()
            .unwrap()
            .author,
        Author::Digest
    );
}

#[test]
fn failure_changes_nothing_and_opens_the_breaker() {
    let mut options = options(tokens(300), 2);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    let mut scene = Scene::new(&options, &LONG);
    scene.model = Box::new(|_, _| {
        Err(Failure::Unusable {
            message: "no such model".into(),
        })
    });
    let before = scene.shown();
    for _ in 0..3 {
        let report = scene.check(&Scene::routes());
        assert_eq!(report.outcome, Outcome::Failed);
        assert!(matches!(report.failure, Some(Failure::Unusable { .. })));
    }
    assert_eq!(scene.shown(), before);
    assert_eq!(scene.calls, 3);
    let report = scene.check(&Scene::routes());
    assert_eq!(
        (report.outcome, report.reasons),
        (Outcome::Deferred, vec![Reason::BreakerOpen])
    );
    assert_eq!(scene.calls, 3);
    // A command is let through and closes it.
    scene.model = Box::new(|_, _| Ok(reply("Better now.")));
    let command = Manual {
        routes: Scene::routes(),
        ..Manual::default()
    };
    assert_eq!(scene.command(&command).outcome, Outcome::Compacted);
    assert_eq!(scene.thread.breaker(), BreakerState::default());
}

#[test]
fn bad_answers_are_repaired_once_and_then_replaced() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    scene.model = Box::new(|call, input| {
        let SummaryInput::Transcript { system, .. } = input else {
            panic!("a transcript was asked for")
        };
        assert_eq!(system.contains("could not be used"), call == 2);
        Ok(reply(if call == 1 { "  " } else { "Repaired." }))
    });
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert_eq!(scene.calls, 2);
    let mut blank = Scene::new(&options(tokens(300), 2), &LONG);
    blank.model = Box::new(|_, _| Ok(reply("")));
    let report = blank.check(&Scene::routes());
    assert_eq!((report.outcome, blank.calls), (Outcome::Compacted, 2));
    assert!(report.reasons.contains(&Reason::DigestAfterFailure));
}

#[test]
fn a_long_conversation_is_covered_by_chunks() {
    let lines: Vec<String> = (0..40)
        .map(|n| format!("u fact{n} x30"))
        .chain(["a ok".into(), "u now".into()])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut scene = Scene::new(&options(tokens(1000), 1), &lines);
    let seen = Arc::new(std::sync::Mutex::new(String::new()));
    let sink = seen.clone();
    scene.model = Box::new(move |call, input| {
        let SummaryInput::Transcript { document, .. } = input else {
            panic!("a transcript was asked for")
        };
        sink.lock().unwrap().push_str(document);
        if call == 1 {
            Err(Failure::TOO_LARGE)
        } else {
            Ok(reply(&format!("part {call}")))
        }
    });
    let routes = vec![Route {
        model: None,
        replay: false,
        max_input: 1_200,
        max_output: 500,
        takes_schema: false,
    }];
    let report = scene.check(&routes);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    let seen = seen.lock().unwrap();
    assert!((0..39).all(|n| seen.contains(&format!("fact{n}"))));
    assert!(scene.calls > 2);
}

#[test]
fn undo_redo_and_branches_are_moves_of_the_head() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let before = scene.shown();
    scene.check(&[]);
    let after = scene.shown();
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    assert!(scene.thread.undo(src).is_some());
    assert_eq!(scene.thread.projection().pieces().count(), 9);
    assert!(scene.thread.redo(src).is_some());
    assert_eq!(scene.shown(), after);
    // Rewinding below what the record knows takes it out of force; the tree keeps everything.
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let third = scene.thread.branch().path()[2];
    assert!(scene.thread.move_head(Some(third), src));
    assert_eq!(scene.shown(), "0 1 2");
    scene.say(&["u another way"]);
    assert_eq!(scene.shown(), "0 1 2 9");
    assert_eq!(scene.thread.history().len(), 10);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let end = NodeId(8);
    assert!(scene.thread.move_head(Some(end), src));
    assert_eq!(scene.shown(), before);
}

#[test]
fn late_messages_are_kept_and_only_touching_ones_conflict() {
    let start = |scene: &mut Scene| {
        let src = Sources {
            texts: &scene.said,
            counter: &QuarterBytes,
        };
        match scene.thread.before_call(0, &[], src) {
            Decision::Start(attempt, _) => *attempt,
            other => panic!("{other:?}"),
        }
    };
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let attempt = start(&mut scene);
    scene.say(&["u came late"]);
    assert_eq!(scene.run(attempt).outcome, Outcome::Compacted);
    assert_eq!(scene.shown(), "0 [summary] 7 8 9");

    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let attempt = start(&mut scene);
    let removed = scene.thread.branch().path()[2];
    scene.thread.pin(removed);
    assert_eq!(scene.run(attempt).outcome, Outcome::Conflict);

    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let attempt = start(&mut scene);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    scene.thread.move_head(Some(NodeId(3)), src);
    assert_eq!(scene.run(attempt).outcome, Outcome::Conflict);
}

#[test]
fn an_inputs_log_replays_to_the_same_state() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let Decision::Start(attempt, _) = scene.thread.before_call(0, &Scene::routes(), src) else {
        panic!("no start")
    };
    let mut again = *attempt.clone();
    let report = scene.run(*attempt);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let mut log = scene.log.iter();
    let replayed = loop {
        match again.poll(0, src) {
            Poll::Done(report) => break *report,
            Poll::Do(_) => {}
            Poll::Idle => again.feed(0, log.next().expect("the log is complete").clone(), src),
        }
    };
    assert_eq!(replayed, report);
}

#[test]
fn what_the_list_had_wrong_is_set_right_when_it_is_rendered_anew() {
    let mut lines = vec![
        "u go x2000",
        "a call c1 call c2",
        "t c1 ok",
        "u never mind x100",
        "a fine",
        "t c9 orphan",
    ];
    lines.extend(["u next", "a done", "u last"]);
    let mut scene = Scene::new(&options(tokens(900), 8), &lines);
    let report = scene.check(&[]);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(scene.shown(), "[summary] 1 2 [answer c2] 3 4 6 7 8");
    assert!(report.reasons.contains(&Reason::DanglingCall("c2".into())));
    assert!(scene.thread.checked().faults(|_| false).is_empty());
    // The answer comes after all: the stand-in gives way.
    scene.say(&["t c2 late"]);
    assert_eq!(scene.shown(), "[summary] 1 2 3 4 6 7 8 9");
}

#[test]
fn structural_rules_hold_below_keep() {
    let lines = [
        "s rules x30",
        "u old x200",
        "a reminder x10",
        "u reminder date",
        "a call c1",
        "t c1 old x200",
        "a pin important",
        "a opaque",
        "u go on",
        "a call c2 signed",
        "t c2 new",
    ];
    let mut scene = Scene::new(&options(None, 2), &lines);
    let command = Manual {
        below_keep: true,
        ..Manual::default()
    };
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let plan = scene.thread.preview(&command, src);
    let stays: Vec<_> = plan
        .staying()
        .map(|(at, why)| format!("{at} {}", why.words()))
        .collect();
    insta::assert_snapshot!(stays.join("\n"));
    assert_eq!(scene.command(&command).outcome, Outcome::Compacted);
}

#[test]
fn shortening_is_tried_first_and_stays_when_the_summary_fails() {
    let big = ["u go", "a call c1", "t c1 word x4000", "a seen", "u next"];
    let mut scene = Scene::new(&options(tokens(3_000), 2), &big);
    let report = scene.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Pruned, "{report:?}");
    assert_eq!((scene.calls, scene.shown().as_str()), (0, "0 1 2* 3 4"));
    assert!(report.measured.tokens_pruned > 1_000);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Skipped);

    let mut wordy: Vec<String> = big.iter().map(|l| (*l).to_owned()).collect();
    wordy.splice(
        1..1,
        (0..9).flat_map(|n| [format!("a say{n} x200"), format!("u ask{n} x200")]),
    );
    let wordy: Vec<&str> = wordy.iter().map(String::as_str).collect();
    let mut options = options(tokens(3_000), 2);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    let mut scene = Scene::new(&options, &wordy);
    scene.model = Box::new(|_, _| {
        Err(Failure::Unusable {
            message: "no such model".into(),
        })
    });
    let report = scene.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Failed);
    assert!(scene.shown().contains("20*"), "{}", scene.shown());
    assert_eq!(scene.thread.active().unwrap().summaries, 0);
}

#[test]
fn limits_at_every_rendering_decide_a_part_once() {
    let mut options = options(tokens(30_000), 2);
    options.prune.when = Some(crate::policy::PruneWhen::Always);
    options.prune.max_result_chars = Some(400);
    options.prune.keep_recent_results = Some(1);
    let mut scene = Scene::new(&options, &["u go", "a call c1", "t c1 word x400"]);
    assert_eq!(scene.shown(), "0 1 2");
    scene.say(&["a call c2", "t c2 word x400"]);
    assert_eq!(scene.shown(), "0 1 2* 3 4");
    let first = scene.thread.projection().tail[2].clone();
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let size = scene.thread.size(src).estimated;
    scene.say(&["a call c3", "t c3 ok"]);
    assert_eq!(scene.shown(), "0 1 2* 3 4* 5 6");
    assert_eq!(scene.thread.projection().tail[2], first);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    assert!(scene.thread.size(src).estimated < size);
    assert_eq!(scene.check(&[]).outcome, Outcome::Skipped);
}

#[test]
fn a_tail_over_the_trigger_does_not_start_an_attempt_every_turn() {
    let mut options = options(tokens(1_250), 10);
    options.prune.max_result_chars = Some(0);
    let mut scene = Scene::new(&options, &["u go"]);
    for turn in 0..60 {
        let (call, answer) = (format!("a call c{turn}"), format!("t c{turn} data x1250"));
        scene.say(&[&call, &answer]);
        scene.check(&Scene::routes());
    }
    // The peer calls a model 55 times here (B7 of the behaviour description).
    assert!(scene.calls <= 25, "{} calls", scene.calls);
    assert!(scene.calls >= 2, "{} calls", scene.calls);
}

#[test]
fn a_report_counts_only_while_what_it_measured_is_shown() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    scene.check(&Scene::routes());
    scene.say(&["u and now", "a that is it"]);
    scene.thread.usage(Usage {
        input: 90,
        output: 5,
        ..Usage::default()
    });
    let src = |said: &Conversation| -> Size {
        let src = Sources {
            texts: said,
            counter: &QuarterBytes,
        };
        scene.thread.size(src)
    };
    assert_eq!(src(&scene.said).tokens, 95);
    // Taken back, the request is the long one again; the report was of the short one.
    let mut thread = scene.thread.clone();
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    thread.undo(src);
    let size = thread.size(src);
    assert!(!size.reported && size.tokens > 300, "{size:?}");
    thread.redo(src);
    assert_eq!(thread.size(src).tokens, 95);
}

#[test]
fn no_check_acts_between_a_call_and_its_answer_in_interleaved_replies() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    scene.say(&["u go", "a call c2", "a call c3", "t c2 ready"]);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Deferred);
    scene.say(&["t c3 ready"]);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
}

#[test]
fn what_is_on_its_way_is_kept_when_a_chunk_fails() {
    let lines: Vec<String> = (0..40).map(|n| format!("u fact{n} x30")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut options = options(tokens(1000), 1);
    options.max_retries = Some(0);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    let mut scene = Scene::new(&options, &[&lines[..], &["a ok", "u now"]].concat());
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let mut routes = Scene::routes();
    routes[0].max_input = 1_200;
    let Decision::Start(mut attempt, _) = scene.thread.before_call(0, &routes, src) else {
        panic!("the trigger is reached");
    };
    let effects = |attempt: &mut Attempt| {
        let (mut calls, mut kept) = (Vec::new(), 0);
        loop {
            match attempt.poll(0, src) {
                Poll::Do(Effect::Call { call, .. }) => calls.push(call),
                Poll::Do(Effect::CacheGet(key)) => {
                    attempt.feed(0, Input::Cached(key, None), src);
                }
                Poll::Do(Effect::CachePut(..)) => kept += 1,
                Poll::Do(Effect::Abort(_)) => panic!("nobody stops a call that may still end well"),
                Poll::Do(_) => {}
                Poll::Idle => return (calls, kept, None),
                Poll::Done(report) => return (calls, kept, Some(report.outcome)),
            }
        }
    };
    let (calls, ..) = effects(&mut attempt);
    let [first, second, third] = calls[..3] else {
        panic!("three at a time: {calls:?}");
    };
    attempt.feed(0, Input::Reply(first, reply("part one")), src);
    let (more, kept, ended) = effects(&mut attempt);
    assert_eq!((kept, ended), (1, None));
    let broken = || Failure::Unusable {
        message: "no".into(),
    };
    attempt.feed(0, Input::Failed(second, broken()), src);
    assert_eq!(effects(&mut attempt), (vec![], 0, None), "no further call");
    attempt.feed(0, Input::Reply(third, reply("part three")), src);
    assert_eq!(effects(&mut attempt), (vec![], 1, None));
    for call in calls[3..].iter().chain(&more) {
        attempt.feed(0, Input::Failed(*call, broken()), src);
    }
    assert_eq!(effects(&mut attempt).2, Some(Outcome::Failed));
}

#[test]
fn the_summary_at_the_end_of_the_system_prompt() {
    let mut options = options(tokens(300), 2);
    options.placement = Some(crate::policy::Placement::SystemEnd);
    let mut scene = Scene::new(&options, &LONG);
    let report = scene.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Compacted);
    assert_eq!(scene.shown(), "0* 7 8");
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let size = scene.thread.size(src).request;
    assert_eq!(report.measured.tokens_after, Some(size));
    let projection = scene.thread.projection();
    let Some(Piece::Edit(handle, edits)) = projection.pieces().next() else {
        panic!("the prompt is edited");
    };
    let patched = crate::patch::Patched::new(&scene.said, *handle, edits);
    let at = crate::view::PartRef {
        message: *handle,
        part: 0,
    };
    let text = crate::view::Texts::text(&patched, at).into_owned();
    assert!(
        text.starts_with("be good") && text.contains("The story so far."),
        "{text}"
    );
    let mut without = Scene::new(&options, &LONG[1..]);
    without.check(&Scene::routes());
    assert_eq!(without.shown(), "[summary] 6 7");
}

#[test]
fn no_summary_is_a_failure_and_one_that_is_no_gain_is_rejected() {
    for (text, expect) in [
        ("", Outcome::Failed),
        ("<tool_call>{}</tool_call>", Outcome::Failed),
        (&"words ".repeat(400), Outcome::Rejected),
    ] {
        let mut options = options(tokens(300), 2);
        options.on_failure = Some(crate::policy::OnFailure::Unchanged);
        options.max_summary_tokens = Some(290);
        let mut scene = Scene::new(&options, &LONG);
        let said = reply(text);
        scene.model = Box::new(move |_, _| Ok(said.clone()));
        assert_eq!(scene.check(&Scene::routes()).outcome, expect, "{text}");
    }
}
