//! What is saved without a summary, and what no summary can save.

use super::*;

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
