//! The loop: replies, tools, what is told, what is stored.

use conspectus::Delta;
use conspectus::core::effect::Failure;
use conspectus::threads::RunStatus;
use conspectus_agent::{AgentError, RunEvent};
use conspectus_testkit::model::AgentReply;
use serde_json::json;

use crate::world::{World, all, assert_valid, ended, limits, request, said, warnings};

#[test]
fn a_run_calls_tools_side_by_side_and_goes_on_with_their_results() {
    let world = World::new(vec![
        AgentReply::calls(&[
            (
                "c1",
                "write_file",
                json!({"path": "a/notes.md", "content": "three valves\n"}),
            ),
            ("c2", "list_dir", json!({})),
        ]),
        AgentReply::calls(&[
            ("c3", "read_file", json!({"path": "a/notes.md"})),
            ("c4", "search", json!({"query": "VALVES"})),
            ("c5", "nothing", json!({})),
            ("c6", "read_file", json!({"path": "../secret"})),
        ]),
        AgentReply::text("There are three valves."),
    ]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "How many valves?");
    assert_eq!(ended(&events), (RunStatus::Success, None), "{events:?}");
    assert_eq!(warnings(&events), [] as [String; 0]);
    let lines = world.lines(&runs);
    assert_eq!(
        lines,
        [
            "human: <system-reminder>|<current_date>1970-01-01</current_date>|</system-reminder>",
            "human: How many valves?",
            "ai ->write_file#c1 ->list_dir#c2: ",
            "tool #c1: wrote 13 bytes to a/notes.md",
            "tool #c2: a/",
            "ai ->read_file#c3 ->search#c4 ->nothing#c5 ->read_file#c6: ",
            "tool #c3: three valves|",
            "tool #c4: a/notes.md:1: three valves",
            "tool #c5: Error: there is no tool \"nothing\"; there are ask_clarification, list_dir, read_file, recall, search, task, write_file",
            "tool #c6: Error: \"../secret\" is outside the workspace; use a path relative to it, without `..`",
            "ai: There are three valves.",
        ]
    );
    for asked in world.model.asked() {
        assert_valid(&asked);
    }
    let first = request(&world.model.asked()[0]);
    assert!(
        first[0].starts_with("system: You mend boilers.||## Skills|"),
        "{}",
        first[0]
    );
    let info = world.run(runs.threads().get(&world.key)).expect("there");
    assert_eq!(info.title.as_deref(), Some("How many valves?"));
}

#[test]
fn what_comes_is_streamed_and_can_be_heard_again_from_any_number() {
    let world = World::new(vec![
        AgentReply::calls(&[("c1", "list_dir", json!({}))]),
        AgentReply::text("Nothing is there."),
    ]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look.");
    let deltas: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Delta {
                id,
                delta: Delta::Text(text),
            } => Some(format!("{id}: {text}")),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, ["r1-1: Nothing ", "r1-1: is there."]);
    let checkpoints = events
        .iter()
        .filter(|e| matches!(e, RunEvent::Checkpoint { .. }))
        .count();
    let asked = world.model.asked().len();
    assert!(
        checkpoints > asked,
        "one before every model call and one at the end: {checkpoints}"
    );
    let before_first = events
        .iter()
        .position(|e| matches!(e, RunEvent::Delta { .. }));
    let first = events
        .iter()
        .position(|e| matches!(e, RunEvent::Checkpoint { .. }));
    assert!(first < before_first, "stored before the model is asked");
    let again = world.run(async { all(runs.stream(&world.key, "r1", 3).expect("known")).await });
    assert_eq!(again, events[3..]);
    let end = world.run(runs.join(&world.key, "r1")).expect("known");
    assert_eq!(end.status, RunStatus::Success);
}

#[test]
fn one_run_a_thread_also_over_processes() {
    let world = World::new(vec![AgentReply::text("Done.").after(5_000)]);
    let (runs, other) = (world.runs("one"), world.runs("two"));
    world.run(async {
        let events = runs
            .start(&world.key, said("r1", "Go."))
            .await
            .expect("begun");
        for also in [&runs, &other] {
            let busy = also.start(&world.key, said("r2", "Me too.")).await;
            assert_eq!(busy.err(), Some(AgentError::Busy));
        }
        let compact = conspectus::threads::CompactThread::default();
        let compacted = other
            .threads()
            .compact(&world.key, &compact)
            .await
            .expect("an outcome");
        assert_ne!(compacted.outcome.as_str(), "compacted");
        let told = all(events).await;
        assert_eq!(ended(&told).0, RunStatus::Success);
        let same = runs.start(&world.key, said("r1", "Again.")).await;
        assert_eq!(same.err(), Some(AgentError::Exists("r1".into())));
        let next = all(other
            .start(&world.key, said("r3", "Now me."))
            .await
            .expect("free"))
        .await;
        assert_eq!(ended(&next).0, RunStatus::Success);
    });
}

#[test]
fn a_model_that_is_not_available_is_asked_again_and_one_that_cannot_be_used_ends_the_run() {
    let busy = || {
        AgentReply::Fail(Failure::Unavailable {
            message: "busy".into(),
            retry_after_ms: Some(2_000),
        })
    };
    let world = World::new(vec![busy(), busy(), AgentReply::text("Done.")]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Go.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    let retries = events
        .iter()
        .filter(|e| matches!(e, RunEvent::Retry { .. }))
        .count();
    assert_eq!(retries, 2);
    let world = World::new(vec![AgentReply::Fail(Failure::Unusable {
        message: "wrong key".into(),
    })]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Go.");
    let error = "the model failed: the model cannot be used: wrong key";
    assert_eq!(ended(&events), (RunStatus::Error, Some(error.to_owned())));
    let state = world
        .run(runs.state(&world.key))
        .expect("a state")
        .expect("a run");
    assert_eq!(
        (state.mark.status, state.is_orphan),
        (RunStatus::Error, false)
    );
}

#[test]
fn limits_of_steps_and_tokens_end_a_run_with_every_call_answered() {
    let look = |n: usize| {
        AgentReply::calls(&[(
            &format!("c{n}"),
            "list_dir",
            json!({"path": format!("d{n}")}),
        )])
    };
    let world = World::scripted(move |n, _| look(n).using(100, 10))
        .adjusted(limits(|l| l.max_model_calls = 3));
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look.");
    let capped = |events: &[RunEvent]| match events.last() {
        Some(RunEvent::Ended {
            stop_reason,
            status,
            ..
        }) => (*status, stop_reason.map(|r| r.name())),
        other => panic!("{other:?}"),
    };
    assert_eq!(capped(&events), (RunStatus::Success, Some("turn_capped")));
    assert_eq!(world.model.asked().len(), 3);
    let world = World::scripted(move |n, _| look(n).using(100, 10))
        .adjusted(limits(|l| l.max_tokens = Some(200)));
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look.");
    assert_eq!(capped(&events), (RunStatus::Success, Some("token_capped")));
    assert_eq!(world.model.asked().len(), 2);
}

#[test]
fn circles_are_told_to_the_model_and_then_ended() {
    let world = World::scripted(|n, _| {
        AgentReply::calls(&[(&format!("c{n}"), "list_dir", json!({"path": "."}))])
    });
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look.");
    assert!(
        matches!(events.last(), Some(RunEvent::Ended { stop_reason: Some(reason), .. }) if reason.name() == "loop_capped")
    );
    assert_eq!(world.model.asked().len(), 5);
    let lines = world.lines(&runs);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("human: The same calls were made 3 times."))
    );
    let last = lines.last().expect("a message");
    assert_eq!(
        last,
        "tool #c4: Error: not run: the run ended at a limit (loop_capped)"
    );
    for asked in world.model.asked() {
        assert_valid(&asked);
    }
}

#[test]
fn a_tool_that_breaks_is_a_tool_that_failed() {
    use conspectus::{Boxed, ToolSpec};
    use conspectus_agent::{RunContext, Tool, ToolCall, ToolResult};
    struct Breaks;
    impl Tool for Breaks {
        fn spec(&self) -> ToolSpec {
            ToolSpec {
                name: "breaks".into(),
                description: "Breaks.".into(),
                parameters: json!({"type": "object"}),
            }
        }
        fn call<'a>(&'a self, _: &'a RunContext, _: &'a ToolCall) -> Boxed<'a, ToolResult> {
            Box::pin(async { panic!("out of order") })
        }
    }
    let calls = AgentReply::calls(&[("c1", "breaks", json!({})), ("c2", "list_dir", json!({}))]);
    let world = World::new(vec![calls, AgentReply::text("Sorry.")])
        .adjusted(|setup| setup.lead.tools = setup.lead.tools.clone().with(Breaks));
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Break.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    assert_eq!(warnings(&events), ["tool breaks broke: out of order"]);
    let lines = world.lines(&runs);
    assert_eq!(lines[3], "tool #c1: Error: the tool broke; try another way");
    assert_eq!(lines[4], "tool #c2: (the folder is empty)");
}

#[test]
fn arguments_that_are_no_object_are_answered_not_fatal() {
    use conspectus::{Turn, TurnCall};
    let broken = Turn {
        calls: vec![TurnCall {
            id: "c1".into(),
            name: "list_dir".into(),
            arguments: "{\"path\": ".into(),
        }],
        ..Turn::text("")
    };
    let world = World::new(vec![AgentReply::Turn(broken), AgentReply::text("Sorry.")]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    let lines = world.lines(&runs);
    let answer = "tool #c1: Error: the arguments are no JSON object; call the tool again with one";
    assert!(lines.iter().any(|line| line == answer), "{lines:?}");
    world.model.asked().iter().for_each(assert_valid);
}

#[test]
fn a_skill_is_loaded_by_name_and_by_reading_and_is_stamped_either_way() {
    let path = "/mnt/skills/pdf/SKILL.md";
    let world = World::new(vec![
        AgentReply::calls(&[
            ("c1", "read_file", json!({"path": path})),
            (
                "c2",
                "write_file",
                json!({"path": path, "content": "hacked"}),
            ),
            (
                "c3",
                "read_file",
                json!({"path": "/mnt/skills/../../secret"}),
            ),
        ]),
        AgentReply::text("Filled."),
    ]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "/tea with milk");
    assert_eq!(warnings(&events), [] as [String; 0]);
    let skills = world.note(&runs).channels["skill_context"].clone();
    let names: Vec<&str> = skills
        .as_array()
        .expect("a list")
        .iter()
        .map(|s| s["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["tea", "pdf"]);
    assert_eq!(skills[1]["description"], "How to pdf");
    assert!(
        !skills.to_string().contains("Do pdf well"),
        "bodies are never kept"
    );
    let lines = world.lines(&runs);
    assert_eq!(lines[2], "ai ->read_file#r1-skill: ");
    assert!(lines[3].contains("Do tea well."), "{}", lines[3]);
    assert!(
        lines
            .iter()
            .any(|l| l == "tool #c2: Error: skills are only ever read; write into the workspace")
    );
    assert!(lines.iter().any(|l| l.starts_with("tool #c3: Error: ")));
    world.model.asked().iter().for_each(assert_valid);
}

#[test]
fn the_files_of_a_deleted_thread_go_with_it() {
    let world = World::new(vec![
        AgentReply::calls(&[("c1", "write_file", json!({"path": "a", "content": "x"}))]),
        AgentReply::text("Done."),
    ]);
    let runs = world.runs("one");
    ended(&world.says(&runs, "r1", "Write."));
    let folder = world.folder.path().join("work/ann/boiler-7");
    assert!(folder.join("a").is_file());
    let beside = world.folder.path().join("work/ann/boiler-8");
    std::fs::create_dir_all(&beside).expect("made");
    runs.forget(&world.key).expect("removed");
    assert!(!folder.exists() && beside.is_dir());
    runs.forget(&world.key).expect("nothing is left to remove");
}
