//! Events as they come, and taken up again.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Service, Stream, With, talk};

/// Name, data and id of an event.
fn parts(event: &str) -> (String, Value, Option<u64>) {
    let part = |name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    let data = serde_json::from_str(&part("data:")).expect("JSON");
    (part("event:"), data, part("id:").parse().ok())
}

#[test]
fn events_come_with_numbers_and_are_taken_up_again() {
    let service = Service::start();
    service.long_thread("tea");
    let path = "/api/threads/tea/events";
    let (head, mut stream) = Stream::open(service.address(), path, &[]);
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, "text/event-stream")
    );
    let (name, data, id) = parts(&stream.event().expect("the first"));
    assert_eq!(
        (name.as_str(), id, &data["event"]["type"]),
        ("created", Some(1), &json!("created"))
    );
    let (name, _, _) = parts(&stream.event().expect("the second"));
    assert_eq!(name, "appended");
    // From here on they come as they happen.
    service.post("/api/threads/tea/compact", &json!({})).done();
    let mut names = Vec::new();
    let mut last = 0;
    while names.iter().filter(|name| *name == "compaction").count() < 2 {
        let (name, _, id) = parts(&stream.event().expect("more"));
        assert!(id > Some(last), "numbers go up");
        last = id.unwrap_or(0);
        names.push(name);
    }
    assert!(names.contains(&"committed".to_owned()), "{names:?}");
    drop(stream);

    let seen = (last - 1).to_string();
    let (_, mut stream) = Stream::open(service.address(), path, &[("last-event-id", &seen)]);
    assert_eq!(
        parts(&stream.event().expect("the one that was missed")).2,
        Some(last)
    );
    let page = service
        .get(&format!("{path}?follow=false&after={}", last - 1))
        .done();
    assert_eq!(page["events"][0]["seq"], last);
    service
        .ask("GET", path, &[("last-event-id", "x")], None)
        .problem(422, "invalid_request");
    service
        .get("/api/threads/none/events")
        .problem(404, "thread_not_found");
}

#[test]
fn a_quiet_stream_says_that_it_lives_and_ends_with_the_server() {
    let mut service = Service::server("{heartbeat_ms: 20}");
    service.thread("tea");
    let (_, mut stream) = Stream::open(service.address(), "/api/threads/tea/events?after=9", &[]);
    assert_eq!(stream.next().as_deref(), Some(": connected\n"));
    assert_eq!(stream.next().as_deref(), Some(": heartbeat\n"));
    let metrics = service.get("/metrics").body;
    assert!(metrics.contains("conspectus_event_streams 1"), "{metrics}");
    service.stop();
    assert_eq!(parts(&stream.event().expect("the last")).0, "end");
    assert_eq!(stream.event(), None);
    service.ended();
}

#[test]
fn a_stream_ends_with_its_thread() {
    let service = Service::start();
    service.thread("tea");
    service.post("/api/threads/tea/messages", &talk(1)).done();
    let (_, mut stream) = Stream::open(service.address(), "/api/threads/tea/events?after=9", &[]);
    assert_eq!(stream.next().as_deref(), Some(": connected\n"));
    service.ask("DELETE", "/api/threads/tea", &[], None);
    let (name, data, _) = parts(&stream.event().expect("the last"));
    assert_eq!(
        (name.as_str(), &data["code"]),
        ("error", &json!("thread_not_found"))
    );
    assert_eq!(stream.event(), None);
}

#[test]
fn who_looks_at_the_list_hears_which_threads_change() {
    let service = Service::start();
    service.thread("tea");
    let (head, mut stream) = Stream::open(service.address(), "/api/events", &[]);
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, "text/event-stream")
    );
    assert_eq!(stream.next().as_deref(), Some(": connected\n"));
    let mut changed = || {
        let (name, data, _) = parts(&stream.event().expect("one more"));
        assert_eq!(name, "changed");
        data
    };
    service.post("/api/threads/tea/messages", &talk(1)).done();
    assert_eq!(changed()["thread_ids"], json!(["tea"]));
    service.thread("cup");
    assert_eq!(changed()["thread_ids"], json!(["cup"]));
    service.ask("DELETE", "/api/threads/cup", &[], None);
    assert_eq!(changed(), json!({"thread_ids": [], "others": true}));
}

#[test]
fn changes_of_other_tenants_are_not_heard() {
    let token = |name: &str| -> String {
        let digest = Sha256::digest(name.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{digest} {name}\n")
    };
    let service = Service::with(With {
        tokens: &[token("ann"), token("bob")].concat(),
        ..With::default()
    });
    let make = |token: &str, id: &str| {
        let made = service.ask(
            "POST",
            "/api/threads",
            &[("authorization", &format!("Bearer {token}"))],
            Some(&json!({"thread_id": id})),
        );
        assert_eq!(made.status, 200, "{made:?}");
    };
    let ann = [("authorization", "Bearer ann")];
    let (_, mut stream) = Stream::open(service.address(), "/api/events", &ann);
    assert_eq!(stream.next().as_deref(), Some(": connected\n"));
    make("bob", "of-bob");
    make("ann", "of-ann");
    let (_, data, _) = parts(&stream.event().expect("the first"));
    assert_eq!(data["thread_ids"], json!(["of-ann"]));
}
