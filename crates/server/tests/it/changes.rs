//! Undo, redo, rewind, branch, recall, export, import, purge.

use serde_json::{Value, json};

use crate::support::Service;

fn compacted() -> Service {
    let service = Service::start();
    service.long_thread("tea");
    let done = service.post("/api/threads/tea/compact", &json!({})).done();
    assert_eq!(done["compacted"], true, "{done}");
    service
}

#[test]
fn taken_back_and_put_in_force_again() {
    let service = compacted();
    let values = || service.get("/api/threads/tea/state").done()["values"].clone();
    let after = values();
    let undone = service
        .ask("POST", "/api/threads/tea/undo", &[], None)
        .done();
    assert!(undone["checkpoint_id"].is_string());
    assert_eq!(values()["messages"].as_array().map(Vec::len), Some(12));
    assert_eq!(values()["summary_text"], Value::Null);
    service
        .post("/api/threads/tea/undo", &json!({}))
        .problem(409, "nothing_to_do");
    service.post("/api/threads/tea/redo", &json!({})).done();
    assert_eq!(values(), after);
    service
        .post("/api/threads/tea/redo", &json!({}))
        .problem(409, "nothing_to_do");
    let log = service.get("/api/threads/tea/log").done();
    assert_eq!(log[0]["history"], json!(["compaction", "undo", "redo"]));
    assert_eq!(log[0]["active"], true);
}

#[test]
fn people_see_everything_with_folds() {
    let service = compacted();
    let visible = service.get("/api/threads/tea/messages").done();
    assert_eq!(visible["total"], 12);
    assert_eq!(visible["messages"][0]["folded"], true);
    assert_eq!(visible["messages"][11]["folded"], false);
    assert_eq!(visible["folds"][0]["first"], 0);
    assert!(visible["folds"][0]["summary_text"].is_string());
}

#[test]
fn branches_and_rewinds() {
    let service = compacted();
    let branch = json!({"thread_id": "coffee", "message_id": "m5", "title": "Coffee"});
    let branched = service.post("/api/threads/tea/branches", &branch).done();
    assert_eq!(branched["title"], "Coffee");
    assert_eq!(
        service.get("/api/threads/coffee/messages").done()["total"],
        6
    );
    service
        .post("/api/threads/tea/branches", &branch)
        .problem(409, "thread_exists");
    let of = |origin: &str| {
        let found = service.post("/api/threads/search", &json!({ "origin": origin }));
        let found = found.done();
        let ids = found.as_array().expect("a list").iter();
        let ids = ids.filter_map(|thread| thread["thread_id"].as_str());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("tea"), of("coffee")),
        (vec!["coffee".to_owned()], Vec::new())
    );
    let none = json!({"message_id": "nobody"});
    service
        .post("/api/threads/tea/branches", &none)
        .problem(404, "message_not_found");
    service
        .post("/api/threads/tea/rewind", &json!({"message_id": "m3"}))
        .done();
    let values = service.get("/api/threads/tea/state").done()["values"].clone();
    assert_eq!(values["messages"].as_array().map(Vec::len), Some(4));
}

#[test]
fn what_was_folded_is_found_again() {
    let service = compacted();
    let by_id = service
        .get("/api/threads/tea/messages/m3?before=1&after=1")
        .done();
    let found = by_id["messages"].as_array().expect("a list");
    assert_eq!(found.len(), 3);
    assert_eq!(
        (&found[1]["id"], &found[1]["hit"], &found[1]["folded"]),
        (&json!("m3"), &json!(true), &json!(true))
    );
    assert!(found[1]["age_ms"].is_u64() && found[1]["superseded_by"].is_array());
    let by_words = service
        .get("/api/threads/tea/recall?q=part3.rs&limit=2")
        .done();
    assert_eq!(by_words["messages"][0]["id"], "m3", "{by_words}");
    service
        .get("/api/threads/tea/messages/nobody")
        .problem(404, "message_not_found");
    for path in [
        "recall",
        "recall?q=%20",
        "recall?q=a&id=b",
        "recall?q=a&limit=0",
        "messages/m3?limit=2",
        "messages/m3?before=4000000000&after=4000000000",
    ] {
        service
            .get(&format!("/api/threads/tea/{path}"))
            .problem(422, "invalid_request");
    }
}

#[test]
fn a_thread_is_carried_elsewhere() {
    let service = compacted();
    let export = service.get("/api/threads/tea/export");
    assert_eq!(export.status, 200);
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    let other = Service::start();
    let lines = [("content-type", "application/x-ndjson")];
    let import = |path: &str, body: &str| {
        crate::support::ask(other.address(), "POST", path, &lines, Some(body.as_bytes()))
    };
    let imported = import("/api/threads/tea2/import", &export.body).done();
    assert_eq!(imported["thread_id"], "tea2");
    let there = other.get("/api/threads/tea2/state").done();
    let here = service.get("/api/threads/tea/state").done();
    assert_eq!(there["values"], here["values"]);
    import("/api/threads/tea2/import", &export.body).problem(409, "thread_exists");
    import("/api/threads/tea3/import", "nonsense\n").problem(422, "invalid_request");
}

#[test]
fn what_must_not_be_kept_is_taken_out() {
    let service = compacted();
    let body =
        json!({"messages": [{"type": "human", "id": "s", "content": "the word is xyzzy-4711"}]});
    service.post("/api/threads/tea/messages", &body).done();
    let purged = service
        .post("/api/threads/tea/purge", &json!({"secret": "xyzzy-4711"}))
        .done();
    assert_eq!(purged["messages"], json!(["s"]));
    for path in ["messages", "state", "export", "events?follow=false"] {
        let reply = service.get(&format!("/api/threads/tea/{path}"));
        assert!(
            reply.status == 200 && !reply.body.contains("xyzzy"),
            "{reply:?}"
        );
    }
    service
        .post("/api/threads/tea/purge", &json!({"message_id": "nobody"}))
        .problem(404, "message_not_found");
}

#[test]
fn a_pinned_message_stays() {
    let service = Service::start();
    service.long_thread("tea");
    let pin = |id: &str| {
        let path = format!("/api/threads/tea/messages/{id}/pin");
        service.ask("POST", &path, &[], None)
    };
    assert_eq!(pin("m3").status, 204);
    pin("nobody").problem(404, "message_not_found");
    service.post("/api/threads/tea/compact", &json!({})).done();
    let values = service.get("/api/threads/tea/state").done()["values"].clone();
    let window = values["messages"].as_array().expect("a list");
    assert!(
        window.iter().any(|message| message["id"] == "m3"),
        "{values}"
    );
    assert!(window.len() < 12);
}

#[test]
fn what_was_shortened_is_found_by_its_reference() {
    let service = Service::start();
    let keep = json!({"type": "messages", "value": 2});
    let policy = json!({"prune": {"max_result_chars": 400}, "keep": keep});
    let made = json!({"thread_id": "tea", "policy": policy});
    service.post("/api/threads", &made).done();
    let long: Vec<String> = (0..900).map(|line| format!("line {line}")).collect();
    let call = json!([{"name": "read", "args": {"path": "a.txt"}, "id": "c1"}]);
    let messages = json!({"messages": [
        {"type": "human", "content": "Read it.", "id": "h"},
        {"type": "ai", "content": "", "tool_calls": call, "id": "a"},
        {"type": "tool", "content": long.join("\n"), "tool_call_id": "c1", "id": "t"},
        {"type": "ai", "content": "Read.", "id": "b"},
        {"type": "human", "content": "And now?", "id": "i"},
    ]});
    service.post("/api/threads/tea/messages", &messages).done();
    let done = service.post("/api/threads/tea/compact", &json!({})).done();
    let said = (&done["compacted"], &done["reason"]);
    assert_eq!(said, (&json!(true), &json!("pruned")), "{done}");
    let request = service.get("/api/threads/tea/request").body;
    let at = request.find("cx-").expect("a reference in the marker");
    let path = format!("/api/threads/tea/references/{}", &request[at..at + 15]);
    let found = service.get(&path).done();
    assert_eq!(found["messages"][0]["id"], "t", "{found}");
    let none = "/api/threads/tea/references/cx-000000000000";
    service.get(none).problem(404, "message_not_found");
}
