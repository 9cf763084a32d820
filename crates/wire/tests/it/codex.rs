//! Codex's rollouts: what is in sight, what a compaction appends, and that both agree.

use std::path::{Path, PathBuf};

use conspectus_core::projection::{BlockKind, Piece, Projection};
use conspectus_core::view::{PartKind, Role};
use conspectus_wire::{Document, Format, OpenOptions, RecordCounts, RenderContext, valid};

use crate::support::{
    cut, edit, everything, insert, keep, open, open_as, script, shape, shared, summary,
};

const CONTEXT: RenderContext = RenderContext {
    now_ms: 1_796_041_384_248,
    id_seed: 7,
    tokens_before: 5000,
    tokens_after: 900,
    automatic: false,
    cache_summary: false,
};

fn compact(document: &Document, pieces: impl IntoIterator<Item = Piece>) -> String {
    let projection = script(pieces);
    let bytes = document.render(&[(0, &projection)], &CONTEXT);
    String::from_utf8(bytes.expect("the projection is of this document")).unwrap()
}

/// A record with its payload.
fn record(kind: &str, payload: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
    )
}

fn item(payload: &str) -> String {
    record("response_item", payload)
}

fn said(role: &str, text: &str) -> String {
    let part = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    item(&format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"{part}","text":"{text}"}}]}}"#
    ))
}

fn count(total: u64, last: u64) -> String {
    record(
        "event_msg",
        &format!(
            r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}},"last_token_usage":{{"input_tokens":{last},"cached_input_tokens":1,"output_tokens":2,"total_tokens":9}},"model_context_window":1000}}}}"#
        ),
    )
}

fn meta() -> String {
    record(
        "session_meta",
        r#"{"id":"s1","cwd":"/w","base_instructions":{"text":"base"}}"#,
    )
}

fn begins() -> String {
    record("event_msg", r#"{"type":"task_started"}"#)
}

fn rolled_back(turns: u64) -> String {
    record(
        "event_msg",
        &format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#),
    )
}

fn texts(file: &str) -> Vec<String> {
    shape(&open(file).conversations()[0])
}

#[test]
fn what_is_in_sight() {
    let file = [
        meta(),
        begins(),
        said("developer", "rules"),
        said("user", "<environment_context>x</environment_context>"),
        record("turn_context", r#"{"cwd":"/w","model":"m"}"#),
        said("user", "go"),
        record("event_msg", r#"{"type":"user_message","message":"go"}"#),
        item(r#"{"type":"reasoning","summary":[],"content":null,"encrypted_content":"E"}"#),
        item(r#"{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"]}}"#),
        item(r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#),
        count(10, 10),
        item(r#"{"type":"ghost_snapshot","ghost_commit":{}}"#),
        said("assistant", "done"),
        count(30, 20),
        count(30, 20),
        said("user", "<turn_aborted>x</turn_aborted>"),
    ]
    .concat();
    let document = open(&file);
    assert_eq!(document.format(), Format::Codex);
    let conversation = &document.conversations()[0];
    assert_eq!(conversation.label(), "s1");
    assert_eq!(conversation.fixed().system, "base");
    assert_eq!(
        shape(conversation),
        [
            "system: text=rules",
            "user!hidden: text=<environment_context>x</environment_context>",
            "user: text=go",
            "assistant: sealed=",
            r#"assistant: call c local_shell={"type":"exec","command":["ls"]}"#,
            "tool: result c -=ok",
            "assistant: text=done",
            "user!hidden: text=<turn_aborted>x</turn_aborted>",
        ]
    );
    let views = conversation.views();
    let usage: Vec<_> = views
        .iter()
        .map(|view| view.usage.as_ref().map(|u| u.input))
        .collect();
    assert_eq!(
        usage,
        [None, None, None, None, Some(10), None, Some(20), None]
    );
    let pinned: Vec<_> = views.iter().map(|view| view.flags.pinned).collect();
    assert_eq!(
        pinned,
        [false, true, false, false, false, false, false, false]
    );
    assert_eq!(views[3].reply, views[4].reply);
}

/// Older clients report before the items of the reply.
#[test]
fn early_reports_are_about_the_reply_that_follows() {
    let file = [
        meta(),
        said("user", "go"),
        record("event_msg", r#"{"type":"token_count","info":null}"#),
        count(10, 10),
        item(r#"{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}"#),
        item(r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#),
        count(30, 20),
        said("assistant", "done"),
    ]
    .concat();
    let document = open(&file);
    let views = document.conversations()[0].views();
    let usage: Vec<_> = views
        .iter()
        .map(|view| view.usage.as_ref().map(|u| u.input))
        .collect();
    assert_eq!(usage, [None, Some(10), None, Some(20)]);
}

#[test]
fn a_compaction_puts_its_history_in_place() {
    let with = record(
        "compacted",
        r#"{"message":"m","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"compaction","encrypted_content":"E"}]}"#,
    );
    let before = [
        meta(),
        said("user", "a"),
        said("assistant", "b"),
        count(9, 9),
    ]
    .concat();
    let file = [&before, &with, &said("user", "c")]
        .map(String::as_str)
        .concat();
    assert_eq!(
        texts(&file),
        [
            "user: text=a",
            r#"user!hidden: opaque compaction={"type":"compaction","encrypted_content":"E"}"#,
            "user: text=c"
        ]
    );
    // Without one: the beginning, what the user said, and the summary.
    let without = record("compacted", r#"{"message":"the summary"}"#);
    let file = [
        meta(),
        said("developer", "rules"),
        said("user", "<user_instructions>x"),
        said("user", "a"),
        said("assistant", "b"),
        said("user", "c"),
        without.clone(),
        said("user", "d"),
        without,
    ]
    .concat();
    let expect = [
        "system: text=rules",
        "user!hidden: text=<user_instructions>x",
        "user: text=a",
        "user: text=c",
        "user: text=d",
        "user!summary: text=the summary",
    ];
    assert_eq!(texts(&file), expect);
}

#[test]
fn turns_are_taken_back() {
    let turn = |n: u32| {
        [
            begins(),
            said("developer", "note"),
            said("user", &n.to_string()),
            said("assistant", "ok"),
        ]
        .concat()
    };
    let first = [
        meta(),
        begins(),
        said("developer", "rules"),
        said("user", "1"),
        said("assistant", "ok"),
    ]
    .concat();
    let compacted = record(
        "compacted",
        r#"{"message":"s","replacement_history":[{"role":"user","content":"so far"}]}"#,
    );
    let check = |parts: &[&str], expect: &[&str]| {
        assert_eq!(texts(&parts.concat()), expect);
    };
    let one = ["system: text=rules", "user: text=1", "assistant: text=ok"];
    check(&[&first, &turn(2), &rolled_back(1)], &one);
    check(&[&first, &turn(2), &turn(3), &rolled_back(2)], &one);
    check(
        &[&first, &turn(2), &rolled_back(9)],
        &["system: text=rules"],
    );
    check(&[&first, &rolled_back(0)], &one);
    // A compaction in a turn goes with it; one before stays.
    check(&[&first, &turn(2), &compacted, &rolled_back(1)], &one);
    check(
        &[&first, &compacted, &turn(2), &rolled_back(1)],
        &["user: text=so far"],
    );
    check(
        &[
            &first,
            &begins(),
            &compacted,
            &said("user", "2"),
            &rolled_back(1),
        ],
        &one,
    );
}

#[test]
fn a_compaction_of_ours_is_read_back() {
    let file = [
        meta().replace("\"type\"", "\"ordinal\":0,\"type\""),
        said("developer", "rules"),
        said("user", "<environment_context>x"),
        record("world_state", r#"{"full":true,"state":{"a":1}}"#),
        record("turn_context", r#"{"model":"m"}"#),
        said("user", "a"),
        item(r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"E"}"#),
        item(r#"{"type":"function_call","call_id":"c","name":"t","arguments":"{}", "x": 1.50}"#),
        item(r#"{"type":"function_call_output","call_id":"c","output":"a long result"}"#),
        count(30, 20),
        record("world_state", r#"{"full":false,"state":{"b":2}}"#),
        said("user", "b").replace(
            "\"type\":\"response_item\"",
            "\"ordinal\":41,\"type\":\"response_item\"",
        ),
    ]
    .concat();
    let document = open(&file);
    let out = compact(
        &document,
        [
            keep(0),
            summary("so far"),
            keep(1),
            keep(3),
            keep(4),
            edit(5, [cut(0, 1..13, "…")]),
            keep(6),
        ],
    );
    let appended = out
        .strip_prefix(file.as_str())
        .expect("the file's own bytes stay");
    let time = "2026-11-30T12:23:04.248Z";
    let expect = [
        format!(
            r#"{{"timestamp":"{time}","ordinal":42,"type":"compacted","payload":{{"message":"so far","replacement_history":[{{"type":"message","role":"developer","content":[{{"type":"input_text","text":"rules"}}]}},{{"type":"message","role":"user","content":[{{"type":"input_text","text":"so far"}}]}},{{"type":"message","role":"user","content":[{{"type":"input_text","text":"<environment_context>x"}}]}},{{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"E"}},{{"type":"function_call","call_id":"c","name":"t","arguments":"{{}}", "x": 1.50}},{{"type":"function_call_output","call_id":"c","output":"a…"}},{{"type":"message","role":"user","content":[{{"type":"input_text","text":"b"}}]}}]}}}}"#
        ),
        format!(
            r#"{{"timestamp":"{time}","ordinal":43,"type":"world_state","payload":{{"full":true,"state":{{"a":1}}}}}}"#
        ),
        format!(
            r#"{{"timestamp":"{time}","ordinal":44,"type":"world_state","payload":{{"full":false,"state":{{"b":2}}}}}}"#
        ),
        format!(
            r#"{{"timestamp":"{time}","ordinal":45,"type":"turn_context","payload":{{"model":"m"}}}}"#
        ),
        format!(
            r#"{{"timestamp":"{time}","ordinal":46,"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":30}},"last_token_usage":{{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"total_tokens":900}},"model_context_window":1000}}}}}}"#
        ),
    ];
    assert_eq!(appended.lines().collect::<Vec<_>>(), expect);
    let expect = [
        "system: text=rules",
        "user: text=so far",
        "user!hidden: text=<environment_context>x",
        "assistant: sealed=",
        "assistant: call c t={}",
        "tool: result c -=a…",
        "user: text=b",
    ];
    assert_eq!(texts(&out), expect);
    assert!(
        open(&out).conversations()[0]
            .views()
            .iter()
            .all(|view| view.usage.is_none())
    );

    // Once more on top, with what the client told gone: nothing says that it is still there.
    let again = open(&out);
    let twice = compact(&again, [summary("all"), keep(6)]);
    let appended = twice
        .strip_prefix(out.as_str())
        .expect("the file's own bytes stay");
    let kinds: Vec<_> = appended
        .lines()
        .map(|line| line.contains("\"compacted\""))
        .collect();
    assert_eq!(kinds, [true, false]);
    assert_eq!(texts(&twice), ["user: text=all", "user: text=b"]);
}

#[test]
fn a_summary_without_history_is_kept_as_a_message() {
    let file = [
        meta(),
        said("user", "a"),
        record("compacted", r#"{"message":"the \"summary\""}"#),
        said("user", "b"),
    ]
    .concat();
    let document = open(&file);
    let out = compact(&document, [keep(1), keep(2)]);
    assert!(out.contains(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"the \"summary\""}]}"#));
    assert_eq!(texts(&out), [r#"user: text=the "summary""#, "user: text=b"]);
    let rules = insert(BlockKind::Rules, Role::System, "how to read");
    let out = compact(&document, [rules, keep(2)]);
    assert_eq!(texts(&out), ["system: text=how to read", "user: text=b"]);
}

#[test]
fn the_oldest_form_has_no_envelopes() {
    let file = concat!(
        r#"{"id":"old","timestamp":"2025-06-01T00:00:00Z","instructions":"be kind"}"#,
        "\n",
        r#"{"record_type":"state"}"#,
        "\n",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#,
        "\n",
        r#"{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"c","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"}"#,
    );
    let document = open(file);
    assert_eq!(document.format(), Format::Codex);
    assert_eq!(document.conversations()[0].label(), "old");
    assert_eq!(document.conversations()[0].fixed().system, "be kind");
    assert_eq!(document.conversations()[0].views().len(), 3);
    let out = compact(&document, [summary("s"), keep(1), keep(2)]);
    assert!(out.starts_with(file));
    assert_eq!(texts(&out)[0], "user: text=s");
}

#[test]
fn bad_lines() {
    let good = [meta(), said("user", "a")].concat();
    let check = |bad: &str| {
        let file = format!("{good}{bad}\n{}", said("assistant", "b"));
        let strict = Document::open(
            file.clone().into_bytes(),
            &OpenOptions {
                format: Some(Format::Codex),
                lenient: false,
            },
        );
        assert!(strict.is_err(), "{bad}");
        let lenient = Document::open(
            file.clone().into_bytes(),
            &OpenOptions {
                format: None,
                lenient: true,
            },
        )
        .unwrap();
        assert_eq!(lenient.format(), Format::Codex);
        assert_eq!(lenient.faults().len(), 1, "{bad}");
        assert_eq!(lenient.faults()[0].line, 3);
        assert_eq!(lenient.conversations()[0].views().len(), 2);
        let out = lenient
            .render(&[(0, &script([summary("s"), keep(1)]))], &CONTEXT)
            .unwrap();
        assert!(out.starts_with(file.as_bytes()));
    };
    check(r#"{"type":"response_item","payload":{"type":"mess"#);
    check("not json");
    check("3");
    check(r#"{"timestamp":"t","type":"response_item","payload":null}"#);
    // Items that are none are shown as they are.
    let file = [
        good,
        item(r#"{"x":1}"#),
        item(r#"{"type":"message","role":"user"}"#),
    ]
    .concat();
    let document = open(&file);
    assert_eq!(document.faults().len(), 2);
    assert_eq!(texts(&file)[1], r#"user!hidden: opaque item={"x":1}"#);
    let deep = [
        meta(),
        item(&format!(
            "{{\"type\":\"x\",\"y\":{}{}}}",
            "[".repeat(200),
            "]".repeat(200)
        )),
    ]
    .concat();
    let options = OpenOptions {
        format: Some(Format::Codex),
        lenient: true,
    };
    let document = Document::open(deep.into_bytes(), &options).unwrap();
    assert_eq!(document.faults().len(), 1);
}

/// File, and records, calls, results, images and compactions as `SOURCE.md` counts them. The fixtures have no counts
/// there; these are by the data set's own reader, but for its one line a compaction, which it counts too.
const SOURCES: [(&str, [usize; 5]); 4] = [
    (
        "codex/rollout-2025-09-24T19-22-20-01997e76-d124-7592-9cac-2ec05abbca08.jsonl",
        [395, 123, 123, 0, 0],
    ),
    (
        "codex/rollout-2025-09-24T20-12-23-01997ea4-a70d-7da3-8c20-c736db82a7c5.jsonl",
        [54, 16, 16, 1, 0],
    ),
    (
        "codex-redacted/rollout-2026-02-23T12-54-34-019c8a59-e9dd-71f0-9ae3-4079fe9726a9.jsonl",
        [1296, 365, 365, 13, 1],
    ),
    ("codex-zh/codex.jsonl", [59, 19, 19, 0, 0]),
];

#[test]
fn counts_as_the_source_says() {
    let Some(folder) = shared() else {
        println!("shared data not found, {} checks left out", SOURCES.len());
        return;
    };
    for (name, [messages, calls, results, images, summaries]) in SOURCES {
        let bytes = std::fs::read(folder.join("data").join(name)).unwrap();
        let document = Document::open(bytes, &OpenOptions::default()).expect(name);
        assert_eq!(document.format(), Format::Codex, "{name}");
        let expect = RecordCounts {
            messages,
            calls,
            results,
            images,
            summaries,
        };
        assert_eq!(document.record_counts(), Some(expect), "{name}");
    }
}

fn rollouts(folder: &Path) -> Vec<PathBuf> {
    let named = |name: &str| name.contains("codex");
    let mut files = Vec::new();
    for part in [
        "codex",
        "codex-redacted",
        "codex-zh",
        "agent-sessions-fixtures",
    ] {
        let entries = std::fs::read_dir(folder.join("data").join(part)).unwrap();
        let entries = entries.map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.ends_with(".jsonl") && (part != "agent-sessions-fixtures" || named(&name))
        }));
    }
    files.sort();
    files
}

/// Half of each real session folded, twice: the file's bytes stay, what is in sight is what was asked for, and the
/// API would take it if it would have taken the session.
#[test]
fn real_sessions_round_trip() {
    let Some(folder) = shared() else {
        println!("shared data not found, checks of real rollouts left out");
        return;
    };
    let files = rollouts(&folder);
    assert_eq!(files.len(), 11);
    for path in files {
        let name = path.display().to_string();
        let bytes = std::fs::read(&path).unwrap();
        let options = OpenOptions {
            format: Some(Format::Codex),
            lenient: true,
        };
        let mut document = Document::open(bytes.clone(), &options).expect(&name);
        let nothing: Projection = everything(&document.conversations()[0]);
        assert!(
            document.render(&[(0, &nothing)], &CONTEXT).unwrap() == bytes,
            "{name}"
        );
        let mut file = bytes;
        for round in 0..2 {
            let conversation = &document.conversations()[0];
            let views = conversation.views();
            let open_before = faults_in_sight(&document);
            let mut first = views.len() / 2;
            while first < views.len() && is_inside(&document, first) {
                first += 1;
            }
            let pieces: Vec<Piece> = (first..views.len())
                .map(|n| keep(u32::try_from(n).unwrap()))
                .collect();
            let mut expect: Vec<_> = views[first..].iter().map(|view| view.ident).collect();
            let out = compact(&document, [summary("s")].into_iter().chain(pieces));
            assert!(out.as_bytes().starts_with(&file), "{name}, round {round}");
            let next = Document::open(out.clone().into_bytes(), &options).unwrap();
            let found: Vec<_> = next.conversations()[0]
                .views()
                .iter()
                .map(|view| view.ident)
                .collect();
            expect.insert(0, found[0]);
            assert_eq!(found, expect, "{name}, round {round}");
            assert!(
                faults_in_sight(&next) <= open_before,
                "{name}, round {round}"
            );
            (file, document) = (out.into_bytes(), next);
        }
    }
}

/// Faults of what is in sight, as a request.
fn faults_in_sight(document: &Document) -> usize {
    let conversation = &document.conversations()[0];
    let items: Vec<_> = conversation
        .views()
        .iter()
        .map(|view| conversation.json_of(view.handle))
        .collect();
    let request = format!(r#"{{"model":"m","input":[{}]}}"#, items.join(","));
    valid::check(Format::Responses, request.as_bytes()).len()
}

/// Whether a call before `at` is answered behind it, or a reply goes on.
fn is_inside(document: &Document, at: usize) -> bool {
    let views = document.conversations()[0].views();
    let calls: Vec<_> = views[..at]
        .iter()
        .flat_map(|view| view.calls().map(|call| call.1))
        .collect();
    let answered = views[at..]
        .iter()
        .flat_map(|view| view.results())
        .any(|(_, id)| calls.contains(&id));
    let goes_on = views[at].reply.is_some() && views[at].reply == views[at - 1].reply;
    answered || goes_on
}

#[test]
fn real_usage_is_told_of_replies() {
    let Some(folder) = shared() else {
        println!("shared data not found, check of reported usage left out");
        return;
    };
    for (name, at_least) in [(SOURCES[0].0, 120), (SOURCES[3].0, 17)] {
        let bytes = std::fs::read(folder.join("data").join(name)).unwrap();
        let document = Document::open(bytes, &OpenOptions::default()).unwrap();
        let views = document.conversations()[0].views();
        let mut count = 0;
        let mut newest = 0;
        for (n, view) in views.iter().enumerate() {
            let Some(usage) = &view.usage else { continue };
            assert_eq!(view.role, Role::Assistant, "{name}");
            // The last item of its reply.
            assert!(
                views.get(n + 1).is_none_or(|next| next.reply != view.reply),
                "{name}: {n}"
            );
            count += 1;
            newest = usage.input;
        }
        assert!(count >= at_least, "{name}: {count}");
        assert!(newest > 5000, "{name}: {newest}");
        assert!(views.iter().any(|v| {
            v.parts
                .iter()
                .any(|p| matches!(p.kind, PartKind::Reasoning { .. }))
        }));
    }
}

/// Ten megabytes take well under a second also in a test build; the bound is generous for a busy machine.
#[test]
fn large_files_are_linear() {
    let turn = |n: usize| {
        [
            begins(),
            said("user", &format!("question {n}")),
            item(&format!(
                r#"{{"type":"function_call","call_id":"c{n}","name":"t","arguments":"{{}}"}}"#
            )),
            item(&format!(
                r#"{{"type":"function_call_output","call_id":"c{n}","output":"{}"}}"#,
                "x".repeat(4000)
            )),
            said("assistant", "done"),
        ]
        .concat()
    };
    let file = meta() + &(0..2000).map(turn).collect::<String>() + &rolled_back(1000);
    let document = open_as(&file, Format::Codex);
    assert_eq!(document.conversations()[0].views().len(), 4000);
    let out = compact(&document, [summary("s"), keep(3999)]);
    assert!(out.starts_with(&file));
}
