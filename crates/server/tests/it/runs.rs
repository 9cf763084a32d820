//! Runs of agents over HTTP, with a scripted model behind them.

use std::sync::Arc;

use conspectus_testkit::client::parts;
use conspectus_testkit::model::{AgentReply, ScriptedAgent};
use serde_json::{Value, json};

use crate::support::{Gate, Held, Says, Service, Stream, With, calls, scripted};

const RUNS: &str = "/api/threads/tea/runs";

/// A service whose agent answers so, with a thread `tea`.
fn service(replies: Vec<AgentReply>) -> (Service, ScriptedAgent) {
    let model = scripted(replies);
    let service = Service::with(With {
        config: "server: {heartbeat_ms: 50}\n",
        models: vec![("m", Arc::new(Says::default()))],
        agents: vec![("m", Arc::new(model.clone()))],
        ..With::default()
    });
    service.thread("tea");
    (service, model)
}

/// A service whose agent waits to answer.
fn held() -> (Service, Arc<Held>) {
    let held = Held::new();
    let service = Service::with(With {
        config: "server: {heartbeat_ms: 20, shutdown_ms: 100}\n",
        models: vec![("m", Arc::new(Says::default()))],
        agents: vec![("m", Arc::new(Gate(held.clone())))],
        ..With::default()
    });
    service.thread("tea");
    (service, held)
}

fn say(text: &str) -> Value {
    json!({"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": text}]}})
}

fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

fn names(all: &[(String, Value)]) -> Vec<&str> {
    all.iter().map(|(name, _)| name.as_str()).collect()
}

fn texts(values: &Value) -> Vec<&str> {
    let messages = values["messages"].as_array().expect("a list");
    messages
        .iter()
        .filter_map(|m| m["content"].as_str())
        .collect()
}

#[test]
fn a_run_is_streamed_in_langgraphs_shapes() {
    let (service, _) = service(vec![AgentReply::text("Tea is ready.").using(120, 5)]);
    let modes = json!(["values", "messages-tuple", "updates", "custom"]);
    let body = with(say("Tea?"), "stream_mode", modes);
    let (head, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &body);
    assert_eq!(head.status, 200, "{head:?}");
    assert_eq!(head.header("content-type"), "text/event-stream");
    let all = stream.all();
    let run = all[0].1["run_id"].as_str().expect("its id");
    let place = format!("{RUNS}/{run}");
    assert_eq!(head.header("content-location"), place);
    assert_eq!(
        head.header("location"),
        format!("/threads/tea/runs/{run}/stream")
    );
    assert_eq!(all[0].0, "metadata");
    assert_eq!(
        all.last()
            .map(|(name, data)| (name.as_str(), &data["status"])),
        Some(("end", &json!("success")))
    );
    let pieces = all.iter().filter(|(name, _)| name == "messages");
    let pieces: String = pieces
        .filter_map(|(_, data)| data[0]["content"].as_str())
        .collect();
    assert_eq!(pieces, "Tea is ready.");
    let update = all
        .iter()
        .find(|(name, _)| name == "updates")
        .expect("one step");
    assert_eq!(update.1["model"]["messages"][0]["content"], "Tea is ready.");
    let values = all
        .iter()
        .rfind(|(name, _)| name == "values")
        .expect("the state");
    let said = texts(&values.1);
    assert!(
        said.contains(&"Tea?") && said.last() == Some(&"Tea is ready."),
        "{said:?}"
    );

    let shown = service.get(&place).done();
    assert_eq!(
        (&shown["status"], &shown["state"]),
        (&json!("success"), &json!("success"))
    );
    assert_eq!(shown["model"], "m");
    assert_eq!(service.get(RUNS).done(), json!([shown]));
    assert_eq!(
        service.get(&format!("{RUNS}?status=running")).done(),
        json!([])
    );
    assert_eq!(service.get("/api/threads/tea").done()["status"], "idle");
    assert_eq!(
        service.get("/api/threads/tea/status").done()["run"]["run_id"],
        run
    );
    let metrics = service.get("/metrics").body;
    assert!(
        metrics.contains("conspectus_runs_total{status=\"success\"} 1"),
        "{metrics}"
    );
}

#[test]
fn whole_messages_grow_in_mode_messages() {
    let (service, _) = service(vec![AgentReply::text("Tea is ready.")]);
    let body = with(say("Tea?"), "stream_mode", json!("messages"));
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &body);
    let all = stream.all();
    assert_eq!(
        names(&all),
        [
            "metadata",
            "messages/metadata",
            "messages/partial",
            "messages/partial",
            "messages/complete",
            "end"
        ]
    );
    assert_eq!(all[4].1[0]["content"], "Tea is ready.");
}

#[test]
fn a_run_is_begun_joined_and_waited_for() {
    let (service, model) = service(vec![AgentReply::text("Yes.")]);
    let begun = service.post(RUNS, &say("Tea?")).done();
    let run = begun["run_id"].as_str().expect("its id");
    let joined = service.get(&format!("{RUNS}/{run}/join")).done();
    assert_eq!(texts(&joined).last(), Some(&"Yes."));
    let waited = service.post(&format!("{RUNS}/wait"), &say("And now?"));
    assert!(waited.header("content-location").starts_with(RUNS));
    let waited = waited.done();
    assert_eq!(texts(&waited).last(), Some(&"Yes."));
    assert_eq!(model.asked().len(), 2);
    // The run before the last one: this process still knows how it ended.
    assert_eq!(
        service.get(&format!("{RUNS}/{run}")).done()["status"],
        "success"
    );
    service
        .get(&format!("{RUNS}/nobody"))
        .problem(404, "run_not_found");
    service
        .get(&format!("{RUNS}/nobody/join"))
        .problem(404, "run_not_found");
}

#[test]
fn tools_are_told_step_by_step() {
    let look = calls("c1", "recall", json!({"query": "valve"}));
    let (service, _) = service(vec![look, AgentReply::text("Nothing.")]);
    let body = with(
        say("Which valve?"),
        "stream_mode",
        json!(["updates", "custom"]),
    );
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &body);
    let all = stream.all();
    let steps: Vec<&str> = all
        .iter()
        .filter(|(name, _)| name == "updates")
        .filter_map(|(_, data)| data.as_object()?.keys().next().map(String::as_str))
        .collect();
    assert_eq!(steps, ["model", "tools", "model"]);
    let told = all.iter().filter(|(name, _)| name == "custom");
    let told: Vec<_> = told
        .filter_map(|(_, data)| data["event"].as_str())
        .collect();
    assert!(
        told.contains(&"tool_start") && told.contains(&"tool_end"),
        "{told:?}"
    );
}

#[test]
fn a_question_stops_the_run_and_the_answer_takes_it_up() {
    let ask = calls(
        "c1",
        "ask_clarification",
        json!({"question": "Green or black?"}),
    );
    let (service, model) = service(vec![ask, AgentReply::text("Black it is.")]);
    let stopped = service.post(&format!("{RUNS}/wait"), &say("Tea!")).done();
    let question = &stopped["__interrupt__"][0];
    assert_eq!(question["id"], "c1");
    assert_eq!(question["value"]["question"], "Green or black?");
    let thread = service.get("/api/threads/tea").done();
    let run = thread["run_id"].as_str().expect("a run");
    assert_eq!(thread["status"], "interrupted");
    assert_eq!(thread["interrupts"][run], stopped["__interrupt__"]);
    let state = service.get("/api/threads/tea/state").done();
    assert_eq!(state["next"], json!(["tools"]));
    assert_eq!(state["tasks"][0]["interrupts"], stopped["__interrupt__"]);
    let found = service
        .post("/api/threads/search", &json!({"status": "interrupted"}))
        .done();
    assert_eq!(found[0]["thread_id"], "tea");
    assert_eq!(
        service.get(&format!("{RUNS}/{run}")).done()["status"],
        "interrupted"
    );

    service
        .post(&format!("{RUNS}/wait"), &json!({}))
        .problem(409, "answer_missing");
    let answer = json!({"assistant_id": "agent", "command": {"resume": "black"}});
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &answer);
    let all = stream.all();
    assert_eq!(all[0].1["run_id"], run, "it is the same run");
    assert_eq!(all[0].1["resumed"], true);
    let values = &all
        .iter()
        .rfind(|(name, _)| name == "values")
        .expect("the state")
        .1;
    assert_eq!(
        texts(values)[texts(values).len() - 2..],
        ["black", "Black it is."]
    );
    assert_eq!(model.asked().len(), 2);
    service
        .post(RUNS, &answer)
        .problem(409, "nothing_to_resume");
    let state = service.get("/api/threads/tea/state").done();
    assert_eq!(
        (&state["next"], &state["interrupts"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn one_run_a_thread_and_no_compaction_meanwhile() {
    let (service, held) = held();
    let begun = service.post(RUNS, &say("Tea?")).done();
    held.wait();
    assert_eq!(begun["status"], "running");
    assert_eq!(service.get("/api/threads/tea").done()["status"], "busy");
    service
        .post(RUNS, &say("More?"))
        .problem(409, "run_in_flight");
    let refused = service.post("/api/threads/tea/compact", &json!({"force": true}));
    let refused = refused.problem(409, "run_in_flight");
    assert_eq!(
        refused["detail"],
        "Thread has a run in flight. Compact after the run finishes."
    );
    held.may.add_permits(1);
    let run = begun["run_id"].as_str().expect("its id");
    let joined = service.get(&format!("{RUNS}/{run}/join")).done();
    assert_eq!(texts(&joined).last(), Some(&"Tea is ready."));
    service
        .post("/api/threads/tea/compact", &json!({"force": true}))
        .done();
}

#[test]
fn a_newer_run_may_stop_the_one_before() {
    let (service, held) = held();
    let first = service.post(RUNS, &say("Tea?")).done();
    held.wait();
    let body = with(say("Coffee!"), "multitask_strategy", json!("interrupt"));
    let second = service.post(RUNS, &body).done();
    let place = |run: &Value| format!("{RUNS}/{}", run["run_id"].as_str().expect("its id"));
    assert_eq!(service.get(&place(&first)).done()["state"], "cancelled");
    held.wait();
    held.may.add_permits(1);
    let values = service.get(&format!("{}/join", place(&second))).done();
    assert!(texts(&values).contains(&"Coffee!"));
}

#[test]
fn a_run_is_stopped_and_taken_up_again() {
    let (service, held) = held();
    let begun = service.post(RUNS, &say("Tea?")).done();
    held.wait();
    let place = format!("{RUNS}/{}", begun["run_id"].as_str().expect("its id"));
    service
        .ask(
            "POST",
            &format!("{place}/cancel?action=rollback"),
            &[],
            None,
        )
        .problem(422, "invalid_request");
    let stopped = service.ask(
        "POST",
        &format!("{place}/cancel?wait=1&action=interrupt"),
        &[],
        None,
    );
    assert_eq!((stopped.status, stopped.body.as_str()), (204, ""));
    let shown = service.get(&place).done();
    assert_eq!(
        (&shown["status"], &shown["state"]),
        (&json!("interrupted"), &json!("cancelled"))
    );
    service
        .ask("POST", &format!("{place}/cancel"), &[], None)
        .problem(409, "run_over");
    held.may.add_permits(1);
    let again = service
        .post(&format!("{RUNS}/wait"), &json!({"input": null}))
        .done();
    assert_eq!(texts(&again).last(), Some(&"Tea is ready."));
    assert_eq!(service.get(&place).done()["state"], "success");
}

#[test]
fn a_run_outlives_its_reader_unless_it_is_told_not_to() {
    let (service, held) = held();
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &say("Tea?"));
    let first = parts(&stream.event().expect("it begins"));
    let place = format!("{RUNS}/{}", first.1["run_id"].as_str().expect("its id"));
    held.wait();
    drop(stream);
    assert_eq!(service.get(&place).done()["state"], "running");
    held.may.add_permits(1);
    assert_eq!(
        texts(&service.get(&format!("{place}/join")).done()).last(),
        Some(&"Tea is ready.")
    );

    let body = with(say("More?"), "on_disconnect", json!("cancel"));
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &body);
    let first = parts(&stream.event().expect("it begins"));
    let place = format!("{RUNS}/{}", first.1["run_id"].as_str().expect("its id"));
    held.wait();
    drop(stream);
    service.get(&format!("{place}/join")).done();
    assert_eq!(service.get(&place).done()["state"], "cancelled");
}

#[test]
fn a_reader_comes_back_and_misses_nothing() {
    let (service, held) = held();
    let body = with(
        say("Tea?"),
        "stream_mode",
        json!(["messages-tuple", "values"]),
    );
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &body);
    let mut heard = Vec::new();
    let mut last = String::new();
    while !heard
        .iter()
        .any(|(name, _): &(String, Value)| name == "messages")
    {
        let event = stream.event().expect("it goes on");
        let id = event.lines().find_map(|line| line.strip_prefix("id: "));
        last = id.map_or(last, str::to_owned);
        heard.push(parts(&event));
    }
    held.wait();
    drop(stream);
    held.may.add_permits(1);
    let run = heard[0].1["run_id"].as_str().expect("its id").to_owned();
    let path = format!("{RUNS}/{run}/stream?stream_mode=messages-tuple&stream_mode=values");
    let (_, mut stream) = Stream::open(service.address(), &path, &[("last-event-id", &last)]);
    heard.extend(stream.all());
    let pieces = heard.iter().filter(|(name, _)| name == "messages");
    let pieces: String = pieces
        .filter_map(|(_, data)| data[0]["content"].as_str())
        .collect();
    assert_eq!(pieces, "Tea is ready.");
    assert_eq!(
        names(&heard)
            .iter()
            .filter(|name| **name == "metadata")
            .count(),
        1
    );
    assert_eq!(heard.last().map(|(name, _)| name.as_str()), Some("end"));
    // A number that is no event of this attempt: all of it again.
    let (_, mut stream) = Stream::open(service.address(), &path, &[("last-event-id", "7-7-7")]);
    assert_eq!(
        stream
            .all()
            .first()
            .map(|(name, _)| name.clone())
            .as_deref(),
        Some("metadata")
    );
}

#[test]
fn what_cannot_be_meant_is_said_before_anything_begins() {
    let (service, model) = service(vec![AgentReply::text("Yes.")]);
    for body in [
        json!({"input": {"messages": []}}),
        json!({"input": {"messages": [{"content": "by nobody"}]}}),
        json!({"input": {"messages": "text"}}),
        json!({"input": {"todos": []}}),
        json!({"input": {}}),
        json!({"input": {"messages": [{"role": "user", "content": "x"}]}, "command": {"resume": 1}}),
        json!({"command": {"goto": "tools"}}),
        with(say("x"), "stream_mode", json!("debug")),
        with(say("x"), "webhook", json!("http://example.com")),
        with(say("x"), "after_seconds", json!(5)),
        with(say("x"), "multitask_strategy", json!("rollback")),
        with(say("x"), "agent_name", json!("a".repeat(129))),
        with(say("x"), "more", json!(1)),
    ] {
        service.post(RUNS, &body).problem(422, "invalid_request");
    }
    let unknown = with(say("x"), "assistant_id", json!("painter"));
    service.post(RUNS, &unknown).problem(404, "agent_not_found");
    let old = with(
        say("x"),
        "checkpoint_id",
        json!("00000000-0000-8000-8000-000000000001"),
    );
    service.post(RUNS, &old).problem(409, "not_the_newest");
    service
        .post("/api/threads/none/runs", &say("x"))
        .problem(404, "thread_not_found");
    service
        .post(RUNS, &json!({}))
        .problem(409, "nothing_to_resume");
    assert!(model.asked().is_empty());
    let made = with(say("x"), "if_not_exists", json!("create"));
    service.post("/api/threads/new/runs/wait", &made).done();
    let none = Service::start();
    none.thread("tea");
    none.post(RUNS, &say("x")).problem(409, "no_agents");
    assert_eq!(none.get(RUNS).done(), json!([]));
}

#[test]
fn a_broken_model_ends_the_run_and_is_told() {
    let failure = conspectus::core::effect::Failure::Unusable {
        message: "the key is wrong".into(),
    };
    let (service, _) = service(vec![AgentReply::Fail(failure), AgentReply::text("Better.")]);
    let body = with(say("Tea?"), "stream_mode", json!("updates"));
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &body);
    let all = stream.all();
    assert_eq!(names(&all), ["metadata", "error", "end"]);
    assert!(
        all[1].1["message"]
            .as_str()
            .is_some_and(|why| why.contains("the key is wrong"))
    );
    assert_eq!(service.get("/api/threads/tea").done()["status"], "error");
    // What was said stays, and the run can be taken up again.
    let again = service
        .post(&format!("{RUNS}/wait"), &json!({"assistant_id": "agent"}))
        .done();
    assert!(again.get("__error__").is_none());
    assert_eq!(texts(&again).last(), Some(&"Better."));
}

#[test]
fn a_server_that_stops_stops_its_runs() {
    let (mut service, held) = held();
    let (_, mut stream) = Stream::post(service.address(), &format!("{RUNS}/stream"), &say("Tea?"));
    held.wait();
    service.ended();
    let all = stream.all();
    assert!(
        !names(&all).contains(&"end"),
        "a reader is to come back to the next process: {all:?}"
    );
}
