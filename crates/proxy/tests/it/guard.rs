//! What is refused, and how.

use conspectus_server::Tokens;
use conspectus_testkit::client::ask;
use conspectus_testkit::server::Step;

use crate::support::Rig;

#[test]
fn strangers_are_refused_in_the_words_of_the_api() {
    let rig = Rig::new(|_, _| Step::answer(200, &[], "in"));
    let check = |method: &str, path: &str, headers: &[(&str, &str)], status: u16| {
        let reply = ask(&rig.address, method, path, headers, None);
        assert_eq!(reply.status, status, "{path} {headers:?}");
        let error = reply.json()["error"]["message"].clone();
        assert!(error.is_string(), "{reply:?}");
    };
    check(
        "GET",
        "/v1/models",
        &[("origin", "https://evil.example")],
        403,
    );
    check("GET", "/v1/%2e%2e/secret", &[], 400);
    check("GET", "http://169.254.169.254/latest", &[], 400);
    let socket = [("connection", "upgrade"), ("upgrade", "websocket")];
    check("GET", "/v1/responses", &socket, 426);
    assert!(rig.upstream.asked().is_empty());
    let reply = rig.post("/v1/messages", &[("origin", "https://evil.example")], "{}");
    assert_eq!(reply.json()["type"], "error");
}

#[test]
fn a_token_of_its_own() {
    // printf %s open-sesame | sha256sum
    let digest = "d7ecdf25eaf3deba0f2628771dbdd22d4138ab6cf38f91ed02a2ca0dec7c8ab7";
    let tokens = Tokens::parse(&format!("sha256:{digest} ann")).expect("a token");
    let rig = Rig::with(|_, _| Step::answer(200, &[], "in"), |s| s.tokens = tokens);
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
    assert_eq!(rig.post("/v1/messages", &[], body).status, 401);
    assert_eq!(
        rig.post("/v1/messages", &[("x-conspectus-token", "wrong")], body)
            .status,
        401
    );
    let reply = rig.post(
        "/v1/messages",
        &[("x-conspectus-token", "open-sesame")],
        body,
    );
    assert_eq!(reply.status, 200);
    assert_eq!(
        rig.newest().header("x-conspectus-token"),
        None,
        "it is not passed on"
    );
}

#[test]
fn too_much_is_not_read() {
    let rig = Rig::with(
        |_, _| Step::answer(200, &[], "in"),
        |settings| settings.limits.max_body = 1000,
    );
    let body = "x".repeat(1001);
    let reply = rig.post("/v1/chat/completions", &[], &body);
    assert_eq!(reply.status, 413);
    assert!(rig.upstream.asked().is_empty());
}

#[test]
fn an_upstream_that_is_not_there_is_said() {
    let rig = Rig::new(|_, _| Vec::new());
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
    let reply = rig.post("/v1/messages", &[], body);
    assert_eq!(reply.status, 502);
    assert_eq!(reply.json()["error"]["type"], "api_error");
}

#[test]
fn figures() {
    let rig = Rig::new(|_, _| crate::support::chat_reply("fine"));
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
    rig.post("/v1/chat/completions", &[], body);
    let text = ask(&rig.address, "GET", "/metrics", &[], None).body;
    let line =
        "conspectus_proxy_requests_total{call=\"chat\",outcome=\"untouched\",status=\"200\"} 1";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("conspectus_proxy_conversations 1"), "{text}");
}
