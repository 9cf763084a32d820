//! Which model a compaction asks: the one that is named, else the agent's, else the first.

use conspectus_testkit::server::{HttpServer, Step};
use serde_json::{Value, json};

use super::Service;
use crate::support::Place;

const GOOD: &str = "The plan was gone through step by step; src/part1.rs is about step 1.";

fn model() -> HttpServer {
    let choice = json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": GOOD}});
    let answer = json!({"choices": [choice]}).to_string();
    HttpServer::always(Step::answer(
        200,
        &[("content-type", "application/json")],
        &answer,
    ))
}

fn talk() -> Vec<Value> {
    let message = |at: usize| {
        let words: Vec<_> = (0..120)
            .map(|word| format!("w{}", at * 97 + word))
            .collect();
        let text = format!("Step {at} is about src/part{at}.rs: {}", words.join(" "));
        let role = ["user", "assistant"][at % 2];
        json!({"role": role, "content": text})
    };
    (0..12).map(message).collect()
}

#[test]
fn the_model_is_the_named_one_else_the_agents_else_the_first() {
    let models = [("first", model()), ("scribes", model()), ("third", model())];
    let listed: Vec<_> = models
        .iter()
        .map(|(name, server)| format!("  - {{name: {name}, base_url: '{}/v1'}}\n", server.url()))
        .collect();
    let file = format!(
        "models:\n{}agents: {{scribe: scribes, planner: {{model: third}}}}\n",
        listed.concat()
    );
    let place = Place::new();
    place.write("config.yaml", file.as_bytes());
    let service = Service::start(&place, &["--config", "config.yaml", "--store", "memory"]);
    let rows = [
        (json!({}), json!({}), "first"),
        (json!({}), json!({"agent_name": "scribe"}), "scribes"),
        (json!({}), json!({"agent_name": "planner"}), "third"),
        (json!({}), json!({"agent_name": "nobody"}), "first"),
        (json!({"agent_name": "scribe"}), json!({}), "scribes"),
        // Who asks says more than what the thread was made with.
        (
            json!({"agent_name": "scribe"}),
            json!({"agent_name": "planner"}),
            "third",
        ),
        (
            json!({}),
            json!({"agent_name": "scribe", "model_name": "third"}),
            "third",
        ),
        // A name that nobody knows goes straight to the first.
        (
            json!({}),
            json!({"agent_name": "scribe", "model_name": "unknown"}),
            "first",
        ),
    ];
    for (nth, (thread, ask, expect)) in rows.into_iter().enumerate() {
        let id = format!("t{nth}");
        let mut thread = thread;
        thread["thread_id"] = json!(id);
        service.post("/api/threads", &[], &thread).done();
        let body = json!({"messages": talk()});
        let path = format!("/api/threads/{id}/messages");
        service.post(&path, &[], &body).done();
        let before: Vec<_> = models.iter().map(|(_, m)| m.asked().len()).collect();
        let mut ask = ask;
        ask["keep"] = json!({"type": "messages", "value": 2});
        let path = format!("/api/threads/{id}/compact");
        let done = service.post(&path, &[], &ask).done();
        assert_eq!(done["compacted"], true, "{done}");
        assert_eq!(done["model"], expect, "{ask}");
        for ((name, model), before) in models.iter().zip(before) {
            let is_asked = model.asked().len() > before;
            assert_eq!(is_asked, *name == expect, "{name}: {ask}");
        }
    }
}
