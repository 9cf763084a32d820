//! Chat completions: what the core sees, and what comes back.

use conspectus_core::id::Handle;
use conspectus_core::patch::{Patch, Site};
use conspectus_core::projection::BlockKind;
use conspectus_core::view::{ContentForm, PartRef, Role, Texts, Usage};
use conspectus_wire::{Document, Format, OpenOptions};

use crate::support::{
    answer, cut, cut_at, data, edit, insert, keep, open, open_as, remove, render, shape, summary,
};

/// The views of a conversation of one message.
fn check_view(message: &str, expect: &str) {
    let document = open_as(&format!("[{message}]"), Format::OpenAi);
    assert_eq!(shape(&document.conversations()[0]), [expect], "{message}");
    assert_eq!(document.faults(), []);
}

#[test]
fn views() {
    check_view(
        r#"{"role":"developer","content":"rules"}"#,
        "system: text=rules",
    );
    check_view(
        r#"{"role":"user","content":"a\n\u00e9"}"#,
        "user: text=a\né",
    );
    check_view(r#"{"role":"user","content":""}"#, "user: ");
    check_view(r#"{"role":"user","content":[]}"#, "user: ");
    check_view(r#"{"role":"user","content":null}"#, "user: ");
    check_view(r#"{"role":"assistant"}"#, "assistant: ");
    check_view(
        r#"{"role":"user","name":"summary","content":"s"}"#,
        "user!summary: text=s",
    );
    check_view(
        r#"{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"u"}},
            {"type":"input_audio","input_audio":{"data":"d","format":"wav"}},{"type":"file","file":{"file_id":"f"}},{"type":"new","x":1}]}"#,
        r#"user: text=t | image=u | audio=d | file=f | opaque new={"type":"new","x":1}"#,
    );
    check_view(
        r#"{"role":"assistant","content":null,"refusal":"no","tool_calls":[
            {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": \"y\"}"}},
            {"id":"b","type":"custom","custom":{"name":"g","input":"free"}},{"id":"c","name":"h","arguments":{"z": 1}},
            {"id":"d","function":"i","arguments":null}]}"#,
        r#"assistant: text=no | call a f={"x": "y"} | call b g=free | call c h={"z": 1} | call d i="#,
    );
    check_view(
        r#"{"role":"assistant","content":"x","function_call":{"name":"f","arguments":"{}"}}"#,
        "assistant: text=x | call  f={}",
    );
    check_view(
        r#"{"role":"function","name":"f","content":"r"}"#,
        "tool: result  f=r",
    );
    check_view(
        r#"{"role":"tool","tool_call_id":"a","content":"r"}"#,
        "tool: result a -=r",
    );
    check_view(
        r#"{"role":"tool","id":"a","name":"f","error":true,"content":null}"#,
        "tool: result a f failed=",
    );
    check_view(
        r#"{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"},{"type":"image_url","image_url":{"url":"u"}}]}"#,
        "tool: result a -= | ^0 text=r | ^0 image=u",
    );
    check_view(
        r#"{"role":"assistant","reasoning_content":"why","content":"x"}"#,
        "assistant: reasoning=why | text=x",
    );
    check_view(
        r#"{"role":"assistant","reasoning":"why","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}],"content":"x"}"#,
        r#"assistant: sealed=[{"type":"reasoning.encrypted","data":"x"}] | text=x"#,
    );
    check_view(
        r#"{"role":"exit","content":"diff"}"#,
        r#"user!hidden: opaque exit={"role":"exit","content":"diff"}"#,
    );
}

#[test]
fn facts_beside_the_parts() {
    let document = open(&data("openai/request.json"));
    let conversation = &document.conversations()[0];
    assert_eq!(document.format(), Format::OpenAi);
    assert!(
        conversation
            .fixed()
            .tools
            .contains("Read a file from the workspace.")
    );
    assert_eq!(conversation.views()[2].form, ContentForm::Absent);
    let at = PartRef {
        message: Handle(2),
        part: 1,
    };
    assert_eq!(
        conversation.json(at).as_deref(),
        Some(r#"{"cmd": "git log -3 --oneline"}"#)
    );
    assert!(
        conversation
            .json_of(Handle(3))
            .starts_with("{\n      \"role\": \"tool\"")
    );

    let message = r#"{"id":"m1","role":"assistant","content":"x","usage":{"prompt_tokens":900,"completion_tokens":20,
        "total_tokens":920,"prompt_tokens_details":{"cached_tokens":512}}}"#;
    let document = open_as(&format!("[{message}]"), Format::OpenAi);
    let conversation = &document.conversations()[0];
    assert_eq!(conversation.native_id(Handle(0)), Some("m1"));
    let expect = Usage {
        input: 900,
        output: 20,
        cache_read: 512,
        cache_write: 0,
        reported_total: Some(920),
        provider: None,
    };
    assert_eq!(conversation.views()[0].usage, Some(expect));
}

#[test]
fn the_same_message_has_the_same_ident() {
    let ident = |message: &str| {
        let document = open_as(&format!("[{message}]"), Format::OpenAi);
        document.conversations()[0].views()[0].ident
    };
    let same = |a: &str, b: &str| assert_eq!(ident(a), ident(b), "{a} {b}");
    let other = |a: &str, b: &str| assert_ne!(ident(a), ident(b), "{a} {b}");
    let plain = r#"{"role":"user","content":"a\nb"}"#;
    same(plain, r#"{ "content" : "\u0061\nb", "role" : "user" }"#);
    same(
        plain,
        r#"{"role":"user","content":[{"type":"text","text":"a\nb"}]}"#,
    );
    same(
        plain,
        r#"{"role":"user","content":[{"type":"text","text":"a\nb","cache_control":{"type":"ephemeral"}}]}"#,
    );
    same(
        plain,
        r#"{"role":"user","content":[{"prompt_cache_breakpoint":{},"type":"text","text":"a\nb"}]}"#,
    );
    other(plain, r#"{"role":"user","content":"a b"}"#);
    other(plain, r#"{"role":"system","content":"a\nb"}"#);
    other(
        plain,
        r#"{"role":"user","content":[{"type":"text","text":"a\n"},{"type":"text","text":"b"}]}"#,
    );
    same(
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r"}]}"#,
    );
    same(
        r#"{"role":"assistant","tool_calls":[{"id":"c","name":"f","arguments":{"a": [1]}}]}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"c","name":"f","arguments":{ "a":[1] }}]}"#,
    );
}

const CHAT: &str = r#"{"model": "m", "n": 1.50, "messages": [
  {"role": "system", "content": "rules"},
  {"role": "user", "content": "q\u00e9\/"},
  {"role": "assistant", "content": null, "x": 1e2, "tool_calls": [
    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"p\": \"lo\\nng\", \"q\": \"two\"}"}},
    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}
  ]},
  {"role": "tool", "tool_call_id": "a", "content": "first \ud83d\ude00 result"},
  {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": "three"}]},
  {"role": "user", "content": "next"}
], "tail": []}"#;

/// `CHAT` with one piece of its text replaced.
fn chat_with(before: &str, after: &str) -> String {
    assert_eq!(CHAT.matches(before).count(), 1, "{before}");
    CHAT.replace(before, after)
}

fn patched(handle: u32, patches: &[Patch]) -> String {
    let pieces = (0..6).map(|n| {
        if n == handle {
            edit(n, patches.to_vec())
        } else {
            keep(n)
        }
    });
    render(&open(CHAT), pieces)
}

#[test]
fn a_cut_changes_nothing_else() {
    assert_eq!(
        patched(3, &[cut(0, 6..10, "[\"…\"]")]),
        chat_with(r"first \ud83d\ude00 result", r#"first [\"…\"] result"#)
    );
    assert_eq!(
        patched(1, &[cut(0, 1..3, "e")]),
        chat_with(r"q\u00e9\/", r"qe\/")
    );
    assert_eq!(patched(4, &[cut(2, 0..5, "3")]), chat_with("three", "3"));
    // Arguments are JSON in a string: the marker is escaped twice.
    assert_eq!(
        patched(2, &[cut_at(0, Site::Leaf(0), 2..3, "\"\n")]),
        chat_with(r"lo\\nng", r#"lo\\\"\\nng"#)
    );
    let both = vec![
        cut_at(0, Site::Leaf(1), 0..3, "2"),
        cut_at(0, Site::Leaf(0), 0..5, "…"),
    ];
    assert_eq!(
        patched(2, &both),
        CHAT.replace(r"lo\\nng", "…")
            .replace(r#"\"q\": \"two\""#, r#"\"q\": \"2\""#)
    );
    // What does not fit is left alone.
    for unfit in [
        cut(0, 0..999, "m"),
        cut(0, 7..8, "m"),
        cut(9, 0..1, "m"),
        cut_at(0, Site::Leaf(7), 0..1, "m"),
    ] {
        assert_eq!(patched(3, &[unfit]), CHAT);
    }
}

#[test]
fn a_removed_part_takes_one_comma_along() {
    let entry_b = r#",
    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}"#;
    assert_eq!(patched(2, &[remove(1)]), chat_with(entry_b, ""));
    assert_eq!(
        patched(4, &[remove(1)]),
        chat_with(r#"{"type": "text", "text": "two"}, "#, "")
    );
    // Nothing left of the message: the message goes.
    let message = r#"
  {"role": "tool", "tool_call_id": "a", "content": "first \ud83d\ude00 result"},"#;
    assert_eq!(patched(3, &[remove(0)]), chat_with(message, ""));
    assert_eq!(
        patched(1, &[remove(0)]),
        chat_with(
            "\n  {\"role\": \"user\", \"content\": \"q\\u00e9\\/\"},",
            ""
        )
    );
    assert!(!patched(2, &[remove(0), remove(1)]).contains("assistant"));
    // With content the key `tool_calls` goes alone.
    let check = |message: &str, gone: &[u16], expect: &str| {
        let document = open_as(&format!("[{message}]"), Format::OpenAi);
        let patches = gone.iter().map(|part| remove(*part));
        assert_eq!(render(&document, [edit(0, patches)]), format!("[{expect}]"));
    };
    check(
        r#"{"role":"assistant","content":"x","tool_calls":[{"id":"a","name":"f"}],"z":1}"#,
        &[1],
        r#"{"role":"assistant","content":"x","z":1}"#,
    );
    check(
        r#"{"role":"assistant","content":"x","tool_calls":[{"id":"a","name":"f"}]}"#,
        &[0],
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","name":"f"}]}"#,
    );
    check(
        r#"{"role":"assistant","reasoning_content":"r","content":"x"}"#,
        &[0],
        r#"{"role":"assistant","content":"x"}"#,
    );
    check(
        r#"{"role":"assistant","reasoning_content":"r","content":"x"}"#,
        &[1],
        "",
    );
    check(
        r#"{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"u"}}]}"#,
        &[1],
        r#"{"role":"user","content":[{"type":"text","text":"t"}]}"#,
    );
}

#[test]
fn a_cut_picture_becomes_text() {
    let message =
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,x"}}]}]"#;
    assert_eq!(
        render(&open(message), [edit(0, [cut(0, 0..7, "[same picture]")])]),
        r#"[{"role":"user","content":[{"type":"text","text":"[same picture]"}]}]"#
    );
}

#[test]
fn blocks_take_the_form_of_the_file() {
    let document = open(CHAT);
    let rules = insert(BlockKind::Rules, Role::System, "authority");
    let done = render(
        &document,
        [keep(0), summary("so far \"x\""), rules, keep(5)],
    );
    let expect = r#"{"model": "m", "n": 1.50, "messages": [
  {"role": "system", "content": "rules"},
  {"role":"system","content":"authority"},
  {"role":"user","content":"so far \"x\""},
  {"role": "user", "content": "next"}
], "tail": []}"#;
    assert_eq!(done, expect);
    // Answers, acknowledgements, and the first message replaced.
    let done = render(
        &document,
        [
            insert(BlockKind::Acknowledgement, Role::Assistant, "ok"),
            keep(2),
            keep(3),
            answer("b", "g", "lost"),
            keep(5),
        ],
    );
    assert!(done.contains(
        r#""messages": [
  {"role":"assistant","content":"ok"},
  {"role": "assistant", "#
    ));
    assert!(done.contains(r#"{"role":"tool","tool_call_id":"b","content":"lost"},"#));

    let blocks = open(
        r#"[{"role":"developer","content":"r"},{"role":"user","content":[{"type":"text","text":"q"}]}]"#,
    );
    let rules = insert(BlockKind::Rules, Role::System, "authority");
    assert_eq!(
        render(&blocks, [summary("s"), rules]),
        r#"[{"role":"developer","content":[{"type":"text","text":"authority"}]},{"role":"user","content":[{"type":"text","text":"s"}]}]"#
    );
    let tau2 = open(
        r#"[{"role":"assistant","tool_calls":[{"id":"a","name":"f"},{"id":"b","name":"f"}]},{"role":"tool","id":"a","content":"r"}]"#,
    );
    assert!(
        render(&tau2, [keep(0), keep(1), answer("b", "f", "lost")])
            .ends_with(r#",{"role":"tool","id":"b","content":"lost"}]"#)
    );
    let old = open(
        r#"[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}]"#,
    );
    assert!(
        render(&old, [keep(0), answer("", "f", "lost")])
            .ends_with(r#",{"role":"function","name":"f","content":"lost"}]"#)
    );
}

#[test]
fn lists_keep_their_spacing() {
    let check = |before: &str, gone: u32, expect: &str| {
        let document = open_as(before, Format::OpenAi);
        let count = u32::try_from(document.conversations()[0].views().len()).unwrap();
        let pieces = (0..count).filter(|n| *n != gone).map(keep);
        assert_eq!(render(&document, pieces), expect);
    };
    let message = |n: u32| format!(r#"{{"role":"user","content":"{n}"}}"#);
    let (a, b, c) = (message(1), message(2), message(3));
    let spaced = format!("[ {a} , {b} , {c} ]\n");
    check(&spaced, 0, &format!("[ {b} , {c} ]\n"));
    check(&spaced, 1, &format!("[ {a} , {c} ]\n"));
    check(&spaced, 2, &format!("[ {a} , {b} ]\n"));
    check(&format!("[{a}]"), 0, "[]");
    let lines = format!("{a}\n\n{b}\n{c}");
    check(&lines, 0, &format!("\n{b}\n{c}"));
    check(&lines, 1, &format!("{a}\n\n{c}"));
    check(&lines, 2, &format!("{a}\n\n{b}\n"));
    let document = open(&format!("{a}\r\n{b}\r\n"));
    assert_eq!(
        render(&document, [keep(0), summary("s"), keep(1), summary("t")]),
        format!(
            "{a}\r\n{{\"role\":\"user\",\"content\":\"s\"}}\r\n{b}\r\n{{\"role\":\"user\",\"content\":\"t\"}}\r\n"
        )
    );
    // A message alone in its file, over several lines, goes on one line when it gets company.
    let document = open("{\n  \"role\": \"user\",\n  \"content\": \"a b\"\n}\n");
    assert_eq!(
        render(&document, [summary("s"), keep(0)]),
        "{\"role\":\"user\",\"content\":\"s\"}\n{\"role\":\"user\",\"content\":\"a b\"}\n"
    );
}

#[test]
fn a_list_that_was_compacted_is_known_again() {
    use conspectus_core::frame;
    use conspectus_core::policy::Placement;
    let quote = |text: &str| serde_json::to_string(text).expect("strings are JSON");
    let list = |shown: &str| {
        let usage = r#""usage":{"prompt_tokens":9000,"completion_tokens":5}"#;
        let file = format!(
            r#"[{{"role":"user","content":{shown}}},{{"role":"assistant","content":"a",{usage}}},{{"role":"user","content":"q"}}]"#
        );
        Document::open(file.into_bytes(), &OpenOptions::default()).expect("it is a chat")
    };
    let shown = &frame::blocks("So far: tea.", "", Placement::Frozen)[0].text;
    let ours = list(&quote(shown));
    let views = ours.conversations()[0].views();
    assert!(views[0].flags.summary && !views[0].is_user_request());
    assert_eq!(views[1].usage, None, "the report is of the longer list");
    // Words around it make it the user's.
    let quoted = list(&quote(&format!("What is this? {shown}")));
    let views = quoted.conversations()[0].views();
    assert!(!views[0].flags.summary && views[0].is_user_request());
    assert_eq!(views[1].usage.as_ref().map(|u| u.input), Some(9000));
}
