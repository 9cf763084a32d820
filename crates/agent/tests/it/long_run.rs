//! Three hundred turns with everything at once, and what must hold at every model call.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use conspectus::TurnRequest;
use conspectus::core::effect::Failure;
use conspectus::threads::RunStatus;
use conspectus_agent::{RunEvent, Runs};
use conspectus_testkit::model::AgentReply;
use serde_json::{Value, json};

use crate::compacting::compactions;
use crate::world::{World, assert_valid, ended, request, warnings};

const TURNS: usize = 300;
const RULES: &str = "Never touch the left valve.\nAlways say what you did in one line.";

/// At which turn which work is given away; its name says how it ends.
const WORK: [(usize, &[&str]); 5] = [
    (
        20,
        &["survey the cellar", "survey the roof", "survey the yard"],
    ),
    (60, &["fail on the pump", "sleep over the gauge"]),
    (
        100,
        &["price the pipes", "price the seals", "price the tap"],
    ),
    (150, &["circle round the house", "draw the plan"]),
    (200, &["check the plan", "order the parts"]),
];
const SKILLS: [(usize, &str); 5] = [
    (5, "pdf"),
    (40, "doc"),
    (90, "tea"),
    (140, "map"),
    (210, "sum"),
];
const QUESTION: usize = 130;

/// What the scripted model did so far.
#[derive(Default)]
struct Done {
    turn: usize,
    given: BTreeMap<&'static str, usize>,
    read: Vec<&'static str>,
    said: Vec<String>,
}

fn is_subagent(asked: &TurnRequest) -> bool {
    request(asked)[0].starts_with("system: You look things up.")
}

/// A request with everything that stands in it.
fn whole(asked: &TurnRequest) -> String {
    let all: Vec<&str> = asked.messages.iter().map(|json| json.as_str()).collect();
    all.join("\n")
}

/// A model that would give work away again, or read a skill again, if the request no longer told of it.
fn lead(done: &mut Done, asked: &TurnRequest) -> AgentReply {
    let turn = done.turn;
    done.turn += 1;
    let shown = whole(asked);
    let mut due = WORK
        .iter()
        .filter(|(at, _)| *at <= turn)
        .flat_map(|(_, work)| work.iter().copied());
    let is_new = WORK.iter().any(|(at, _)| *at == turn);
    let missing: Vec<&str> = match is_new || turn.is_multiple_of(7) {
        true => due.by_ref().filter(|what| !shown.contains(what)).collect(),
        false => Vec::new(),
    };
    let calls: Vec<(String, &str, Value)> = if !missing.is_empty() {
        for what in &missing {
            *done.given.entry(what).or_default() += 1;
        }
        let task = |(n, what): (usize, &&str)| {
            let args = json!({"description": what, "prompt": format!("Please {what}."), "subagent_type": "general"});
            (format!("t{turn}-{n}"), "task", args)
        };
        missing.iter().enumerate().map(task).collect()
    } else if let Some((_, name)) = SKILLS.iter().find(|(at, _)| *at == turn) {
        done.read.push(name);
        let path = format!("/mnt/skills/{name}/SKILL.md");
        vec![(format!("s{turn}"), "read_file", json!({"path": path}))]
    } else if turn == QUESTION {
        let args = json!({"question": "Which valve?"});
        vec![(format!("q{turn}"), "ask_clarification", args)]
    } else if turn % 10 == 9 {
        done.said.push(format!("{turn:03} says"));
        return AgentReply::text(&format!("Part {} is done.", turn / 10)).after(100);
    } else {
        let mut calls = vec![(
            format!("r{turn}"),
            "read_file",
            json!({"path": format!("f{}", turn % 40)}),
        )];
        if turn.is_multiple_of(4) {
            calls.push((
                format!("w{turn}"),
                "write_file",
                json!({"path": format!("out/{turn}"), "content": "x"}),
            ));
        }
        calls
    };
    let names: Vec<&str> = calls.iter().map(|(_, name, _)| *name).collect();
    done.said.push(format!("{turn:03} {}", names.join(" ")));
    let calls: Vec<(&str, &str, Value)> = calls
        .iter()
        .map(|(id, name, args)| (&**id, *name, args.clone()))
        .collect();
    AgentReply::calls(&calls).after(100)
}

fn subagent(n: usize, asked: &TurnRequest) -> AgentReply {
    let all = request(asked).join("\n");
    if all.contains("Please fail") {
        AgentReply::Fail(Failure::Unusable {
            message: "no key".into(),
        })
    } else if all.contains("Please sleep") {
        AgentReply::text("Too late.").after(90_000)
    } else if all.contains("Please circle") {
        AgentReply::calls(&[(&format!("c{n}"), "list_dir", json!({}))])
    } else {
        AgentReply::text("It is in good order.").after(700)
    }
}

fn world(done: Arc<Mutex<Done>>) -> World {
    let world = World::scripted(move |n, asked| {
        if asked.tools.is_empty() {
            // The memory asks for facts.
            return AgentReply::text("[]");
        }
        match is_subagent(asked) {
            true => subagent(n, asked),
            false => lead(&mut done.lock().expect("unpoisoned"), asked),
        }
    });
    let work = world.folder.path().join("work/ann/boiler-7");
    std::fs::create_dir_all(&work).expect("made");
    for n in 0..40 {
        let text: String = (0..50)
            .map(|l| format!("file {n} line {l}: boiler {l} has a valve\n"))
            .collect();
        std::fs::write(work.join(format!("f{n}")), text).expect("written");
    }
    world
}

fn all_runs(world: &World, runs: &Runs, done: &Mutex<Done>) -> Vec<RunEvent> {
    let mut events = Vec::new();
    let mut part = 0;
    while done.lock().expect("unpoisoned").turn < TURNS {
        let text = match part {
            0 => format!("Mend the boiler.\n{RULES}"),
            _ => format!("Go on with part {part}."),
        };
        let mut told = world.says(runs, &format!("r{part}"), &text);
        if ended(&told).0 == RunStatus::Interrupted {
            told.extend(world.resumes(runs, Some(json!("the right one"))));
        }
        assert_eq!(
            ended(&told),
            (RunStatus::Success, None),
            "part {part}: {:?}",
            warnings(&told)
        );
        events.extend(told);
        part += 1;
    }
    events
}

#[test]
fn three_hundred_turns_lose_nothing() {
    let done = Arc::new(Mutex::new(Done::default()));
    let world = world(done.clone());
    let runs = world.runs("one");
    let events = all_runs(&world, &runs, &done);
    assert_eq!(warnings(&events), [] as [String; 0]);
    let done = done.lock().expect("unpoisoned");
    let summaries = compactions(&events)
        .iter()
        .filter(|(c, _)| c.summary_updated)
        .count();
    let changes = compactions(&events)
        .iter()
        .filter(|(c, _)| c.is_change())
        .count();
    assert!(summaries >= 10, "{summaries} summaries");
    // Nothing was given away twice.
    assert_eq!(done.given.len(), 12);
    assert!(
        done.given.values().all(|times| *times == 1),
        "{:?}",
        done.given
    );
    assert_eq!(done.read.len(), 5);
    let asked = world.model.asked();
    let of_lead: Vec<&TurnRequest> = asked
        .iter()
        .filter(|a| !a.tools.is_empty() && !is_subagent(a))
        .collect();
    assert!(of_lead.len() >= TURNS);
    let (mut breaks, mut shape) = (0, String::new());
    for (turn, asked) in of_lead.iter().enumerate() {
        assert_valid(asked);
        let all = whole(asked);
        for rule in RULES.lines() {
            assert!(all.contains(rule), "turn {turn}: {rule}\n{all}");
        }
        let given: Vec<&str> = WORK
            .iter()
            .filter(|(at, _)| *at < turn)
            .flat_map(|(_, w)| w.iter().copied())
            .collect();
        let shown = given.iter().filter(|what| all.contains(**what)).count();
        assert_eq!(shown, given.len(), "turn {turn}: {all}");
        let read: Vec<&str> = SKILLS
            .iter()
            .filter(|(at, _)| *at < turn)
            .map(|(_, name)| *name)
            .collect();
        let active = read.iter().filter(|name| {
            let path = format!("/mnt/skills/{name}/SKILL.md");
            // Not only in the list of all skills.
            all.matches(&path).count() >= 2
        });
        let active = active.count();
        assert_eq!(active, read.len(), "turn {turn}: {all}");
        let is_same = turn == 0 || asked.messages.starts_with(&of_lead[turn - 1].messages);
        breaks += usize::from(!is_same);
        let is_folded = all.contains("<conversation_record>");
        let _ = writeln!(
            shape,
            "{}{:>4} messages{}{}{} -> {}",
            if is_same { " " } else { "!" },
            asked.messages.len(),
            if is_folded { ", a summary" } else { "" },
            if shown > 0 {
                format!(", {shown} delegations")
            } else {
                String::new()
            },
            if active > 0 {
                format!(", {active} skills")
            } else {
                String::new()
            },
            done.said.get(turn).map_or("", String::as_str),
        );
    }
    assert!(
        breaks <= changes,
        "the prefix changed {breaks} times in {changes} changes"
    );
    insta::assert_snapshot!(shape);
}
