//! Files that want to trip a reader. Each is read, or refused with a place and a reason; nothing panics and
//! nothing is lost.

use conspectus_core::projection::BlockKind;
use conspectus_core::view::Role;
use conspectus_wire::{Document, Fault, Format, OpenOptions, RenderContext, WriteError};

use crate::support::{
    answer, cut, edit, everything, fixtures, insert, keep, lenient, open, open_as, remove, render,
    script, shape, summary,
};

fn refused(bytes: &[u8]) -> String {
    let error = Document::open(bytes.to_vec(), &OpenOptions::default());
    error.expect_err("the file is refused").to_string()
}

#[test]
fn refusals_say_where_what_and_what_instead() {
    let check = |bytes: &[u8], expect: &str| assert_eq!(refused(bytes), expect);
    let empty = "the file is empty, expected a conversation as JSON or JSON lines";
    check(b"", empty);
    check(b" \r\n\n", empty);
    check("\u{feff}\n".as_bytes(), empty);
    check(
        b"[\n{\"role\":\"user\",\"content\":\"\xff\"}]",
        "line 2: byte 0xff at offset 28 is not UTF-8, convert the file to UTF-8 first",
    );
    check(
        b"hello",
        "line 1, column 1: expected value, expected a JSON object or list, or JSON lines",
    );
    check(
        b"[\n{\"role\":\"user\",\"content\":\"x\"},",
        "line 2, column 30: the text ends early (EOF while parsing a value), \
         expected the rest of the JSON: the file looks cut off",
    );
    check(
        b"[\n{\"role\" \"user\"}]",
        "line 2, column 9: expected `:`, expected valid JSON",
    );
    check(
        b"{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"user\",",
        "line 2, column 15: the text ends early (EOF while parsing an object), \
         expected the rest of the JSON: the file looks cut off",
    );
    let known = format!(
        "expected messages of a known format ({}), as a list, under `messages`, or one a line; if the format is \
         known to you, name it",
        Format::names()
    );
    check(
        b"SQLite format 3\0\x10\0",
        "the file is an SQLite database, write the conversation out of it first (goose: `goose session export \
         --format json`)",
    );
    check(
        b"{\"talk\":[],\"model\":\"m\"}",
        &format!("line 1: found an object with `talk`, `model`, {known}"),
    );
    check(b"\n3", &format!("line 2: found a number, {known}"));
    check(b"[1,2]", &format!("line 1: found an array, {known}"));
    let twice = b"{\"messages\":[],\"messages\":[]}";
    check(
        twice,
        &format!("line 1: found an object with `messages`, `messages`, {known}"),
    );
    let deep = "[".repeat(500) + &"]".repeat(500);
    check(
        deep.as_bytes(),
        &format!("line 1: found an array, nested 500 levels deep, {known}"),
    );
    check(
        b"[{\"role\":\"user\",\"content\":\"x\"},\n7]",
        "line 2: message 1 is a number, expected a message object; read leniently to keep it as it is",
    );
    check(
        b"[{\"role\":\"user\",\"content\":\"x\"},{\"content\":\"x\"}]",
        "line 1: message 1 is an object without `role`, expected a message with a role; \
         read leniently to keep it as it is",
    );
    // Lists of something else.
    check(
        b"[\n{\"content\":\"x\"}]",
        &format!("line 2: found an object with `content` in a list, {known}"),
    );
    check(
        b"{\"type\":\"system\",\"content\":\"s\"}\n{\"type\":\"user\",\"content\":\"q\"}",
        &format!("line 1: found an object with `type`, `content`, {known}"),
    );
    let parts =
        br#"{"uuid":"u","sessionId":"s","type":"user","message":{"role":"user","parts":[]}}"#;
    let found = "an object with `uuid`, `sessionId`, `type`, `message`";
    check(parts, &format!("line 1: found {found}, {known}"));
}

fn fault(line: usize, found: &str, expected: &'static str) -> Fault {
    Fault {
        line,
        found: found.to_owned(),
        expected,
    }
}

#[test]
fn lenient_reading_keeps_what_it_cannot_read() {
    let lines = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\": oops\n\n{\"role\":\"user\",\"content\":\"b\"}\n7\n";
    let document = lenient(lines);
    let found: Vec<_> = document.faults().iter().map(|fault| fault.line).collect();
    assert_eq!(found, [2, 5]);
    let conversation = &document.conversations()[0];
    assert_eq!(
        shape(conversation),
        [
            "user: text=a",
            "user: text=b",
            "user!hidden: opaque unreadable=7"
        ]
    );
    let whole = script([keep(1), keep(2)]);
    let done = document
        .render(&[(0, &whole)], &RenderContext::default())
        .unwrap();
    let kept = "{\"role\": oops\n\n{\"role\":\"user\",\"content\":\"b\"}\n7\n";
    assert_eq!(String::from_utf8(done).unwrap(), kept);

    let document = lenient("[{\"role\":\"user\",\"content\":\"a\"},\n\"text\",{}]");
    let expect = [
        fault(2, "a string", "a message object"),
        fault(2, "an object without `role`", "a message with a role"),
    ];
    assert_eq!(document.faults(), expect);
    assert_eq!(render(&document, [keep(1), keep(2)]), "[\"text\",{}]");
}

#[test]
fn odd_messages_pass_through_whole() {
    let check = |message: &str, found: &str| {
        let text = format!("[{{\"role\":\"user\",\"content\":\"q\"}},\n{message}]");
        let document = open_as(&text, Format::OpenAi);
        let faults: Vec<_> = document
            .faults()
            .iter()
            .map(|f| (f.line, f.found.as_str()))
            .collect();
        assert_eq!(faults, [(2, found)], "{message}");
        let shown = &shape(&document.conversations()[0])[1];
        assert_eq!(*shown, format!("user!hidden: opaque unreadable={message}"));
        // Cuts do not reach it.
        assert_eq!(
            render(&document, [keep(0), edit(1, [cut(0, 0..2, "x")])]),
            text
        );
    };
    check(
        r#"{"role":"user","content":"a","content":"b"}"#,
        "a key that occurs twice",
    );
    check(
        r#"{"role":"user","r\u006fle":"system","content":"b"}"#,
        "a key that occurs twice",
    );
    check(
        r#"{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}"#,
        "a key that occurs twice",
    );
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","name":"g"}}]}"#,
        "a key that occurs twice",
    );
    check(r#"{"role":"user","content":7}"#, "a number");
    check(r#"{"role":"assistant","tool_calls":"none"}"#, "a string");
    check(r#"{"role":"assistant","tool_calls":[null]}"#, "null");
    let deep = format!(
        r#"{{"role":"user","x":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    check(&deep, "nesting 201 levels deep");
    let blocks = vec![r#"{"type":"text","text":"x"}"#; 70_000].join(",");
    check(
        &format!(r#"{{"role":"user","content":[{blocks}]}}"#),
        "65536 parts or more",
    );
}

#[test]
fn deep_nesting_beside_the_messages_is_nobodys_business() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let text = format!(r#"{{"x":{deep},"messages":[{{"role":"user","content":"q"}}]}}"#);
    assert_eq!(
        render(&open(&text), [keep(0), summary("s")]).len(),
        text.len() + 30
    );
}

#[test]
fn a_byte_order_mark_stays_in_front() {
    let check = |text: &str, expect: &str| {
        let document = open(text);
        assert_eq!(render(&document, [keep(0)]), text);
        assert_eq!(render(&document, [summary("s"), keep(0)]), expect);
    };
    let message = r#"{"role":"user","content":"q"}"#;
    let made = r#"{"role":"user","content":"s"}"#;
    check(
        &format!("\u{feff}[{message}]"),
        &format!("\u{feff}[{made},{message}]"),
    );
    check(
        &format!("\u{feff}{message}\n"),
        &format!("\u{feff}{made}\n{message}\n"),
    );
}

#[test]
fn a_lone_surrogate_is_one_character_that_keeps_its_spelling() {
    let text = r#"[{"role":"user","content":"ab\ud83dcd\ude00"}]"#;
    let document = open(text);
    assert_eq!(
        shape(&document.conversations()[0]),
        ["user: text=ab\u{fffd}cd\u{fffd}"]
    );
    assert_eq!(
        render(&document, [edit(0, [cut(0, 0..2, "-")])]),
        text.replace("ab", "-")
    );
    assert_eq!(
        render(&document, [edit(0, [cut(0, 5..7, "-")])]),
        text.replace("cd", "-")
    );
    assert_eq!(
        render(&document, [edit(0, [cut(0, 2..5, "-")])]),
        text.replace(r"\ud83d", "-")
    );
    // Half of it cannot be cut, nor may the cut make a pair of two halves.
    assert_eq!(render(&document, [edit(0, [cut(0, 3..5, "-")])]), text);
    assert_eq!(render(&document, [edit(0, [cut(0, 5..7, "")])]), text);
}

#[test]
fn a_long_line_is_no_trouble() {
    let long = "x\\n".repeat(200_000);
    let text = format!(r#"{{"messages":[{{"role":"user","content":"{long}"}}]}}"#);
    let document = open(&text);
    let end = 400_000;
    let done = render(&document, [edit(0, [cut(0, 1..end - 1, "…")])]);
    assert_eq!(done, r#"{"messages":[{"role":"user","content":"x…\n"}]}"#);
}

#[test]
fn nothing_and_almost_nothing() {
    let check = |text: &str, format: Format, messages: usize| {
        let document = open(text);
        assert_eq!(document.format(), format, "{text}");
        let counts: Vec<_> = document
            .conversations()
            .iter()
            .map(|c| c.views().len())
            .collect();
        assert_eq!(counts, [messages], "{text}");
        let all = everything(&document.conversations()[0]);
        let done = document
            .render(&[(0, &all)], &RenderContext::default())
            .unwrap();
        assert_eq!(done, text.as_bytes());
    };
    check("[]", Format::OpenAi, 0);
    check(" [ ] ", Format::OpenAi, 0);
    check(r#"{"messages":[]}"#, Format::OpenAi, 0);
    check(r#"{"system":"s","messages":[]}"#, Format::Anthropic, 0);
    check(r#"{"role":"user","content":"q"}"#, Format::OpenAi, 1);
    check(r#"{"type":"human","content":"q"}"#, Format::LangChain, 1);
    check(
        r#"{"values":{"messages":[{"type":"human","content":"q"}]}}"#,
        Format::LangChain,
        1,
    );
    check(
        r#"[{"traj":[{"role":"user","content":"q"}]}]"#,
        Format::OpenAi,
        1,
    );
    check(
        r#"{"simulations":[{"id":"x","messages":[]}]}"#,
        Format::OpenAi,
        0,
    );
    assert_eq!(
        render(&open("[]"), [summary("s")]),
        r#"[{"role":"user","content":"s"}]"#
    );
    assert_eq!(render(&open("[ ]"), []), "[ ]");
}

#[test]
fn projections_of_another_file_are_refused() {
    let document = open("[]");
    let error = |index: usize| {
        let projection = script([keep(4)]);
        document
            .render(&[(index, &projection)], &RenderContext::default())
            .unwrap_err()
    };
    assert_eq!(error(1), WriteError::NoConversation(1));
    assert_eq!(
        error(0),
        WriteError::NoMessage {
            conversation: 0,
            handle: 4
        }
    );
}

/// Opens what may be broken, and if it opens, edits it in every way.
fn survives(bytes: &[u8]) {
    for lenient in [false, true] {
        let options = OpenOptions {
            format: None,
            lenient,
        };
        let Ok(document) = Document::open(bytes.to_vec(), &options) else {
            continue;
        };
        for (index, conversation) in document.conversations().iter().enumerate() {
            shape(conversation);
            let all = everything(conversation);
            let context = RenderContext::default();
            assert!(document.render(&[(index, &all)], &context).unwrap() == bytes);
            let count = u32::try_from(conversation.views().len()).unwrap();
            let edits = (0..count).flat_map(|n| {
                let patches = match n % 3 {
                    0 => vec![cut(0, 0..1, "…"), cut(1, 1..2, "\"")],
                    1 => vec![remove(0)],
                    _ => vec![remove(1), cut(0, 0..3, "")],
                };
                [answer("call_a1", "f", "lost"), edit(n, patches)]
            });
            let rules = insert(BlockKind::Rules, Role::System, "r");
            let script = script([rules, summary("s")].into_iter().chain(edits));
            let done = document.render(&[(index, &script)], &context).unwrap();
            let text = std::str::from_utf8(&done).unwrap();
            let again = Document::open(
                done.clone(),
                &OpenOptions {
                    format: Some(document.format()),
                    lenient,
                },
            );
            assert!(again.is_ok(), "{again:?} {text}");
        }
    }
}

#[test]
fn damaged_files_never_panic() {
    for file in fixtures() {
        let bytes = file.as_bytes();
        for end in 0..=bytes.len() {
            if end % 5 == 0 || end == bytes.len() {
                survives(&bytes[..end]);
            }
        }
        for (n, flip) in (0..bytes.len())
            .step_by(3)
            .zip([0x01, 0x20, 0x80, b'"' ^ b'x', 0x04].iter().cycle())
        {
            let mut damaged = bytes.to_vec();
            damaged[n] ^= flip;
            survives(&damaged);
        }
    }
}
