use super::*;
use crate::patch::{Patch, PatchCause};
use crate::view::PartKind;

const SIGNED: [&str; 12] = [
    "s be good",
    "u first request x60",
    "a call c1 signed",
    "t c1 result x60",
    "a done signed x60",
    "u second request x9",
    "a call c2 signed",
    "t c2 result x9",
    "a done too signed",
    "u third request",
    "a call c3 signed",
    "t c3 ok",
];

fn scene(lines: &[&str], keep: u64, binds: bool) -> Scene {
    let mut scene = Scene::new(&options(tokens(200), keep), lines);
    let policy = Policy {
        binds_reasoning: binds,
        ..(**scene.thread.policy()).clone()
    };
    scene.thread.set_policy(Arc::new(policy));
    scene
}

/// The positions that are sent with signed reasoning.
fn signed(scene: &Scene) -> Vec<u32> {
    let projection = scene.thread.projection();
    let is_signed = |piece: &&Piece| {
        let (handle, edits): (_, &[Patch]) = match piece {
            Piece::Keep(handle) => (*handle, &[]),
            Piece::Edit(handle, edits) => (*handle, edits),
            Piece::Insert(_) => return false,
        };
        let view = &scene.said.views()[handle.0 as usize];
        let mut parts = view.parts.iter().zip(0u16..);
        parts.any(|(part, at)| {
            let removes = |p: &Patch| {
                matches!(p, Patch::Remove { part, cause: PatchCause::Reasoning } if *part == at)
            };
            part.kind == PartKind::Reasoning { bound: true } && !edits.iter().any(removes)
        })
    };
    projection
        .pieces()
        .filter(is_signed)
        .filter_map(|piece| match piece {
            Piece::Keep(handle) | Piece::Edit(handle, _) => Some(handle.0),
            Piece::Insert(_) => None,
        })
        .collect()
}

#[test]
fn behind_a_summary_only_the_open_turn_keeps_signed_reasoning() {
    let mut open = scene(&SIGNED, 7, true);
    let report = open.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Compacted);
    assert_eq!(open.shown(), "0 [summary] 5 6* 7 8* 9 10 11");
    assert_eq!(signed(&open), [10]);
    // The size that is told is the size of what is sent.
    let src = Sources {
        texts: &open.said,
        counter: &QuarterBytes,
    };
    let size = open.thread.size(src).request;
    assert_eq!(report.measured.tokens_after, Some(size));
    // What is said from now on is bound to what stands before it now. The turn ends, and the next compaction
    // takes its reasoning too.
    open.say(&["a done signed", "u fourth x200", "a well signed", "u fifth"]);
    assert_eq!(signed(&open), [10, 12, 14]);
    let command = Manual {
        routes: Scene::routes(),
        keep: Some(crate::policy::Keep::Messages(2)),
        ..Manual::default()
    };
    assert_eq!(open.command(&command).outcome, Outcome::Compacted);
    assert_eq!(signed(&open), Vec::<u32>::new());
    assert!(open.shown().ends_with("14* 15"), "{}", open.shown());
    // Taken back, everything is as it was.
    let src = Sources {
        texts: &open.said,
        counter: &QuarterBytes,
    };
    open.thread.undo(src);
    open.thread.undo(src);
    assert!(open.thread.projection().is_untouched());
}

#[test]
fn where_a_provider_does_not_bind_it_reasoning_stays() {
    let mut other = scene(&SIGNED, 7, false);
    assert_eq!(other.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert_eq!(signed(&other), [6, 8, 10]);
}

/// Limits at every rendering, of which the newest result is exempt.
fn always(binds: bool) -> Scene {
    let mut scene = scene(&[], 2, binds);
    let prune = crate::policy::Prune {
        when: crate::policy::PruneWhen::Always,
        max_result_chars: 600,
        keep_recent_results: 1,
        ..scene.thread.policy().prune.expect("on in our preset")
    };
    let policy = Policy {
        prune: Some(prune),
        triggers: Vec::new(),
        ..(**scene.thread.policy()).clone()
    };
    scene.thread.set_policy(Arc::new(policy));
    scene
}

#[test]
fn limits_at_every_rendering_wait_for_the_end_of_the_turn() {
    let mut scene = always(true);
    scene.say(&["u go", "a call c1 signed", "t c1 word x4000"]);
    scene.say(&["a call c2 signed", "t c2 word x4000"]);
    // What the newest reply thought is bound to the first result as it was.
    assert_eq!(scene.shown(), "0 1 2 3 4");
    scene.say(&["a done signed"]);
    assert_eq!(scene.shown(), "0 1 2* 3* 4 5*");
    assert_eq!(signed(&scene), [1], "before the change it stays");
    // The next turn: the second result is decided before anything is thought behind it.
    scene.say(&["u on", "a call c3", "t c3 word x4000", "a call c4 signed"]);
    assert_eq!(scene.shown(), "0 1 2* 3* 4* 5* 6 7 8 9");
    assert_eq!(signed(&scene), [1, 9]);
    scene.say(&["t c4 word x4000"]);
    assert_eq!(
        scene.shown(),
        "0 1 2* 3* 4* 5* 6 7 8 9 10",
        "the turn is open"
    );
    scene.say(&["a fine signed", "u thanks"]);
    assert_eq!(scene.shown(), "0 1 2* 3* 4* 5* 6 7 8* 9* 10 11* 12");
    assert_eq!(signed(&scene), [1]);
    // The same conversation at once comes to the same.
    let said: Vec<_> = scene.said.views().to_vec();
    let mut at_once = always(true);
    at_once.said = scene.said.clone();
    let src = Sources {
        texts: &at_once.said,
        counter: &QuarterBytes,
    };
    at_once.thread.append(said, src);
    assert_eq!(at_once.shown(), scene.shown());
    assert_eq!(at_once.thread.size(src), scene.thread.size(src));
}

#[test]
fn limits_at_every_rendering_where_nothing_is_bound() {
    let mut scene = always(false);
    scene.say(&["u go", "a call c1 signed", "t c1 word x4000"]);
    scene.say(&["a call c2 signed", "t c2 word x4000"]);
    assert_eq!(scene.shown(), "0 1 2* 3 4");
    assert_eq!(signed(&scene), [1, 3]);
}

#[test]
fn behind_a_shortened_result_as_well_and_not_before_it() {
    let lines = [
        "u go",
        "a call c1 signed",
        "t c1 word x4000",
        "a seen signed",
        "u next",
        "a fine signed",
        "u and now",
    ];
    let mut scene = scene(&lines, 2, true);
    let wide = Policy {
        triggers: vec![crate::policy::Threshold {
            tokens: Some(3_000),
            messages: None,
        }],
        ..(**scene.thread.policy()).clone()
    };
    scene.thread.set_policy(Arc::new(wide));
    let report = scene.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Pruned, "{report:?}");
    assert_eq!(scene.shown(), "0 1 2* 3* 4 5* 6");
    assert_eq!(signed(&scene), [1]);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let size = scene.thread.size(src).request;
    assert_eq!(report.measured.tokens_after, Some(size));
}
