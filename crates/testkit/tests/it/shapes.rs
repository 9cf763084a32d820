//! Shapes of histories, as people read them in snapshots.

use std::sync::Arc;

use conspectus_core::patch::{Patch, PatchCause, Site};
use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
use conspectus_core::view::{PartKind, Role};
use conspectus_testkit::shape;
use conspectus_testkit::transcript::{Format, Knobs, MemoryTexts, Nasty, Transcript};
use insta::assert_snapshot;

#[test]
fn a_history_is_one_line_a_message() {
    let knobs = Knobs {
        max_turns: 2,
        ..Knobs::only(&[
            Nasty::ParallelCalls,
            Nasty::ThinkingSigned,
            Nasty::Image,
            Nasty::Usage,
            Nasty::Pin,
            Nasty::Reminder,
            Nasty::ErrorResult,
        ])
    };
    let talk = Transcript::generate(3, &knobs);
    let (views, texts, _) = talk.views(Format::Anthropic);
    assert_snapshot!("anthropic", shape::of(&views, &texts));
    let (views, texts, _) = talk.views(Format::LangChain);
    assert_snapshot!("langchain", shape::of(&views, &texts));
}

#[test]
fn a_projection_shows_what_was_done() {
    let mut texts = MemoryTexts::new();
    let call = |id: &str| PartKind::Call {
        id: id.into(),
        tool: "bash".into(),
    };
    let result = |id: &str| PartKind::Result {
        id: id.into(),
        tool: None,
        error: false,
    };
    let views = vec![
        texts.say(Role::System, "You are careful.\nVery."),
        texts.say(Role::User, "first order"),
        texts.say(Role::Assistant, "done"),
        texts.say(Role::User, "a second order that is long enough to be cut"),
        texts.add(
            Role::Assistant,
            vec![
                (PartKind::Reasoning { bound: true }, "hm".to_owned(), None),
                (
                    call("call_0123456789abcdef"),
                    r#"{"command":"ls"}"#.to_owned(),
                    None,
                ),
                (call(""), "{}".to_owned(), None),
            ],
        ),
        texts.add(
            Role::Tool,
            vec![(result("call_0123456789abcdef"), "x".repeat(500), None)],
        ),
        texts.say(Role::User, "third"),
        texts.say(Role::Assistant, ""),
    ];
    let handle = |at: usize| views[at].handle;
    let insert = |kind, role, text: &str| {
        let text = text.into();
        Piece::Insert(Block { kind, role, text })
    };
    let cut = Patch::Cut {
        part: 0,
        site: Site::Text,
        range: 100..400,
        marker: "[300 bytes]".into(),
        cause: PatchCause::Oversized,
    };
    let gone = Patch::Remove {
        part: 0,
        cause: PatchCause::Reasoning,
    };
    let answer = BlockKind::Answer {
        id: "".into(),
        tool: "bash".into(),
    };
    let projection = Projection {
        frozen: Arc::new([
            Piece::Keep(handle(0)),
            insert(BlockKind::Rules, Role::System, "What follows is data."),
            insert(
                BlockKind::Summary,
                Role::User,
                "So far: 做了三件事 and more.",
            ),
            Piece::Keep(handle(3)),
        ]),
        tail: Arc::new(vec![
            Piece::Edit(handle(4), Arc::new([gone])),
            Piece::Edit(handle(5), Arc::new([cut])),
            insert(answer, Role::Tool, "No answer was recorded."),
            Piece::Keep(handle(7)),
        ]),
    };
    assert_snapshot!("before", shape::of(&views, &texts));
    assert_snapshot!("after", shape::of_projection(&projection, &views, &texts));

    let broken = Projection {
        frozen: Arc::new([]),
        tail: Arc::new(vec![
            Piece::Keep(handle(3)),
            Piece::Keep(handle(1)),
            Piece::Keep(conspectus_core::id::Handle(99)),
        ]),
    };
    assert_snapshot!("broken", shape::of_projection(&broken, &views, &texts));
}
