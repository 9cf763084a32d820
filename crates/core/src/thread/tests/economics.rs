//! What a cache, prices and caps do to a thread's decisions.

use std::sync::Arc;

use super::super::*;
use crate::attempt::Poll;
use crate::cost::{Change, Warmth};
use crate::count::Estimator;
use crate::effect::{CallNumber, CommitAck, Effect, Finish, Input, Reply, Route};
use crate::memory::{Memory, call, result, text};
use crate::outcome::{Moment, Outcome, Reason, Report};
use crate::patch::PatchCause;
use crate::policy::{
    Clause, ModelProfile, OnFailure, Options, PrefixCache, Prices, Rates, Strategy, TriggerOption,
};
use crate::view::Role;

const MINUTE: Millis = 60_000;

/// 3 and 15 dollars a million tokens, cached a tenth, kept five minutes.
pub(super) fn model(window: u64) -> ModelProfile {
    let rates = Rates {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 3_750_000,
    };
    ModelProfile {
        name: Some("sonnet".into()),
        window: Some(window),
        max_output: Some(4_000),
        prices: Some(Prices::flat(rates)),
        cache: Some(PrefixCache {
            ttl_ms: 5 * MINUTE,
            minimum_tokens: 1_000,
        }),
        ..ModelProfile::default()
    }
}

pub(super) struct Scene {
    memory: Memory,
    pub(super) thread: Thread,
    usage: Option<Usage>,
    pub(super) calls: usize,
}

impl Scene {
    fn new(options: &Options, model: &ModelProfile) -> Self {
        let resolved = Policy::resolve(options, model).expect("a policy");
        Self {
            memory: Memory::new(),
            thread: Thread::new(Arc::new(resolved.policy)),
            usage: None,
            calls: 0,
        }
    }

    fn say(&mut self, role: Role, parts: Vec<crate::memory::TestPart>) {
        let view = self.memory.message(role, parts);
        let src = Sources {
            texts: &self.memory,
            counter: &Estimator,
        };
        self.thread.append([view], src);
    }

    /// A call and its answer of so many rows.
    fn round(&mut self, tool: &str, rows: usize) {
        let id = format!("c{}", self.thread.branch().len());
        self.say(
            Role::Assistant,
            vec![text("I will look."), call(&id, tool, "{}")],
        );
        let answer: String = (0..rows)
            .map(|row| format!("row {row} of {id} has values; "))
            .collect();
        self.say(Role::Tool, vec![result(&id, &answer)]);
    }

    /// A request, and rounds of 200 rows, about 2,000 tokens each.
    pub(super) fn worked(options: &Options, model: &ModelProfile, rounds: usize) -> Self {
        let mut scene = Self::new(options, model);
        scene.say(Role::System, vec![text("You tend a garden.")]);
        scene.say(
            Role::User,
            vec![text("Look after all of the beds, please.")],
        );
        for _ in 0..rounds {
            scene.round("look", 200);
        }
        scene
    }

    fn src(&self) -> Sources<'_> {
        Sources {
            texts: &self.memory,
            counter: &Estimator,
        }
    }

    fn check(&mut self, now: Millis, routes: &[Route]) -> Report {
        let usage = self.usage.clone();
        self.check_with(now, routes, |call, _| {
            let reply = Reply {
                text: "The beds one to nine were looked at.".into(),
                finish: Finish::Stop,
                usage: usage.clone(),
            };
            vec![Input::Reply(call, reply)]
        })
    }

    /// The same, where this is what comes of a call, in order.
    pub(super) fn check_with(
        &mut self,
        now: Millis,
        routes: &[Route],
        mut called: impl FnMut(CallNumber, &Route) -> Vec<Input>,
    ) -> Report {
        let src = Sources {
            texts: &self.memory,
            counter: &Estimator,
        };
        let mut attempt = match self.thread.before_call(now, routes, src) {
            Decision::Start(attempt, _) => attempt,
            Decision::Send(report) => return report,
            Decision::Wait(_) => panic!("nothing is under way"),
        };
        loop {
            let inputs = match attempt.poll(now, src) {
                Poll::Done(report) => {
                    self.thread.ended(attempt.id(), report.outcome, now);
                    self.thread.spend(now, report.measured.spent_micros);
                    return *report;
                }
                Poll::Idle => panic!("everything was answered"),
                Poll::Do(Effect::Call { call, route, .. }) => {
                    self.calls += 1;
                    called(call, &route)
                }
                Poll::Do(Effect::CacheGet(key)) => vec![Input::Cached(key, None)],
                Poll::Do(Effect::Hook(hook, _)) => vec![Input::HookDone(hook)],
                Poll::Do(Effect::Archive(_)) => vec![Input::Archived(Ok(()))],
                Poll::Do(Effect::Commit(record, expect)) => {
                    let ack = self.thread.commit(&record, expect, src);
                    assert!(matches!(ack, CommitAck::Ok(_)));
                    vec![Input::Committed(ack)]
                }
                Poll::Do(_) => continue,
            };
            for input in inputs {
                attempt.feed(now, input, src);
            }
        }
    }

    fn masked(&self) -> Vec<Pos> {
        let is_masked = |at: &Pos| {
            let patches = self.thread.patches_at(*at);
            patches.iter().any(|p| p.cause() == PatchCause::Masked)
        };
        (0..self.thread.branch().len()).filter(is_masked).collect()
    }
}

pub(super) fn at(tokens: u64) -> Options {
    Options {
        trigger: TriggerOption::Any(vec![Clause {
            tokens: Some(tokens),
            ..Clause::default()
        }]),
        ..Options::default()
    }
}

pub(super) fn routes() -> Vec<Route> {
    vec![Route {
        model: None,
        replay: true,
        max_input: 90_000,
        max_output: 4_000,
        takes_schema: false,
    }]
}

#[test]
fn old_results_are_masked_in_one_batch_when_that_is_enough() {
    let mut scene = Scene::worked(&at(20_000), &model(100_000), 12);
    let before = scene.thread.size(scene.src()).tokens;
    assert!(before >= 20_000, "{before}");
    let report = scene.check(0, &routes());
    assert_eq!(
        (report.outcome, scene.calls),
        (Outcome::Pruned, 0),
        "{report:?}"
    );
    let masked = scene.masked();
    assert!(masked.len() >= 5 && masked.is_sorted(), "{masked:?}");
    let newest = scene.thread.branch().len() - 6;
    assert!(
        masked.iter().all(|at| *at < newest),
        "the newest three stay: {masked:?}"
    );
    let after = scene.thread.size(scene.src()).tokens;
    assert!(after <= 10_000, "one batch, down to the target: {after}");
    // It is said what that cost: the cache is cold, so it is even at once.
    let cost = report.measured.cost.expect("the prices are known");
    assert_eq!(
        (cost.warmth, cost.break_even_tenths),
        (Warmth::Cold, Some(0))
    );
    // Decided once: the same check again changes nothing.
    let shown = scene.thread.projection();
    assert_eq!(scene.check(0, &routes()).outcome, Outcome::Skipped);
    assert_eq!(scene.thread.projection(), shown);
}

#[test]
fn exempt_tools_commands_parity_and_small_gains_do_not_mask() {
    let exempt = Options {
        exempt_tools: vec!["look".into()],
        ..at(20_000)
    };
    let mut scene = Scene::worked(&exempt, &model(100_000), 12);
    assert_eq!(scene.check(0, &routes()).outcome, Outcome::Compacted);
    // A person's command asks for a summary.
    let mut scene = Scene::worked(&at(20_000), &model(100_000), 12);
    let src = Sources {
        texts: &scene.memory,
        counter: &Estimator,
    };
    let Decision::Start(attempt, _) = scene.thread.manual(0, &Manual::default(), src) else {
        panic!("it starts");
    };
    assert!(attempt.plan().going().count() > 0);
    assert!(scene.masked().is_empty());
    for preset in [
        crate::policy::Preset::Langchain,
        crate::policy::Preset::Nous,
    ] {
        let options = Options {
            preset,
            ..at(20_000)
        };
        let mut scene = Scene::worked(&options, &model(100_000), 12);
        assert_eq!(
            scene.check(0, &routes()).outcome,
            Outcome::Compacted,
            "{preset:?}"
        );
        assert!(scene.masked().is_empty());
    }
    // Much is said and little looked up: a batch that reclaims less than a fifth is not worth it.
    let mut scene = Scene::worked(&at(20_000), &model(100_000), 4);
    let long: String = (0..1_500)
        .map(|n| format!("word {n} of the talk, "))
        .collect();
    for _ in 0..2 {
        scene.say(Role::Assistant, vec![text(&long)]);
        scene.say(Role::User, vec![text("And then?")]);
    }
    assert_eq!(scene.check(0, &routes()).outcome, Outcome::Compacted);
}

/// While the cache is warm, clearing in the middle of the history does not pay, and a summary does.
#[test]
fn masking_waits_for_a_cold_cache() {
    let mut warm = Scene::worked(&at(20_000), &model(100_000), 12);
    // Much behind the results that would be cleared, so that little is won for much that is sent anew.
    let long: String = (0..700)
        .map(|n| format!("word {n} of the talk, "))
        .collect();
    warm.say(Role::Assistant, vec![text(&long)]);
    warm.say(Role::User, vec![text("Go on.")]);
    let mut cold = Scene::worked(&at(20_000), &model(100_000), 12);
    cold.say(Role::Assistant, vec![text(&long)]);
    cold.say(Role::User, vec![text("Go on.")]);
    warm.thread.sent(MINUTE);
    cold.thread.sent(MINUTE);
    let masks = cold.check(7 * MINUTE, &[]);
    assert_eq!(masks.outcome, Outcome::Pruned);
    let summary = warm.check(2 * MINUTE, &[]);
    let cost = summary.measured.cost.expect("priced");
    assert_eq!(cost.warmth, Warmth::Warm);
    assert!(cost.pays_within(10), "{cost:?}");
}

/// Nothing pays within one call while the cache is warm: it waits, but not for ever.
#[test]
fn what_does_not_pay_waits_until_the_cache_is_cold_or_the_request_has_grown() {
    let hasty = Options {
        expected_calls: Some(1),
        ..at(20_000)
    };
    let mut scene = Scene::worked(&hasty, &model(100_000), 10);
    while scene.thread.size(scene.src()).tokens < 20_000 {
        scene.round("look", 20);
    }
    scene.thread.sent(MINUTE);
    let report = scene.check(2 * MINUTE, &routes());
    assert_eq!(
        (report.outcome, report.reasons),
        (Outcome::Deferred, vec![Reason::WaitsForCache])
    );
    assert!(scene.thread.projection().is_untouched());
    let before = scene.thread.clone();
    // Cold: at once.
    let report = scene.check(7 * MINUTE, &routes());
    assert_ne!(report.outcome, Outcome::Deferred);
    // Still warm, but a tenth over the trigger.
    scene.thread = before;
    scene.thread.sent(7 * MINUTE);
    while scene.thread.size(scene.src()).tokens < 22_000 {
        scene.round("look", 40);
    }
    assert_eq!(
        scene.check(8 * MINUTE, &routes()).outcome,
        Outcome::Compacted
    );
}

/// Beside a running conversation nothing is urgent.
#[test]
fn the_background_waits_while_the_cache_is_warm() {
    let hasty = Options {
        expected_calls: Some(1),
        exempt_tools: vec!["look".into()],
        ..Options::default()
    };
    let model = model(34_000);
    let policy = Policy::resolve(&hasty, &model).expect("a policy").policy;
    let (soft, hard) = (policy.soft_tokens.expect("auto"), policy.trigger_tokens());
    let mut scene = Scene::worked(&hasty, &model, 8);
    while scene.thread.size(scene.src()).tokens < soft {
        scene.round("look", 20);
    }
    assert!(Some(scene.thread.size(scene.src()).tokens) < hard);
    scene.thread.sent(MINUTE);
    let report = scene.check(2 * MINUTE, &routes());
    assert_eq!(report.reasons, [Reason::WaitsForCache]);
    let report = scene.check(7 * MINUTE, &routes());
    assert_eq!((report.outcome, scene.calls), (Outcome::Compacted, 1));
    let moment = scene.thread.active().map(|record| record.moment);
    assert_eq!(moment, Some(Moment::Background));
}

#[test]
fn without_prices_or_a_clock_nothing_waits() {
    let hasty = Options {
        expected_calls: Some(1),
        ..at(20_000)
    };
    for (profile, sent) in [
        (
            ModelProfile {
                prices: None,
                ..model(100_000)
            },
            Some(0),
        ),
        (
            ModelProfile {
                cache: None,
                ..model(100_000)
            },
            Some(0),
        ),
        (model(100_000), None),
    ] {
        let mut scene = Scene::worked(&hasty, &profile, 11);
        if let Some(sent) = sent {
            scene.thread.sent(sent);
        }
        assert_ne!(scene.check(0, &routes()).outcome, Outcome::Deferred);
    }
}

#[test]
fn a_model_with_a_smaller_window_compacts_first() {
    let mut scene = Scene::worked(&Options::default(), &model(200_000), 12);
    assert_eq!(scene.check(0, &[]).outcome, Outcome::Skipped);
    // The conversation goes on with another model, and the next call would not fit it.
    let small = Policy::resolve(&Options::default(), &model(16_000))
        .expect("a policy")
        .policy;
    let limit = small.input_limit();
    assert!(scene.thread.size(scene.src()).tokens > limit);
    scene.thread.set_policy(Arc::new(small.clone()));
    let report = scene.check(0, &[]);
    assert!(
        matches!(report.outcome, Outcome::Compacted | Outcome::Pruned),
        "{report:?}"
    );
    assert!(scene.thread.size(scene.src()).tokens <= limit);
    // Also right behind a compaction for the larger one, of which nothing has been added since.
    let mut scene = Scene::worked(&at(20_000), &model(200_000), 12);
    let exempt = Options {
        exempt_tools: vec!["look".into()],
        ..at(20_000)
    };
    let policy = Policy::resolve(&exempt, &model(200_000))
        .expect("a policy")
        .policy;
    scene.thread.set_policy(Arc::new(policy));
    assert_eq!(scene.check(0, &[]).outcome, Outcome::Compacted);
    let tiny = Policy::resolve(&Options::default(), &model(4_000))
        .expect("a policy")
        .policy;
    let limit = tiny.input_limit();
    scene.thread.set_policy(Arc::new(tiny));
    let before = scene.thread.size(scene.src()).tokens;
    assert!(before > limit, "{before}");
    let report = scene.check(0, &[]);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    let after = scene.thread.size(scene.src()).tokens;
    assert!(after < before / 2, "{after} of {before}");
    assert_eq!(
        scene.check(0, &[]).outcome,
        Outcome::NothingToCompact,
        "once"
    );
}

/// A call costs 0.06 dollars by its usage; the cap holds for the thread and for the day.
#[test]
fn over_the_cap_the_digest_takes_the_models_place() {
    let capped = |thread, day, on_failure| Options {
        exempt_tools: vec!["look".into()],
        max_thread_micros: thread,
        max_day_micros: day,
        on_failure: Some(on_failure),
        strategy: Some(Strategy::Replay),
        ..at(20_000)
    };
    let usage = Usage {
        input: 20_000,
        ..Usage::default()
    };
    let grow = |scene: &mut Scene| {
        while scene.thread.size(scene.src()).tokens < 20_000 {
            scene.round("look", 200);
        }
    };
    let day: Millis = 24 * 60 * MINUTE;
    for (options, outcomes) in [
        // without a cap a model writes each time
        (
            capped(None, None, OnFailure::Digest),
            [(Outcome::Compacted, 1), (Outcome::Compacted, 2)],
        ),
        // the second would be over it
        (
            capped(Some(180_000), None, OnFailure::Digest),
            [(Outcome::Compacted, 1), (Outcome::Compacted, 1)],
        ),
        (
            capped(Some(180_000), None, OnFailure::Unchanged),
            [(Outcome::Compacted, 1), (Outcome::Deferred, 1)],
        ),
        // on another day there is money again
        (
            capped(None, Some(180_000), OnFailure::Digest),
            [(Outcome::Compacted, 1), (Outcome::Compacted, 2)],
        ),
        // not even one
        (
            capped(Some(10), None, OnFailure::Digest),
            [(Outcome::Compacted, 0), (Outcome::Compacted, 0)],
        ),
    ] {
        let mut scene = Scene::worked(&options, &model(100_000), 12);
        scene.usage = Some(usage.clone());
        for (round, (outcome, calls)) in outcomes.into_iter().enumerate() {
            grow(&mut scene);
            let report = scene.check(day * round as u64, &routes());
            assert_eq!(
                (report.outcome, scene.calls),
                (outcome, calls),
                "{round}: {options:?}"
            );
            let is_said = report.reasons.contains(&Reason::SpendCap);
            assert_eq!(is_said, calls < round + 1, "{:?}", report.reasons);
            assert_eq!(
                report.measured.spent_micros,
                if is_said { 0 } else { 60_000 }
            );
        }
        let micros = 60_000 * scene.calls as u64;
        assert_eq!(scene.thread.spent().thread_micros, micros);
    }
}

/// The dear one is passed over, the cheap one is asked.
#[test]
fn a_cap_may_leave_the_cheaper_model() {
    let cheap = ModelProfile {
        name: Some("small".into()),
        prices: Some(Prices::flat(Rates {
            input: 100_000,
            output: 400_000,
            cache_read: 10_000,
            cache_write: 100_000,
        })),
        ..ModelProfile::default()
    };
    let options = Options {
        exempt_tools: vec!["look".into()],
        max_thread_micros: Some(10_000),
        others: vec![cheap],
        ..at(20_000)
    };
    let mut scene = Scene::worked(&options, &model(100_000), 12);
    let mut both = routes();
    both.push(Route {
        model: Some("small".into()),
        replay: false,
        ..both[0].clone()
    });
    let report = scene.check(0, &both);
    assert_eq!((report.outcome, scene.calls), (Outcome::Compacted, 1));
    let author = scene.thread.active().and_then(|r| r.summary.clone());
    let author = author.map(|summary| summary.author);
    assert_eq!(
        author,
        Some(crate::record::Author::Model(Some("small".into())))
    );
    assert!(
        report.reasons.contains(&Reason::SpendCap),
        "{:?}",
        report.reasons
    );
}

#[test]
fn days_are_counted_apart() {
    let mut scene = Scene::new(&Options::default(), &model(100_000));
    let day: Millis = 24 * 60 * MINUTE;
    for (now, micros) in [(0, 5), (day - 1, 7), (day, 11), (day + 1, 0)] {
        scene.thread.spend(now, micros);
    }
    let expect = Spent {
        thread_micros: 23,
        day: 1,
        day_micros: 11,
    };
    assert_eq!(scene.thread.spent(), expect);
}

/// The record tells what the arithmetic gives for its sizes.
#[test]
fn a_record_tells_its_cost() {
    let exempt = Options {
        exempt_tools: vec!["look".into()],
        strategy: Some(Strategy::Replay),
        ..at(20_000)
    };
    let mut scene = Scene::worked(&exempt, &model(100_000), 12);
    let system = Estimator.message(scene.thread.branch().view(0), &scene.memory);
    let report = scene.check(0, &routes());
    let measured = report.measured;
    let change = measured.change.expect("committed");
    let expect = Change {
        same: Estimator.tokens(system),
        before: measured.tokens_before - change.same,
        after: measured.tokens_after.expect("committed") - change.same,
    };
    assert_eq!(change, expect);
    let cost = measured.cost.expect("priced");
    // replayed cold: all of it at the price of writing to the cache, and what was written
    assert!(cost.call_micros > 20_000 * 375 / 100, "{cost:?}");
    assert_eq!(
        cost.tokens_saved,
        measured.tokens_before - measured.tokens_after.unwrap_or(0)
    );
    assert_eq!(
        scene.thread.active().expect("a record").measured.cost,
        Some(cost)
    );
    assert!(!report.reasons.contains(&Reason::SpendCap));
    assert_eq!(
        scene.thread.active().map(|r| r.moment),
        Some(Moment::MidTurn)
    );
}
