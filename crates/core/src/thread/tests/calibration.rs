//! What reports teach, for the requests that no report measured.

use proptest::prelude::*;

use super::*;

fn size(scene: &Scene) -> Size {
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    scene.thread.size(src)
}

/// The next reply, reported with so many tokens of input.
fn reply_of(scene: &mut Scene, line: &str, input: u64) {
    scene.say(&[line]);
    scene.thread.usage(Usage {
        input,
        output: 5,
        ..Usage::default()
    });
}

/// A conversation whose provider counts `off` tokens more than we do, compacted.
fn compacted(off: i64) -> Scene {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG[..8]);
    let input = size(&scene).estimated.saturating_add_signed(off);
    reply_of(&mut scene, "a final answer", input);
    assert!(size(&scene).reported);
    let command = Manual {
        routes: Scene::routes(),
        ..Manual::default()
    };
    assert_eq!(scene.command(&command).outcome, Outcome::Compacted);
    scene
}

#[test]
fn after_a_commit_the_count_is_corrected_by_what_was_learnt() {
    for (off, expect) in [(0, 0), (20, 20), (-20, -20), (10_000, i64::MAX)] {
        let scene = compacted(off);
        let size = size(&scene);
        let half = i64::try_from(size.estimated / 2).unwrap();
        assert!(!size.reported, "no report measured what is shown now");
        assert_eq!(size.offset, expect.clamp(-half, half), "{off}");
        assert_eq!(
            size.tokens,
            size.estimated.saturating_add_signed(size.offset)
        );
    }
    // Far below the count: of something else.
    assert_eq!(size(&compacted(-400)).offset, 0);
}

#[test]
fn a_report_that_measures_nothing_takes_no_other_ones_place() {
    let mut scene = Scene::new(&options(tokens(3_000), 2), &LONG[..8]);
    let counted = |scene: &Scene, from: usize| {
        let views = &scene.said.views()[from..];
        let weight = |view| QuarterBytes.message(view, &scene.said);
        QuarterBytes.tokens(views.iter().map(weight).sum())
    };
    reply_of(&mut scene, "a one", 400);
    assert_eq!(size(&scene).tokens, 405);
    // Of nothing: some servers report zeros.
    scene.say(&["u more"]);
    reply_of(&mut scene, "a two x30", 0);
    assert_eq!(size(&scene).tokens, 405 + counted(&scene, 9));
    // The same reply, once more: the figure before is gone.
    let mut again = Scene::new(&options(tokens(3_000), 2), &LONG[..8]);
    reply_of(&mut again, "a one", 400);
    again.thread.usage(Usage::default());
    assert!(!size(&again).reported);
    // Of a request that was sent while a record was in force that was taken back since.
    let command = Manual {
        routes: Scene::routes(),
        ..Manual::default()
    };
    assert_eq!(scene.command(&command).outcome, Outcome::Compacted);
    scene.thread.sent(0);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    scene.thread.undo(src);
    assert_eq!(size(&scene).tokens, 405 + counted(&scene, 9));
    reply_of(&mut scene, "a three", 70);
    assert_eq!(size(&scene).tokens, 405 + counted(&scene, 9));
    // Whatever a server says, it is a number.
    reply_of(&mut scene, "a four", u64::MAX);
    assert_eq!(size(&scene).tokens, u64::MAX);
}

#[test]
fn the_next_report_takes_the_corrections_place() {
    let mut scene = compacted(20);
    scene.say(&["u and now"]);
    let before = size(&scene);
    assert_eq!(before.offset, 20);
    reply_of(&mut scene, "a that", before.request + 40);
    let after = size(&scene);
    assert!(after.reported);
    assert_eq!((after.offset, after.tokens), (0, before.request + 45));
    // Halfway from 20 to 40.
    let learnt = scene.thread.calibration(&QuarterBytes);
    assert_eq!(learnt.offset(10_000), 30);
}

#[test]
fn a_failed_attempt_and_an_undo_keep_it_and_another_model_does_not() {
    let mut scene = compacted(20);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let learnt = scene.thread.calibration(&QuarterBytes);
    scene.thread.undo(src);
    scene.thread.redo(src);
    assert_eq!(scene.thread.calibration(&QuarterBytes), learnt);
    scene.thread.set_policy(scene.thread.policy().clone());
    assert_eq!(scene.thread.calibration(&QuarterBytes), learnt);
    let other = Policy {
        window: 9_000,
        ..(**scene.thread.policy()).clone()
    };
    scene.thread.set_policy(Arc::new(other));
    assert_eq!(
        scene.thread.calibration(&QuarterBytes),
        Calibration::default()
    );
}

#[test]
fn a_report_of_a_request_sent_before_a_commit_measures_nothing() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    scene.say(&["u and now"]);
    let long = size(&scene).estimated;
    scene.thread.sent(1);
    let command = Manual {
        routes: Scene::routes(),
        ..Manual::default()
    };
    // Beside the conversation: the reply comes after the commit.
    assert_eq!(scene.command(&command).outcome, Outcome::Compacted);
    reply_of(&mut scene, "a that", long);
    let after = size(&scene);
    assert!(!after.reported && after.tokens < long, "{after:?}");
    assert_eq!(
        scene.thread.calibration(&QuarterBytes),
        Calibration::default()
    );
    // The next request is sent under the record.
    scene.say(&["u next"]);
    scene.thread.sent(2);
    reply_of(&mut scene, "a ok", 120);
    assert_eq!(size(&scene).tokens, 125);
}

#[test]
fn what_an_overflow_error_says_about_the_request_is_its_size() {
    let mut scene = Scene::new(&options(tokens(30_000), 2), &LONG);
    let estimated = size(&scene).request;
    let error = Failure::ContextOverflow {
        limit: Some(estimated),
        actual: Some(estimated + 60),
    };
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let recovery = scene
        .thread
        .provider_error(0, &error, &Scene::routes(), src);
    let Recovery::Compact(attempt) = recovery else {
        panic!("it recovers")
    };
    assert_eq!(size(&scene).tokens, estimated + 60);
    let report = scene.run(*attempt);
    assert_eq!(report.outcome, Outcome::Compacted);
    assert_eq!(report.measured.tokens_before, estimated + 60);
    let after = size(&scene);
    assert!(!after.reported && after.offset > 0, "{after:?}");
    // Without a limit, less than what was refused.
    let learnt = Learnt::from_refusal(
        &Failure::TOO_LARGE,
        &Size {
            tokens: 1_000,
            ..Size::default()
        },
    );
    assert_eq!(learnt.tokens, Some(900));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Invariants 20, 21 and 48: after a commit the size is the count and at most half of it more or less,
    /// whatever the summary call used, and the same for the same history.
    #[test]
    fn the_size_after_a_commit_is_the_count_within_bounds(
        inputs in prop::collection::vec(0u64..5_000, 1..6),
        paid in 0u64..1_000_000,
    ) {
        let run = |paid: u64| {
            let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
            scene.model = Box::new(move |_, _| Ok(Reply {
                usage: Some(Usage { input: paid.max(1_000), output: 9, ..Usage::default() }),
                ..reply("The story so far.")
            }));
            for (n, input) in inputs.iter().enumerate() {
                scene.say(&[&format!("u turn{n} x40")]);
                reply_of(&mut scene, &format!("a done{n} x20"), *input);
            }
            let command = Manual { routes: Scene::routes(), ..Manual::default() };
            let outcome = scene.command(&command).outcome;
            (outcome, size(&scene))
        };
        let (outcome, size) = run(paid);
        if outcome == Outcome::Compacted {
            prop_assert!(!size.reported);
            prop_assert!(size.tokens >= size.estimated - size.estimated / 2);
            prop_assert!(size.tokens <= size.estimated + size.estimated / 2);
        }
        prop_assert_eq!(run(paid + 77), (outcome, size));
    }
}
