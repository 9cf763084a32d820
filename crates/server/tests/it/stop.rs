//! How a server stops.

use std::sync::Arc;

use conspectus::ChatModel;
use serde_json::json;

use crate::support::{Held, Service, With};

const PATH: &str = "/api/threads/tea/compact";

fn held(config: &str) -> (Service, Arc<Held>) {
    let held = Held::new();
    let models: Vec<(&str, Arc<dyn ChatModel>)> = vec![("slow", held.clone())];
    let service = Service::with(With {
        config,
        models,
        ..With::default()
    });
    service.long_thread("tea");
    (service, held)
}

#[test]
fn what_was_begun_is_finished() {
    let (mut service, held) = held("");
    let address = service.address().to_owned();
    let asking = std::thread::spawn(move || {
        let json = [("content-type", "application/json")];
        crate::support::ask(&address, "POST", PATH, &json, Some(b"{}"))
    });
    held.wait();
    service.stop();
    held.may.add_permits(9);
    let done = asking.join().expect("it ends").done();
    assert_eq!(done["compacted"], true);
    service.ended();
}

#[test]
fn what_does_not_end_in_time_is_cancelled() {
    let (mut service, held) = held("server: {shutdown_ms: 20}\n");
    let address = service.address().to_owned();
    let asking = std::thread::spawn(move || {
        let json = [("content-type", "application/json")];
        crate::support::ask(&address, "POST", PATH, &json, Some(b"{}"))
    });
    held.wait();
    service.ended();
    let reply = asking.join().expect("it ends");
    reply.problem(503, "cancelled");
    assert_eq!(reply.header("retry-after"), "1");
}

#[test]
fn a_client_that_goes_away_stops_nothing() {
    let (service, held) = held("");
    let headers = [("content-type", "application/json")];
    let stream = crate::support::open(service.address(), "POST", PATH, &headers, Some(0));
    held.wait();
    drop(stream);
    held.may.add_permits(9);
    let path = "/api/threads/tea/events";
    let (_, mut stream) = crate::support::Stream::open(service.address(), path, &[]);
    let is_end = |event: &str| event.contains("compaction.stop");
    while !is_end(&stream.event().expect("it comes")) {}
    let state = service.get("/api/threads/tea/state").done();
    assert!(state["values"]["summary_text"].is_string(), "{state}");
    assert_eq!(
        service
            .get("/api/threads/tea/log")
            .done()
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    service.post(PATH, &json!({})).done();
}
