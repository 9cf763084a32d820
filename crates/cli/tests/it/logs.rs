//! Logs of other programs, which are written in another form.

use serde_json::Value;

use crate::support::Place;

/// A trajectory with a long history.
fn trajectory() -> String {
    let messages: Vec<String> = (0..12)
        .map(|n| {
            let text = format!("step {n}: {}", "the build failed again. ".repeat(60));
            format!(
                r#"{{"role":"assistant","content":"{text}","action":"make"}},{{"role":"user","content":"output {n}"}}"#
            )
        })
        .collect();
    format!(
        r#"{{"history":[{{"role":"system","content":"be careful"}},{{"role":"user","content":"fix the build"}},{}]}}"#,
        messages.join(",")
    )
}

#[test]
fn a_log_needs_another_form() {
    let place = Place::new();
    place.write("run.traj", trajectory().as_bytes());
    place.run(&["inspect", "run.traj"]).done().says("swe-agent");
    let message = "error: run.traj: swe-agent files are logs that nothing reads back, so nothing was written; add \
                   --to openai for chat messages or --to neutral for role and parts\n";
    place.run(&["compact", "run.traj"]).failed(2, message);
    place.run(&["compact", "run.traj", "-n"]).failed(2, message);
    assert_eq!(place.files(), ["run.traj"]);
    place
        .run(&["compact", "run.traj", "--to", "openai"])
        .done()
        .says("run.traj  swe-agent: compacted")
        .says("written to run.compacted.json");
    let chat: Value = serde_json::from_slice(&place.read("run.compacted.json")).expect("JSON");
    let messages = chat["messages"].as_array().expect("a list");
    assert_eq!(messages[0]["content"], "be careful");
    assert!(messages.iter().any(|m| m["content"] == "fix the build"));
    assert!(messages.len() < 26, "{}", messages.len());
    place
        .run(&["inspect", "run.compacted.json"])
        .done()
        .says("openai");
    place
        .run(&["compact", "run.traj", "--to", "neutral", "--out", "n.json"])
        .done();
    place.run(&["inspect", "n.json"]).done().says("neutral");
    let wrong = place.run(&["compact", "run.traj", "--to", "csv"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("openai, neutral"), "{}", wrong.err);
}

#[test]
fn a_conversion_is_wanted_even_if_nothing_goes() {
    let place = Place::new();
    let short = r#"[{"id":1,"source":"user","action":"message","args":{"content":"q"}}]"#;
    place.write("events.json", short.as_bytes());
    place
        .run(&["compact", "events.json", "--to", "openai"])
        .done()
        .says("written to events.compacted.json");
    let chat = "{\"messages\":[\n{\"role\":\"user\",\"content\":\"q\"}\n]}\n";
    assert_eq!(place.read("events.compacted.json"), chat.as_bytes());
    // What can be written back is converted too, and its own form is no conversion.
    place.write(
        "c.json",
        br#"{"messages":[{"role":"user","content":"q"}],"extra":1}"#,
    );
    place
        .run(&["compact", "c.json", "--to", "openai", "--out", "same.json"])
        .done();
    assert_eq!(place.read("same.json"), place.read("c.json"));
    place
        .run(&["compact", "c.json", "--to", "neutral", "--out", "n.json"])
        .done();
    assert!(place.read("n.json").starts_with(b"{\"conspectus\":1,"));
}

#[test]
fn several_conversations_are_one_a_line() {
    let place = Place::new();
    let line = |id: &str| {
        format!(
            r#"{{"instance_id":"{id}","history":[{{"id":1,"source":"user","action":"message","args":{{"content":"q"}}}}]}}"#
        )
    };
    place.write(
        "eval.jsonl",
        format!("{}\n{}\n", line("a"), line("b")).as_bytes(),
    );
    place
        .run(&["compact", "eval.jsonl", "--to", "openai"])
        .done()
        .says("written to eval.compacted.jsonl");
    let text = String::from_utf8(place.read("eval.compacted.jsonl")).expect("text");
    let ids: Vec<&str> = text.lines().map(|line| &line[..9]).collect();
    assert_eq!(ids, [r#"{"id":"a""#, r#"{"id":"b""#]);
}
