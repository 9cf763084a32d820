//! What people take back and what comes meanwhile: undo, branches, late messages, reports of what is no longer shown.

use super::*;

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
