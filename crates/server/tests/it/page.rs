//! The web page, and what it asks for: how a thread came to be as it is, and who may only look.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Broken, Says, Service, With, talk};
use std::sync::Arc;

#[test]
fn the_page_is_served_at_every_address_of_its_own_and_lets_nothing_foreign_run() {
    let service = Service::start();
    let page = service.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    for word in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(policy.contains(word), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for deep in ["/threads/tea", "/threads/tea/compactions"] {
        assert_eq!(service.get(deep).body, page.body, "{deep}");
    }
    let tag = page.header("etag").to_owned();
    let again = service.ask("GET", "/", &[("if-none-match", &tag)], None);
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    service.get("/elsewhere").problem(404, "no_route");
    let stranger = [("host", "evil.example")];
    let refused = service.ask("GET", "/", &stranger, None);
    refused.problem(421, "host_not_allowed");
}

#[test]
fn assets_are_kept_for_good_under_the_name_of_their_version() {
    let service = Service::start();
    let page = service.get("/").body;
    let script = page.split('"').find(|part| part.ends_with("/main.js"));
    let script = script.expect("the page has a script");
    let plain = service.get(script);
    assert_eq!(
        plain.header("content-type"),
        "text/javascript; charset=utf-8"
    );
    assert!(plain.header("cache-control").contains("immutable"));
    let older = script.replace("/assets/", "/assets/0");
    service.get(&older).problem(404, "no_file");
    let folder = script.trim_end_matches("main.js");
    service
        .get(&format!("{folder}none.js"))
        .problem(404, "no_file");
}

#[test]
fn a_token_that_only_reads_looks_at_everything_and_changes_nothing() {
    let digest = |token: &str| {
        let digest = Sha256::digest(token.as_bytes());
        let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{}", hex.concat())
    };
    let tokens = format!("{} a\n{} a read\n", digest("ann"), digest("eve"));
    let service = Service::with(With {
        tokens: &tokens,
        ..With::default()
    });
    let by = |token: &str, method: &str, path: &str, body: Option<&Value>| {
        let bearer = format!("Bearer {token}");
        service.ask(method, path, &[("authorization", &bearer)], body)
    };
    let made = by(
        "ann",
        "POST",
        "/api/threads",
        Some(&json!({"thread_id": "tea"})),
    );
    made.done();
    by("ann", "POST", "/api/threads/tea/messages", Some(&talk(6))).done();
    let info = by("eve", "GET", "/api/info", None).done();
    assert_eq!(
        (&info["role"], &info["tenant"]),
        (&json!("read"), &json!("a"))
    );
    assert_eq!(by("ann", "GET", "/api/info", None).done()["role"], "write");
    assert_eq!(service.get("/").status, 200, "the page itself is no secret");
    service.get("/api/info").problem(401, "unauthorized");

    // Every operation of the document: what looks is answered, all else is refused before anything is done.
    let document = service.get("/api/openapi.json").done();
    let looks = [
        "search_threads",
        "count_threads",
        "get_history",
        "state_at_checkpoint",
    ];
    let (mut looked, mut refused) = (0, 0);
    for (path, item) in document["paths"].as_object().expect("paths") {
        let at = path
            .replace("{thread_id}", "tea")
            .replace("{checkpoint_id}", "x")
            .replace("{message_id}", "m0")
            .replace("{reference}", "x")
            .replace("{run_id}", "x");
        for method in ["post", "patch", "delete", "put"] {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let name = operation["operationId"].as_str().unwrap_or_default();
            let reply = by("eve", &method.to_uppercase(), &at, Some(&json!({})));
            if looks.contains(&name) || path.ends_with("/history") || path.ends_with("/checkpoint")
            {
                assert_ne!(reply.status, 403, "{method} {path}");
                looked += 1;
            } else {
                reply.problem(403, "read_only");
                refused += 1;
            }
        }
    }
    assert!(looked >= 4 && refused > 15, "{looked} and {refused}");
    let messages = by("eve", "GET", "/api/threads/tea/messages", None).done();
    assert_eq!(messages["total"], 6);
}

#[test]
fn a_list_tells_how_full_windows_are_as_their_status_does() {
    let service = Service::start();
    service.long_thread("tea");
    service.post("/api/threads/tea/compact", &json!({})).done();
    service
        .post(
            "/api/threads/tea/messages",
            &json!({"messages": [{"type": "human", "content": "And now?"}]}),
        )
        .done();
    let asked = json!({"select": ["window"]});
    let listed = service.post("/api/threads/search", &asked).done();
    let window = &listed[0]["window"];
    let status = service.get("/api/threads/tea/status").done();
    let near = |one: &Value, other: &Value| {
        let (one, other) = (
            one.as_u64().unwrap_or(0),
            other.as_u64().unwrap_or(u64::MAX),
        );
        assert!(
            one.abs_diff(other) <= 2,
            "sums of rounded sizes: {one} and {other}"
        );
    };
    near(&window["tokens"], &status["size"]["request"]);
    assert_eq!(window["input_limit"], status["window"]["input_limit"]);
    assert_eq!(
        window["trigger_tokens"],
        status["budget"]["triggers"][0]["tokens"]
    );
    near(&window["saved_tokens"], &status["saved"]["tokens"]);
    assert!(window["saved_tokens"].as_u64() > Some(100), "{window}");
    let without = service.post("/api/threads/search", &json!({})).done();
    assert_eq!(without[0].get("window"), None);
}

#[test]
fn attempts_are_told_with_those_that_changed_nothing() {
    let service = Service::with(With {
        models: vec![
            ("broken", Arc::new(Broken)),
            ("fine", Arc::new(Says::default())),
        ],
        ..With::default()
    });
    let policy = json!({"keep": {"type": "messages", "value": 2}, "on_failure": "error"});
    let made = json!({"thread_id": "tea", "policy": policy});
    service.post("/api/threads", &made).done();
    service.post("/api/threads/tea/messages", &talk(12)).done();
    let compact = |body: Value| service.post("/api/threads/tea/compact", &body);
    compact(json!({})).problem(500, "compaction_failed");
    let fine = json!({"model_name": "fine", "dry_run": true});
    let preview = compact(fine).done()["preview"].clone();
    compact(json!({"model_name": "fine"})).done();
    let path = "/api/threads/tea/attempts";
    let attempts = service.get(path).done();
    let told: Vec<(&Value, &Value, &Value)> = attempts
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            (
                &one["stop"]["metadata"]["outcome"],
                &one["dry_run"],
                &one["records"],
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (&json!("compacted"), &json!(false), &json!([0])),
            (&json!("compacted"), &json!(true), &json!([])),
            (&json!("failed"), &json!(false), &json!([])),
        ]
    );
    assert_eq!(attempts[1]["preview"], preview);
    assert_eq!(attempts[2]["passed_over"][0]["model"], "broken");
    let why = attempts[2]["passed_over"][0]["failure"].as_str();
    assert!(
        why.is_some_and(|why| why.contains("the key is wrong")),
        "{why:?}"
    );
    for one in attempts.as_array().expect("a list") {
        assert!(
            one["started_ms"].as_u64() <= one["ended_ms"].as_u64(),
            "{one}"
        );
    }
    let second = service.get(&format!("{path}?limit=1&before={}", attempts[0]["seq"]));
    assert_eq!(second.done(), json!([attempts[1]]));
    assert_eq!(service.get(&format!("{path}?before=1")).done(), json!([]));
}

#[test]
fn the_curve_falls_where_something_was_folded_and_rises_where_it_was_taken_back() {
    let service = Service::start();
    service.long_thread("tea");
    service.post("/api/threads/tea/compact", &json!({})).done();
    service
        .post(
            "/api/threads/tea/messages",
            &json!({"messages": [{"type": "human", "content": "And now?"}]}),
        )
        .done();
    let curve = |points: u32| {
        let path = format!("/api/threads/tea/curve?points={points}");
        service.get(&path).done()
    };
    let is_size = |curve: &Value| {
        let status = service.get("/api/threads/tea/status").done();
        let size = status["size"]["request"].as_u64().unwrap_or(u64::MAX);
        let newest = curve["points"]
            .as_array()
            .and_then(|points| points.last())
            .expect("a point");
        let newest = newest["tokens"].as_u64().unwrap_or(0);
        assert!(newest.abs_diff(size) <= 2, "{newest} and {size}");
    };
    let newest = |curve: &Value| curve["points"].as_array().and_then(|p| p.last()).cloned();
    let compacted = curve(300);
    let mark = &compacted["marks"][0];
    assert_eq!(
        (&mark["cause"], &mark["messages"]),
        (&json!("compaction"), &json!(12))
    );
    assert!(mark["after"].as_u64() < mark["before"].as_u64(), "{mark}");
    is_size(&compacted);
    let sizes: Vec<u64> = compacted["points"]
        .as_array()
        .expect("points")
        .iter()
        .filter_map(|point| point["tokens"].as_u64())
        .collect();
    assert_eq!(sizes.len(), 12 + 1 + 1, "each message, and the compaction");
    assert!(sizes[..12].is_sorted(), "{sizes:?}");
    let few = curve(3);
    assert!(
        few["points"].as_array().is_some_and(|p| p.len() < 9),
        "{few}"
    );
    assert_eq!(
        (&few["marks"], newest(&few)),
        (&compacted["marks"], newest(&compacted))
    );
    service.post("/api/threads/tea/undo", &json!({})).done();
    let undone = curve(300);
    assert_eq!(undone["marks"][1]["cause"], "undo");
    assert!(undone["marks"][1]["after"].as_u64() > undone["marks"][1]["before"].as_u64());
    is_size(&undone);
    service.thread("empty");
    let empty = service.get("/api/threads/empty/curve").done();
    assert_eq!(empty, json!({"points": [], "marks": []}));
    service
        .get("/api/threads/none/curve")
        .problem(404, "thread_not_found");
}

#[test]
fn registries_name_the_places_of_what_they_hold() {
    let service = Service::start();
    let policy = json!({"keep": {"type": "messages", "value": 2}});
    service
        .post(
            "/api/threads",
            &json!({"thread_id": "tea", "policy": policy}),
        )
        .done();
    let rule = json!({"type": "human", "id": "rule", "content": "From now on, never use more than two spoons."});
    service
        .post("/api/threads/tea/messages", &json!({"messages": [rule]}))
        .done();
    let reading = json!({"messages": [
        {"type": "ai", "id": "c", "content": "", "tool_calls": [
            {"name": "read_file", "args": {"path": "tea.md"}, "id": "k"},
        ]},
        {"type": "tool", "id": "t", "tool_call_id": "k", "content": "hot"},
    ]});
    service.post("/api/threads/tea/messages", &reading).done();
    service.post("/api/threads/tea/messages", &talk(12)).done();
    service.post("/api/threads/tea/compact", &json!({})).done();
    let pinned = service.post("/api/threads/tea/messages/m11/pin", &json!({}));
    assert_eq!(pinned.status, 204);
    let held = service.get("/api/threads/tea/registries").done();
    let constraint = &held["constraints"][0];
    assert_eq!(
        (
            &constraint["message_id"],
            &constraint["position"],
            &constraint["folded"]
        ),
        (&json!("rule"), &json!(0), &json!(true))
    );
    assert_eq!(held["files"][0]["path"], "tea.md");
    assert_eq!(held["files"][0]["position"], 1);
    assert_eq!(held["pins"][0]["message_id"], "m11");
    assert_eq!(held["pins"][0]["position"], 14);
    let text = held["pins"][0]["text"].as_str();
    assert!(
        text.is_some_and(|text| text.starts_with("Step 11")),
        "{text:?}"
    );
    let gone = service.ask("DELETE", "/api/threads/tea/messages/m11/pin", &[], None);
    assert_eq!(gone.status, 204);
    let held = service.get("/api/threads/tea/registries").done();
    assert_eq!(held["pins"], json!([]));
    let events = service.get("/api/threads/tea/events?follow=false").done();
    let pinned: Vec<&Value> = events["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|told| told["event"]["type"] == "pinned")
        .map(|told| &told["event"]["pinned"])
        .collect();
    assert_eq!(pinned, [&json!(true), &json!(false)]);
    // One that was folded before it was pinned is not in the window, and listed all the same.
    let pinned = service.post("/api/threads/tea/messages/rule/pin", &json!({}));
    assert_eq!(pinned.status, 204);
    let held = service.get("/api/threads/tea/registries").done();
    let listed = json!([{
        "position": 0,
        "message_id": "rule",
        "role": "user",
        "text": "From now on, never use more than two spoons.",
        "folded": true,
    }]);
    assert_eq!(held["pins"], listed);
    service.post("/api/threads/tea/undo", &json!({})).done();
    let held = service.get("/api/threads/tea/registries").done();
    assert_eq!(held["pins"][0]["folded"], false);
    let gone = service.ask("DELETE", "/api/threads/tea/messages/rule/pin", &[], None);
    assert_eq!(gone.status, 204);
    let held = service.get("/api/threads/tea/registries").done();
    assert_eq!(held["pins"], json!([]));
    let none = service.ask("DELETE", "/api/threads/tea/messages/none/pin", &[], None);
    none.problem(404, "message_not_found");
}

#[test]
fn the_tree_keeps_what_was_left_and_every_move() {
    let service = Service::start();
    service.long_thread("tea");
    service.post("/api/threads/tea/compact", &json!({})).done();
    service.post("/api/threads/tea/undo", &json!({})).done();
    service
        .post("/api/threads/tea/rewind", &json!({"message_id": "m4"}))
        .done();
    let said = json!({"messages": [{"type": "human", "id": "other", "content": "Another way."}]});
    service.post("/api/threads/tea/messages", &said).done();
    let tree = service.get("/api/threads/tea/tree").done();
    let segments: Vec<(u64, u64, Option<u64>, bool)> = tree["segments"]
        .as_array()
        .expect("segments")
        .iter()
        .map(|one| {
            let number = |name: &str| one[name].as_u64();
            let (first, last) = (number("first"), number("last"));
            let current = one["current"] == true;
            (
                first.expect("a number"),
                last.expect("a number"),
                number("parent"),
                current,
            )
        })
        .collect();
    assert_eq!(
        segments,
        [
            (0, 4, None, true),
            (5, 11, Some(4), false),
            (12, 12, Some(4), true),
        ]
    );
    let causes: Vec<&Value> = tree["heads"]
        .as_array()
        .expect("heads")
        .iter()
        .map(|row| &row["cause"])
        .collect();
    assert_eq!(causes[..2], [&json!("compaction"), &json!("undo")]);
    assert_eq!(causes.last(), Some(&&json!("move")));
    let last = tree["heads"].as_array().and_then(|rows| rows.last());
    assert_eq!(last.map(|row| &row["head"]), Some(&json!(4)));
    assert!(tree["heads"][0]["ms"].as_u64() > Some(0), "{tree}");
}

#[test]
fn a_request_is_told_by_part_and_as_a_preview_would_leave_it() {
    let service = Service::start();
    service.long_thread("tea");
    let path = "/api/threads/tea/request";
    let before = service.get(path).done();
    let parts = |request: &Value| request["parts"].as_array().cloned().unwrap_or_default();
    let sum = |request: &Value| -> u64 {
        parts(request)
            .iter()
            .filter_map(|part| part["tokens"].as_u64())
            .sum()
    };
    assert_eq!(parts(&before).len(), 12);
    assert_eq!(before["parts"][0]["id"], "m0");
    assert!(sum(&before).abs_diff(before["size"]["request"].as_u64().unwrap_or(0)) <= 12);
    // The newest reply is the last message: all before it was sent for it.
    assert_eq!(before["cached"]["parts"], 11);
    let dry = service.post("/api/threads/tea/compact", &json!({"dry_run": true}));
    let preview = dry.done()["preview"].as_str().expect("a name").to_owned();
    let then = service.get(&format!("{path}?preview={preview}")).done();
    assert_eq!(then["parts"][0]["kind"], "summary");
    assert!(sum(&then) < sum(&before));
    assert_eq!(service.get(path).done(), before, "nothing is changed");
    service
        .post("/api/threads/tea/apply", &json!({"preview": preview}))
        .done();
    let applied = service.get(path).done();
    assert_eq!(applied["messages"], then["messages"]);
    assert_eq!(applied["parts"], then["parts"]);
    service
        .get(&format!("{path}?preview=none"))
        .problem(404, "preview_not_found");
    service
        .get(&format!("{path}?preview={preview}"))
        .problem(409, "preview_stale");
}

#[test]
fn folds_of_the_whole_are_told_with_every_page() {
    let service = Service::start();
    service.long_thread("tea");
    service.post("/api/threads/tea/compact", &json!({})).done();
    let page = service.get("/api/threads/tea/messages?limit=1").done();
    assert_eq!(page["folds"], json!([]), "none on this page");
    let folded = page["folded"].as_array().expect("runs");
    let all = service.get("/api/threads/tea/messages").done();
    let marked: Vec<u64> = all["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|message| message["folded"] == true)
        .filter_map(|message| message["position"].as_u64())
        .collect();
    let told: Vec<u64> = folded
        .iter()
        .flat_map(|run| run[0].as_u64().unwrap_or(1)..=run[1].as_u64().unwrap_or(0))
        .collect();
    assert!(!told.is_empty());
    assert_eq!(told, marked);
}
