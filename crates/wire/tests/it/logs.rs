//! Logs of other programs: told by content, seen as the model saw them, written in another form.

use conspectus_core::patch::Site;
use conspectus_core::view::{MediaKind, PartKind, Role};
use conspectus_wire::{
    Conversation, Document, Format, OpenOptions, RenderContext, Target, WriteError, valid,
};

use crate::support::{
    cut, cut_at, data, edit, everything, keep, lenient, open, open_as, remove, script, shape,
    summary,
};

/// Every file with its format and, for each conversation, who says what.
const FILES: [(&str, Format, &[&str]); 13] = [
    ("cline.json", Format::Cline, &["u!s u a"]),
    (
        "copilot.jsonl",
        Format::Copilot,
        &["S u aRcccc t= t= t= t= ac$ t="],
    ),
    (
        "gemini-cli.json",
        Format::GeminiCli,
        &["u arrccc t=== ar$ u arc$ t="],
    ),
    (
        "gemini-cli.jsonl",
        Format::GeminiCli,
        &["u arccccc$ t===== arrccc$ t=== ar$"],
    ),
    ("gemini.json", Format::Gemini, &["u aRc u= a u"]),
    ("goose.jsonl", Format::Goose, &["u!s u aRcc u=i# a"]),
    ("inspect.json", Format::Inspect, &["u ac t= ac$ t="]),
    (
        "mini-swe-agent.traj.json",
        Format::MiniSweAgent,
        &["S u ac$ t= ac$ u!h?"],
    ),
    (
        "openhands.json",
        Format::OpenHands,
        &["u ac$ t= ac$ t= ac$ t= ac$"],
    ),
    (
        "openhands.jsonl",
        Format::OpenHands,
        &["S u u!h ac$ t= ac$ t=", "S u u!h ac$ t= ac$ t#"],
    ),
    (
        "pi.jsonl",
        Format::Pi,
        &["u!s u aRc t= ac u u aRc$ t= ac$ t="],
    ),
    (
        "swe-agent-v0.traj",
        Format::SweAgent,
        &["S u!h u a u!h a u!h"],
    ),
    (
        "swe-agent.traj",
        Format::SweAgent,
        &["S u ac t= ac t= ac t="],
    ),
];

/// A letter a message, its flags, and its parts where there is more than text.
fn outline(conversation: &Conversation) -> String {
    let views = conversation.views().iter().map(|view| {
        let role = match view.role {
            Role::System => "S",
            Role::User => "u",
            Role::Assistant => "a",
            Role::Tool => "t",
        };
        let flags = [(view.flags.summary, "!s"), (view.flags.hidden, "!h")];
        let flags = flags.iter().filter(|f| f.0).map(|f| f.1);
        let parts = view.parts.iter().map(|part| match &part.kind {
            PartKind::Text => "",
            PartKind::Reasoning { bound: true } => "R",
            PartKind::Reasoning { bound: false } => "r",
            PartKind::Call { .. } => "c",
            PartKind::Result { error: false, .. } => "=",
            PartKind::Result { error: true, .. } => "#",
            PartKind::Media(MediaKind::Image) => "i",
            PartKind::Media(_) => "m",
            PartKind::Opaque { .. } => "?",
        });
        let usage = view.usage.iter().map(|_| "$");
        std::iter::once(role)
            .chain(flags)
            .chain(parts)
            .chain(usage)
            .collect::<String>()
    });
    views.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_format_by_content() {
    for (file, format, expect) in FILES {
        let document = open(&data(&format!("logs/{file}")));
        assert_eq!(document.format(), format, "{file}");
        assert_eq!(document.faults(), [], "{file}");
        let outlines: Vec<_> = document.conversations().iter().map(outline).collect();
        assert_eq!(outlines, expect, "{file}");
        // Named, it is the same.
        let again = open_as(&data(&format!("logs/{file}")), format);
        let again: Vec<_> = again.conversations().iter().map(outline).collect();
        assert_eq!(again, outlines, "{file}");
    }
}

#[test]
fn what_the_model_saw_of_goose() {
    let document = open(&data("logs/goose.jsonl"));
    assert_eq!(
        shape(&document.conversations()[0]),
        [
            "user!summary: text=The user had a tea timer written.",
            "user: text=Now list the files",
            r#"assistant: sealed=A listing will do. | call t1 developer__shell={"command": "ls"} | call t2 developer__shell={"command": "cat none"}"#,
            "user: result t1 -= | ^0 text=timer.py | ^0 image=aWNvbg== | result t2 - failed= | ^3 text=no such file",
            "assistant: text=There is one file, timer.py.",
        ]
    );
    let counts = document.record_counts().expect("a log");
    assert_eq!((counts.messages, counts.summaries), (7, 1));
}

#[test]
fn an_attachment_is_read_where_it_stands() {
    let text = r#"{"eval":{},"samples":[{"id":3,"messages":[
        {"role":"user","content":"attachment://a1"},
        {"role":"assistant","content":"","tool_calls":[{"id":"c","function":"go","arguments":{"url":"u"}}]},
        {"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"attachment://a2"}],"function":"go"},
        {"role":"user","content":"attachment://none"}
    ],"attachments":{"a1":"a long question","a2":"a \"long\" page"}}]}"#;
    let document = open(text);
    assert_eq!(document.conversations()[0].label(), "3");
    assert_eq!(
        shape(&document.conversations()[0]),
        [
            "user: text=a long question",
            r#"assistant: call c go={"url":"u"}"#,
            r#"tool: result c -= | ^0 text=a "long" page"#,
            "user: text=attachment://none",
        ]
    );
}

#[test]
fn gemini_chats_are_patched_line_by_line() {
    let check = |lines: &str, expect: &[&str]| {
        let head = r#"{"sessionId":"s","projectHash":"h"}"#;
        let document = open(&format!("{head}\n{lines}"));
        assert_eq!(document.format(), Format::GeminiCli, "{lines}");
        assert_eq!(shape(&document.conversations()[0]), expect, "{lines}");
    };
    let user = |id: &str, text: &str| {
        format!(r#"{{"id":"{id}","type":"user","content":[{{"text":"{text}"}}]}}"#) + "\n"
    };
    let two = user("1", "a") + &user("2", "b");
    check(&two, &["user: text=a", "user: text=b"]);
    check(
        &(two.clone() + &user("1", "c")),
        &["user: text=c", "user: text=b"],
    );
    check(
        &(two.clone() + r#"{"$rewindTo":"2"}"# + "\n" + &user("3", "d")),
        &["user: text=a", "user: text=d"],
    );
    check(
        &(two.clone() + r#"{"$rewindTo":"9"}"# + "\n" + &user("3", "d")),
        &["user: text=d"],
    );
    // A known id that is gone is new again.
    check(
        &(two.clone() + r#"{"$rewindTo":"1"}"# + "\n" + &user("2", "d")),
        &["user: text=d"],
    );
    let compressed = r#"{"$set":{"messages":[{"id":"x","type":"user","content":[{"text":"<state_snapshot>all</state_snapshot>"}]},
        {"id":"y","type":"gemini","content":"Got it.","tokens":{"input":9}}]}}"#
        .replace('\n', "");
    check(
        &(two + &compressed + "\n" + &user("3", "go on")),
        &[
            "user!summary: text=<state_snapshot>all</state_snapshot>",
            "assistant: text=Got it.",
            "user: text=go on",
        ],
    );
}

#[test]
fn pi_shows_the_newest_branch_behind_its_compaction() {
    let entry = |id: &str, parent: &str, rest: &str| {
        format!(r#"{{"type":"message","id":"{id}","parentId":"{parent}",{rest}}}"#) + "\n"
    };
    let said = |text: &str| format!(r#""message":{{"role":"user","content":"{text}"}}"#);
    let head = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";
    let text = [
        head.to_owned(),
        entry("1", "0", &said("first")),
        entry("2", "1", &said("a branch that was left")),
        entry("3", "1", &said("kept")),
        r#"{"type":"compaction","id":"4","parentId":"3","summary":"so far","firstKeptEntryId":"3"}"#
            .to_owned() + "\n",
        entry(
            "5",
            "4",
            r#""message":{"role":"bashExecution","command":"ls","output":"x"}"#,
        ),
        entry("6", "5", &said("go on")),
    ]
    .concat();
    let document = open(&text);
    assert_eq!(
        shape(&document.conversations()[0]),
        [
            "user!summary: text=so far",
            "user: text=kept",
            "user!hidden: text=ls | text=x",
            "user: text=go on",
        ]
    );
}

#[test]
fn a_wrong_link_loses_nothing() {
    let text = r#"{"type":"session","version":3,"id":"s"}
{"type":"message","id":"1","parentId":"s","message":{"role":"user","content":"q"}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{}}]}}
{"type":"message","id":"3","parentId":"c","message":{"role":"toolResult","toolCallId":"c","content":"r"}}
"#;
    assert_eq!(outline(&open(text).conversations()[0]), "u ac t=");
    let round = text.replace(r#""parentId":"s""#, r#""parentId":"3""#);
    assert_eq!(outline(&open(&round).conversations()[0]), "u ac t=");
}

#[test]
fn openhands_forgets_what_was_condensed() {
    let event = |id: u32, text: &str| {
        format!(r#"{{"id":{id},"source":"user","action":"message","args":{{"content":"{text}"}}}}"#)
    };
    let text = format!(
        r#"[{},{},{},{{"id":4,"source":"agent","action":"condensation","args":{{"forgotten_events_start_id":2,"forgotten_events_end_id":3,"summary":"two and three","summary_offset":1}}}},{}]"#,
        event(1, "one"),
        event(2, "two"),
        event(3, "three"),
        event(5, "five")
    );
    let document = open(&text);
    assert_eq!(
        shape(&document.conversations()[0]),
        [
            "user: text=one",
            "user!summary: text=two and three",
            "user: text=five"
        ]
    );
    // Old files: flat events, in pairs.
    let flat = r#"[[{"id":1,"source":"agent","action":"run","command":"ls"},{"id":2,"cause":1,"observation":"run","content":"x"}]]"#;
    let document = open(flat);
    assert_eq!(document.format(), Format::OpenHands);
    assert_eq!(outline(&document.conversations()[0]), "ac t=");
}

#[test]
fn copilots_own_calls_sub_agents_and_compaction() {
    let text = r#"{"type":"session.start","data":{"sessionId":"s"},"id":"0"}
{"type":"system.message","data":{"content":"rules"},"id":"1"}
{"type":"user.message","data":{"content":"old"},"id":"2"}
{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"so far"},"id":"3"}
{"type":"user.message","data":{"content":"go on"},"id":"4"}
{"type":"tool.execution_start","data":{"toolCallId":"i","toolName":"glob","arguments":{"p":"*"}},"id":"5"}
{"type":"tool.execution_complete","data":{"toolCallId":"i","success":false,"error":{"message":"no"}},"id":"6"}
{"type":"assistant.message","data":{"parentToolCallId":"x","content":"of a sub-agent"},"id":"7"}
{"type":"assistant.message","data":{"content":"done","outputTokens":5},"id":"8"}
{"type":"session.shutdown","data":{"currentTokens":105},"id":"9"}
"#;
    let document = open(text);
    let conversation = &document.conversations()[0];
    assert_eq!(
        shape(conversation),
        [
            "system: text=rules",
            "user!summary: text=so far",
            "user: text=go on",
            r#"assistant: call i glob={"p":"*"}"#,
            "tool: result i - failed=no",
            "assistant: text=done",
        ]
    );
    let usage = conversation.views()[5].usage.as_ref().expect("reported");
    assert_eq!((usage.input, usage.output), (100, 5));
}

#[test]
fn logs_are_not_written_back_but_converted() {
    for (file, format, _) in FILES {
        let document = open(&data(&format!("logs/{file}")));
        let bytes = document.bytes().to_vec();
        let context = RenderContext::default();
        for (at, conversation) in document.conversations().iter().enumerate() {
            let whole = everything(conversation);
            assert!(
                document.render(&[(at, &whole)], &context).unwrap() == bytes,
                "{file}"
            );
            let folded = script([summary("all of it")]);
            let rendered = document.render(&[(at, &folded)], &context);
            match format.is_written_in_place() {
                true => assert!(rendered.is_ok(), "{file}"),
                false => assert_eq!(rendered, Err(WriteError::NotInPlace(format)), "{file}"),
            }
            let missing = script([conspectus_core::projection::Piece::Keep(
                conspectus_core::id::Handle(999),
            )]);
            assert!(document.convert(&[(at, &missing)], Target::OpenAi).is_err());
        }
        assert_eq!(
            document.convert(&[(99, &script([]))], Target::Neutral),
            Err(WriteError::NoConversation(99))
        );
    }
}

#[test]
fn as_chat_messages_everything_is_valid() {
    for (file, _, _) in FILES {
        let document = open(&data(&format!("logs/{file}")));
        let bytes = document.convert(&[], Target::OpenAi).unwrap();
        let faults = valid::check(Format::OpenAi, &bytes);
        // The newest calls of a log that ends with them are still to be answered.
        let faults: Vec<_> = faults
            .iter()
            .filter(|fault| fault.rule != valid::Rule::Unanswered)
            .collect();
        assert!(faults.is_empty(), "{file}: {faults:?}");
        let again = Document::open(bytes, &OpenOptions::default()).expect(file);
        assert_eq!(again.format(), Format::OpenAi, "{file}");
        let count = document.conversations().len();
        assert_eq!(again.conversations().len(), count, "{file}");
    }
}

#[test]
fn the_neutral_form_holds_everything() {
    for (file, _, _) in FILES {
        let document = open(&data(&format!("logs/{file}")));
        let bytes = document.convert(&[], Target::Neutral).unwrap();
        let again = Document::open(bytes.clone(), &OpenOptions::default()).expect(file);
        assert_eq!(again.format(), Format::Neutral, "{file}");
        assert_eq!(again.faults(), [], "{file}");
        let pairs = document.conversations().iter().zip(again.conversations());
        for (before, after) in pairs {
            assert_eq!(before.label(), after.label(), "{file}");
            assert_eq!(before.fixed().system, after.fixed().system, "{file}");
            // Spaces between the tokens of arguments go.
            let plain = |c: &Conversation| shape(c).join("\n").replace(char::is_whitespace, "");
            assert_eq!(plain(before), plain(after), "{file}");
        }
        // Once is enough.
        let twice = again.convert(&[], Target::Neutral).unwrap();
        assert!(twice == bytes, "{file}");
    }
}

#[test]
fn chat_messages_of_what_chat_has_no_place_for() {
    let check = |text: &str, expect: &str| {
        let document = open(text);
        let bytes = document.convert(&[], Target::OpenAi).unwrap();
        let found = String::from_utf8(bytes).unwrap();
        let found: Vec<&str> = found.lines().collect();
        assert_eq!(found[1..found.len() - 1].join("\n"), expect, "{text}");
    };
    // An answer comes to its call, one that never came gets a stand-in, one without a call is told.
    check(
        r#"{"conspectus":1,"conversations":[{"messages":[
        {"role":"user","parts":[{"type":"text","text":"q"},{"type":"image","data":"aQ==","mime_type":"image/jpeg"}]},
        {"role":"assistant","parts":[{"type":"reasoning","text":"s","signature":"x"},{"type":"reasoning","text":"h"},{"type":"tool_call","id":"c","name":"t","args":{"a":1}},{"type":"tool_call","id":"","name":"t","args":"raw"}]},
        {"role":"user","parts":[{"type":"text","text":"wait"}]},
        {"role":"tool","parts":[{"type":"tool_result","tool_call_id":"c","content":[{"type":"text","text":"r"},{"type":"image","data":"https://x/y.png"}]}]},
        {"role":"tool","parts":[{"type":"tool_result","tool_call_id":"z","content":"lost"}]},
        {"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"t","args":{}}]}]}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,aQ=="}}]},
{"role":"assistant","content":null,"reasoning_content":"h","tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}},{"id":"call_0","type":"function","function":{"name":"t","arguments":"{\"input\":\"raw\"}"}}]},
{"role":"tool","tool_call_id":"c","content":"r"},
{"role":"tool","tool_call_id":"call_0","content":"[no result was recorded]"},
{"role":"user","content":"wait"},
{"role":"user","content":[{"type":"text","text":"[pictures of the results above]"},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]},
{"role":"user","content":"[a result whose call is not here]\nlost"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]}"#,
    );
}

#[test]
fn bad_logs_are_refused_or_told() {
    let refused = |text: &str, format: Format| {
        let options = OpenOptions {
            format: Some(format),
            lenient: true,
        };
        let error = Document::open(text.as_bytes().to_vec(), &options).expect_err(text);
        assert!(
            error
                .to_string()
                .contains("expected messages of a known format"),
            "{error}"
        );
    };
    for format in Format::ALL.into_iter().filter(|f| !f.is_written_in_place()) {
        refused(r#"{"a":1}"#, format);
        refused("[1,2]", format);
    }
    let deep = format!(
        r#"{{"type":"message","message":{{"role":"user","content":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let text = format!(
        "{{\"type\":\"session\"}}\n{deep}\n{{\"type\":\"message\",\"message\":{{\"role\":\"robot\"}}}}\nnot json\n"
    );
    let document = lenient(&text);
    assert_eq!(document.format(), Format::Pi);
    let lines: Vec<_> = document.faults().iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [2, 4]);
    assert_eq!(outline(&document.conversations()[0]), "u!h? u!h?");
}

#[test]
fn copilots_system_prompt_is_sent_once() {
    let prompt = r#"{"type":"system.message","data":{"content":"rules"},"id":"1"}"#;
    let user = r#"{"type":"user.message","data":{"content":"q"},"id":"2"}"#;
    let text = format!(
        "{{\"type\":\"session.start\",\"data\":{{}}}}\n{prompt}\n{user}\n{prompt}\n{user}\n"
    );
    let document = open(&text);
    assert_eq!(outline(&document.conversations()[0]), "S u u");
    assert_eq!(document.record_counts().expect("a log").messages, 4);
}

#[test]
fn what_was_shortened_is_short_in_the_other_form() {
    let document = open(&data("logs/goose.jsonl"));
    let script = script([
        keep(1),
        edit(2, [cut_at(1, Site::Leaf(0), 0..2, "…")]),
        edit(3, [remove(3), cut(1, 0..5, "…"), cut(2, 0..8, "[picture]")]),
        edit(4, [remove(0)]),
    ]);
    let bytes = document.convert(&[(0, &script)], Target::Neutral).unwrap();
    let again = Document::open(bytes, &OpenOptions::default()).unwrap();
    assert_eq!(
        shape(&again.conversations()[0]),
        [
            "user: text=Now list the files",
            r#"assistant: sealed=A listing will do. | call t1 developer__shell={"command":"…"} | call t2 developer__shell={"command":"cat none"}"#,
            "user: result t1 -= | ^0 text=….py | ^0 text=[picture]",
        ]
    );
}

#[test]
fn what_the_model_has_not_read_is_kept() {
    let pins = |text: &str| -> Vec<bool> {
        let document = open(text);
        let views = document.conversations()[0].views().iter();
        views.map(|view| view.flags.pinned).collect()
    };
    let text = |last: &str| {
        format!(
            r#"{{"history":[{{"role":"user","content":"task"}},{{"role":"assistant","content":"a","action":"ls"}},{{"role":"user","content":"out"}}{last}]}}"#
        )
    };
    assert_eq!(pins(&text("")), [false, false, true]);
    let read = text(r#",{"role":"assistant","content":"done"}"#);
    assert_eq!(pins(&read), [false, false, false, false]);
}
