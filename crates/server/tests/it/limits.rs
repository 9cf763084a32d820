//! How large and how slow a request may be.

use std::io::Write as _;

use serde_json::json;

use crate::support::{Service, open, read};

#[test]
fn a_body_is_json_and_not_too_large() {
    let service = Service::server("{max_body_bytes: 200}");
    service.thread("tea");
    let long = json!({"title": "t".repeat(300)});
    service
        .post("/api/threads", &long)
        .problem(413, "body_too_large");
    let chunked = [
        ("transfer-encoding", "chunked"),
        ("content-type", "application/json"),
    ];
    let mut stream = open(service.address(), "POST", "/api/threads", &chunked, None);
    for _ in 0..3 {
        // It may be refused before all of it is sent.
        let _ = stream
            .get_mut()
            .write_all(format!("64\r\n{}\r\n", " ".repeat(100)).as_bytes());
    }
    let _ = stream.get_mut().write_all(b"0\r\n\r\n");
    read(&mut stream).problem(413, "body_too_large");

    let form = [("content-type", "application/x-www-form-urlencoded")];
    service
        .ask("POST", "/api/threads", &form, Some(&json!({})))
        .problem(415, "not_json");
    let plain = [("content-type", "text/plain")];
    service
        .ask("POST", "/api/threads", &plain, Some(&json!({})))
        .problem(415, "not_json");
    let charset = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(
        service
            .ask("POST", "/api/threads", &charset, Some(&json!({})))
            .status,
        200
    );
    for body in ["", "{}"] {
        let headers = [("content-type", "application/json")];
        let mut stream = open(
            service.address(),
            "POST",
            "/api/threads/count",
            &headers,
            Some(body.len()),
        );
        stream
            .get_mut()
            .write_all(body.as_bytes())
            .expect("it is read");
        assert_eq!(read(&mut stream).done(), 2, "{body:?}");
    }
    for body in [
        "{",
        "nul",
        "{}{}",
        "\u{feff}{}",
        "{\"title\":\"\u{0}\"}",
        &"[".repeat(150),
    ] {
        let headers = [("content-type", "application/json")];
        let mut stream = open(
            service.address(),
            "POST",
            "/api/threads",
            &headers,
            Some(body.len()),
        );
        stream
            .get_mut()
            .write_all(body.as_bytes())
            .expect("it is read");
        read(&mut stream).problem(422, "invalid_request");
    }
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let service = Service::server("{request_timeout_ms: 50}");
    let headers = [("content-type", "application/json")];
    let mut stream = open(
        service.address(),
        "POST",
        "/api/threads",
        &headers,
        Some(10),
    );
    stream.get_mut().write_all(b"{").expect("it is read");
    read(&mut stream).problem(408, "body_too_slow");
}

#[test]
fn pages_are_as_long_as_they_may_be() {
    let service = Service::server("{max_page: 3}");
    service
        .get("/api/threads?limit=4")
        .problem(422, "invalid_request");
    assert_eq!(service.get("/api/threads?limit=3").status, 200);
}
