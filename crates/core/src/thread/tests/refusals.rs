use super::*;

fn refused(scene: &mut Scene, error: &Failure) -> Option<Report> {
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    match scene.thread.provider_error(0, error, &Scene::routes(), src) {
        Recovery::Compact(attempt) => Some(scene.run(*attempt)),
        Recovery::GiveUp(_) => None,
    }
}

fn size(scene: &Scene) -> Size {
    scene.thread.size(Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    })
}

/// Forty rounds of 200 tokens.
fn long() -> Vec<String> {
    let round = |n| [format!("u question {n} x38"), format!("a answer {n} x38")];
    (0..40).flat_map(round).collect()
}

fn scene(options: &Options) -> Scene {
    let lines = long();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Scene::new(options, &lines)
}

#[test]
fn a_stated_limit_is_met_at_once_and_kept() {
    let mut scene = scene(&options(tokens(40_000), 2));
    let before = size(&scene).request;
    assert!(before > 3_000, "{before}");
    let error = Failure::over(1_000);
    let report = refused(&mut scene, &error).expect("an attempt");
    assert_eq!(report.outcome, Outcome::Compacted);
    assert!(size(&scene).request < 600, "{:?}", size(&scene));
    assert_eq!(scene.thread.learnt().tokens, Some(1_000));
    // The policy's own trigger is far away, and the next compaction comes in time all the same.
    while size(&scene).tokens < 600 {
        scene.say(&["u more x39", "a more x39"]);
    }
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert!(size(&scene).request < 600);
}

#[test]
fn one_refusal_one_recovery_and_what_is_no_overflow_teaches_nothing() {
    let mut scene = scene(&options(tokens(40_000), 2));
    for error in [
        Failure::TimedOut { after_ms: 9 },
        Failure::Unavailable {
            message: "429".into(),
            retry_after_ms: None,
        },
    ] {
        assert_eq!(refused(&mut scene, &error), None);
    }
    assert_eq!(scene.thread.learnt(), Learnt::default());
    let error = Failure::TOO_LARGE;
    let before = size(&scene).request;
    assert!(refused(&mut scene, &error).is_some());
    assert_eq!(scene.thread.learnt().tokens, Some(before - before / 10));
    assert_eq!(
        refused(&mut scene, &error),
        None,
        "the same error again goes to the caller"
    );
}

#[test]
fn bytes_have_a_budget_of_their_own() {
    let mut by_option = options(tokens(40_000), 2);
    by_option.max_request_bytes = Some(12_000);
    let mut scene = scene(&by_option);
    let before = size(&scene).bytes;
    assert!(before > 14_000, "{before}");
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert!(size(&scene).bytes < 9_600, "{:?}", size(&scene));
    let mut refusing = self::scene(&options(tokens(40_000), 2));
    assert!(refused(&mut refusing, &Failure::TooManyBytes).is_some());
    assert_eq!(refusing.thread.learnt().bytes, Some(before - before / 10));
    assert!(size(&refusing).bytes < before / 2);
}
