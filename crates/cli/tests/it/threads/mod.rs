//! Threads on the command line: in a file, and the same behind a service.

mod docs;
mod errors;
#[cfg(feature = "serve")]
mod service;

use conspectus_testkit::server::HttpServer;
use serde_json::Value;

use crate::asking::good;
use crate::support::{Place, Ran};

/// A directory with the examples, and where its threads are.
pub(super) struct Desk {
    pub(super) place: Place,
    pub(super) at: Vec<String>,
}

impl Desk {
    /// Threads in a file.
    pub(super) fn of_file() -> Self {
        Self {
            place: Place::with(&["openai.json", "langchain.json", "codex.jsonl"]),
            at: vec!["--store".to_owned(), "sqlite:t.db".to_owned()],
        }
    }

    pub(super) fn run(&self, args: &[&str]) -> Ran {
        let at = self.at.iter().map(String::as_str);
        let args: Vec<&str> = args.iter().copied().chain(at).collect();
        let mut command = self.place.command(&args);
        command
            .env_remove("CONSPECTUS_TOKEN")
            .env_remove("XDG_DATA_HOME");
        Ran::of(&command.output().expect("runs"))
    }

    #[track_caller]
    pub(super) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        let document: Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|why| panic!("{why}: {}\n{}", ran.out, ran.err));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        assert_eq!(document["error"], Value::Null);
        document["result"].clone()
    }
}

/// From a file of messages to nothing.
pub(super) fn whole_life(desk: &Desk) {
    let run = |args: &[&str]| desk.run(args);
    run(&[
        "thread",
        "import",
        "openai.json",
        "--id",
        "tea",
        "--title",
        "Flights",
    ])
    .done()
    .says("tea  imported in ")
    .says(": 62 messages, 0 compactions, \"Flights\"\n");
    run(&["thread", "ls"]).done().says("tea        62");

    // A preview changes nothing, and is put in force later.
    let preview = desk.json(&["compact", "--thread", "tea", "--dry-run"]);
    assert_eq!(preview["compacted"], false);
    let name = preview["preview"].as_str().expect("a preview");
    assert_eq!(
        desk.json(&["thread", "log", "tea"]),
        Value::Array(Vec::new())
    );
    run(&["thread", "apply", "tea", name])
        .done()
        .says("compacted");
    run(&["thread", "undo", "tea"])
        .done()
        .says("compaction 0 is taken back");

    let compacted = run(&["compact", "--thread", "tea", "--keep", "messages=6"]);
    compacted
        .done()
        .says("messages      62")
        .says("extracted without a model");
    let log = desk.json(&["thread", "log", "tea"]);
    assert_eq!(log[0]["active"], true);
    assert_eq!(log[1]["active"], false);
    assert_eq!(log[0]["author"], "digest");
    let measured = &log[0]["measured"];
    assert!(measured["tokens_after"].as_u64() < measured["tokens_before"].as_u64());
    run(&["thread", "log", "tea"])
        .done()
        .says("record 1  manual, in force (compaction)");

    // People see all of it, and find what was folded.
    run(&["thread", "show", "tea"])
        .done()
        .says("messages folded (--all shows them)");
    run(&["thread", "show", "tea", "--all", "--limit", "100"])
        .done()
        .says("(folded) ")
        .says("omar_davis_3817");
    let found = desk.json(&[
        "recall",
        "--thread",
        "tea",
        "omar_davis_3817",
        "--folded",
        "--limit",
        "2",
    ]);
    let first = &found["messages"][0];
    assert_eq!(first["folded"], true);
    let id = first["id"].as_str().expect("an id");
    let around = desk.json(&["recall", "--thread", "tea", "--id", id, "--after", "1"]);
    assert_eq!(around["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(around["messages"][1]["hit"], false);
    run(&["recall", "--thread", "tea", "omar_davis_3817"])
        .done()
        .says("folded");
    run(&["recall", "--thread", "tea", "xylophone"])
        .done()
        .says("nothing found in tea");

    run(&["thread", "undo", "tea"])
        .done()
        .says("compaction 1 is taken back");
    assert_eq!(desk.json(&["thread", "log", "tea"])[0]["active"], false);
    run(&["thread", "redo", "tea"])
        .done()
        .says("compaction 1 is in force again");
    assert_eq!(desk.json(&["thread", "log", "tea"])[0]["active"], true);

    run(&["thread", "branch", "tea", "side", "--at", id])
        .done()
        .says("side  branched off");
    run(&["thread", "rm", "side"]).done();

    // What is exported makes the same thread again.
    run(&["thread", "export", "tea", "--out", "tea.jsonl"]).done();
    run(&["thread", "rm", "tea"])
        .done()
        .says("tea  removed from ");
    assert_eq!(run(&["thread", "show", "tea"]).code, 4);
    run(&["thread", "import", "tea.jsonl"])
        .done()
        .says("tea  imported");
    assert_eq!(desk.json(&["thread", "log", "tea"]), desk_log(&log));
    let all = run(&["thread", "export", "tea"]).done().out.clone();
    let exported = String::from_utf8(desk.place.read("tea.jsonl")).expect("UTF-8");
    let messages = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("{\"message\""));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(messages(&all), messages(&exported));

    // A secret is gone from everywhere, and is not told.
    desk.place.write("secret", b"omar_davis_3817\n");
    let purged = run(&["thread", "purge", "tea", "--secret-in", "secret"]);
    purged.done().says("for good");
    assert!(!purged.out.contains("omar"), "{}", purged.out);
    let all = run(&["thread", "export", "tea"]).done().out.clone();
    assert!(!all.contains("omar_davis_3817"));
    run(&["thread", "rm", "tea"]).done();
    run(&["thread", "ls"]).done().says("no threads in ");
}

/// What the log says after undo, redo and a way through a file.
fn desk_log(before: &Value) -> Value {
    let mut log = before.clone();
    log[0]["history"] = serde_json::json!(["compaction", "undo", "redo"]);
    log
}

#[test]
fn a_whole_life_in_a_file() {
    whole_life(&Desk::of_file());
}

#[test]
fn every_format_that_is_read_becomes_a_thread() {
    let desk = Desk::of_file();
    for (file, id, messages) in [
        ("openai.json", "openai", "62 messages"),
        ("langchain.json", "langchain", "27 messages"),
        ("codex.jsonl", "codex", " messages"),
    ] {
        let ran = desk.run(&["thread", "import", file]);
        ran.done()
            .says(&format!("{id}  imported in "))
            .says(messages);
        let compacted = desk.json(&["compact", "--thread", id]);
        assert!(
            ["compacted", "pruned"].contains(&compacted["outcome"].as_str().unwrap_or_default()),
            "{file}: {compacted}"
        );
    }
}

#[test]
fn messages_come_later_and_only_once() {
    let desk = Desk::of_file();
    desk.run(&["thread", "new", "tea"])
        .done()
        .says("tea  made in sqlite:t.db: 0 messages");
    let one = r#"[{"role":"user","content":"hi","id":"a"}]"#;
    desk.place.write("one.json", one.as_bytes());
    let add = ["thread", "append", "tea", "one.json"];
    desk.run(&add)
        .done()
        .says("tea  in sqlite:t.db: 1 message added\n");
    desk.run(&add)
        .done()
        .says("tea  in sqlite:t.db: 0 messages added, 1 message there already\n");
    desk.run(&["thread", "show", "tea"])
        .done()
        .says("  #0     user      hi\n");
}

#[test]
fn only_when_it_is_due() {
    let desk = Desk::of_file();
    desk.run(&["thread", "import", "openai.json", "--id", "tea"])
        .done();
    let compact = |args: &[&str]| desk.json(&[&["compact", "--thread", "tea"], args].concat());
    assert_eq!(compact(&["--if-due"])["outcome"], "skipped");
    assert_eq!(
        compact(&["--trigger", "tokens=50000"])["outcome"],
        "skipped"
    );
    assert_eq!(
        compact(&["--trigger", "tokens=5000"])["outcome"],
        "compacted"
    );
}

#[test]
fn a_thread_has_a_policy_of_its_own() {
    let desk = Desk::of_file();
    desk.place.write("policy.json", br#"{"enabled": false}"#);
    desk.run(&["thread", "new", "tea", "--policy", "policy.json"])
        .done();
    desk.run(&["thread", "append", "tea", "openai.json"]).done();
    desk.run(&["compact", "--thread", "tea"])
        .done()
        .says("nothing done, compaction is off in its policy");
}

#[cfg(unix)]
#[test]
fn an_export_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::of_file();
    desk.run(&["thread", "import", "openai.json", "--id", "tea"])
        .done();
    desk.run(&["thread", "export", "tea", "-o", "x.jsonl"])
        .done();
    let mode = std::fs::metadata(desk.place.path("x.jsonl"))
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    desk.place.write("y.jsonl", b"mine");
    desk.run(&["thread", "export", "tea", "-o", "y.jsonl"])
        .failed(
            5,
            "error: y.jsonl: is already there and was left alone; use --overwrite to replace it\n",
        );
}

#[test]
fn a_model_writes_the_summary_and_a_preview_is_not_paid_twice() {
    let desk = Desk::of_file();
    let server = HttpServer::always(good());
    let url = format!("{}/v1", server.url());
    desk.run(&["thread", "import", "openai.json", "--id", "tea"])
        .done();
    let at = ["--store", "sqlite:t.db", "--base-url", &url];
    let args = [
        "compact",
        "--thread",
        "tea",
        "--model",
        "gpt-5-mini",
        "--dry-run",
    ];
    let ran = desk.place.asking(&[&args[..], &at].concat(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = server.url();
    assert_eq!(ran.err, format!("may be asked: gpt-5-mini at {shown}/v1\n"));
    ran.says("omar_davis_3817")
        .says("to put it in force: conspectus thread apply tea preview-0");
    assert_eq!(server.asked().len(), 1);
    desk.run(&["thread", "apply", "tea", "preview-0"])
        .done()
        .says("written by gpt-5-mini");
    assert_eq!(server.asked().len(), 1);
    let log = desk.json(&["thread", "log", "tea"]);
    assert_eq!(log[0]["author"], serde_json::json!({"model": "gpt-5-mini"}));
    // What was shortened is read whole by its reference.
    desk.run(&["thread", "import", "langchain.json"]).done();
    desk.run(&["compact", "--thread", "langchain"]).done();
    desk.run(&["thread", "show", "langchain"])
        .done()
        .says("(shortened) ");
    let sent = desk.run(&["thread", "request", "langchain"]);
    let at = sent.done().out.find("cx-").expect("a marker");
    let reference = &sent.out[at..at + 15];
    let found = desk.json(&["recall", "--thread", "langchain", "--reference", reference]);
    let text = found["messages"][0]["text"].as_str().expect("the whole");
    assert_eq!(text.chars().count(), 60_302);
}

#[test]
fn with_the_digest_a_model_says_the_window_alone() {
    let desk = Desk::of_file();
    desk.run(&["thread", "import", "openai.json", "--id", "tea"])
        .done();
    let due = ["compact", "--thread", "tea", "--trigger", "fraction=0.5"];
    let digest = ["--strategy", "digest", "--model", "gpt-4"];
    let ran = desk.run(&[&due[..], &digest].concat());
    ran.done().says("extracted without a model");
}
