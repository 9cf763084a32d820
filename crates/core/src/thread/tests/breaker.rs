//! The breaker: closed, open, half open, for each thread alone.

use super::*;

const COOLDOWN: u64 = 60_000;

/// A thread whose model never works, with two failures to the breaker.
fn failing() -> Scene {
    let mut options = options(tokens(300), 2);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    options.breaker_failures = Some(2);
    options.breaker_cooldown_ms = Some(COOLDOWN);
    Scene::new(&options, &LONG)
}

/// What the check at `now` decides.
fn check(scene: &mut Scene, now: u64) -> Result<Attempt, Box<Report>> {
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    match scene.thread.before_call(now, &Scene::routes(), src) {
        Decision::Start(attempt, _) => Ok(*attempt),
        Decision::Send(report) => Err(Box::new(report)),
        Decision::Wait(id) => panic!("waits for {id:?}"),
    }
}

fn is_open(decision: Result<Attempt, Box<Report>>) -> bool {
    decision.is_err_and(|report| {
        report.outcome == Outcome::Deferred && report.reasons == [Reason::BreakerOpen]
    })
}

/// One automatic attempt at `now` that ends so.
fn ends(scene: &mut Scene, now: u64, outcome: Outcome) {
    let attempt = check(scene, now).expect("an attempt");
    scene.thread.ended(attempt.id(), outcome, now);
}

fn opened() -> Scene {
    let mut scene = failing();
    ends(&mut scene, 0, Outcome::Failed);
    ends(&mut scene, 10, Outcome::Rejected);
    assert!(is_open(check(&mut scene, 11)));
    scene
}

#[test]
fn after_the_cooldown_one_attempt_probes() {
    let mut scene = opened();
    assert!(is_open(check(&mut scene, 10 + COOLDOWN - 1)));
    let now = 10 + COOLDOWN;
    let probe = check(&mut scene, now).expect("the probe");
    // Others wait for it, and none begins beside it.
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let beside = scene.thread.before_call(now, &Scene::routes(), src);
    assert!(matches!(beside, Decision::Wait(id) if id == probe.id()));
    let overflow = scene
        .thread
        .provider_error(now, &Failure::TOO_LARGE, &Scene::routes(), src);
    assert!(matches!(overflow, Recovery::GiveUp(_)));
    // It fails: open again, for a whole cooldown, after this one failure.
    scene.thread.ended(probe.id(), Outcome::Failed, now + 5);
    assert!(is_open(check(&mut scene, now + 5 + COOLDOWN - 1)));
    // It works: closed, and failures are counted from none.
    let now = now + 5 + COOLDOWN;
    ends(&mut scene, now, Outcome::Compacted);
    assert_eq!(scene.thread.breaker(), BreakerState::default());
    ends(&mut scene, now + 1, Outcome::Failed);
    assert!(check(&mut scene, now + 2).is_ok());
}

#[test]
fn what_says_nothing_about_the_model_neither_opens_nor_closes_it() {
    for outcome in [Outcome::Cancelled, Outcome::Conflict, Outcome::Deferred] {
        let mut scene = failing();
        ends(&mut scene, 0, Outcome::Failed);
        ends(&mut scene, 1, outcome);
        assert_eq!(scene.thread.breaker().failures, 1, "{outcome}");
        // Half open it stays half open: the next attempt probes.
        let mut scene = opened();
        ends(&mut scene, 10 + COOLDOWN, outcome);
        ends(&mut scene, 11 + COOLDOWN, Outcome::Failed);
        assert!(is_open(check(&mut scene, 12 + COOLDOWN)), "{outcome}");
    }
}

#[test]
fn commands_pass_an_open_breaker_and_their_failures_are_not_counted() {
    let mut scene = opened();
    let before = scene.thread.breaker();
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let command = Manual {
        routes: Scene::routes(),
        ..Manual::default()
    };
    let Decision::Start(attempt, _) = scene.thread.manual(20, &command, src) else {
        panic!("a command is let through")
    };
    scene.thread.ended(attempt.id(), Outcome::Failed, 20);
    assert_eq!(scene.thread.breaker(), before);
    // An overflow's recovery is automatic.
    let overflow = scene
        .thread
        .provider_error(21, &Failure::TOO_LARGE, &Scene::routes(), src);
    let Recovery::GiveUp(report) = overflow else {
        panic!("the breaker is open")
    };
    assert_eq!(
        (report.outcome, report.reasons),
        (Outcome::Deferred, vec![Reason::BreakerOpen])
    );
    let Decision::Start(attempt, _) = scene.thread.manual(22, &command, src) else {
        panic!("a command is let through")
    };
    scene.thread.ended(attempt.id(), Outcome::Compacted, 22);
    assert_eq!(scene.thread.breaker(), BreakerState::default());
}

#[test]
fn it_is_one_threads_own_and_survives_a_restart() {
    let scene = opened();
    assert!(check(&mut failing(), 11).is_ok(), "another thread");
    let kept = serde_json::to_string(&scene.thread.breaker()).unwrap();
    let mut again = failing();
    again
        .thread
        .set_breaker(serde_json::from_str(&kept).unwrap());
    assert_eq!(again.thread.breaker(), scene.thread.breaker());
    assert!(is_open(check(&mut again, 11)));
    let probe = check(&mut again, 10 + COOLDOWN).expect("the probe");
    again
        .thread
        .ended(probe.id(), Outcome::Failed, 10 + COOLDOWN);
    assert!(is_open(check(&mut again, 11 + COOLDOWN)));
}

#[test]
fn disabled_is_disabled_on_every_path() {
    let mut options = options(tokens(300), 2);
    options.enabled = Some(false);
    options.prune.when = Some(crate::policy::PruneWhen::Always);
    options.prune.max_result_chars = Some(10);
    options.prune.keep_recent_results = Some(0);
    let mut scene = Scene::new(&options, &LONG);
    scene.say(&["u more x900", "a more x900"]);
    assert_eq!(check(&mut scene, 0).unwrap_err().outcome, Outcome::Disabled);
    assert_eq!(scene.check(&[]).outcome, Outcome::Disabled);
    for command in [
        Manual::default(),
        Manual {
            below_keep: true,
            ..Manual::default()
        },
        Manual {
            force: false,
            routes: Scene::routes(),
            ..Manual::default()
        },
    ] {
        assert_eq!(scene.command(&command).outcome, Outcome::Disabled);
    }
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    for error in [Failure::TOO_LARGE, Failure::over(50), Failure::TooManyBytes] {
        scene.thread.overflowed = false;
        let Recovery::GiveUp(report) =
            scene
                .thread
                .provider_error(0, &error, &Scene::routes(), src)
        else {
            panic!("nothing begins")
        };
        assert_eq!(report.outcome, Outcome::Disabled, "{error}");
    }
    assert!(
        scene.thread.projection().is_untouched(),
        "{}",
        scene.shown()
    );
}
