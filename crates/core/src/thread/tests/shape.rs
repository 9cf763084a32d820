//! What a compaction leaves: lists that are set right, calls with their answers, where the summary stands.

use super::*;

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
fn no_check_acts_between_a_call_and_its_answer_in_interleaved_replies() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    scene.say(&["u go", "a call c2", "a call c3", "t c2 ready"]);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Deferred);
    scene.say(&["t c3 ready"]);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
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
