//! Who may ask.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::{Service, With};

#[test]
fn only_under_a_name_of_the_server() {
    let service = Service::server("{hosts: [threads.example]}");
    let ask = |host: &str| service.ask("GET", "/api/threads", &[("host", host)], None);
    for host in ["localhost", "127.0.0.1:9", "[::1]:9", "threads.example:80"] {
        assert_eq!(ask(host).status, 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1"] {
        ask(host).problem(421, "host_not_allowed");
    }
    let twice = [("host", "localhost"), ("Host", "evil.example")];
    service
        .ask("GET", "/api/threads", &twice, None)
        .problem(421, "host_not_allowed");
    let watched = service.ask("GET", "/healthz", &[("host", "10.0.0.1")], None);
    assert_eq!((watched.status, watched.body.as_str()), (200, "ok"));
}

#[test]
fn pages_of_others_may_not_ask() {
    let service = Service::server("{origins: ['https://chat.example']}");
    let page = |origin: &str| {
        let headers = [("host", "localhost:7"), ("origin", origin)];
        service.ask("POST", "/api/threads", &headers, Some(&json!({})))
    };
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost:8",
        "https://chat.example.evil",
    ] {
        page(origin).problem(403, "origin_not_allowed");
    }
    assert_eq!(
        service.post("/api/threads/count", &json!({})).done(),
        0,
        "nothing was made"
    );
    assert_eq!(
        page("http://localhost:7").header("access-control-allow-origin"),
        ""
    );
    let allowed = page("https://chat.example");
    assert_eq!(allowed.status, 200);
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        "https://chat.example"
    );

    let question = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
        ];
        service.ask("OPTIONS", "/api/threads/tea/compact", &headers, None)
    };
    let answer = question("https://chat.example");
    assert_eq!(answer.status, 204);
    assert!(
        answer
            .header("access-control-allow-headers")
            .contains("content-type")
    );
    question("https://evil.example").problem(403, "origin_not_allowed");
}

#[test]
fn a_token_is_a_tenant() {
    let digest = |token: &str| -> String {
        let digest = Sha256::digest(token.as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let tokens = format!(
        "sha256:{} ann\nsha256:{} bob\n",
        digest("ann's own"),
        digest("bob's own")
    );
    let service = Service::with(With {
        tokens: &tokens,
        ..With::default()
    });
    let ann = [("authorization", "Bearer ann's own")];
    let bob = [("x-api-key", "bob's own")];
    let body = json!({"thread_id": "tea"});
    assert_eq!(
        service
            .ask("POST", "/api/threads", &ann, Some(&body))
            .status,
        200
    );
    assert_eq!(
        service.ask("GET", "/api/threads/tea", &ann, None).status,
        200
    );
    service
        .ask("GET", "/api/threads/tea", &bob, None)
        .problem(404, "thread_not_found");
    let mine = json!({"thread_id": "tea", "title": "Bob's"});
    assert_eq!(
        service
            .ask("POST", "/api/threads", &bob, Some(&mine))
            .status,
        200
    );
    let seen = service.ask("GET", "/api/threads/tea", &ann, None).json();
    assert_eq!(seen["title"], serde_json::Value::Null);
    for headers in [
        &[][..],
        &[("authorization", "Bearer somebody's")],
        &[("authorization", "Basic ann's own")],
        &[("x-api-key", &digest("ann's own"))],
    ] {
        for path in ["/api/threads", "/api/threads/tea/events", "/metrics"] {
            let refused = service.ask("GET", path, headers, None);
            refused.problem(401, "unauthorized");
            assert_eq!(refused.header("www-authenticate"), "Bearer");
        }
    }
    assert_eq!(service.get("/readyz").status, 200);
    let log = service.log().join("\n");
    assert!(log.contains("tenant=ann") && !log.contains("own"), "{log}");
}
