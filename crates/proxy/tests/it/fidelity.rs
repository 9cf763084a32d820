//! Below the trigger everything goes through as it came, both ways.

use std::io::Read as _;
use std::path::Path;

use conspectus_testkit::client::{ask, open};
use conspectus_testkit::server::{Asked, HttpServer, Step};

use crate::support::Rig;

/// Files of a folder of example bodies whose names begin so.
fn bodies(folder: &str, start: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/bodies")
        .join(folder);
    let mut all: Vec<(String, String)> = std::fs::read_dir(path)
        .expect("the bodies are there")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(path).expect("text"))
        })
        .filter(|(name, _)| name.starts_with(start))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "{folder}/{start}*");
    all
}

const APIS: [(&str, &str); 3] = [
    ("openai-chat", "/v1/chat/completions"),
    ("openai-responses", "/v1/responses"),
    ("anthropic", "/v1/messages?beta=true"),
];

fn sent(asked: &Asked) -> Vec<(String, String)> {
    let of_the_hop = ["host", "connection", "content-length"];
    let mut headers = asked.headers.clone();
    headers.retain(|(name, _)| !of_the_hop.contains(&name.as_str()));
    headers.sort();
    headers
}

#[test]
fn requests_go_up_as_they_came() {
    let rig = Rig::new(|_, _| Step::answer(200, &[("content-type", "application/json")], "{}"));
    let headers = [
        ("authorization", "Bearer made-up"),
        ("anthropic-beta", "a-2025, b-2026"),
        ("accept-encoding", "gzip, br"),
        ("x-unknown", " kept "),
        ("user-agent", "test/1"),
    ];
    let mut count = 0;
    for (folder, path) in APIS {
        let starts = ["request", "invalid"];
        let all = starts.iter().flat_map(|start| bodies(folder, start));
        // Twice: once unknown, once known.
        for (name, body) in all.clone().chain(all) {
            if name.contains("compaction_trigger") {
                continue;
            }
            let reply = rig.post(path, &headers, &body);
            assert_eq!(reply.status, 200, "{name}");
            let asked = rig.newest();
            assert_eq!(asked.body, body, "{name}");
            assert_eq!(
                (asked.method.as_str(), asked.target.as_str()),
                ("POST", path)
            );
            let mut expect: Vec<(String, String)> = headers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), v.trim().to_owned()))
                .collect();
            expect.push(("content-type".to_owned(), "application/json".to_owned()));
            expect.sort();
            assert_eq!(sent(&asked), expect, "{name}");
            let length = asked.header("content-length").map(str::to_owned);
            assert_eq!(length, Some(body.len().to_string()));
            count += 1;
        }
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn answers_come_down_as_they_are() {
    for (folder, path) in APIS {
        for (name, body) in bodies(folder, "response")
            .into_iter()
            .chain(bodies(folder, "stream"))
        {
            let kind = match name.ends_with(".sse") {
                true => "text/event-stream; charset=utf-8",
                false => "application/json",
            };
            let told = body.clone();
            let rig = Rig::new(move |_, _| {
                let mut steps = vec![Step::head(
                    200,
                    &[
                        ("content-type", kind),
                        ("x-request-id", "r1"),
                        ("retry-after-ms", "5"),
                        ("x-ratelimit-remaining", "9"),
                    ],
                )];
                let mut rest = told.as_str();
                while !rest.is_empty() {
                    let at = rest.floor_char_boundary(37.min(rest.len())).max(1);
                    let (piece, more) = rest.split_at(at);
                    steps.push(Step::Send(piece.to_owned()));
                    rest = more;
                }
                steps
            });
            let (_, request) = &bodies(folder, "request")[0];
            let reply = rig.post(path, &[], request);
            assert_eq!(reply.body, body, "{name}");
            assert_eq!(reply.header("content-type"), kind);
            assert_eq!(reply.header("x-request-id"), "r1");
            assert_eq!(reply.header("retry-after-ms"), "5");
            assert_eq!(reply.header("x-ratelimit-remaining"), "9");
            assert_eq!(reply.header("x-conspectus-outcome"), "untouched");
        }
    }
}

#[test]
fn errors_are_untouched() {
    let (_, cases) = &bodies("overflow", "cases")[0];
    let cases: serde_json::Value = serde_json::from_str(cases).expect("json");
    let cases = cases
        .as_array()
        .or_else(|| cases["cases"].as_array())
        .expect("a list")
        .clone();
    assert!(cases.len() > 30);
    for case in cases {
        let status = u16::try_from(case["status"].as_u64().unwrap_or(400)).expect("a status");
        let body = match &case["body"] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let told = body.clone();
        let rig = Rig::new(move |_, _| {
            Step::answer(
                status,
                &[
                    ("content-type", "application/json"),
                    ("x-should-retry", "false"),
                ],
                &told,
            )
        });
        let request = r#"{"model":"m","messages":[{"role":"user","content":"short"}]}"#;
        let reply = rig.post("/v1/chat/completions", &[], request);
        assert_eq!((reply.status, &reply.body), (status, &body), "{case}");
        assert_eq!(reply.header("x-should-retry"), "false");
        // There is nothing to fold: it is sent once.
        assert_eq!(rig.upstream.asked().len(), 1, "{case}");
    }
}

#[test]
fn whatever_else_is_asked_goes_through() {
    let rig = Rig::new(|_, asked| {
        let told = format!("{} {} {}", asked.method, asked.target, asked.body);
        Step::answer(201, &[("x-a", "b")], &told)
    });
    let check = |method: &str, path: &str, body: Option<&[u8]>, expect: &str| {
        let reply = ask(&rig.address, method, path, &[], body);
        assert_eq!((reply.status, reply.body.as_str()), (201, expect));
        assert_eq!(reply.header("x-a"), "b");
        assert_eq!(reply.header("x-conspectus-outcome"), "");
    };
    check(
        "GET",
        "/v1/models?limit=1000",
        None,
        "GET /v1/models?limit=1000 ",
    );
    check(
        "POST",
        "/v1/embeddings",
        Some(b"{}"),
        "POST /v1/embeddings {}",
    );
    check(
        "DELETE",
        "/v1/responses/resp_1",
        None,
        "DELETE /v1/responses/resp_1 ",
    );
    check(
        "POST",
        "/v1/responses/resp_1/cancel",
        Some(b""),
        "POST /v1/responses/resp_1/cancel ",
    );
}

#[test]
fn what_is_not_understood_goes_through() {
    let rig = Rig::new(|_, _| Step::answer(200, &[], "ok"));
    for body in [
        "",
        "not json",
        "{",
        "[]",
        r#"{"messages":7}"#,
        r#"{"messages":[1,2],"model":"m"}"#,
        r#"{"messages":[{"role":"user"}],"messages":[],"model":"m"}"#,
        r#"{"model":"m","messages":[{"role":"user","content":{"odd":[[[]]]}}]}"#,
        r#"{"model":5,"messages":[{"role":"user","content":"x"}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"\ud800"}]}"#,
    ] {
        for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
            let reply = rig.post(path, &[], body);
            assert_eq!((reply.status, reply.body.as_str()), (200, "ok"), "{body}");
            assert_eq!(rig.newest().body, body);
        }
    }
    let deep = format!(
        r#"{{"model":"m","messages":[{}{}]}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(rig.post("/v1/messages", &[], &deep).status, 200);
    assert_eq!(rig.newest().body, deep);
}

#[test]
fn redirects_are_not_followed() {
    let rig =
        Rig::new(|_, _| Step::answer(307, &[("location", "http://127.0.0.1:1/elsewhere")], ""));
    let reply = rig.post(
        "/v1/messages",
        &[],
        r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#,
    );
    assert_eq!(reply.status, 307);
    assert_eq!(reply.header("location"), "http://127.0.0.1:1/elsewhere");
    assert_eq!(rig.upstream.asked().len(), 1);
}

#[test]
fn a_stream_is_not_held_back_and_a_client_that_leaves_ends_it() {
    let head = Step::head(200, &[("content-type", "text/event-stream")]);
    let first = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let upstream = HttpServer::always(vec![head, Step::Send(first.to_owned()), Step::Stall]);
    let store = std::sync::Arc::new(conspectus_store::MemoryStore::default());
    let rig = Rig::on(upstream, store, |_| {});
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}"#;
    let mut stream = open(&rig.address, "POST", "/v1/messages", &[], Some(body.len()));
    std::io::Write::write_all(stream.get_mut(), body.as_bytes()).expect("it is taken");
    // The upstream says nothing more: what is read here was passed on at once.
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(first) {
        let mut some = [0; 512];
        let count = stream.read(&mut some).expect("it is open");
        assert!(count > 0, "it ended before the first event");
        read.extend_from_slice(&some[..count]);
    }
    drop(stream);
    assert!(rig.upstream.wait_for_hang_ups(1), "the upstream is told");
}

#[test]
fn keys_are_neither_stored_nor_logged() {
    let key = "made-up-key-0123456789";
    let mut rig = Rig::new(|_, _| crate::support::chat_reply("fine"));
    let bearer = format!("Bearer {key}");
    for text in ["a", "b"] {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"secret words {text}"}}]}}"#
        );
        rig.post("/v1/chat/completions", &[("authorization", &bearer)], &body);
    }
    rig.stop();
    let lines = rig.lines.lock().expect("nobody panics").join("\n");
    assert!(
        lines.contains("chat upstream=default status=200 outcome=untouched"),
        "{lines}"
    );
    assert!(
        !lines.contains(key) && !lines.contains("secret words"),
        "{lines}"
    );
    let store = rig.store.clone();
    let names = rig.names();
    assert_eq!(names.len(), 2);
    for name in names {
        let thread = conspectus::store::ThreadKey::new("default", &name);
        let read = rig
            .runtime
            .block_on(conspectus::store::whole(&*store, &thread));
        let all = format!("{:?}", read.expect("it is there"));
        assert!(!all.contains(key) && !name.contains(key));
    }
}
