//! Compaction in the loop: before every model call, with the right model, and nothing lost by it.

use conspectus::core::effect::Failure;
use conspectus::core::policy::{Clause, KeepOption, OnFailure, Placement, TriggerOption};
use conspectus::threads::{Compacted, Folding, RunStatus};
use conspectus::{Boxed, TurnRequest};
use conspectus_agent::channel::skill::Reads;
use conspectus_agent::middleware::facts;
use conspectus_agent::{Hooked, Middleware, RunContext, RunEvent, Stack, State, Update};
use conspectus_testkit::model::AgentReply;
use serde_json::json;

use crate::world::{SUMMARY, World, assert_valid, ended, request, warnings};

pub(crate) fn compactions(events: &[RunEvent]) -> Vec<(&Compacted, bool)> {
    let compaction = |event| match event {
        &RunEvent::Compaction {
            ref compacted,
            background,
        } => Some((&**compacted, background)),
        _ => None,
    };
    events.iter().filter_map(compaction).collect()
}

/// Reads large files, then answers.
fn reader(rounds: usize) -> impl FnMut(usize, &TurnRequest) -> AgentReply + Send + 'static {
    move |n, _| match n < rounds {
        true => AgentReply::calls(&[
            (
                &format!("a{n}"),
                "read_file",
                json!({"path": format!("f{n}")}),
            ),
            (
                &format!("b{n}"),
                "list_dir",
                json!({"path": format!("d{n}")}),
            ),
        ]),
        false => AgentReply::text("All read."),
    }
}

fn with_files(world: World, count: usize) -> World {
    let work = world.folder.path().join("work/ann/boiler-7");
    std::fs::create_dir_all(&work).expect("made");
    for n in 0..count {
        let text: String = (0..60)
            .map(|l| format!("file {n} line {l}: the valve of boiler {l} was turned\n"))
            .collect();
        std::fs::write(work.join(format!("f{n}")), text).expect("written");
    }
    world
}

#[test]
fn b1_compaction_runs_before_every_model_call_and_never_between_a_call_and_its_answers() {
    let world = with_files(World::scripted(reader(40)), 40);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all. Never touch the left valve.");
    assert_eq!(
        ended(&events),
        (RunStatus::Success, None),
        "{:?}",
        warnings(&events)
    );
    let done = compactions(&events);
    let changed = done.iter().filter(|(c, _)| c.is_change()).count();
    assert!(changed >= 3, "{changed} compactions of {}", done.len());
    let asked = world.model.asked();
    for (n, asked) in asked.iter().enumerate() {
        assert_valid(asked);
        let lines = request(asked);
        assert!(
            lines
                .iter()
                .any(|line| line.contains("Never touch the left valve.")),
            "call {n}"
        );
        let size: usize = asked.messages.iter().map(|m| m.as_str().len()).sum();
        assert!(size / 4 < 12_000, "call {n}: {size} bytes");
    }
    // Between two compactions a request only grows at its end.
    let mut breaks = 0;
    for pair in asked.windows(2) {
        let extends = pair[1].messages.starts_with(&pair[0].messages);
        breaks += usize::from(!extends);
    }
    assert!(
        breaks <= done.len(),
        "{breaks} breaks, {} compactions",
        done.len()
    );
    let state = world
        .run(runs.threads().state(&world.key, None))
        .expect("a state");
    assert_eq!(state.values.summary_text.as_deref(), Some(SUMMARY));
    assert!(
        !world.lines(&runs).iter().any(|line| line.contains(SUMMARY)),
        "the summary is no message"
    );
}

#[test]
fn b1_hooks_hear_what_goes_in_order_before_it_goes_and_a_failing_one_is_a_warning() {
    struct Hears(&'static str);
    impl Middleware for Hears {
        fn name(&self) -> &'static str {
            self.0
        }
        fn before_fold<'a>(
            &'a self,
            cx: &'a RunContext,
            folding: &'a Folding,
        ) -> Boxed<'a, Result<(), String>> {
            Box::pin(async move {
                let there = cx.threads().state(&cx.key, None).await.expect("a state");
                let value = json!({"going": folding.going.len(), "staying": folding.staying.len(), "there": there.values.messages.len()});
                cx.tell(RunEvent::Custom {
                    name: self.0.into(),
                    value,
                });
                Err(format!("{} is out of order", self.0))
            })
        }
    }
    let world = with_files(World::scripted(reader(40)), 40).adjusted(|setup| {
        let stack = setup.lead.stack.clone();
        setup.lead.stack = stack
            .before("thread_data", Hears("first"))
            .push(Hears("last"));
    });
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    let heard: Vec<(String, u64, u64, u64)> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Custom { name, value } => {
                let number = |key: &str| value[key].as_u64().expect("a number");
                Some((
                    name.to_string(),
                    number("going"),
                    number("staying"),
                    number("there"),
                ))
            }
            _ => None,
        })
        .collect();
    assert!(!heard.is_empty());
    for pair in heard.chunks(2) {
        assert_eq!((&*pair[0].0, &*pair[1].0), ("first", "last"));
        let (_, going, staying, there) = pair[0];
        assert!(
            going > 0 && going + staying == there,
            "{pair:?}: all are still there"
        );
    }
    let failed = warnings(&events);
    assert_eq!(failed.len(), heard.len());
    assert_eq!(
        failed[0],
        "hook first before folding failed: first is out of order"
    );
}

#[test]
fn b1_all_models_failed_leaves_the_state_and_calls_no_hook() {
    struct Hears;
    impl Middleware for Hears {
        fn name(&self) -> &'static str {
            "hears"
        }
        fn before_fold<'a>(
            &'a self,
            cx: &'a RunContext,
            _: &'a Folding,
        ) -> Boxed<'a, Result<(), String>> {
            cx.warn("heard");
            Box::pin(std::future::ready(Ok(())))
        }
    }
    use conspectus_testkit::model::{Behaviour, ScriptedChat, ScriptedModel};
    let mut world = with_files(World::scripted(reader(8)), 8).adjusted(|setup| {
        setup.lead.stack = setup.lead.stack.clone().push(Hears);
    });
    let broken = Behaviour::Error {
        status: 401,
        message: "no key".into(),
    };
    world.summariser = ScriptedChat::new(ScriptedModel::new(broken), &world.time);
    world.options.on_failure = Some(OnFailure::Unchanged);
    world.options.trigger = TriggerOption::Any(vec![Clause {
        messages: Some(12),
        ..Clause::default()
    }]);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    let failed = compactions(&events);
    assert!(
        failed.iter().any(|(c, _)| c.outcome.as_str() == "failed"),
        "{failed:?}"
    );
    assert_eq!(warnings(&events), [] as [String; 0]);
    let state = world
        .run(runs.threads().state(&world.key, None))
        .expect("a state");
    assert_eq!(state.values.summary_text, None);
    assert_eq!(state.values.messages.len(), 2 + 8 * 3 + 1);
}

#[test]
fn b4_active_skills_outlive_the_messages_that_loaded_them_frozen_and_in_front() {
    for placement in [Placement::Frozen, Placement::Front] {
        let mut read = reader(30);
        let script = move |n: usize, request: &TurnRequest| match n {
            0 => AgentReply::calls(&[
                (
                    "s1",
                    "read_file",
                    json!({"path": "/mnt/skills/pdf/SKILL.md"}),
                ),
                (
                    "s2",
                    "read_file",
                    json!({"path": "/mnt/skills/tea/SKILL.md"}),
                ),
            ]),
            n => read(n - 1, request),
        };
        let mut world = with_files(World::scripted(script), 30);
        world.options.placement = Some(placement);
        let runs = world.runs("one");
        let events = world.says(&runs, "r1", "Fill the form.");
        assert_eq!(ended(&events).0, RunStatus::Success);
        assert!(compactions(&events).iter().any(|(c, _)| c.summary_updated));
        let asked = world.model.asked();
        for (n, asked) in asked.iter().enumerate().skip(1) {
            assert_valid(asked);
            let all = request(asked).join("\n");
            for name in ["pdf", "tea"] {
                assert!(
                    all.contains(&format!("/mnt/skills/{name}/SKILL.md")),
                    "{placement:?} call {n}: {all}"
                );
            }
            let is_folded = !all.contains("->read_file#s1");
            let reminder = all.matches("## Active skills").count();
            let expect = usize::from(is_folded || placement == Placement::Front);
            assert_eq!(reminder, expect, "{placement:?} call {n}: {all}");
            let data = all.matches("<durable_context_data>").count();
            assert_eq!(data, usize::from(placement == Placement::Front), "call {n}");
        }
        let last = request(asked.last().expect("a call")).join("\n");
        assert!(
            last.contains("- pdf: How to pdf -> /mnt/skills/pdf/SKILL.md"),
            "{last}"
        );
        assert!(
            !last.contains("->read_file#s1"),
            "the call that loaded it is gone: {last}"
        );
    }
}

#[test]
fn b7_an_overflow_is_compacted_and_sent_once_more_and_only_once() {
    let refused = || AgentReply::Fail(Failure::over(6_000));
    let mut read = reader(8);
    let script = move |n: usize, request: &TurnRequest| match n {
        0..6 => read(n, request),
        6 => refused(),
        _ => AgentReply::text("All read."),
    };
    let world = with_files(World::scripted(script), 8);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let asked = world.model.asked();
    assert_eq!(asked.len(), 8);
    let size = |n: usize| {
        asked[n]
            .messages
            .iter()
            .map(|m| m.as_str().len())
            .sum::<usize>()
    };
    assert!(size(7) < size(6), "{} {}", size(7), size(6));
    asked.iter().for_each(assert_valid);
    let world = with_files(World::scripted(move |_, _| refused()), 8);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", &"An old boiler. ".repeat(900));
    assert_eq!(ended(&events).0, RunStatus::Error);
    assert!(
        world.model.asked().len() <= 2,
        "{}",
        world.model.asked().len()
    );
}

#[test]
fn b8_from_the_soft_trigger_on_a_compaction_runs_beside_and_is_swapped_in_with_late_messages_kept()
{
    let world = with_files(
        World::scripted({
            let mut read = reader(24);
            // Replies take a while, so there is time beside them.
            move |n, request: &TurnRequest| read(n, request).after(400)
        }),
        24,
    );
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all. Never touch the left valve.");
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let beside: Vec<_> = compactions(&events)
        .into_iter()
        .filter(|(_, background)| *background)
        .collect();
    assert!(
        beside.iter().any(|(c, _)| c.is_change()),
        "{:?}",
        compactions(&events)
    );
    let asked = world.model.asked();
    asked.iter().for_each(assert_valid);
    // Every result is in the next request, whatever was swapped in.
    for (n, pair) in asked.windows(2).enumerate() {
        let next = request(&pair[1]).join("\n");
        assert!(next.contains(&format!("tool #a{n}: ")), "call {n}");
    }
}

#[test]
fn memory_is_fed_before_messages_go_and_its_facts_are_told_in_the_next_thread() {
    let mut read = reader(16);
    let script = move |n: usize, request: &TurnRequest| {
        let text = request
            .messages
            .last()
            .map(|m| m.as_str().to_owned())
            .unwrap_or_default();
        match text.contains("<message id=") {
            true => AgentReply::text(
                r#"[{"fact": "The user drinks tea.", "source": "r1-input-0"}, {"fact": "Made up.", "source": "x"}]"#,
            ),
            false => read(n, request),
        }
    };
    let mut world = with_files(World::scripted(script), 16);
    world.options.keep = Some(KeepOption::Messages(4));
    let runs = world.runs("one");
    world.says(&runs, "r1", "I drink tea.");
    // The first request is answered, so it may go now.
    let events = world.says(
        &runs,
        "r2",
        &format!("Read on. {}", "It is an old boiler. ".repeat(1_800)),
    );
    assert_eq!(
        ended(&events).0,
        RunStatus::Success,
        "{:?}",
        warnings(&events)
    );
    let known = world.run(facts(runs.threads(), "ann", 10)).expect("facts");
    let told: Vec<(&str, &str)> = known.iter().map(|f| (&*f.text, &*f.sources[0])).collect();
    assert_eq!(told, [("The user drinks tea.", "r1-input-0")]);
    assert_eq!(&*known[0].thread, "boiler-7");
    assert!(
        world.note(&runs).channels.get("memory_queue").is_none(),
        "the queue is empty again"
    );
    let other = World {
        key: conspectus::store::ThreadKey::new("ann", "other"),
        ..world
    };
    let runs = other.runs("two");
    other.says(&runs, "r3", "Hello.");
    let lines = other.lines(&runs);
    assert!(
        lines[0].contains("<memory>|- The user drinks tea.|</memory>"),
        "{}",
        lines[0]
    );
}

#[test]
fn a_middleware_of_ones_own_may_end_a_run_and_change_state() {
    struct Counts;
    impl Middleware for Counts {
        fn name(&self) -> &'static str {
            "counts"
        }
        fn before_model<'a>(&'a self, _: &'a RunContext, state: &'a State) -> Hooked<'a> {
            let seen = state
                .channels
                .get("seen")
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0);
            let mut update = Update {
                end: seen == 2,
                ..Update::none()
            };
            update.channels.insert("seen".into(), json!(seen + 1));
            Box::pin(std::future::ready(Ok(update)))
        }
    }
    let world = World::scripted(|n, _| {
        AgentReply::calls(&[(
            &format!("c{n}"),
            "list_dir",
            json!({"path": format!("d{n}")}),
        )])
    })
    .adjusted(|setup| setup.lead.stack = Stack::lead(&Reads::default()).push(Counts));
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look.");
    assert_eq!(ended(&events).0, RunStatus::Success);
    assert_eq!(world.model.asked().len(), 2);
    assert_eq!(world.note(&runs).channels["seen"], 3);
}

#[test]
fn b8_a_compaction_beside_the_run_is_discarded_with_its_reason_when_the_history_below_changed() {
    let world = with_files(
        World::scripted({
            let mut read = reader(24);
            move |n, request: &TurnRequest| read(n, request).after(400)
        }),
        24,
    );
    let runs = world.runs("one");
    let summariser = world.summariser.clone();
    let events = world.run(async {
        let mut events = runs
            .start(&world.key, crate::world::said("r1", "Read them all."))
            .await
            .expect("begun");
        let (mut told, mut is_pinned) = (Vec::new(), false);
        while let Some(one) = events.next().await {
            if summariser.under_way() > 0 && !is_pinned {
                is_pinned = true;
                // It was to go.
                runs.threads()
                    .pin(&world.key, "r1-1-b0")
                    .await
                    .expect("pinned");
            }
            told.push(one.event.clone());
        }
        told
    });
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let beside = compactions(&events);
    let discarded = beside
        .iter()
        .find(|(c, background)| *background && c.outcome.as_str() == "conflict");
    assert!(discarded.is_some(), "{beside:?}");
    assert!(
        world
            .lines(&runs)
            .iter()
            .any(|line| line.starts_with("tool #b0: ")),
        "what was pinned stays"
    );
    assert!(
        beside.iter().any(|(c, _)| c.is_change()),
        "the next one is made anew"
    );
}

#[test]
fn a_thread_that_was_rewound_forgets_what_came_behind_and_knows_what_stood_before() {
    let task = |id: &str, what: &str| {
        AgentReply::calls(&[(
            id,
            "task",
            json!({"description": what, "prompt": what, "subagent_type": "general"}),
        )])
    };
    let world = World::new(vec![
        task("t1", "survey"),
        AgentReply::text("Done."),
        AgentReply::text("Surveyed."),
        task("t2", "repair"),
        AgentReply::text("Done."),
        AgentReply::text("Repaired."),
        AgentReply::text("As it was."),
    ]);
    let runs = world.runs("one");
    world.says(&runs, "r1", "Survey.");
    world.says(&runs, "r2", "Repair.");
    let known = |world: &World| {
        let channels = world.note(&runs).channels;
        let entries = channels
            .get("delegations")
            .and_then(|d| d.as_array())
            .cloned()
            .unwrap_or_default();
        entries
            .iter()
            .map(|e| format!("{} {}", e["description"], e["status"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(known(&world).len(), 2);
    let place = conspectus::threads::Place::Message("r1-1".into());
    world
        .run(runs.threads().rewind(&world.key, &place))
        .expect("moved");
    world.says(&runs, "r3", "Where are we?");
    assert_eq!(known(&world), ["\"survey\" \"completed\""]);
}

#[test]
fn a_command_from_elsewhere_shows_what_the_agent_keeps_and_undo_takes_it_back() {
    use conspectus::threads::CompactThread;
    let mut read = reader(8);
    let script = move |n: usize, asked: &TurnRequest| {
        if request(asked)[0].starts_with("system: You look things up.") {
            return AgentReply::text("Three valves.");
        }
        match n {
            0 => AgentReply::calls(&[
                (
                    "s1",
                    "read_file",
                    json!({"path": "/mnt/skills/pdf/SKILL.md"}),
                ),
                (
                    "t1",
                    "task",
                    json!({"description": "survey", "prompt": "Look.", "subagent_type": "general"}),
                ),
            ]),
            n => read(n - 1, asked),
        }
    };
    let world = with_files(World::scripted(script), 10);
    let runs = world.runs("one");
    world.says(&runs, "r1", "Fill the form.");
    world.says(&runs, "r2", "Go on.");
    // Somebody with the same store and no agent.
    let threads = world.threads("two");
    let ask = CompactThread {
        below_keep: true,
        ..CompactThread::default()
    };
    let compacted = world.run(threads.compact(&world.key, &ask));
    assert_eq!(compacted.expect("an outcome").outcome.as_str(), "compacted");
    let shown = || {
        let request = world.run(threads.request(&world.key)).expect("a request");
        let all: Vec<&str> = request.messages.iter().map(|m| m.as_str()).collect();
        all.join("\n")
    };
    let durable = "[completed] survey (via general; do NOT delegate again) -> Three valves.";
    let all = shown();
    assert!(all.contains(durable), "{all}");
    assert!(all.contains("- pdf: How to pdf -> /mnt/skills/pdf/SKILL.md"));
    assert_eq!(all.matches("## Delegated work").count(), 1, "told once");
    world.run(threads.undo(&world.key)).expect("taken back");
    assert!(!shown().contains(durable), "the messages are there again");
    assert!(shown().contains("Three valves."));
}

#[test]
fn ids_that_a_server_repeats_name_one_call_each_also_behind_a_compaction() {
    let mut read = reader(30);
    let script = move |n: usize, asked: &TurnRequest| {
        let lines = request(asked);
        if lines[0].starts_with("system: You look things up.") {
            let is_first = lines.iter().any(|line| line.contains("Look once."));
            return AgentReply::text(if is_first { "One." } else { "Two." });
        }
        let task = |prompt: &str| {
            let args = json!({"description": prompt, "prompt": prompt, "subagent_type": "general"});
            AgentReply::calls(&[("call_0", "task", args)])
        };
        match n {
            0 => task("Look once."),
            2 => task("Look again."),
            4..30 => match read(n, asked) {
                AgentReply::Turn(mut turn) => {
                    for (m, call) in turn.calls.iter_mut().enumerate() {
                        call.id = format!("call_{m}").into();
                    }
                    AgentReply::Turn(turn)
                }
                other => other,
            },
            _ => AgentReply::text("All done."),
        }
    };
    let world = with_files(World::scripted(script), 30);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Look twice.");
    assert_eq!(ended(&events), (RunStatus::Success, None));
    assert!(compactions(&events).iter().any(|(c, _)| c.is_change()));
    world.model.asked().iter().for_each(assert_valid);
    let note = world.note(&runs);
    let briefs: Vec<&str> = note.channels["delegations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| entry["result_brief"].as_str().expect("a brief"))
        .collect();
    assert_eq!(briefs, ["One.", "Two."]);
}

#[test]
fn the_model_reads_back_what_was_folded() {
    let mut read = reader(30);
    let script = move |n: usize, asked: &TurnRequest| match n {
        30 => AgentReply::calls(&[
            ("q1", "recall", json!({"query": "file 0 line 7"})),
            ("q2", "recall", json!({"id": "r1-2-a1"})),
            ("q3", "recall", json!({})),
        ]),
        n if n < 30 => read(n, asked),
        _ => AgentReply::text("Read back."),
    };
    let world = with_files(World::scripted(script), 30);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    assert_eq!(ended(&events), (RunStatus::Success, None));
    let lines = world.lines(&runs);
    let of = |id: &str| {
        let start = format!("tool #{id}: ");
        lines.iter().find(|line| line.starts_with(&start)).cloned()
    };
    let found = of("q1").expect("an answer");
    assert!(found.contains("file 0 line 7"), "{found}");
    let one = of("q2").expect("an answer");
    assert!(one.contains("file 1 line 59"), "{one}");
    assert!(!lines.iter().any(|line| line.contains("->read_file#a1 ")));
    let wrong = "tool #q3: Error: give `query`, `id` or `reference`";
    assert_eq!(of("q3").as_deref(), Some(wrong));
}
