//! Work given to subagents: side by side, within limits, and never lost sight of.

use conspectus::Clock as _;
use conspectus::TurnRequest;
use conspectus::core::effect::Failure;
use conspectus::threads::{ListThreads, RunStatus};
use conspectus_agent::RunEvent;
use conspectus_testkit::model::AgentReply;
use serde_json::{Value, json};

use crate::world::{World, all, assert_valid, ended, request, said};

fn task(id: &str, what: &str) -> (String, &'static str, Value) {
    let args = json!({"description": what, "prompt": format!("Please {what}"), "subagent_type": "general"});
    (id.to_owned(), "task", args)
}

fn calls(all: &[(String, &'static str, Value)]) -> AgentReply {
    let all: Vec<(&str, &str, Value)> = all
        .iter()
        .map(|(id, name, args)| (&**id, *name, args.clone()))
        .collect();
    AgentReply::calls(&all)
}

/// Of a subagent: its prompt; `None`: the lead asks.
fn prompt(asked: &TurnRequest) -> Option<String> {
    let lines = request(asked);
    let is_sub = lines[0].starts_with("system: You look things up.");
    is_sub.then(|| {
        lines
            .iter()
            .find(|line| line.contains("Please "))
            .cloned()
            .unwrap_or_default()
    })
}

fn delegations(
    world: &World,
    runs: &conspectus_agent::Runs,
) -> Vec<(String, String, Option<String>)> {
    let channels = world.note(runs).channels;
    let entries = channels["delegations"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let text = |entry: &Value, key: &str| entry[key].as_str().map(str::to_owned);
    entries
        .iter()
        .map(|e| {
            (
                text(e, "description").expect("text"),
                text(e, "status").expect("text"),
                text(e, "stop_reason"),
            )
        })
        .collect()
}

#[test]
fn subagents_run_side_by_side_and_every_end_is_stamped() {
    let world = World::scripted(|n, asked| {
        let Some(prompt) = prompt(asked) else {
            return match n {
                0 => calls(&[
                    task("t1", "survey"),
                    task("t2", "fail"),
                    task("t3", "sleep"),
                    task("t4", "circle"),
                    (
                        "t5".to_owned(),
                        "task",
                        json!({"description": "odd", "prompt": "x", "subagent_type": "nobody"}),
                    ),
                ]),
                _ => AgentReply::text("All told."),
            };
        };
        if prompt.contains("survey") {
            AgentReply::text("Three valves.").after(2_000)
        } else if prompt.contains("fail") {
            AgentReply::Fail(Failure::Unusable {
                message: "no key".into(),
            })
        } else if prompt.contains("sleep") {
            AgentReply::text("Too late.").after(90_000)
        } else {
            AgentReply::calls(&[(&format!("c{n}"), "list_dir", json!({}))])
        }
    });
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Delegate.");
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let row = |what: &str, status: &str, stop: Option<&str>| {
        (what.to_owned(), status.to_owned(), stop.map(str::to_owned))
    };
    assert_eq!(
        delegations(&world, &runs),
        [
            row("survey", "completed", None),
            row("fail", "failed", None),
            row("sleep", "timed_out", None),
            row("circle", "failed", Some("loop_capped")),
            row("odd", "failed", None),
        ]
    );
    let lines = world.lines(&runs);
    assert!(
        lines.contains(&"tool #t1: Three valves.".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .any(|l| l.starts_with("tool #t5: Error: ") && l.contains("there are general"))
    );
    // Their threads are of their own: nothing of theirs is in the lead's.
    let list = ListThreads {
        metadata: json!({"kind": "subagent"})
            .as_object()
            .cloned()
            .expect("members"),
        ..ListThreads::default()
    };
    let threads = world
        .run(runs.threads().list("ann", &list))
        .expect("a list");
    assert_eq!(threads.len(), 4);
    assert!(!lines.iter().any(|line| line.contains("Please survey")));
    world.model.asked().iter().for_each(assert_valid);
    world
        .run(runs.threads().delete(&world.key))
        .expect("it was there");
    let left = world.run(runs.threads().list("ann", &ListThreads::default()));
    assert_eq!(left.expect("a list"), [], "their threads go with it");
    let sub = world
        .model
        .asked()
        .into_iter()
        .find(|a| prompt(a).is_some())
        .expect("one");
    assert!(
        sub.tools
            .iter()
            .all(|tool| &*tool.name != "task" && &*tool.name != "ask_clarification")
    );
}

#[test]
fn no_more_than_the_bound_run_at_once() {
    let most = std::sync::Arc::new(std::sync::Mutex::new(0));
    let seen = most.clone();
    let world = World::scripted(move |n, asked| match prompt(asked) {
        Some(_) => AgentReply::text("Done.").after(1_000),
        None if n == 0 => {
            let all: Vec<_> = (0..7)
                .map(|n| task(&format!("t{n}"), &format!("look {n}")))
                .collect();
            calls(&all)
        }
        None => AgentReply::text("All told."),
    });
    let runs = world.runs("one");
    let model = world.model.clone();
    world.run(async {
        let mut events = runs
            .start(&world.key, said("r1", "Delegate."))
            .await
            .expect("begun");
        while events.next().await.is_some() {
            let mut most = seen.lock().expect("unpoisoned");
            *most = model.under_way().max(*most);
        }
    });
    assert_eq!(*most.lock().expect("unpoisoned"), 3);
    assert!(
        delegations(&world, &runs)
            .iter()
            .all(|(_, status, _)| status == "completed")
    );
}

#[test]
fn a_dispatch_is_in_progress_before_it_runs_and_a_cancelled_one_says_so() {
    let world = World::scripted(|_, asked| match prompt(asked) {
        Some(_) => AgentReply::Never,
        None => calls(&[task("t1", "survey")]),
    });
    let runs = world.runs("one");
    let events = world.run(async {
        let events = runs
            .start(&world.key, said("r1", "Delegate."))
            .await
            .expect("begun");
        world.time.sleep_until(world.time.now() + 1_000).await;
        let note = runs.threads().note(&world.key).await.expect("a note");
        assert_eq!(note.channels["delegations"][0]["status"], "in_progress");
        let beside = note.beside.expect("something is shown");
        assert!(
            beside
                .text
                .contains("- [in_progress] survey (via general; do NOT delegate again)"),
            "{}",
            beside.text
        );
        runs.cancel(&world.key, "r1").expect("known");
        all(events).await
    });
    assert_eq!(ended(&events).0, RunStatus::Cancelled);
    assert_eq!(
        delegations(&world, &runs),
        [("survey".to_owned(), "cancelled".to_owned(), None)]
    );
    assert_eq!(world.model.under_way(), 0);
}

#[test]
fn a_killed_run_does_not_delegate_twice_its_subagents_go_on_where_they_were() {
    let world = World::scripted(|n, asked| match prompt(asked) {
        Some(prompt) if prompt.contains("quick") => AgentReply::text("Quick result."),
        Some(_) if n < 5 => {
            AgentReply::calls(&[("s1", "write_file", json!({"path": "seen", "content": "x"}))])
                .after(1_000)
        }
        Some(_) if n < 6 => AgentReply::text("Never heard.").after(20_000),
        Some(_) => AgentReply::text("Slow result."),
        None if n == 0 => calls(&[task("t1", "be quick"), task("t2", "be slow")]),
        None => AgentReply::text("All told."),
    });
    let runs = world.runs("one");
    world.run(async {
        drop(
            runs.start(&world.key, said("r1", "Delegate."))
                .await
                .expect("begun"),
        );
        world.time.sleep_until(world.time.now() + 10_000).await;
    });
    world.nursery.kill();
    world.run(world.time.sleep_until(world.time.now() + 31_000));
    let before = world.model.asked().len();
    let other = world.runs("two");
    let events = world.resumes(&other, None);
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let lines = world.lines(&other);
    assert!(
        lines.contains(&"tool #t1: Quick result.".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("tool #t2: ")),
        "{lines:?}"
    );
    let again = world.model.asked().split_off(before);
    let quick = again
        .iter()
        .filter_map(prompt)
        .filter(|p| p.contains("quick"))
        .count();
    assert_eq!(quick, 0, "what was done is not done again");
    let slow = again
        .iter()
        .find(|a| prompt(a).is_some())
        .expect("it goes on");
    assert!(
        request(slow).iter().any(|line| line.starts_with("tool #")),
        "from its last checkpoint: {:?}",
        request(slow)
    );
    let custom = events
        .iter()
        .any(|e| matches!(e, RunEvent::Custom { name, .. } if &**name == "task"));
    assert!(custom);
}

#[test]
fn a_secret_is_taken_out_of_what_subagents_were_told_too() {
    const SECRET: &str = "lantern-4417-zz";
    let world = World::scripted(|n, asked| match prompt(asked) {
        Some(_) => AgentReply::text(&format!("The key {SECRET} opens it.")),
        None if n == 0 => calls(&[task("t1", &format!("try {SECRET}"))]),
        None => AgentReply::text("It is open."),
    });
    let runs = world.runs("one");
    ended(&world.says(&runs, "r1", "Open the cellar."));
    let threads = runs.threads();
    let holds = || {
        let list = ListThreads::default();
        let all = world.run(threads.list("ann", &list)).expect("listed");
        let text = |id: &str| {
            let key = conspectus::store::ThreadKey::new("ann", id);
            let text = world.run(threads.export(&key)).expect("exported");
            text.contains(SECRET)
        };
        let held = all.iter().filter(|info| text(&info.thread_id));
        (all.len(), held.count())
    };
    assert_eq!(holds(), (2, 2));
    let purge = conspectus::threads::Purge::Secret(SECRET.into());
    world
        .run(threads.purge(&world.key, &purge))
        .expect("purged");
    assert_eq!(holds(), (2, 0));
}
