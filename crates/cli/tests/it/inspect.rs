//! `inspect`.

use crate::support::{EXAMPLES, Place};

#[test]
fn every_format() {
    for (name, format) in EXAMPLES {
        Place::with(&[name])
            .run(&["inspect", name])
            .done()
            .says(&format!("{name}  {format}, "))
            .says("by role ")
            .says("by tool ")
            .says("largest messages ")
            .says("largest results ")
            .says("every call has its result\n")
            .says("trigger ");
    }
}

#[test]
fn figures_add_up() {
    let place = Place::with(&["openai.json"]);
    let (code, report) = place.json(&["inspect", "openai.json", "--trigger", "tokens=4000"]);
    assert_eq!(code, 0);
    let one = &report["results"][0]["conversations"][0];
    assert_eq!(one["messages"], 62);
    let list = |key: &str| one[key].as_array().expect("a list").clone();
    let sum = |key: &str, field: &str| -> u64 {
        list(key)
            .iter()
            .map(|x| x[field].as_u64().expect("a number"))
            .sum()
    };
    assert_eq!(sum("roles", "count"), 62);
    assert_eq!(sum("tools", "count"), 27);
    assert_eq!(list("by_message").len(), 62);
    let sizes: Vec<u64> = list("largest_messages")
        .iter()
        .map(|m| m["tokens"].as_u64().expect("a number"))
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    assert_eq!(one["triggered"], true);
    let first = one["triggers_at_message"].as_u64().expect("a position");
    assert!((5..61).contains(&first), "{first}");
    assert_eq!(one["triggers"][0]["tokens"], 4000);
    assert_eq!(one["window_source"], "assumed");
}

#[test]
fn pairing_faults_and_faults_of_the_file() {
    let place = Place::new();
    let lines = r#"{"role":"user","content":"go"}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"user","content":"well?"}
{"role":"tool","tool_call_id":"c9","content":"x"}
{"role":
{"role":"assistant","content":"done"}
"#;
    place.write("chat.jsonl", lines.as_bytes());
    let strict = place.run(&["inspect", "chat.jsonl"]);
    assert_eq!(strict.code, 4);
    place
        .run(&["inspect", "chat.jsonl", "--lenient"])
        .done()
        .says("pairing: call \"c1\" was never answered\n")
        .says("pairing: result \"c9\" answers no call\n")
        .says("fault: line 5: ");
}

#[test]
fn one_of_several_conversations() {
    let place = Place::new();
    let one = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
    let all: Vec<String> = (0..5)
        .map(|id| format!(r#"{{"task_id":{id},"traj":{one}}}"#))
        .collect();
    place.write("runs.json", format!("[{}]", all.join(",")).as_bytes());
    let ran = place.run(&["inspect", "runs.json"]);
    ran.done()
        .says("5 conversations")
        .says("--conversation LABEL shows one in full");
    let labels = place.json(&["inspect", "runs.json"]).1;
    let label = labels["results"][0]["conversations"][3]["label"]
        .as_str()
        .expect("a label")
        .to_owned();
    place
        .run(&["inspect", "runs.json", "--conversation", &label])
        .done()
        .says("by role");
    let ran = place.run(&["plan", "runs.json", "--conversation", "x"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .starts_with("error: runs.json: there is no conversation \"x\" in it; there are "),
        "{}",
        ran.err
    );
}
