//! Corners that random lives found: each test is the smallest conversation of its kind.

use super::*;
use crate::policy::{Placement, Strategy};

const BELOW_KEEP: Manual = Manual {
    force: true,
    below_keep: true,
    keep: None,
    focus: None,
    invoking: None,
    moment: crate::outcome::Moment::Manual,
    routes: Vec::new(),
};

fn command(options: &Options, lines: &[&str], request: &Manual) -> (Report, Scene) {
    let mut scene = Scene::new(options, lines);
    let report = scene.command(request);
    (report, scene)
}

#[test]
fn a_call_that_a_person_spoke_over_stays_passed_over() {
    // The batch's other answer comes beside one for a newer reply with the same ids.
    let lines = [
        "u go x2000",
        "a call c1 call c2",
        "u wait",
        "a call c1",
        "t c1 x",
        "a call c3",
        "t c1 y c3 z",
    ];
    let (report, scene) = command(&options(None, 9), &lines, &BELOW_KEEP);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(scene.shown(), "[summary] 1 [answer c2] 2 5 6");
    assert!(report.reasons.contains(&Reason::DanglingCall("c2".into())));
}

#[test]
fn a_request_ends_as_the_conversation_does() {
    let check = |end: &[&str], keep: u64, expect: &str| {
        let lines = [&["s be good", "u go x2000", "a so x900"], end].concat();
        for placement in [Placement::System, Placement::Frozen] {
            let mut options = options(None, keep);
            options.placement = Some(placement);
            let (report, scene) = command(&options, &lines, &Manual::default());
            assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
            assert_eq!(scene.shown(), expect, "{end:?}");
        }
    };
    check(&["u on", "a done"], 2, "0 [summary] 3 4");
    check(
        &["u on", "a done", "u summary before"],
        3,
        "0 [summary] 3 4 5",
    );
    check(
        &["u on", "a done", "u summary before"],
        2,
        "0 [summary] 3 4 5",
    );
    check(&["u on", "a done", "s be quick"], 0, "0 [summary] 3");
    // The host's word at the end goes with the reply that it follows, or stays with it.
    check(
        &["u on", "a pin done", "s be quick"],
        0,
        "0 [summary] 3 4 5",
    );
    check(
        &["u on", "a pin done", "u hidden poke", "s be quick"],
        0,
        "0 [summary] 3 4 6",
    );
    // An answer to nothing is never sent: it is no end.
    check(&["u on", "a pin done", "t c9 lost"], 0, "0 [summary] 3 4");
    check(
        &["u on", "a pin done", "s be quick", "t c9 lost"],
        0,
        "0 [summary] 3 4 5",
    );
}

#[test]
fn a_system_message_in_the_list_is_no_message_to_answer() {
    let lines = ["a so x900", "a done", "s pin be quick"];
    let (report, scene) = command(&options(None, 9), &lines, &BELOW_KEEP);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(scene.shown(), "[summary] 1 2");
    let (_, scene) = command(
        &options(None, 9),
        &["a so x900", "a done", "s be quick"],
        &BELOW_KEEP,
    );
    assert_eq!(scene.shown(), "[summary] 1 2");
}

#[test]
fn nobody_is_asked_about_what_says_nothing() {
    let routed = Manual {
        routes: Scene::routes(),
        ..BELOW_KEEP
    };
    // Thoughts and messages without content are all that could go.
    let mut scene = Scene::new(&options(None, 0), &["a signed", "a", "u", "u go on"]);
    assert_eq!(scene.command(&routed).outcome, Outcome::NothingToCompact);
    assert_eq!((scene.calls, scene.shown().as_str()), (0, "0 1 2 3"));
    // Beside a summary they go without a word: it says what it said.
    for strategy in [Strategy::Transcript, Strategy::Digest] {
        let mut options = options(None, 0);
        options.strategy = Some(strategy);
        let mut scene = Scene::new(&options, &["u go x2000", "a so", "u on"]);
        assert_eq!(scene.command(&routed).outcome, Outcome::Compacted);
        let before = scene.thread.active().unwrap().summary.clone();
        let calls = scene.calls;
        scene.say(&["a signed x4000", "a"]);
        let report = scene.command(&routed);
        assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
        assert_eq!(scene.shown(), "[summary] 2");
        assert_eq!(scene.thread.active().unwrap().summary, before);
        assert_eq!(scene.calls, calls);
    }
}

#[test]
fn only_what_is_shown_is_shortened() {
    // The second message answers a call that was folded before it came.
    let mut options = options(None, 0);
    options.prune.max_result_chars = Some(400);
    options.prune.keep_recent_results = Some(0);
    let mut scene = Scene::new(
        &options,
        &["u go x2000", "a call c1", "u wait x900", "a so", "u on"],
    );
    assert_eq!(scene.command(&BELOW_KEEP).outcome, Outcome::Compacted);
    scene.say(&["t c1 word x4000", "u go on"]);
    let shown = scene.shown();
    let report = scene.command(&BELOW_KEEP);
    assert_ne!(report.outcome, Outcome::Pruned, "{shown} {}", scene.shown());
    assert_eq!(report.measured.tokens_pruned, 0);
}
