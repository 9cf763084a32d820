//! What cannot be done is said with the thread, the place and what to try.

use super::Desk;
use crate::support::Place;

#[test]
fn a_store_that_is_not_there_is_not_made_by_looking() {
    let place = Place::new();
    let hint =
        "there is no such store; conspectus thread import FILE makes one, --store names another";
    let look = ["thread", "ls", "--store", "sqlite:no.db"];
    place
        .run(&look)
        .failed(4, &format!("error: sqlite:no.db: {hint}\n"));
    assert!(place.files().is_empty());
}

#[test]
fn what_is_said() {
    let desk = Desk::of_file();
    desk.run(&["thread", "import", "openai.json", "--id", "tea"])
        .done();
    let check = |args: &[&str], code: i32, expect: &str| {
        desk.run(args).failed(code, &format!("error: {expect}\n"));
    };
    check(
        &["thread", "show", "nope"],
        4,
        "nope in sqlite:t.db: there is no such thread; conspectus thread ls lists those that are there",
    );
    check(
        &["thread", "import", "openai.json", "--id", "tea"],
        5,
        "tea in sqlite:t.db: there is such a thread already; take another id, or remove that one with conspectus thread rm",
    );
    check(
        &["thread", "undo", "tea"],
        6,
        "tea in sqlite:t.db: there is no compaction to undo",
    );
    check(
        &["thread", "redo", "tea"],
        6,
        "tea in sqlite:t.db: there is no compaction to redo",
    );
    check(
        &["thread", "apply", "tea", "preview-9"],
        4,
        "tea in sqlite:t.db: there is no preview \"preview-9\"; make one with a dry run",
    );
    check(
        &["thread", "branch", "tea", "side", "--at", "m9"],
        4,
        "tea in sqlite:t.db: there is no message \"m9\" in this thread",
    );
    check(
        &["thread", "show", "../tea"],
        2,
        "../tea: the id of a thread is 1 to 64 letters, digits, - and _",
    );
    check(
        &["thread", "append", "tea", "nope.json"],
        4,
        "nope.json: no such file or directory",
    );
    assert_eq!(
        desk.run(&["compact", "--thread", "tea", "openai.json"])
            .code,
        2
    );
    assert_eq!(
        desk.run(&["compact", "--thread", "tea", "--out", "x"]).code,
        2
    );
    assert_eq!(desk.run(&["thread", "purge", "tea"]).code, 2);
    // A file that breaks off leaves nothing half made.
    desk.place.write(
        "bad.jsonl",
        b"{\"thread\":{\"format\":1,\"thread_id\":\"bad\"}}\n",
    );
    assert_eq!(desk.run(&["thread", "import", "bad.jsonl"]).code, 4);
    let list = desk.json(&["thread", "ls"]);
    assert_eq!(list["threads"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_failure_is_a_document_too() {
    let desk = Desk::of_file();
    desk.run(&["thread", "new", "tea"]).done();
    let ran = desk.run(&["thread", "log", "nope", "--json"]);
    assert_eq!(ran.code, 4);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(document["exit_code"], 4);
    assert_eq!(document["error"]["exit_code"], 4);
    assert!(
        document["error"]["message"]
            .as_str()
            .is_some_and(|m| m.starts_with("nope in sqlite:t.db: ")),
        "{document}"
    );
}

#[test]
fn addresses_are_checked_and_hold_no_secrets() {
    let place = Place::new();
    let check = |args: &[&str], code: i32, expect: &str| {
        let ran = place.run(&[&["thread", "ls"], args].concat());
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(expect), "{}", ran.err);
        assert!(!ran.err.contains("hush"), "{}", ran.err);
    };
    check(
        &["--store", "mysql://me:hush@db"],
        3,
        "store: expected sqlite:PATH",
    );
    check(
        &["--store", "memory"],
        3,
        "a store in memory is gone when the command ends",
    );
    check(
        &["--server", "http://me:hush@db"],
        2,
        "a URL is no place for a password",
    );
    check(&["--server", "ftp://db"], 2, "expected http:// or https://");
    check(
        &["--server", "http://127.0.0.1:9", "--store", "sqlite:t.db"],
        2,
        "cannot be used with",
    );
    check(
        &["--server", "http://127.0.0.1:9"],
        4,
        "http://127.0.0.1:9: it cannot be reached; is conspectus serve running there?",
    );
    let compact = place.run(&[
        "compact",
        "--thread",
        "t",
        "--server",
        "http://127.0.0.1:9",
        "--prune-over",
        "5",
    ]);
    compact.failed(
        2,
        "error: --prune-over: a service compacts by its own configuration and the thread's policy; leave it out\n",
    );
}

#[test]
fn files_are_in_no_store() {
    let place = Place::with(&["openai.json"]);
    place
        .run(&["compact", "openai.json", "--store", "sqlite:t.db"])
        .failed(
            2,
            "error: --store: says where threads are; name one with --thread\n",
        );
    assert_eq!(place.run(&["compact"]).code, 2);
    assert_eq!(place.files(), ["openai.json"]);
}

#[test]
fn half_of_a_surrogate_pair_in_a_message_is_shown() {
    let desk = Desk::of_file();
    let message = r#"[{"type":"human","content":"half \ud83d of it","id":"a"}]"#;
    desk.place.write("half.json", message.as_bytes());
    desk.run(&["thread", "import", "half.json", "--id", "half"])
        .done();
    let request = desk.json(&["thread", "request", "half"]);
    assert_eq!(request["messages"][0]["content"], "half \u{fffd} of it");
    let export = desk.run(&["thread", "export", "half", "--out", "-"]);
    assert!(export.out.contains(r"half \ud83d of it"), "{}", export.out);
}
