//! What the peer loses, and ours does not: sections B1 and B7 of the description of its behaviour.

use conspectus::core::policy::{Clause, KeepOption, Placement, Preset, TriggerOption};
use conspectus::{Prompt, TurnRequest};
use conspectus_agent::RunEvent;
use conspectus_testkit::model::{AgentReply, Behaviour, ScriptedChat, ScriptedModel};
use serde_json::json;

use crate::compacting::compactions;
use crate::world::{World, assert_valid, ended, request};

/// So many calls side by side in each of so many replies; every file says its number.
fn results(
    rounds: usize,
    each: usize,
) -> impl FnMut(usize, &TurnRequest) -> AgentReply + Send + 'static {
    move |n, _| match n % (rounds + 1) < rounds {
        true => {
            let path = |m: usize| json!({"path": format!("f{}", (n * each + m) % 200)});
            let ids: Vec<String> = (0..each).map(|m| format!("c{n}-{m}")).collect();
            let calls: Vec<_> = ids
                .iter()
                .enumerate()
                .map(|(m, id)| (&**id, "read_file", path(m)))
                .collect();
            AgentReply::calls(&calls)
        }
        false => AgentReply::text("All read."),
    }
}

/// Files of so many bytes.
fn world(
    size: usize,
    script: impl FnMut(usize, &TurnRequest) -> AgentReply + Send + 'static,
) -> World {
    let world = World::scripted(script);
    let work = world.folder.path().join("work/ann/boiler-7");
    std::fs::create_dir_all(&work).expect("made");
    for n in 0..200 {
        let line = format!("valve {n} of the boiler was turned a little\n");
        let text = format!("RESULT {n};\n{}", line.repeat(size / line.len()));
        std::fs::write(work.join(format!("f{n}")), text).expect("written");
    }
    world
}

/// Everything that the summariser was given, one text a call.
fn given(world: &World) -> Vec<String> {
    let asked = world.summariser.asked().into_iter();
    let texts = asked.map(|call| match call.prompt {
        Prompt::Text { system, user } => format!("{system}\n{user}"),
        Prompt::Body(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    });
    texts.collect()
}

fn deerflow(world: &mut World, trigger: u64, keep: u64) {
    world.options.preset = Preset::Deerflow;
    world.options.enabled = Some(true);
    world.options.trigger = TriggerOption::Any(vec![Clause {
        messages: Some(trigger),
        ..Clause::default()
    }]);
    world.options.keep = Some(KeepOption::Messages(keep));
    world.options.trim_tokens = Some(Some(4_000));
    world.options.max_context = Some(200_000);
}

#[test]
fn b7_1_and_b7_2_everything_that_goes_is_read_at_the_first_and_at_every_later_compaction() {
    let mut world = world(1_200, results(90, 1));
    deerflow(&mut world, 57, 2);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    let summaries = compactions(&events)
        .iter()
        .filter(|(c, _)| c.summary_updated)
        .count();
    assert!(summaries >= 2, "{summaries}");
    let given = given(&world).join("\n");
    let window = world.lines(&runs).join("\n");
    for n in 0..90 {
        let result = format!("RESULT {n};");
        assert!(
            given.contains(&result) || window.contains(&result),
            "{result} is in neither"
        );
    }
    assert!(
        window.contains("human: Read them all."),
        "the request stays"
    );
}

#[test]
fn b7_3_parallel_results_never_lose_their_call_wherever_keep_would_cut() {
    for keep in 1..9 {
        let mut world = world(3_000, results(14, 5));
        world.options.keep = Some(KeepOption::Messages(keep));
        let runs = world.runs("one");
        let events = world.says(&runs, "r1", "Read them all.");
        assert!(
            compactions(&events).iter().any(|(c, _)| c.is_change()),
            "keep {keep}"
        );
        world.model.asked().iter().for_each(assert_valid);
    }
}

#[test]
fn b7_4_large_results_do_not_make_every_turn_a_compaction() {
    let mut world = world(20_000, results(60, 1));
    world.options.max_context = Some(200_000);
    world.options.trigger = TriggerOption::Any(vec![Clause {
        tokens: Some(5_000),
        ..Clause::default()
    }]);
    world.options.keep = Some(KeepOption::Messages(10));
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    let calls = world.summariser.asked().len();
    let summaries = compactions(&events)
        .iter()
        .filter(|(c, _)| c.summary_updated)
        .count();
    assert!(
        calls <= 20,
        "{calls} calls, {summaries} summaries; the peer makes 55"
    );
}

#[test]
fn b7_5_without_trimming_one_call_is_given_all_of_it() {
    let mut world = world(1_200, results(58, 1));
    deerflow(&mut world, 57, 2);
    world.options.trim_tokens = Some(None);
    let runs = world.runs("one");
    world.says(&runs, "r1", "Read them all.");
    let longest = given(&world).iter().map(String::len).max().unwrap_or(0);
    assert!(
        longest > 4_000 * 5,
        "{longest} bytes: more than 4,000 tokens"
    );
}

/// One of many sentences, no two alike.
fn sentence(n: usize) -> String {
    let syllables = [
        "ba", "ko", "ri", "mu", "ten", "la", "vos", "gi", "pra", "du", "sel", "no", "fim",
    ];
    let mut state = n * 7_919 + 13;
    let mut word = || {
        let parts = (0..3).map(|_| {
            state = (state * 1_103 + 12_345) % 65_537;
            syllables[state % syllables.len()]
        });
        parts.collect::<String>()
    };
    let words: Vec<String> = (0..7).map(|_| word()).collect();
    format!("{} (valve {n}).", words.join(" "))
}

#[test]
fn b7_6_a_summary_is_shown_whole_whatever_its_length() {
    for placement in [Placement::Frozen, Placement::Front] {
        let mut world = world(6_000, results(40, 1));
        let long: String = (0..150).map(|n| sentence(n) + "\n").collect();
        assert!(long.len() > 9_000);
        let long = Behaviour::text(long);
        world.summariser = ScriptedChat::new(ScriptedModel::new(long), &world.time);
        world.options.placement = Some(placement);
        world.options.max_context = Some(60_000);
        world.options.max_summary_tokens = Some(6_000);
        world.max_output = 8_000;
        world.options.prune.mask = Some(false);
        world.options.fidelity = Some(conspectus::core::policy::Fidelity::Off);
        let runs = world.runs("one");
        let events = world.says(&runs, "r1", "Read them all.");
        assert!(
            compactions(&events).iter().any(|(c, _)| c.summary_updated),
            "{:?}",
            compactions(&events)
        );
        let told = world
            .run(runs.threads().events(&world.key, 0, 1_000))
            .expect("events");
        let failed: Vec<&str> = told
            .iter()
            .map(|t| t.event.as_str())
            .filter(|e| e.contains("model_failed"))
            .collect();
        assert!(failed.is_empty(), "{failed:?}");
        let last = request(world.model.asked().last().expect("a call")).join("\n");
        for n in 0..150 {
            assert!(last.contains(&sentence(n)), "{placement:?} {n}: {last}");
        }
    }
}

#[test]
fn b1_reminders_and_the_current_request_stay_and_earlier_requests_may_go() {
    let world = world(1_500, results(30, 1));
    let runs = world.runs("one");
    world.says(&runs, "r1", "An earlier request.");
    let events = world.says(&runs, "r2", "The current request.");
    assert!(compactions(&events).iter().any(|(c, _)| c.summary_updated));
    let lines = world.lines(&runs);
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(
        has("<system-reminder>") && has("human: The current request."),
        "{lines:?}"
    );
    assert!(!has("human: An earlier request."), "{lines:?}");
    let order: Vec<bool> = lines
        .iter()
        .map(|line| line.contains("The current request."))
        .collect();
    assert!(
        order.iter().position(|is| *is) < Some(3),
        "in front of what is kept: {lines:?}"
    );
}

#[test]
fn b1_nothing_of_a_summary_call_reaches_the_stream_or_the_messages() {
    let world = world(1_500, results(60, 1));
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    assert!(compactions(&events).iter().any(|(c, _)| c.summary_updated));
    let leaks = events.iter().filter(|event| match event {
        RunEvent::Delta { .. } | RunEvent::Message { .. } => {
            format!("{event:?}").contains(crate::world::SUMMARY)
        }
        _ => false,
    });
    assert_eq!(leaks.count(), 0);
    let ids: Vec<String> = world
        .window(&runs)
        .iter()
        .filter_map(|m| m.id().map(str::to_owned))
        .collect();
    assert!(ids.iter().all(|id| id.starts_with("r1-")), "{ids:?}");
}

#[test]
fn b1_disabled_means_that_nothing_is_compacted_and_no_summariser_is_asked() {
    let mut world = world(3_000, results(20, 1));
    world.options.enabled = Some(false);
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Read them all.");
    assert_eq!(
        (compactions(&events).len(), world.summariser.asked().len()),
        (0, 0)
    );
    assert_eq!(world.lines(&runs).len(), 2 + 20 * 2 + 1);
}

#[test]
fn b1_a_subagent_compacts_by_itself_and_feeds_no_memory() {
    let mut read = results(30, 1);
    let mut turn = 0;
    let script = move |_: usize, asked: &TurnRequest| {
        if request(asked)[0].starts_with("system: You look things up.") {
            turn += 1;
            return read(turn - 1, asked);
        }
        match asked.messages.len() < 4 {
            true => AgentReply::calls(&[(
                "t1",
                "task",
                json!({"description": "read", "prompt": "Please read.", "subagent_type": "general"}),
            )]),
            false => AgentReply::text("All told."),
        }
    };
    let world = world(1_500, script).adjusted(|setup| {
        let kind = &mut setup.subagents[0];
        let mut profile = (*kind.profile).clone();
        profile.limits.max_model_calls = 100;
        kind.profile = std::sync::Arc::new(profile);
    });
    let work = world.folder.path().join("work/ann/boiler-7");
    assert!(work.join("f1").exists());
    let runs = world.runs("one");
    let events = world.says(&runs, "r1", "Delegate.");
    assert_eq!(ended(&events).0, conspectus::threads::RunStatus::Success);
    let list = conspectus::threads::ListThreads {
        metadata: json!({"kind": "subagent"})
            .as_object()
            .cloned()
            .expect("members"),
        ..Default::default()
    };
    let threads = world
        .run(runs.threads().list("ann", &list))
        .expect("a list");
    let key = conspectus::store::ThreadKey::new("ann", &threads[0].thread_id);
    let state = world
        .run(runs.threads().state(&key, None))
        .expect("a state");
    assert!(state.values.summary_count > 0, "it compacted");
    for key in [&key, &world.key] {
        let note = world.run(runs.threads().note(key)).expect("a note");
        assert!(
            !note.channels.contains_key("memory_queue"),
            "{:?}",
            note.channels
        );
    }
    assert!(
        compactions(&events).is_empty(),
        "the lead's own thread is small"
    );
}
