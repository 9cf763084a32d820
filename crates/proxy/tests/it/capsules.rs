//! A client of the Responses API asks for a compaction, and goes on with what it was given.

use conspectus::Format;
use conspectus::wire::valid;
use conspectus_testkit::server::Step;
use serde_json::{Value, json};

use crate::compaction::Client;
use crate::support::{Rig, window};

fn long() -> Client {
    let mut client = Client::new(Format::Responses);
    for n in 0..20 {
        client.asks();
        if n % 2 == 0 {
            client.calls(5);
        }
        client.is_told();
    }
    client.asks();
    client
}

fn input(client: &Client) -> Vec<Value> {
    let list = client.messages.join(",");
    serde_json::from_str(&format!("[{list}]")).expect("json")
}

/// What a client does with a capsule: what people said, the capsule, the next question.
fn goes_on(rig: &Rig, client: &Client, item: &Value) -> (String, Value) {
    let mut items = input(client);
    items.retain(|item| item["role"] == "user");
    items.push(item.clone());
    items.push(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}));
    let body = json!({"model": "m", "input": items, "store": false}).to_string();
    assert_eq!(rig.post("/v1/responses", &[], &body).status, 200);
    let up = rig.newest().body;
    let sent = serde_json::from_str(&up).expect("json");
    (up, sent)
}

#[track_caller]
fn is_opened(up: &str, sent: &Value) {
    assert!(!up.contains("cnsp1."), "{up}");
    let faults = valid::check(Format::Responses, up.as_bytes());
    assert!(faults.is_empty(), "{faults:?}");
    let items = sent["input"].as_array().expect("a list");
    let summary = items
        .iter()
        .find(|item| item.to_string().contains("src/part"));
    assert!(summary.is_some(), "what was read is still known: {up}");
    assert_eq!(
        items.last().expect("the question")["content"][0]["text"],
        "Go on."
    );
}

#[test]
fn a_trigger_is_answered_by_a_capsule_that_is_opened_later() {
    let rig = Rig::with(
        |_, _| Step::answer(200, &[("content-type", "application/json")], "{}"),
        |s| s.options = window(50_000),
    );
    let client = long();
    for stream in [true, false] {
        let mut items = input(&client);
        items.push(json!({"type": "compaction_trigger"}));
        let body = json!({"model": "m", "input": items, "stream": stream, "store": false});
        let before = rig.upstream.asked().len();
        let reply = rig.post("/v1/responses", &[], &body.to_string());
        assert_eq!(reply.status, 200);
        assert_eq!(rig.upstream.asked().len(), before, "it is answered here");
        let item = if stream {
            assert!(
                reply
                    .header("content-type")
                    .starts_with("text/event-stream")
            );
            let events: Vec<Value> = reply
                .body
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .map(|data| serde_json::from_str(data).expect("json"))
                .collect();
            let kinds: Vec<_> = events
                .iter()
                .map(|e| e["type"].as_str().expect("a name"))
                .collect();
            assert_eq!(
                kinds,
                [
                    "response.created",
                    "response.in_progress",
                    "response.output_item.added",
                    "response.output_item.done",
                    "response.completed"
                ]
            );
            assert!(
                events
                    .iter()
                    .zip(0..)
                    .all(|(event, n)| event["sequence_number"] == n)
            );
            assert_eq!(events[4]["response"]["output"][0], events[3]["item"]);
            events[3]["item"].clone()
        } else {
            reply.json()["output"][0].clone()
        };
        assert_eq!(item["type"], "compaction");
        let capsule = item["encrypted_content"].as_str().expect("sealed");
        assert!(capsule.starts_with("cnsp1.") && !capsule.contains("lantern"));
        let (up, sent) = goes_on(&rig, &client, &item);
        is_opened(&up, &sent);
        let (again, _) = goes_on(&rig, &client, &item);
        assert_eq!(up, again, "the same capsule is always opened alike");
    }
}

#[test]
fn the_route_of_older_clients() {
    let rig = Rig::new(|_, _| Step::answer(200, &[("content-type", "application/json")], "{}"));
    let client = long();
    let body = json!({"model": "m", "input": input(&client), "instructions": "Be brief."});
    let reply = rig.post("/v1/responses/compact", &[], &body.to_string());
    assert_eq!(reply.status, 200);
    assert!(rig.upstream.asked().is_empty());
    let answer = reply.json();
    assert_eq!(answer["object"], "response.compaction");
    let output = answer["output"].as_array().expect("a list");
    let (item, people) = output.split_last().expect("the capsule");
    assert_eq!(people.len(), 21, "what people said stays");
    assert!(people.iter().all(|item| item["role"] == "user"));
    let (up, sent) = goes_on(&rig, &client, item);
    is_opened(&up, &sent);
}

#[test]
fn capsules_of_others_and_broken_ones_stay() {
    let rig = Rig::new(|_, _| Step::answer(200, &[], "{}"));
    for capsule in ["ENC:made-up", "cnsp1.broken", "cnsp1."] {
        let body = format!(
            r#"{{"model":"m","input":[{{"role":"user","content":"q"}},{{"type":"compaction","id":"c","encrypted_content":"{capsule}"}}]}}"#
        );
        rig.post("/v1/responses", &[], &body);
        assert_eq!(rig.newest().body, body);
    }
}

#[test]
fn who_only_watches_leaves_the_trigger_to_the_upstream() {
    let rig = Rig::with(|_, _| Step::answer(200, &[], "{}"), |s| s.observe = true);
    let body =
        r#"{"model":"m","input":[{"role":"user","content":"q"},{"type":"compaction_trigger"}]}"#;
    rig.post("/v1/responses", &[], body);
    assert_eq!(rig.newest().body, body);
}
