//! What cannot be read, and what was typed wrong.

use crate::support::{Place, Ran, example};

#[test]
fn a_missing_file() {
    let place = Place::new();
    for command in ["compact", "inspect", "plan"] {
        place
            .run(&[command, "missing.json"])
            .failed(4, "error: missing.json: no such file or directory\n");
    }
}

#[test]
fn the_others_are_still_done_and_the_highest_code_wins() {
    let place = Place::with(&["openai.json", "anthropic.json"]);
    place.write("anthropic.compacted.json", b"mine");
    let ran = place.run(&["compact", "missing.json", "openai.json", "anthropic.json"]);
    assert_eq!(ran.code, 5);
    assert!(
        ran.err
            .contains("error: missing.json: no such file or directory\n")
    );
    assert!(
        ran.err
            .contains("error: anthropic.compacted.json: is already there")
    );
    ran.says("written to openai.compacted.json");
}

#[test]
fn broken_json_names_the_line() {
    let place = Place::new();
    place.write(
        "cut.json",
        b"[\n {\"role\":\"user\",\"content\":\"hi\"},\n {\"role\":\"assis",
    );
    let ran = place.run(&["compact", "cut.json"]);
    assert_eq!(ran.code, 4);
    assert!(
        ran.err.starts_with("error: cut.json: line 3, column "),
        "{}",
        ran.err
    );
    assert_eq!(place.files(), ["cut.json"]);
}

#[test]
fn lenient_keeps_a_broken_line() {
    let place = Place::new();
    let session = String::from_utf8(example("claude-code.jsonl")).expect("text");
    let broken = session.replacen('\n', "\n{\"type\":\"user\",\"uu\n", 1);
    place.write("s.jsonl", broken.as_bytes());
    let ran = place.run(&["compact", "s.jsonl"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.starts_with("error: s.jsonl: line 2"), "{}", ran.err);
    let ran = place.run(&["compact", "s.jsonl", "--lenient"]);
    ran.done()
        .says("note: 1 place not understood and kept as is:\n  line 2");
    let written = String::from_utf8(place.read("s.compacted.jsonl")).expect("text");
    assert!(written.contains("{\"type\":\"user\",\"uu\n"));
}

#[test]
fn no_conversation() {
    let place = Place::new();
    place.write("package.json", br#"{"name":"x"}"#);
    place.write("binary.json", b"\xff\xfe[1]");
    place.write("empty.json", b" \n");
    let check = |name: &str, message: &str| {
        let ran = place.run(&["compact", name]);
        assert_eq!(ran.code, 4, "{name}");
        let start = format!("error: {name}: {message}");
        assert!(ran.err.starts_with(&start), "{}", ran.err);
    };
    check(
        "package.json",
        "line 1: found an object with `name`, expected messages of a known format",
    );
    check("binary.json", "line 1: byte 0xff at offset 0 is not UTF-8");
    check("empty.json", "the file is empty");
    let ran = place.run(&["compact", "."]);
    assert_eq!(ran.code, 4);
    assert_eq!(
        ran.err,
        "error: no conversation was found there; name a file, perhaps with --format\n"
    );
    ran.says("skipped 3 files:\n");
}

#[test]
fn wrong_usage() {
    let place = Place::with(&["openai.json"]);
    let check = |args: &[&str], start: &str| {
        let ran: Ran = place.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.starts_with(start), "{}", ran.err);
    };
    check(
        &["compact"],
        "error: the following required arguments were not provided:\n  <FILE>...",
    );
    check(
        &["compact", "openai.json", "--format", "xml"],
        "error: invalid value 'xml' for '--format <FORMAT>': unknown format `xml`, use one of openai, \
         anthropic, langchain, claude",
    );
    check(
        &["compact", "openai.json", "--trigger", "4000"],
        "error: invalid value '4000' for '--trigger <SIZE>': found \"4000\", expected tokens=4000",
    );
    check(
        &["compact", "openai.json", "--keep", "messages=many"],
        "error: invalid value 'messages=many' for '--keep <SIZE>'",
    );
    check(
        &["compact", "openai.json", "--preset", "x"],
        "error: invalid value 'x' for '--preset <NAME>'",
    );
    check(
        &["compact", "openai.json", "--latest", "claude"],
        "error: the argument '[FILE]...' cannot be used with '--latest <PROGRAM>'",
    );
    check(&["shrink"], "error: unrecognized subcommand 'shrink'");
    assert_eq!(place.files(), ["openai.json"]);
}

#[test]
fn a_format_by_name() {
    let place = Place::new();
    let plain = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
    place.write("plain.json", plain.as_bytes());
    let format = |args: &[&str]| {
        let mut all = vec!["inspect", "plain.json"];
        all.extend(args);
        place.json(&all).1["results"][0]["format"].clone()
    };
    assert_eq!(format(&[]), "openai");
    assert_eq!(format(&["--format", "anthropic"]), "anthropic");
}

#[test]
fn what_says_nothing_is_passed_on_as_it_is() {
    let blank = format!(
        r#"[{{"role":"user","content":"{0}"}},{{"role":"assistant","content":"{0}"}},{{"role":"user","content":"x"}}]"#,
        " ".repeat(20_000)
    );
    let place = Place::new();
    place.write("blank.json", blank.as_bytes());
    let args = [
        "compact",
        "blank.json",
        "--keep",
        "messages=0",
        "--out",
        "out.json",
    ];
    let ran = place.run(&args);
    assert_eq!(ran.code, 0);
    ran.says("blank.json  openai: nothing to compact in 3 messages");
    assert_eq!(place.read("out.json"), blank.as_bytes());
    let output = place.pipe(&["compact", "-", "--keep", "messages=0"], blank.as_bytes());
    assert_eq!(output.stdout, blank.as_bytes());
}
