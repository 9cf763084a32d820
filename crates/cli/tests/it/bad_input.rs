//! Input that nobody would write by hand: whatever it is, the answer is clear, the exit code is one of ours, and
//! nothing is written or lost.

use std::fs;
use std::io::Write as _;

use crate::support::{EXAMPLES, Place, Ran, example};

/// Levels that no recursion survives.
const DEEP: usize = 100_000;

/// Runs all three commands on a file; each must end with one of our codes, without a fault of ours, and leave
/// the file and the directory alone unless it is done.
#[track_caller]
fn survives(bytes: &[u8]) -> Ran {
    survives_all(
        bytes,
        &[
            &["inspect", "in.json"],
            &["plan", "in.json"],
            &["inspect", "in.json", "--lenient"],
            &["compact", "in.json", "--lenient", "--dry-run"],
            &["compact", "in.json"],
        ],
    )
}

#[track_caller]
fn survives_all(bytes: &[u8], commands: &[&[&str]]) -> Ran {
    let place = Place::new();
    place.write("in.json", bytes);
    let mut last = None;
    for args in commands {
        let ran = place.run(args);
        assert!(
            matches!(ran.code, 0 | 4 | 6),
            "{args:?}: {} {}",
            ran.code,
            ran.err
        );
        assert!(!ran.err.contains("has a fault"), "{args:?}: {}", ran.err);
        assert!(ran.err.len() < 2_000, "a short message: {}", ran.err.len());
        assert_eq!(ran.code != 0, ran.err.starts_with("error: in.json: "));
        assert!(place.read("in.json") == bytes, "the input is untouched");
        last = Some(ran);
    }
    let ran = last.expect("ran");
    if ran.code != 0 {
        assert_eq!(place.files(), ["in.json"]);
    }
    ran
}

#[track_caller]
fn refused(bytes: &[u8], message: &str) {
    let ran = survives(bytes);
    assert_eq!(ran.code, 4, "{}", ran.out);
    let start = format!("error: in.json: {message}");
    assert!(ran.err.starts_with(&start), "{}", ran.err);
}

#[test]
fn empty_and_blank() {
    for bytes in [&b""[..], b" \r\n\t ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"] {
        refused(bytes, "the file is empty, expected a conversation");
    }
}

#[test]
fn something_else() {
    refused(b"\x89PNG\r\n\x1a\n\0\0", "line 1: byte 0x89 at offset 0");
    refused(b"\0\0\0\0", "line 1, column 1: ");
    refused(b"hello", "line 1, column 1: ");
    refused(b"<html></html>", "line 1, column 1: ");
    refused(b"null", "line 1: found null, expected messages");
    refused(b"42", "line 1: found a number, expected messages");
    refused(b"\"text\"", "line 1: found a string, expected messages");
    refused(b"{}", "line 1: found an empty object");
    refused(b"[[1],[2]]", "line 1: ");
    refused(br#"{"messages":"many"}"#, "line 1: ");
    refused(
        br#"[{"role":"user","content":"a"},7]"#,
        "line 1: message 1 is a number",
    );
}

#[test]
fn cut_off_anywhere() {
    for (name, _) in EXAMPLES {
        let whole = example(name);
        let place = Place::new();
        // Each cut is a run of a process; some everywhere, and close to both ends.
        let ends = (0..12).chain(whole.len() - 12..whole.len());
        for end in (0..whole.len()).step_by(whole.len() / 40).chain(ends) {
            place.write("cut.json", &whole[..end]);
            let ran = place.run(&["compact", "cut.json", "--dry-run"]);
            assert!(
                matches!(ran.code, 0 | 4 | 6),
                "{name} at {end}: {}",
                ran.err
            );
            assert!(
                !ran.err.contains("has a fault"),
                "{name} at {end}: {}",
                ran.err
            );
            let is_json = name.ends_with(".json") && end + 2 < whole.len();
            assert!(!is_json || ran.code == 4, "{name} at {end}: {}", ran.out);
        }
    }
}

#[test]
fn invalid_utf8_names_line_and_byte() {
    for (name, _) in EXAMPLES {
        let mut bytes = example(name);
        let middle = bytes.len() / 2;
        bytes[middle] = 0xc3;
        bytes[middle + 1] = 0x28;
        let line = 1 + bytes[..middle].iter().filter(|b| **b == b'\n').count();
        let message = format!("line {line}: byte 0xc3 at offset {middle} is not UTF-8");
        refused(&bytes, &message);
    }
}

/// A conversation that is compacted, with this JSON as the content of its second message.
fn around(content: &str, long: usize) -> Vec<u8> {
    let long = "tea and more tea. ".repeat(long);
    let text = format!(
        r#"[{{"role":"user","content":"Make tea. {long}"}},{{"role":"assistant","content":{content}}},
{{"role":"user","content":"And now? {long}"}},{{"role":"assistant","content":"Done. {long}"}},
{{"role":"user","content":"And coffee?"}},{{"role":"assistant","content":{content}}}]"#
    );
    text.into_bytes()
}

#[test]
fn lone_surrogates_stay_as_they_are() {
    let odd = r#""a \ud83d b \udc00 c \ud83d\ude00 \uD83D\uD83D""#;
    let bytes = around(odd, 600);
    let place = Place::new();
    place.write("in.json", &bytes);
    place
        .run(&["compact", "in.json"])
        .done()
        .says("openai: compacted");
    let out = String::from_utf8(place.read("in.compacted.json")).expect("valid UTF-8");
    assert!(out.contains(odd), "what is kept has its own bytes");
    place.run(&["inspect", "in.compacted.json"]).done();
    survives(&bytes);
}

#[test]
fn duplicate_keys_are_kept_as_they_are() {
    let twice = r#"[{"role":"user","role":"assistant","content":"a","content":"b"},
{"role":"assistant","content":"c","tool_calls":[{"id":"x","id":"y","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"x","content":"d"},{"role":"user","content":"e"}]"#;
    survives(twice.as_bytes());
    let request = format!(
        r#"{{"messages":[],"model":"m","messages":{}}}"#,
        String::from_utf8_lossy(&around("\"x\"", 600))
    );
    survives(request.as_bytes());
    // As arguments and in fields that are not ours they are nobody's business.
    let bytes = around(r#""x","extra":{"k":1,"k":2}"#, 600);
    let place = Place::new();
    place.write("in.json", &bytes);
    place.run(&["compact", "in.json"]).done();
    let out = String::from_utf8(place.read("in.compacted.json")).expect("text");
    assert!(out.contains(r#""extra":{"k":1,"k":2}"#), "{out}");
}

#[test]
fn a_hundred_thousand_levels() {
    let survives = |bytes: &[u8]| {
        survives_all(
            bytes,
            &[
                &["inspect", "in.json", "--lenient"],
                &["compact", "in.json"],
            ],
        )
    };
    let arrays = "[".repeat(DEEP) + &"]".repeat(DEEP);
    let objects = r#"{"a":"#.repeat(DEEP) + "1" + &"}".repeat(DEEP);
    for deep in [&arrays, &objects] {
        survives(deep.as_bytes());
        survives(&around(deep, 600));
        survives(&around(&format!(r#""x","extra":{deep}"#), 600));
        let call = format!(
            r#""x","tool_calls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":{}}}}}]"#,
            serde_json::to_string(deep).expect("a string")
        );
        survives(&around(&call, 600));
        let rest = String::from_utf8_lossy(&around("\"x\"", 600)).into_owned();
        survives(format!(r#"{{"tools":{deep},"messages":{rest}}}"#).as_bytes());
        survives(format!(r#"{{"system":{deep},"messages":{rest}}}"#).as_bytes());
        // As session records.
        let record = format!(
            r#"{{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":{deep}}}}}"#
        );
        survives(format!("{record}\n{record}\n").as_bytes());
        // As LangChain's messages.
        let human = format!(
            r#"[{{"type":"human","content":{deep}}},{{"type":"ai","content":"x","additional_kwargs":{deep}}}]"#
        );
        survives(human.as_bytes());
    }
    refused("[".repeat(DEEP).as_bytes(), "line 1, column ");
    refused(r#"{"a":"#.repeat(DEEP).as_bytes(), "line 1, column ");
    refused("[".repeat(DEEP).replace("[", "[\n").as_bytes(), "line ");
}

/// More parts than a part's number can tell apart.
#[test]
fn a_message_of_seventy_thousand_parts() {
    let part = r#"{"type":"text","text":"a word or two"}"#;
    let parts = vec![part; 70_000].join(",");
    let commands: &[&[&str]] = &[&["inspect", "in.json"], &["compact", "in.json"]];
    survives_all(&around(&format!("[{parts}]"), 600), commands);
    let call = r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let calls = vec![call; 70_000].join(",");
    survives_all(
        &around(&format!(r#""x","tool_calls":[{calls}]"#), 600),
        commands,
    );
}

#[test]
fn a_configuration_that_is_no_configuration() {
    let place = Place::with(&["openai.json"]);
    let deep = "[".repeat(DEEP);
    let long = "a".repeat(1 << 20);
    let indented: String = (0..2_000).map(|n| " ".repeat(n) + "a:\n").collect();
    for bytes in [
        b"\xff\xfe".as_slice(),
        b"\0",
        b"- 1\n- 2\n",
        b"summarization: 7\n",
        b"summarization:\n\tenabled: true\n",
        b"summarization: {enabled: true",
        b"a: &a [*a]\nsummarization: *a\n",
        deep.as_bytes(),
        indented.as_bytes(),
        format!("summarization:\n  keep: {long}\n").as_bytes(),
    ] {
        place.write("config.yaml", bytes);
        let ran = place.run(&["compact", "openai.json", "-c", "config.yaml"]);
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!(ran.code, 3, "{start:?}: {}", ran.err);
        assert!(ran.err.starts_with("error: config.yaml"), "{}", ran.err);
        assert!(ran.err.len() < 500, "{start:?}: {}", ran.err.len());
    }
    assert_eq!(place.files(), ["config.yaml", "openai.json"]);
}

/// One line of so many megabytes, as a text of a message, as nothing known, and as brackets: the answer is clear.
/// Memory stays within three times the file, and within eight times while the line is compacted.
///
/// `CONSPECTUS_LINE_MB=1024 cargo test --release -p conspectus-cli a_very_long_line` is the 1 GB line.
#[test]
fn a_very_long_line() {
    let megabytes: usize = std::env::var_os("CONSPECTUS_LINE_MB")
        .and_then(|n| n.to_str()?.parse().ok())
        .unwrap_or(32);
    let size = megabytes << 20;
    let word = b"tea and more tea, then a walk. ";
    let text: Vec<u8> = word.iter().copied().cycle().take(size).collect();
    let check = |name: &str, parts: &[&[u8]], code: i32, says: &str| {
        let place = Place::new();
        {
            let mut file = fs::File::create(place.path("in.json")).expect("made");
            parts
                .iter()
                .for_each(|p| file.write_all(p).expect("written"));
        }
        for args in [&["inspect", "in.json"][..], &["compact", "in.json"]] {
            let (ran, peak) = place.run_measured(args);
            assert_eq!(ran.code, code, "{name} {args:?}: {}", ran.err);
            let said = ran.out + &ran.err;
            assert!(said.contains(says), "{name}: {said}");
            assert!(said.len() < 4_000, "{name}: {}", said.len());
            if let Some(peak) = peak {
                let times = if args[0] == "compact" && code == 0 {
                    8
                } else {
                    3
                };
                let most = times * size + (32 << 20);
                println!("{name} {args:?}: {} MB of {megabytes}", peak >> 20);
                assert!(peak <= most, "{name} {args:?}: {peak} of {most} bytes");
            }
        }
    };
    check("garbage", &[&text], 4, "line 1, column ");
    let open = vec![b'['; size];
    check("brackets", &[&open], 4, "line 1, column ");
    let tail = br#""},{"role":"assistant","content":"ok"},{"role":"user","content":"go on"}]"#;
    check(
        "one message",
        &[br#"[{"role":"user","content":""#, &text, tail],
        0,
        "openai",
    );
    check(
        "cut off",
        &[br#"[{"role":"user","content":""#, &text],
        4,
        "line 1, column ",
    );
}

#[test]
fn devices_end() {
    let place = Place::new();
    if fs::metadata("/dev/null").is_err() {
        println!("no devices here, left out");
        return;
    }
    place.run(&["inspect", "/dev/null"]).failed(
        4,
        "error: /dev/null: the file is empty, expected a conversation as JSON or JSON lines\n",
    );
}
