//! Messages and states.

use serde_json::{Value, json};

use crate::support::{Service, talk};

#[test]
fn messages_come_back_as_they_were_sent() {
    let service = Service::start();
    service.thread("tea");
    let sent = json!({"messages": [
        {"type": "human", "content": "Tea?", "id": "h1", "additional_kwargs": {"n": 1.50, "x": null}},
        {"role": "assistant", "content": "Tea."},
    ]});
    let appended = service.post("/api/threads/tea/messages", &sent).done();
    assert_eq!(
        (&appended["new"], &appended["repeated"]),
        (&json!(2), &json!(false))
    );
    assert_eq!(appended["ids"][0], "h1");
    let state = service.get("/api/threads/tea/state").done();
    let messages = &state["values"]["messages"];
    assert_eq!(messages[0], sent["messages"][0]);
    assert_eq!(messages[1]["content"], "Tea.");
    assert_eq!(messages[1]["id"], appended["ids"][1]);
    assert_eq!(
        state["checkpoint"]["checkpoint_id"],
        appended["checkpoint_id"]
    );
    let request = service.get("/api/threads/tea/request").done();
    assert_eq!(request["messages"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_key_makes_it_happen_once() {
    let service = Service::start();
    service.thread("tea");
    let path = "/api/threads/tea/messages";
    let body = json!({"messages": [{"type": "human", "content": "once"}]});
    let key = [("idempotency-key", "k-1")];
    let first = service.ask("POST", path, &key, Some(&body)).done();
    let again = service.ask("POST", path, &key, Some(&body)).done();
    assert_eq!(
        (&again["repeated"], &again["ids"]),
        (&json!(true), &first["ids"])
    );
    let with_key = json!({"messages": body["messages"], "idempotency_key": "k-1"});
    assert_eq!(service.post(path, &with_key).done()["repeated"], true);
    let other = json!({"messages": [{"type": "human", "content": "twice"}]});
    service
        .ask("POST", path, &key, Some(&other))
        .problem(422, "key_reused");
    service
        .ask("POST", path, &[("idempotency-key", "")], Some(&body))
        .problem(422, "invalid_request");
    let visible = service.get(path).done();
    assert_eq!(visible["total"], 1);
}

#[test]
fn what_is_no_message_is_refused_and_nothing_of_it_stored() {
    let service = Service::start();
    service.thread("tea");
    let path = "/api/threads/tea/messages";
    let body = json!({"messages": [{"type": "human", "content": "fine"}, {"kind": "odd"}]});
    let problem = service.post(path, &body).problem(422, "invalid_request");
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|d| d.contains("message 1")),
        "{problem}"
    );
    assert_eq!(service.get(path).done()["total"], 0);
    let first = json!({"messages": [{"type": "human", "content": "a", "id": "x"}]});
    service.post(path, &first).done();
    let other = json!({"messages": [{"type": "human", "content": "b", "id": "x"}]});
    service.post(path, &other).problem(409, "message_id_taken");
    service
        .post("/api/threads/none/messages", &first)
        .problem(404, "thread_not_found");
}

#[test]
fn the_whole_conversation_in_pages() {
    let service = Service::start();
    service.thread("tea");
    service.post("/api/threads/tea/messages", &talk(5)).done();
    let page = |query: &str| {
        let page = service
            .get(&format!("/api/threads/tea/messages?{query}"))
            .done();
        let places = page["messages"].as_array().expect("a list").iter();
        let places: Vec<u64> = places.filter_map(|m| m["position"].as_u64()).collect();
        (
            places,
            page["has_before"] == true,
            page["has_after"] == true,
        )
    };
    assert_eq!(page("limit=2"), (vec![3, 4], true, false));
    assert_eq!(page("limit=2&before=3"), (vec![1, 2], true, true));
    assert_eq!(page("limit=9&before=1"), (vec![0], false, true));
    assert_eq!(page("limit=2&after=0"), (vec![1, 2], true, true));
    service
        .get("/api/threads/tea/messages?limit=1001")
        .problem(422, "invalid_request");
}

#[test]
fn states_by_their_checkpoints() {
    let service = Service::start();
    service.long_thread("tea");
    let before = service.get("/api/threads/tea/state").done();
    let id = before["checkpoint"]["checkpoint_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let compacted = service.post("/api/threads/tea/compact", &json!({})).done();
    assert_eq!(compacted["compacted"], true, "{compacted}");
    let now = service.get("/api/threads/tea/state").done();
    assert_eq!(
        now["checkpoint"]["checkpoint_id"],
        compacted["checkpoint_id"]
    );
    assert_eq!(now["metadata"]["source"], "compaction");
    assert_eq!(now["parent_checkpoint"]["checkpoint_id"], id);
    assert!(now["values"]["summary_text"].is_string());
    let history = service
        .post("/api/threads/tea/history", &json!({"limit": 10}))
        .done();
    let all = history.as_array().expect("a list");
    assert_eq!(all[0], now);
    let old = service.get(&format!("/api/threads/tea/state/{id}")).done();
    assert_eq!(old["values"]["messages"], before["values"]["messages"]);
    assert_eq!(old["values"]["summary_text"], Value::Null);
    let at = json!({"checkpoint": {"checkpoint_id": id, "checkpoint_ns": ""}});
    assert_eq!(
        service
            .post("/api/threads/tea/state/checkpoint", &at)
            .done(),
        old
    );
    let rest = service.post(
        "/api/threads/tea/history",
        &json!({"before": compacted["checkpoint_id"]}),
    );
    assert!(!rest.done().as_array().expect("a list").contains(&now));
    let page = service.get("/api/threads/tea/history?limit=1").done();
    assert_eq!(page, json!([now]));
    service
        .get("/api/threads/tea/state/nonsense")
        .problem(422, "invalid_request");
    let none = "00000000-0009-8000-8000-000000000001";
    service
        .get(&format!("/api/threads/tea/state/{none}"))
        .problem(404, "checkpoint_not_found");
}

#[test]
fn a_thread_without_messages_has_a_state() {
    let service = Service::start();
    service.thread("tea");
    let state = service.get("/api/threads/tea/state").done();
    assert_eq!(state["values"]["messages"], json!([]));
    assert_eq!(state["checkpoint"]["checkpoint_id"], Value::Null);
    assert_eq!(state["next"], json!([]));
    service.get("/api/threads/tea/history").done();
    service.get("/api/threads/tea/status").done();
    assert_eq!(service.get("/api/threads/tea/log").done(), json!([]));
}
