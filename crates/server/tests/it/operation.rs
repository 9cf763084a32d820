//! What a server says about itself: health, figures, its log, ids of requests.

use serde_json::json;

use crate::support::Service;

#[test]
fn it_lives_and_is_ready() {
    let service = Service::start();
    assert_eq!(service.get("/healthz").body, "ok");
    assert_eq!(service.get("/readyz").body, "ready");
}

#[test]
fn figures_count_what_happened() {
    let service = Service::start();
    service.long_thread("tea");
    service.post("/api/threads/tea/compact", &json!({})).done();
    service.get("/nowhere").problem(404, "no_route");
    let metrics = service.get("/metrics");
    assert!(
        metrics
            .header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    for line in [
        "conspectus_http_requests_total{route=\"/api/threads/{thread_id}/compact\",method=\"POST\",status=\"200\"} 1",
        "conspectus_http_requests_total{route=\"unrouted\",method=\"GET\",status=\"404\"} 1",
        "conspectus_compactions_total{outcome=\"compacted\",moment=\"manual\",strategy=\"digest\"} 1",
        "conspectus_http_requests_in_flight 1",
    ] {
        assert!(
            metrics.body.lines().any(|l| l == line),
            "{line} is missing in\n{}",
            metrics.body
        );
    }
    assert!(
        !metrics.body.contains("tea"),
        "no name of a thread is a label"
    );
}

#[test]
fn requests_have_ids_and_the_log_has_no_bodies() {
    let service = Service::start();
    let named = service.ask(
        "GET",
        "/api/threads?text=hush-query",
        &[("x-request-id", "mine-1")],
        None,
    );
    assert_eq!(named.header("x-request-id"), "mine-1");
    let bad = service.ask("GET", "/api/threads", &[("x-request-id", "a b")], None);
    assert!(!bad.header("x-request-id").is_empty() && bad.header("x-request-id") != "a b");
    service.thread("tea");
    let body =
        json!({"messages": [{"type": "human", "content": "hush-body"}, {"hush": "hush-field"}]});
    let headers = [
        ("authorization", "Bearer hush-token"),
        ("x-request-id", "mine-2"),
    ];
    service
        .ask("POST", "/api/threads/tea/messages", &headers, Some(&body))
        .problem(422, "invalid_request");
    service.get("/api/hush-path").problem(404, "no_route");
    service
        .get("/api/threads/hush.name")
        .problem(422, "invalid_request");
    let log = service.log();
    let line = log
        .iter()
        .find(|line| line.contains("request=mine-2"))
        .expect("its line");
    let rest = line
        .split_once(' ')
        .map(|(_, rest)| rest)
        .unwrap_or_default();
    assert!(
        rest.starts_with("422 POST /api/threads/{thread_id}/messages "),
        "{line}"
    );
    assert!(
        rest.ends_with("request=mine-2 tenant=default thread=tea code=invalid_request"),
        "{line}"
    );
    assert!(!log.join("\n").contains("hush"), "{log:#?}");
}
