//! The case runner on crashes: what it tells is what a process that really died left in the store.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn trace(case: &Value) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_case-runner"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the case runner");
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(case.to_string().as_bytes())
        .expect("it reads the case");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", output.status);
    serde_json::from_slice(&output.stdout).expect("a trace")
}

/// Each call of the summariser gives another text, so that the trace shows whose summary is there.
fn case(points: &[&str]) -> Value {
    let message =
        |id: &str, role: &str, content: &str| json!({"_id": id, "role": role, "content": content});
    let long = "What was said before about the parser. ".repeat(60);
    json!({
        "format": "openai",
        "config": {"manual": true, "keep": {"messages": 2}, "store": "file"},
        "messages": [
            message("u1", "user", &long),
            message("a1", "assistant", "a"),
            message("u2", "user", "b"),
            message("a2", "assistant", "c"),
        ],
        "steps": [
            {"op": "compact_crash_at", "points": points},
            {"op": "reload"},
            {"op": "append", "messages": [message("u3", "user", &long), message("a3", "assistant", "d"),
                message("u4", "user", "e"), message("a4", "assistant", "f")]},
            {"op": "compact"},
            {"op": "reload"},
        ],
        "summarizer": {"behaviour": "sequence", "items": (1..=20)
            .map(|n| json!({"behaviour": "text", "text": format!("Summary number {n} of the work on the parser.")}))
            .collect::<Vec<_>>()},
    })
}

fn labels(of: &Value) -> Vec<&str> {
    let entries = of["active"].as_array().expect("a window");
    entries
        .iter()
        .filter_map(|entry| entry["from"][0].as_str())
        .collect()
}

const OLD: [&str; 4] = ["u1", "a1", "u2", "a2"];
const NEW: [&str; 2] = ["u2", "a2"];

type Seen<'t> = (String, Vec<&'t str>, Option<&'t str>, &'t str);

/// One line a crash: where the process died, what it left, how the next compaction ended.
fn seen(trace: &Value) -> Vec<Seen<'_>> {
    let crashes = trace["steps"][0]["crashes"].as_array();
    crashes
        .expect("crashes")
        .iter()
        .map(|crash| {
            let retry = crash["retry"].as_str().expect("an outcome");
            let died = crash["died"].as_str().unwrap_or("at its end").to_owned();
            (died, labels(crash), crash["summary"].as_str(), retry)
        })
        .collect()
}

#[test]
fn before_the_commit_the_old_state_is_there_and_after_it_the_new_one() {
    let points = [
        "after_summary_call",
        "after_temp_write",
        "before_rename",
        "after_rename",
    ];
    let trace = trace(&case(&points));
    let old = |at: &str| (at.to_owned(), OLD.to_vec(), None, "compacted");
    // One call a process that died: its partial result was kept, so that whoever comes next need not ask again.
    let summary = Some("Summary number 4 of the work on the parser.");
    let new = |at: &str| (at.to_owned(), NEW.to_vec(), summary, "nothing_to_compact");
    let expect = [
        old("before the transaction"),
        old("before a statement"),
        old("before the commit"),
        new("after the commit"),
    ];
    assert_eq!(seen(&trace), expect);
    let steps = trace["steps"].as_array().expect("steps");
    assert_eq!(steps[0]["summary_calls"].as_array().map(Vec::len), Some(4));
    assert_eq!(labels(&steps[1]), NEW);
    assert_eq!(steps[1]["summary"].as_str(), summary);
    assert_eq!(steps[1]["stored"]["boundary"], true);
    // The next compaction is not kept from working, and what it left is read from the file again.
    assert_eq!(steps[3]["outcome"], "compacted");
    assert_eq!(labels(&steps[4]), labels(&steps[3]));
    assert_eq!(steps[4]["summary"], steps[3]["summary"]);
}

#[test]
fn a_point_that_says_nothing_is_played_at_every_step() {
    let trace = trace(&case(&["when_it_rains"]));
    let seen = seen(&trace);
    let at: Vec<&str> = seen.iter().map(|(at, ..)| at.as_str()).collect();
    assert_eq!(at, conspectus_store::STEPS);
    let windows: Vec<&[&str]> = seen
        .iter()
        .map(|(_, window, ..)| window.as_slice())
        .collect();
    assert_eq!(windows, [&OLD[..], &OLD, &OLD, &OLD, &NEW]);
    assert!(seen.iter().all(|(.., retry)| *retry != "conflict"));
}
