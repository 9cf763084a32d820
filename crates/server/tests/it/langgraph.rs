//! What LangGraph's clients send that ours do not. The clients themselves are run by `scripts/sdk-test.sh`.

use serde_json::json;

use crate::support::Service;

#[test]
fn messages_are_added_by_a_new_state() {
    let service = Service::start();
    service.thread("tea");
    let path = "/api/threads/tea/state";
    let many = json!({"values": {"messages": [{"role": "user", "content": "a"}]}, "as_node": "x", "checkpoint": null});
    let updated = service.post(path, &many).done();
    assert_eq!(updated["checkpoint"]["thread_id"], "tea");
    let one = json!({"values": {"messages": {"type": "ai", "content": "b"}, "title": "T"}});
    let updated = service.post(path, &one).done();
    let state = service.get(path).done();
    assert_eq!(state["checkpoint"], updated["checkpoint"]);
    assert_eq!(state["values"]["title"], "T");
    assert_eq!(
        state["values"]["messages"].as_array().map(Vec::len),
        Some(2)
    );

    let at_newest = json!({"values": {}, "checkpoint": state["checkpoint"]});
    service.post(path, &at_newest).done();
    let elsewhere = json!({"values": {"messages": []}, "checkpoint_id": "00000000-0000-8000-8000-000000000001"});
    service
        .post(path, &elsewhere)
        .problem(409, "not_the_newest");
    service
        .post(path, &json!({"values": {"todos": []}}))
        .problem(422, "invalid_request");
    let list = json!({"values": [null, null]});
    service.post(path, &list).problem(422, "invalid_request");
    service
        .post(path, &json!({"values": {"messages": 7}}))
        .problem(422, "invalid_request");
}

#[test]
fn metadata_is_set_by_a_patched_state() {
    let service = Service::start();
    service.thread("tea");
    let patch = json!({"metadata": {"k": "v"}});
    let patched = service.ask("PATCH", "/api/threads/tea/state", &[], Some(&patch));
    assert_eq!(patched.done()["metadata"]["k"], "v");
}

#[test]
fn a_copy_goes_on_by_itself() {
    let service = Service::start();
    service.long_thread("tea");
    let copy = service
        .ask("POST", "/api/threads/tea/copy", &[], None)
        .done();
    let id = copy["thread_id"].as_str().expect("an id");
    assert_ne!(id, "tea");
    assert_eq!(
        copy["values"]["messages"].as_array().map(Vec::len),
        Some(12)
    );
    assert_eq!(copy["origin"]["thread"], "tea");
    service.ask("DELETE", "/api/threads/tea", &[], None);
    assert_eq!(
        service.get(&format!("/api/threads/{id}/messages")).done()["total"],
        12
    );
}
