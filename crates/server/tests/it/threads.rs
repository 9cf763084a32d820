//! Threads as such.

use serde_json::{Value, json};

use crate::support::{Service, talk};

#[test]
fn a_thread_is_made_looked_at_changed_and_removed() {
    let service = Service::start();
    let made = service.post(
        "/api/threads",
        &json!({"metadata": {"user": "ann"}, "title": "Tea"}),
    );
    let made = made.done();
    let id = made["thread_id"].as_str().expect("an id").to_owned();
    assert_eq!(id.len(), 36, "a UUID: {id}");
    assert_eq!(made["metadata"], json!({"user": "ann"}));
    assert_eq!(made["status"], "idle");
    assert_eq!(made["values"]["messages"], json!([]));
    assert_eq!(made["interrupts"], json!({}));
    let path = format!("/api/threads/{id}");
    let patched = service.ask(
        "PATCH",
        &path,
        &[],
        Some(&json!({"metadata": {"user": null, "x": 1}})),
    );
    assert_eq!(patched.done()["metadata"], json!({"x": 1}));
    assert_eq!(service.get(&path).done()["title"], "Tea");
    let gone = service.ask("DELETE", &path, &[], None);
    assert_eq!((gone.status, gone.body.as_str()), (204, ""));
    let problem = service.get(&path).problem(404, "thread_not_found");
    assert_eq!(problem["detail"], format!("Thread {id} not found"));
}

#[test]
fn a_name_is_taken_once() {
    let service = Service::start();
    service.thread("tea");
    let again = json!({"thread_id": "tea"});
    service
        .post("/api/threads", &again)
        .problem(409, "thread_exists");
    let same = json!({"thread_id": "tea", "if_exists": "do_nothing"});
    assert_eq!(
        service.post("/api/threads", &same).done()["thread_id"],
        "tea"
    );
}

#[test]
fn names_and_bodies_that_cannot_be_are_refused() {
    let service = Service::start();
    let long = "x".repeat(65);
    for id in ["a b", "a/b", "", &long, "é", "a.b"] {
        service
            .post("/api/threads", &json!({"thread_id": id}))
            .problem(422, "invalid_request");
    }
    for path in [
        "/api/threads/a.b",
        "/api/threads/%20",
        "/api/threads/a%2Fb",
        "/api/threads/%FF",
    ] {
        service.get(path).problem(422, "invalid_request");
    }
    service.thread("tea");
    for (path, body) in [
        ("/api/threads", json!({"thread": "x"})),
        ("/api/threads", json!([])),
        ("/api/threads", json!({"ttl": 60})),
        ("/api/threads/search", json!({"limit": 0})),
        ("/api/threads/search", json!({"limit": 1001})),
        ("/api/threads/search", json!({"metadata": 7})),
        ("/api/threads/tea/undo", json!({"force": true})),
        ("/api/threads/tea/rewind", json!({})),
        (
            "/api/threads/tea/purge",
            json!({"message_id": "a", "secret": "b"}),
        ),
    ] {
        service.post(path, &body).problem(422, "invalid_request");
    }
    for path in [
        "/api/threads?limt=3",
        "/api/threads?limit=x",
        "/api/threads/tea/recall",
        "/api/threads/tea/log?limit=0",
    ] {
        service.get(path).problem(422, "invalid_request");
    }
    service
        .post("/api/threads", &json!({"policy": {"kep": 1}}))
        .problem(422, "invalid_policy");
    service.get("/api/thread").problem(404, "no_route");
    let put = service.ask("PUT", "/api/threads", &[], None);
    put.problem(405, "no_method");
    assert!(put.header("allow").contains("POST"), "{put:?}");
}

#[test]
fn threads_are_listed_found_and_counted() {
    let service = Service::start();
    for (id, owner) in [("a", "ann"), ("b", "bob"), ("c", "ann")] {
        let body =
            json!({"thread_id": id, "metadata": {"owner": owner}, "title": format!("About {id}")});
        service.post("/api/threads", &body).done();
    }
    let names = |threads: &Value| -> Vec<String> {
        let all = threads.as_array().expect("a list").iter();
        all.map(|thread| thread["thread_id"].as_str().expect("a name").to_owned())
            .collect()
    };
    let first = service.get("/api/threads?limit=2").done();
    assert_eq!(
        (names(&first["threads"]), &first["next"]),
        (vec!["a".into(), "b".into()], &json!("b"))
    );
    let rest = service.get("/api/threads?limit=2&after=b").done();
    assert_eq!(
        (names(&rest["threads"]), &rest["next"]),
        (vec!["c".into()], &Value::Null)
    );

    let search = |body: Value| names(&service.post("/api/threads/search", &body).done());
    let by_id = |order: &str| json!({"metadata": {"owner": "ann"}, "sort_by": "thread_id", "sort_order": order});
    assert_eq!(search(by_id("asc")), ["a", "c"]);
    assert_eq!(search(by_id("desc")), ["c", "a"]);
    assert_eq!(search(json!({"text": "about B"})), ["b"]);
    assert_eq!(search(json!({"ids": ["c", "nobody"]})), ["c"]);
    assert_eq!(
        search(json!({"status": "interrupted"})),
        Vec::<String>::new()
    );
    service.post("/api/threads/a/messages", &talk(1)).done();
    assert_eq!(
        search(json!({"limit": 1})),
        ["a"],
        "the one that was written last"
    );
    let with = json!({"ids": ["a"], "select": ["thread_id", "values"]});
    let found = service.post("/api/threads/search", &with).done();
    assert_eq!(found[0]["values"]["messages"][0]["id"], "m0");
    let count = service.post("/api/threads/count", &json!({"metadata": {"owner": "ann"}}));
    assert_eq!(count.done(), 2);
    let prune = json!({"thread_ids": ["a", "b", "nobody"]});
    assert_eq!(
        service.post("/api/threads/prune", &prune).done()["pruned_count"],
        2
    );
    assert_eq!(service.post("/api/threads/count", &json!({})).done(), 1);
}
