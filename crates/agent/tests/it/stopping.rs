//! Runs that are stopped, killed, asked and taken up again.

use conspectus::Clock as _;
use conspectus::threads::{CompactThread, RunStatus};
use conspectus_agent::{AgentError, ResumeRun, RunEvent};
use conspectus_testkit::model::AgentReply;
use serde_json::json;

use crate::world::{World, all, assert_valid, ended, said};

#[test]
fn a_cancelled_run_stops_its_model_and_leaves_a_thread_that_goes_on() {
    let world = World::new(vec![
        AgentReply::calls(&[("c1", "list_dir", json!({}))]),
        AgentReply::Never,
        AgentReply::text("Here I am."),
    ]);
    let runs = world.runs("one");
    let events = world.run(async {
        let events = runs
            .start(&world.key, said("r1", "Go."))
            .await
            .expect("begun");
        world.time.sleep_until(world.time.now() + 5_000).await;
        assert_eq!(world.model.under_way(), 1);
        runs.cancel(&world.key, "r1").expect("known");
        all(events).await
    });
    assert_eq!(ended(&events), (RunStatus::Cancelled, None));
    assert_eq!(world.model.under_way(), 0, "the call is dropped");
    let events = world.says(&runs, "r2", "Are you there?");
    assert_eq!(ended(&events).0, RunStatus::Success);
    world.model.asked().iter().for_each(assert_valid);
}

#[test]
fn a_killed_run_is_seen_and_goes_on_from_its_last_checkpoint() {
    let world = World::new(vec![
        AgentReply::calls(&[("c1", "write_file", json!({"path": "a", "content": "x"}))]),
        AgentReply::text("Never heard.").after(10_000),
        AgentReply::text("Written."),
    ]);
    let runs = world.runs("one");
    world.run(async {
        drop(
            runs.start(&world.key, said("r1", "Write."))
                .await
                .expect("begun"),
        );
        world.time.sleep_until(world.time.now() + 5_000).await;
    });
    world.nursery.kill();
    let end = world.run(runs.join(&world.key, "r1")).expect("known");
    assert_eq!(
        end.error.as_deref(),
        Some("the run was dropped; it can be resumed")
    );
    let other = world.runs("two");
    let state = world
        .run(other.state(&world.key))
        .expect("a state")
        .expect("a run");
    assert_eq!(
        (state.mark.status, state.is_orphan),
        (RunStatus::Running, false),
        "its lease holds"
    );
    let busy = world.run(other.resume(&world.key, ResumeRun::default()));
    assert_eq!(busy.err(), Some(AgentError::Busy));
    world.run(world.time.sleep_until(world.time.now() + 31_000));
    let state = world
        .run(other.state(&world.key))
        .expect("a state")
        .expect("a run");
    assert!(state.is_orphan);
    let events = world.resumes(&other, None);
    assert_eq!(ended(&events), (RunStatus::Success, None));
    assert!(matches!(events[0], RunEvent::Started { resumed: true, .. }));
    let lines = world.lines(&other);
    assert_eq!(lines[3..], ["tool #c1: wrote 1 bytes to a", "ai: Written."]);
    let nothing = world.run(other.resume(&world.key, ResumeRun::default()));
    assert_eq!(nothing.err(), Some(AgentError::NothingToResume));
}

#[test]
fn a_question_stops_the_run_survives_compaction_and_its_answer_goes_on() {
    let world = World::new(vec![
        AgentReply::calls(&[
            ("c1", "list_dir", json!({})),
            (
                "c2",
                "ask_clarification",
                json!({"question": "Which valve?", "options": ["left", "right"]}),
            ),
        ]),
        AgentReply::text("The left one is turned."),
    ]);
    let runs = world.runs("one");
    let events = world.says(
        &runs,
        "r1",
        &format!("Turn it. {}", "It is an old boiler. ".repeat(300)),
    );
    assert_eq!(ended(&events).0, RunStatus::Interrupted);
    let asked = events.iter().find_map(|event| match event {
        RunEvent::Interrupted { questions } => Some(questions.clone()),
        _ => None,
    });
    let asked = asked.expect("a question");
    assert_eq!(
        (&*asked[0].id, &asked[0].value["question"]),
        ("c2", &json!("Which valve?"))
    );
    let missing = world.run(runs.resume(&world.key, ResumeRun::default()));
    assert_eq!(missing.err(), Some(AgentError::AnswerMissing));
    let compact = CompactThread {
        below_keep: true,
        ..CompactThread::default()
    };
    world
        .run(runs.threads().compact(&world.key, &compact))
        .expect("an outcome");
    let lines = world.lines(&runs);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("->ask_clarification#c2")),
        "{lines:?}"
    );
    // Another process takes it up.
    let other = world.runs("two");
    let events = world.resumes(&other, Some(json!("the left one")));
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let lines = world.lines(&other);
    assert_eq!(
        lines[lines.len() - 2..],
        ["tool #c2: the left one", "ai: The left one is turned."]
    );
    world.model.asked().iter().for_each(assert_valid);
}

#[test]
fn a_new_request_instead_of_an_answer_closes_the_question() {
    let world = World::new(vec![
        AgentReply::calls(&[("c1", "ask_clarification", json!({"question": "Which?"}))]),
        AgentReply::text("As you wish."),
    ]);
    let runs = world.runs("one");
    world.says(&runs, "r1", "Turn it.");
    let events = world.says(&runs, "r2", "Never mind.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    let lines = world.lines(&runs);
    assert_eq!(
        lines[3..],
        [
            "tool #c1: No answer was given; the user wrote something else.",
            "human: Never mind.",
            "ai: As you wish.",
        ]
    );
    world.model.asked().iter().for_each(assert_valid);
}
