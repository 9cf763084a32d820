//! Compacting by hand: the table of outcomes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use conspectus::ChatModel;
use serde_json::{Value, json};

use crate::support::{Broken, Held, Says, Service, With, talk};

const PATH: &str = "/api/threads/tea/compact";

#[test]
fn the_seeds_answer() {
    let service = Service::start();
    service.long_thread("tea");
    let before = service.get("/api/threads/tea/state").done();
    let done = service.post(
        PATH,
        &json!({"force": true, "keep": null, "agent_name": null, "model_name": null}),
    );
    let done = done.done();
    assert_eq!(done["thread_id"], "tea");
    assert_eq!(
        (&done["compacted"], &done["reason"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(done["summary_updated"], true);
    let (removed, preserved) = (
        done["removed_message_count"].as_u64(),
        done["preserved_message_count"].as_u64(),
    );
    assert_eq!(
        removed.zip(preserved).map(|(a, b)| a + b),
        Some(12),
        "{done}"
    );
    assert_ne!(done["checkpoint_id"], before["checkpoint"]["checkpoint_id"]);
    assert!(
        done["total_tokens"].as_u64() < done["tokens_before"].as_u64(),
        "{done}"
    );
    let after = service.get("/api/threads/tea/state").done();
    assert_eq!(
        after["values"]["messages"]
            .as_array()
            .map(Vec::len)
            .map(|n| n as u64),
        preserved
    );
    assert!(after["values"]["summary_text"].is_string());

    let again = service.post(PATH, &json!({})).done();
    let nothing = (
        &again["compacted"],
        &again["reason"],
        &again["checkpoint_id"],
    );
    assert_eq!(
        nothing,
        (&json!(false), &json!("not_enough_messages"), &Value::Null)
    );
    assert_eq!(service.get("/api/threads/tea/state").done(), after);
}

#[test]
fn there_may_be_nothing_to_do() {
    let service = Service::start();
    service.thread("tea");
    let reason = |body: &Value| service.post(PATH, body).done()["reason"].clone();
    assert_eq!(reason(&json!({})), "not_enough_messages");
    service.post("/api/threads/tea/messages", &talk(1)).done();
    assert_eq!(reason(&json!({})), "not_enough_messages");
    service.post("/api/threads/tea/messages", &talk(12)).done();
    assert_eq!(
        reason(&json!({"force": false})),
        "not_enough_messages",
        "the trigger is not met"
    );
    service
        .post("/api/threads/none/compact", &json!({}))
        .problem(404, "thread_not_found");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let service = Service::start();
    service.long_thread("tea");
    for body in [
        json!({"forced": true}),
        json!({"force": null}),
        json!({"keep": {"type": "messages", "value": 1.5}}),
        json!({"keep": {"type": "lines", "value": 1}}),
        json!({"keep": 5}),
        json!({"agent_name": "a".repeat(129)}),
        json!({"focus": "f".repeat(2001)}),
        json!({"strategy": "magic"}),
    ] {
        service.post(PATH, &body).problem(422, "invalid_request");
    }
    service
        .post("/api/threads/a.b/compact", &json!({}))
        .problem(422, "invalid_request");
}

#[test]
fn disabled_is_disabled() {
    let service = Service::start();
    service.long_thread("tea");
    let off = json!({"policy": {"enabled": false}});
    service
        .ask("PATCH", "/api/threads/tea", &[], Some(&off))
        .done();
    let problem = service.post(PATH, &json!({})).problem(409, "disabled");
    assert_eq!(problem["detail"], "Context compaction is disabled.");
}

#[test]
fn the_model_of_the_request_then_of_the_thread_then_the_default() {
    let (first, second) = (Arc::new(Says::default()), Arc::new(Says::default()));
    let models: Vec<(&str, Arc<dyn ChatModel>)> =
        vec![("first", first.clone()), ("second", second.clone())];
    let service = Service::with(With {
        models,
        ..With::default()
    });
    service.long_thread("tea");
    let asked = || {
        (
            first.asked.load(Ordering::Relaxed) > 0,
            second.asked.load(Ordering::Relaxed) > 0,
        )
    };
    let done = service
        .post(PATH, &json!({"model_name": "second", "dry_run": true}))
        .done();
    assert_eq!(
        (&done["model"], asked()),
        (&json!("second"), (false, true)),
        "{done}"
    );
    let unknown = service
        .post(PATH, &json!({"model_name": "nobody's", "dry_run": true}))
        .done();
    assert_eq!(
        (&unknown["model"], asked().0),
        (&json!("first"), true),
        "{unknown}"
    );
}

#[test]
fn a_failure_is_told_apart_from_nothing_to_do() {
    let models: Vec<(&str, Arc<dyn ChatModel>)> = vec![("broken", Arc::new(Broken))];
    let config = "summarization: {preset: default, on_failure: error}\n";
    let service = Service::with(With {
        config,
        models,
        ..With::default()
    });
    service.long_thread("tea");
    let before = service.get("/api/threads/tea/state").done();
    let problem = service
        .post(PATH, &json!({}))
        .problem(500, "compaction_failed");
    assert_eq!(problem["detail"], "Failed to compact thread context.");
    assert_eq!(problem["cause"], "unusable");
    assert_eq!(service.get("/api/threads/tea/state").done(), before);
    let status = service.get("/api/threads/tea/status").done();
    assert_eq!(status["last"]["outcome"], "failed");
}

#[test]
fn one_at_a_time() {
    let held = Held::new();
    let models: Vec<(&str, Arc<dyn ChatModel>)> = vec![("slow", held.clone())];
    let service = Service::with(With {
        models,
        ..With::default()
    });
    service.long_thread("tea");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| service.post(PATH, &json!({})).done());
        held.wait();
        let problem = service.post(PATH, &json!({})).problem(409, "run_in_flight");
        assert_eq!(
            problem["detail"],
            "Thread has a run in flight. Compact after the run finishes."
        );
        let thread = service.get("/api/threads/tea").done();
        assert_eq!(thread["status"], "busy");
        assert!(thread["compaction_in_progress"].is_object(), "{thread}");
        // Messages that come meanwhile are kept.
        let late =
            json!({"messages": [{"type": "human", "content": "One more thing.", "id": "late"}]});
        service.post("/api/threads/tea/messages", &late).done();
        held.may.add_permits(9);
        assert_eq!(first.join().expect("it ends")["compacted"], true);
    });
    let state = service.get("/api/threads/tea/state").done();
    let last = state["values"]["messages"]
        .as_array()
        .and_then(|all| all.last())
        .expect("a message");
    assert_eq!(last["id"], "late");
    assert_eq!(service.get("/api/threads/tea").done()["status"], "idle");
}

#[test]
fn a_preview_is_put_in_force_without_asking_again() {
    let says = Arc::new(Says::default());
    let models: Vec<(&str, Arc<dyn ChatModel>)> = vec![("says", says.clone())];
    let service = Service::with(With {
        models,
        ..With::default()
    });
    service.long_thread("tea");
    let before = service.get("/api/threads/tea/state").done();
    let dry = service.post(PATH, &json!({"dry_run": true})).done();
    assert_eq!(
        (&dry["compacted"], &dry["reason"]),
        (&json!(false), &json!("dry_run")),
        "{dry}"
    );
    assert_eq!(
        service.get("/api/threads/tea/state").done()["values"],
        before["values"]
    );
    let asked = says.asked.load(Ordering::Relaxed);
    assert!(asked > 0);
    let apply = json!({"preview": dry["preview"]});
    let applied = service.post("/api/threads/tea/apply", &apply).done();
    assert_eq!(applied["compacted"], true, "{applied}");
    let state = service.get("/api/threads/tea/state").done();
    assert_eq!(state["values"]["summary_text"], dry["summary_text"]);
    assert_eq!(says.asked.load(Ordering::Relaxed), asked);
    let none = json!({"preview": "nothing"});
    service
        .post("/api/threads/tea/apply", &none)
        .problem(404, "preview_not_found");
}
