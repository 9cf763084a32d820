//! Runs of agents in a service of its own process: killed in the middle, and on whose models.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use conspectus_testkit::server::{Asked, HttpServer};
use serde_json::{Value, json};

use super::Service;
use crate::scripted::{body, called, is_agent, nothing, refused, said};
use crate::support::Place;

const SUMMARY: &str = "The plan was gone through step by step; src/part1.rs is about step 1.";

fn say(text: &str) -> Value {
    json!({"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": text}]}})
}

#[test]
fn a_killed_run_is_seen_and_goes_on_where_it_was() {
    let model = HttpServer::start(|number, _| match number {
        0 => called("", "c1", "recall", &json!({"query": "valve"})),
        1 => nothing(),
        _ => said("Turn it left."),
    });
    let place = Place::new();
    let file = format!(
        "models: [{{name: m, base_url: '{}/v1'}}]\nserver: {{lease_ms: 1000}}\n",
        model.url()
    );
    place.write("config.yaml", file.as_bytes());
    let args = ["--config", "config.yaml", "--store", "sqlite:threads.db"];
    let mut service = Service::start(&place, &args);
    service
        .post("/api/threads", &[], &json!({"thread_id": "tea"}))
        .done();
    let begun = service
        .post("/api/threads/tea/runs", &[], &say("Which valve?"))
        .done();
    assert!(model.wait_for_requests(2));
    service.child.kill().expect("it is there");
    service.child.wait().expect("it ends");

    let service = Service::start(&place, &args);
    let path = format!(
        "/api/threads/tea/runs/{}",
        begun["run_id"].as_str().expect("its id")
    );
    // As long as the lease lasts nobody knows that its holder died.
    let is_seen = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        service.get(&path).done()["state"] == "killed"
    });
    assert!(is_seen, "it is never seen");
    assert_eq!(
        service.get("/api/threads/tea/status").done()["run"]["state"],
        "killed"
    );
    assert_eq!(service.get(&path).done()["status"], "error");
    service
        .get(&format!("{path}/stream"))
        .problem(409, "run_killed");
    let values = service
        .post("/api/threads/tea/runs/wait", &[], &json!({}))
        .done();
    let texts: Vec<&str> = values["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|message| message["content"].as_str())
        .collect();
    assert_eq!(texts.last(), Some(&"Turn it left."), "{values}");
    let asked = model.asked();
    assert_eq!(asked.len(), 3);
    let (before, after) = (body(&asked[1]), body(&asked[2]));
    assert_eq!(
        before["messages"], after["messages"],
        "nothing was lost, nothing done twice"
    );
    let shown = service.get(&path).done();
    assert_eq!(
        (&shown["state"], &shown["steps"]),
        (&json!("success"), &json!(2))
    );
}

/// A model with a long answer to agents, calls first.
fn wordy(calls: Vec<(&'static str, Value)>) -> HttpServer {
    let turns = AtomicUsize::new(0);
    HttpServer::start(move |_, asked| {
        if !is_agent(asked) {
            return said(SUMMARY);
        }
        let done = turns.fetch_add(1, Ordering::SeqCst);
        let words: Vec<String> = (0..200)
            .map(|word| format!("w{}", done * 97 + word))
            .collect();
        let text = format!(
            "Step {done} is about src/part{done}.rs: {}",
            words.join(" ")
        );
        match calls.get(done) {
            Some((tool, args)) => called(&text, &format!("c{done}"), tool, args),
            None => said(&text),
        }
    })
}

fn refusing() -> HttpServer {
    HttpServer::start(|_, _| refused())
}

fn of_agents(asked: &[Asked]) -> usize {
    asked.iter().filter(|asked| is_agent(asked)).count()
}

fn summing(server: &HttpServer) -> usize {
    let asked = server.asked();
    asked.len() - of_agents(&asked)
}

/// Whose provider is broken harms nobody who runs on another model: the run's own model sums up, in the lead's
/// automatic compaction, in a subagent's and in the one by hand. The first model refuses, the second cannot even be made.
#[test]
fn a_compaction_is_made_by_the_model_that_the_run_executes_with() {
    let look = || ("recall", json!({"query": "valve"}));
    let (broken, lead, sub) = (
        refusing(),
        wordy(vec![look(), look(), look(), look()]),
        wordy(vec![look(), look(), look(), look()]),
    );
    let place = Place::new();
    let file = format!(
        "models:\n  - {{name: first, base_url: '{}/v1'}}\n  - {{name: unmade, base_url: '{}/v1', api_key: $NO_SUCH_KEY_ANYWHERE}}\n  \
         - {{name: lead, base_url: '{}/v1'}}\n  - {{name: sub, base_url: '{}/v1'}}\n\
         agents:\n  scribe: {{model: sub}}\n  ghost: {{model: unmade}}\n\
         summarization: {{preset: default, enabled: true, trigger: {{messages: 6}}, keep: {{messages: 2}}}}\n",
        broken.url(),
        broken.url(),
        lead.url(),
        sub.url()
    );
    place.write("config.yaml", file.as_bytes());
    let service = Service::start(&place, &["--config", "config.yaml", "--store", "memory"]);
    let run = |thread: &str, body: Value| {
        service
            .post(
                "/api/threads",
                &[],
                &json!({"thread_id": thread, "if_exists": "do_nothing"}),
            )
            .done();
        service
            .post(&format!("/api/threads/{thread}/runs/wait"), &[], &body)
            .done()
    };
    // The lead, by itself.
    let mut body = say("Go through the plan.");
    body["context"] = json!({"model_name": "lead"});
    let values = run("by-name", body);
    assert!(values.get("__error__").is_none(), "{values}");
    assert!(
        values["summary_text"]
            .as_str()
            .is_some_and(|text| text.contains("src/part1.rs")),
        "{values}"
    );
    assert!(summing(&lead) > 0);
    assert_eq!((broken.asked().len(), sub.asked().len()), (0, 0));

    // By hand: the model of the request, then the agent's.
    let before = summing(&lead);
    let compact = json!({"model_name": "lead", "below_keep": true});
    service
        .post("/api/threads/by-name/compact", &[], &compact)
        .done();
    assert_eq!(broken.asked().len(), 0);
    assert!(summing(&lead) >= before);

    // A custom agent's own model, automatic and by hand.
    let mut body = say("Go through the plan.");
    body["assistant_id"] = json!("scribe");
    let values = run("scribes", body);
    assert!(values["summary_text"].is_string(), "{values}");
    assert!(summing(&sub) > 0);
    assert_eq!(broken.asked().len(), 0);

    // A model that could not be made ends its own run, and no other.
    let mut body = say("Go through the plan.");
    body["assistant_id"] = json!("ghost");
    let values = run("ghosts", body);
    let why = values["__error__"]["message"].as_str().expect("it failed");
    assert!(why.contains("NO_SUCH_KEY_ANYWHERE"), "{why}");
    let mut body = say("Go on.");
    body["model_name"] = json!("lead");
    assert!(run("ghosts", body).get("__error__").is_none());
    assert_eq!(broken.asked().len(), 0);
}

/// A subagent's compaction is made by its own model; without one of its own it runs on its lead's.
#[test]
fn a_subagent_compacts_with_the_model_that_it_runs_on() {
    let list = || ("list_dir", json!({"path": "."}));
    let task = |kind: &str| json!({"description": "look", "prompt": "Look into every folder.", "subagent_type": kind});
    let (broken, own) = (refusing(), wordy(vec![list(), list(), list(), list()]));
    let lead = {
        let tasks = [task("with_own"), task("without")];
        let (of_lead, of_subagent) = (AtomicUsize::new(0), AtomicUsize::new(0));
        HttpServer::start(move |_, asked| {
            if !is_agent(asked) {
                return said(SUMMARY);
            }
            let text = body(asked)["messages"].to_string();
            // The lead gives work away; a subagent on the same model does it.
            if !text.contains("Look into every folder.") || text.contains("Give work away") {
                let done = of_lead.fetch_add(1, Ordering::SeqCst);
                return match tasks.get(done) {
                    Some(task) => called("", &format!("t{done}"), "task", task),
                    None => said("All was looked into."),
                };
            }
            let done = of_subagent.fetch_add(1, Ordering::SeqCst);
            let words: Vec<String> = (0..200)
                .map(|word| format!("w{}", done * 97 + word))
                .collect();
            let text = format!(
                "Step {done} is about src/part{done}.rs: {}",
                words.join(" ")
            );
            match done < 4 {
                true => called(
                    &text,
                    &format!("c{done}"),
                    "list_dir",
                    &json!({"path": "."}),
                ),
                false => said(&text),
            }
        })
    };
    let place = Place::new();
    let file = format!(
        "models:\n  - {{name: first, base_url: '{}/v1'}}\n  - {{name: lead, base_url: '{}/v1'}}\n  - {{name: own, base_url: '{}/v1'}}\n\
         agents: {{lead: {{model: lead}}}}\n\
         subagents:\n  types:\n    with_own: {{model: own, description: Looks}}\n    without: {{description: Looks}}\n\
         tools: {{workspaces: work}}\n\
         summarization: {{preset: default, enabled: true, trigger: {{messages: 6}}, keep: {{messages: 2}}}}\n",
        broken.url(),
        lead.url(),
        own.url()
    );
    place.write("config.yaml", file.as_bytes());
    let service = Service::start(&place, &["--config", "config.yaml", "--store", "memory"]);
    service
        .post("/api/threads", &[], &json!({"thread_id": "t"}))
        .done();
    let values = service
        .post("/api/threads/t/runs/wait", &[], &say("Give work away."))
        .done();
    assert!(values.get("__error__").is_none(), "{values}");
    let own_model = own.asked();
    assert!(
        of_agents(&own_model) >= 5 && own_model.len() > of_agents(&own_model),
        "{}",
        own_model.len()
    );
    assert!(summing(&lead) > 0);
    assert_eq!(broken.asked().len(), 0);
    // The files go with the thread.
    let files = place.path("work/default/t");
    assert!(files.is_dir());
    let prune = json!({"thread_ids": ["t"]});
    service.post("/api/threads/prune", &[], &prune).done();
    assert!(!files.exists());
}
