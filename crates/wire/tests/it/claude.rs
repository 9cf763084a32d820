//! Claude Code's session files: what is in sight, what a compaction appends, and that both agree.

use std::path::{Path, PathBuf};

use conspectus_core::projection::{BlockKind, Piece, Projection};
use conspectus_core::view::{PartKind, Role, Usage};
use conspectus_wire::{Document, Format, OpenOptions, ReadError, RecordCounts, RenderContext};

use crate::support::{
    answer, cut, edit, everything, insert, keep, open_as, remove, script, shape, shared, summary,
};

fn open(text: &str) -> Document {
    open_as(text, Format::Claude)
}

fn open_leniently(text: &str) -> Document {
    let options = OpenOptions {
        format: Some(Format::Claude),
        lenient: true,
    };
    Document::open(text.as_bytes().to_vec(), &options).expect("lenient reading goes on")
}

const CONTEXT: RenderContext = RenderContext {
    now_ms: 1_796_041_384_248,
    id_seed: 7,
    tokens_before: 5000,
    tokens_after: 900,
    automatic: false,
    cache_summary: false,
};

fn compact(document: &Document, pieces: impl IntoIterator<Item = Piece>) -> String {
    render(document, &script(pieces))
}

fn render(document: &Document, projection: &Projection) -> String {
    let bytes = document.render(&[(0, projection)], &CONTEXT);
    String::from_utf8(bytes.expect("the projection is of this document"))
        .expect("a file of text stays text")
}

fn sight(text: &str) -> Vec<String> {
    shape(&open(text).conversations()[0])
}

/// Lines of records from `type uuid parent body` rows; `-` is a root.
fn records(rows: &[(&str, &str, &str, &str)]) -> String {
    let line = |(kind, uuid, parent, body): &(&str, &str, &str, &str)| {
        let parent = match *parent {
            "-" => "null".to_owned(),
            id => format!("\"{id}\""),
        };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\
             \"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2\"{body}}}\n"
        )
    };
    rows.iter().map(line).collect()
}

fn user(text: &str) -> String {
    format!(",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}")
}

fn result(id: &str, text: &str) -> String {
    format!(
        ",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\
         \"content\":\"{text}\"}}]}},\"toolUseResult\":{{\"stdout\":\"{text}\"}}"
    )
}

fn reply(id: &str, block: &str) -> String {
    format!(
        ",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{block}],\
         \"usage\":{{\"input_tokens\":5,\"cache_read_input_tokens\":70,\
         \"cache_creation_input_tokens\":25,\"output_tokens\":9}}}}"
    )
}

fn text(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":\"{text}\"}}")
}

fn call(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{id}\"}}}}"
    )
}

/// Two parallel calls whose results stand on two branches, then a second turn.
fn session() -> String {
    records(&[
        ("user", "u1", "-", &user("first")),
        ("progress", "p1", "u1", ""),
        ("assistant", "a1", "p1", &reply("m1", &text("two calls"))),
        ("assistant", "a2", "a1", &reply("m1", &call("x"))),
        ("user", "r1", "a2", &result("x", "out x")),
        ("assistant", "a3", "a2", &reply("m1", &call("y"))),
        ("user", "r2", "a3", &result("y", "out y")),
        ("assistant", "a4", "r2", &reply("m2", &text("done"))),
        ("user", "u2", "a4", &user("second")),
        ("assistant", "a5", "u2", &reply("m3", &text("ok"))),
    ])
}

const SIGHT: [&str; 9] = [
    "user: text=first",
    "assistant: text=two calls",
    r#"assistant: call x Bash={"command":"x"}"#,
    r#"assistant: call y Bash={"command":"y"}"#,
    "user: result x -=out x",
    "user: result y -=out y",
    "assistant: text=done",
    "user: text=second",
    "assistant: text=ok",
];

#[test]
fn forks_of_parallel_calls_are_in_sight() {
    let document = open(&session());
    let conversation = &document.conversations()[0];
    assert_eq!(shape(conversation), SIGHT);
    assert_eq!(conversation.label(), "s");
    let replies: Vec<_> = conversation
        .views()
        .iter()
        .map(|v| v.reply.map(|r| r.0))
        .collect();
    let (m1, m2, m3) = (Some(0), Some(1), Some(2));
    assert_eq!(replies, [None, m1, m1, m1, None, None, m2, None, m3]);
    let usage = Usage {
        input: 100,
        output: 9,
        cache_read: 70,
        cache_write: 25,
        ..Usage::default()
    };
    let with_usage: Vec<_> = conversation
        .views()
        .iter()
        .map(|v| v.usage.clone())
        .collect();
    let told = Some(usage);
    let expect = [
        None,
        None,
        None,
        told.clone(),
        None,
        None,
        told.clone(),
        None,
        told,
    ];
    assert_eq!(with_usage, expect);
}

#[test]
fn rewound_branches_and_side_chains_are_out_of_sight() {
    let rewound = session()
        + &records(&[
            ("user", "u2b", "a4", &user("second, better")),
            ("assistant", "a6", "u2b", &reply("m4", &text("better"))),
        ]);
    let seen = sight(&rewound);
    assert_eq!(seen[..7], SIGHT[..7]);
    assert_eq!(
        seen[7..],
        ["user: text=second, better", "assistant: text=better"]
    );

    let side = records(&[
        ("user", "s1", "-", &user("to a sub-agent")),
        ("assistant", "s2", "s1", &reply("m9", &text("yes"))),
    ])
    .replace("\"isSidechain\":false", "\"isSidechain\":true");
    assert_eq!(sight(&(session() + &side)), SIGHT);
    assert_eq!(
        sight(&side),
        ["user: text=to a sub-agent", "assistant: text=yes"]
    );
}

#[test]
fn who_said_it() {
    let check = |kind: &str, body: &str, expect: &[&str]| {
        assert_eq!(sight(&records(&[(kind, "u", "-", body)])), expect, "{body}");
    };
    check("user", &user("hello"), &["user: text=hello"]);
    check(
        "user",
        &(user("x") + ",\"isMeta\":true"),
        &["user!hidden: text=x"],
    );
    check(
        "user",
        &(user("x") + ",\"origin\":{\"kind\":\"human\"}"),
        &["user: text=x"],
    );
    check(
        "user",
        &(user("x") + ",\"origin\":{\"kind\":\"task-notification\"}"),
        &["user!hidden: text=x"],
    );
    check(
        "user",
        &(user("x") + ",\"isCompactSummary\":true"),
        &["user!summary: text=x"],
    );
    check(
        "user",
        &user("<command-name>/clear</command-name>"),
        &["user!hidden: text=<command-name>/clear</command-name>"],
    );
    check(
        "assistant",
        &reply("m", &text("hi")),
        &["assistant: text=hi"],
    );
    check(
        "assistant",
        &(reply("m", &text("API Error")) + ",\"isApiErrorMessage\":true"),
        &[],
    );
    check(
        "system",
        ",\"subtype\":\"local_command\",\"content\":\"out\"",
        &["user!hidden: text=out"],
    );
    check(
        "system",
        ",\"subtype\":\"informational\",\"content\":\"out\"",
        &[],
    );
    check(
        "attachment",
        ",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"and this\",\"commandMode\":\"prompt\"}",
        &["user: text=and this"],
    );
    check(
        "attachment",
        ",\"attachment\":{\"type\":\"file\",\"content\":{\"type\":\"text\",\"file\":{\"content\":\"body\"}}}",
        &["user!hidden: text=body"],
    );
    check(
        "attachment",
        ",\"attachment\":{\"type\":\"hook_additional_context\",\"content\":[\"one\",\"two\"]}",
        &["user!hidden: text=one | text=two"],
    );
    check(
        "attachment",
        ",\"attachment\":{\"type\":\"skill_listing\",\"content\":\"long\"}",
        &[],
    );
    check(
        "attachment",
        ",\"attachment\":{\"type\":\"hook_success\",\"content\":\"\"}",
        &[],
    );
    check(
        "something-new",
        ",\"message\":{\"role\":\"user\",\"content\":\"x\"}",
        &[],
    );
}

#[test]
fn what_the_last_request_sent_beside_the_messages() {
    let shape = |tool: &str| {
        format!(
            "{{\"type\":\"api-request-shape\",\"shape\":{{\"system\":[{{\"type\":\"text\",\"text\":\"be\"}},\
             {{\"type\":\"text\",\"text\":\"brief\"}}],\"tools\":[{{\"name\":\"{tool}\"}}]}}}}\n"
        )
    };
    let document = open(&(shape("Read") + &session() + &shape("Bash")));
    let fixed = document.conversations()[0].fixed();
    assert_eq!(
        (fixed.system.as_str(), fixed.tools.as_str()),
        ("be\nbrief", "[{\"name\":\"Bash\"}]")
    );
    assert_eq!(crate::support::shape(&document.conversations()[0]), SIGHT);
}

#[test]
fn ids_that_do_not_work_fall_back_to_the_order_of_the_file() {
    let check = |rows: &[(&str, &str, &str, &str)]| {
        assert_eq!(
            sight(&records(rows)),
            ["user: text=a", "assistant: text=b", "user: text=c"]
        );
    };
    let (a, b, c) = (user("a"), reply("m", &text("b")), user("c"));
    check(&[
        ("user", "1", "-", &a),
        ("assistant", "2", "-", &b),
        ("user", "3", "-", &c),
    ]);
    check(&[
        ("user", "1", "-", &a),
        ("assistant", "2", "1", &b),
        ("user", "3", "gone", &c),
    ]);
    check(&[
        ("user", "x", "x", &a),
        ("assistant", "x", "x", &b),
        ("user", "x", "x", &c),
    ]);
    check(&[
        ("user", "2", "3", &a),
        ("assistant", "2", "2", &b),
        ("user", "3", "2", &c),
    ]);
    let bare = records(&[
        ("user", "1", "-", &a),
        ("assistant", "2", "-", &b),
        ("user", "3", "-", &c),
    ])
    .replace("\"parentUuid\":null,", "");
    assert_eq!(sight(&bare).len(), 3);
    let nameless = bare.replace("\"uuid\":", "\"other\":");
    assert_eq!(sight(&nameless).len(), 3);
    let again = compact(&open(&nameless), [summary("S"), keep(2)]);
    assert_eq!(sight(&again), ["user!summary: text=S", "user: text=c"]);
}

#[test]
fn what_is_appended() {
    let before = session();
    let document = open(&before);
    let after = compact(
        &document,
        [
            insert(BlockKind::Rules, Role::System, "R"),
            summary("S"),
            keep(0),
            keep(1),
            keep(2),
            keep(3),
            edit(4, [cut(0, 0..4, "cut ")]),
            keep(5),
            keep(8),
        ],
    );
    let appended = after.strip_prefix(&before).expect("the file's bytes stay");
    let lines: Vec<_> = appended.lines().collect();
    assert_eq!(lines.len(), 3);
    let value = |n: usize| serde_json::from_str::<serde_json::Value>(lines[n]).unwrap();
    let (copy, boundary, told) = (value(0), value(1), value(2));
    assert_eq!(copy["message"]["content"][0]["content"], "cut x");
    assert_eq!(copy["toolUseResult"], serde_json::Value::Null);
    assert_eq!(copy["parentUuid"], "a2");
    let list = &boundary["compactMetadata"]["preservedMessages"]["uuids"];
    assert_eq!(
        *list,
        serde_json::json!(["u1", "a1", "a2", "a3", copy["uuid"], "r2", "a5"])
    );
    assert_eq!(
        boundary["compactMetadata"]["preservedMessages"]["anchorUuid"],
        told["uuid"]
    );
    assert_eq!(boundary["compactMetadata"]["trigger"], "manual");
    assert_eq!(boundary["compactMetadata"]["preTokens"], 5000);
    assert_eq!(boundary["logicalParentUuid"], "a5");
    assert_eq!(boundary["parentUuid"], serde_json::Value::Null);
    assert_eq!(boundary["timestamp"], "2026-11-30T12:23:04.248Z");
    assert_eq!(
        (&boundary["sessionId"], &boundary["cwd"]),
        (&"s".into(), &"/w".into())
    );
    assert_eq!(told["parentUuid"], boundary["uuid"]);
    assert_eq!(told["message"]["content"], "R\n\nS");
    assert_eq!(told["isCompactSummary"], true);
    assert_eq!(
        after,
        compact(&document, {
            let pieces = [insert(BlockKind::Rules, Role::System, "R"), summary("S")];
            let kept = [
                keep(0),
                keep(1),
                keep(2),
                keep(3),
                edit(4, [cut(0, 0..4, "cut ")]),
                keep(5),
                keep(8),
            ];
            pieces.into_iter().chain(kept)
        }),
        "the same compaction gives the same bytes"
    );

    let again = open(&after);
    let seen = shape(&again.conversations()[0]);
    assert_eq!(seen[0], "user!summary: text=R\n\nS");
    assert_eq!(
        seen[1..6],
        [
            SIGHT[0],
            SIGHT[1],
            SIGHT[2],
            SIGHT[3],
            "user: result x -=cut x"
        ]
    );
    assert_eq!(seen[6..], [SIGHT[5], SIGHT[8]]);
    let stale = again.conversations()[0]
        .views()
        .iter()
        .any(|view| view.usage.is_some());
    assert!(!stale, "usage from before a boundary does not count");
}

#[test]
fn the_conversation_goes_on_behind_a_compaction() {
    let first = compact(&open(&session()), [summary("S"), keep(7), keep(8)]);
    // As the client writes it: the next prompt follows the last kept record, not the summary.
    let on = first
        + &records(&[
            ("user", "u3", "a5", &user("third")),
            ("assistant", "a7", "u3", &reply("m5", &call("z"))),
            ("user", "r3", "a7", &result("z", "out z")),
        ]);
    let document = open(&on);
    let seen = shape(&document.conversations()[0]);
    let new = [
        r#"assistant: call z Bash={"command":"z"}"#,
        "user: result z -=out z",
    ];
    assert_eq!(
        seen,
        [
            "user!summary: text=S",
            SIGHT[7],
            SIGHT[8],
            "user: text=third",
            new[0],
            new[1]
        ]
    );

    let second = compact(
        &document,
        [
            summary("S2"),
            keep(2),
            keep(3),
            keep(4),
            edit(5, [cut(0, 0..3, "")]),
        ],
    );
    let expect = [
        "user!summary: text=S2",
        SIGHT[8],
        "user: text=third",
        new[0],
        "user: result z -= z",
    ];
    assert_eq!(sight(&second), expect);
    let third = compact(&open(&second), [summary("S3"), keep(4)]);
    assert_eq!(sight(&third), ["user!summary: text=S3", expect[4]]);
}

#[test]
fn blocks_of_ours_and_messages_before_the_summary() {
    let document = open(&session());
    let after = compact(
        &document,
        [
            keep(0),
            summary("S"),
            keep(3),
            answer("y", "Bash", "never came"),
            insert(BlockKind::Acknowledgement, Role::Assistant, "Understood."),
            keep(7),
            insert(BlockKind::Reminder, Role::User, "the date changed"),
        ],
    );
    let expect = [
        SIGHT[0],
        "user!summary: text=S",
        SIGHT[3],
        "user: result y -=never came",
        SIGHT[7],
        "user!hidden: text=the date changed",
    ];
    assert_eq!(sight(&after), expect);
    // Pruning without a summary hangs the list on the boundary.
    let pruned = compact(&document, [keep(0), edit(4, [cut(0, 0..3, "-")])]);
    assert_eq!(sight(&pruned), [SIGHT[0], "user: result x -=- x"]);
    // A message of which nothing is left is left out.
    let without = compact(&document, [summary("S"), edit(7, [remove(0)]), keep(8)]);
    assert_eq!(sight(&without), ["user!summary: text=S", SIGHT[8]]);
}

#[test]
fn a_segment_of_the_client_is_in_sight() {
    let boundary = ",\"subtype\":\"compact_boundary\",\"compactMetadata\":{\"preservedSegment\":\
        {\"headUuid\":\"a1\",\"anchorUuid\":\"sum\",\"tailUuid\":\"r2\"}}";
    let text = session()
        + &records(&[
            ("system", "b", "-", boundary),
            (
                "user",
                "sum",
                "b",
                &(user("S") + ",\"isCompactSummary\":true"),
            ),
            ("user", "n", "sum", &user("next")),
        ]);
    let expect = [
        "user!summary: text=S",
        SIGHT[1],
        SIGHT[2],
        SIGHT[3],
        SIGHT[4],
        SIGHT[5],
        "user: text=next",
    ];
    assert_eq!(sight(&text), expect);
}

#[test]
fn an_unknown_id_in_the_list_keeps_nothing() {
    let after = compact(&open(&session()), [summary("S"), keep(8)]);
    assert_eq!(
        sight(&after.replace("\"uuids\":[\"a5\"]", "\"uuids\":[\"a5\",\"?\"]")),
        ["user!summary: text=S"]
    );
}

#[test]
fn broken_lines() {
    let check = |line: &str, expect: &str| {
        let text = session() + line + "\n";
        let options = OpenOptions {
            format: Some(Format::Claude),
            lenient: false,
        };
        let error = Document::open(text.clone().into_bytes(), &options).expect_err(line);
        assert_eq!(error.to_string(), expect);
        let document = open_leniently(&text);
        assert_eq!(document.faults().len(), 1);
        assert_eq!(document.faults()[0].line, 11);
        assert_eq!(shape(&document.conversations()[0]), SIGHT);
        let after = compact(&document, [summary("S"), keep(8)]);
        assert!(after.starts_with(&text));
        let again = shape(&open_leniently(&after).conversations()[0]);
        assert_eq!(again, ["user!summary: text=S", SIGHT[8]]);
    };
    check(
        "{\"type\":\"user\",\"message\":{\"ro",
        "line 11, column 29: EOF while parsing a string, expected the rest of the record: the line is cut off",
    );
    check(
        "[1]",
        "line 11: message 10 is an array, expected one record a line, each a JSON object; read leniently to keep it as it is",
    );
    check(
        "{\"type\":\"user\",\"message\":{\"role\":\"user\"}}",
        "line 11: message 10 is a message without content, expected a `message` object whose `content` is a string or a list of blocks; \
         read leniently to keep it as it is",
    );
    assert_eq!(
        Document::open(b" \n".to_vec(), &OpenOptions::default()).unwrap_err(),
        ReadError::Empty
    );
}

#[test]
fn a_torn_last_line_gets_its_line_end() {
    let text = session();
    let cut_off = text.trim_end();
    let after = compact(&open(cut_off), [summary("S")]);
    assert!(after.starts_with(&text));
    assert_eq!(sight(&after), ["user!summary: text=S"]);
}

/// The session files of the shared data.
fn files() -> Vec<PathBuf> {
    let Some(shared) = shared() else {
        return Vec::new();
    };
    let list = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).expect("the folder is readable");
        entries.map(|entry| entry.expect("the folder is readable").path())
    };
    let is_ours = |file: &PathBuf| {
        let path = file.to_string_lossy();
        path.ends_with(".jsonl") && (path.contains("/claude-code-") || path.contains("__claude__"))
    };
    let folders = list(shared.join("data")).filter(|folder| folder.is_dir());
    let mut files: Vec<_> = folders.flat_map(list).filter(is_ours).collect();
    files.sort();
    files
}

fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[test]
fn counts_of_the_shared_files() {
    let mut checked = 0;
    for file in &files() {
        let name = name(file);
        let source = std::fs::read_to_string(file.with_file_name("SOURCE.md")).unwrap();
        let row = source
            .lines()
            .find(|line| line.starts_with(&format!("| {name} |")))
            .expect(&name);
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let number = |n: usize| cells[n].parse().ok();
        let Some(messages) = number(7) else {
            continue;
        };
        let expect = RecordCounts {
            messages,
            calls: number(8).unwrap(),
            results: number(9).unwrap(),
            images: number(10).unwrap(),
            summaries: number(11).unwrap(),
        };
        let document = open_leniently(&std::fs::read_to_string(file).unwrap());
        assert_eq!(document.record_counts(), Some(expect), "{name}");
        checked += 1;
    }
    if checked == 0 {
        println!("shared data not found, 25 checks left out");
    } else {
        assert_eq!(checked, 25);
    }
}

#[test]
fn every_shared_file_compacts_and_reads_back() {
    let files = files();
    if files.is_empty() {
        println!("shared data not found, 30 checks left out");
    }
    for file in &files {
        let name = name(file);
        let text = std::fs::read_to_string(file).unwrap();
        if name != "edge_cases.jsonl" {
            let found = Document::open(text.clone().into_bytes(), &OpenOptions::default());
            let found = found.expect(&name);
            assert_eq!(found.format(), Format::Claude, "{name}");
            assert_eq!(found.faults(), [], "{name}");
        }
        let document = open_leniently(&text);
        let untouched = render(&document, &everything(&document.conversations()[0]));
        assert!(untouched == text, "{name} changed although nothing was");
        // Twice: half, with results cut, and then a quarter of that.
        let half = compacted(&name, &text, 2);
        compacted(&name, &half, 4);
    }
}

/// Keeps the first message and the newest of `1/share`, results cut; checks what is then in sight.
fn compacted(name: &str, text: &str, share: usize) -> String {
    let document = open_leniently(text);
    let conversation = &document.conversations()[0];
    let views = conversation.views();
    let shown = shape(conversation);
    let first = views.len() - views.len() / share;
    let mut pieces = vec![summary("the \"summary\"\n…")];
    let mut expect = vec!["user!summary: text=the \"summary\"\n…".to_owned()];
    for (n, view) in views.iter().enumerate() {
        if n != 0 && n < first {
            continue;
        }
        match view.parts[..] {
            [ref part] if part.len > 100 && matches!(part.kind, PartKind::Result { .. }) => {
                pieces.push(edit(view.handle.0, [cut(0, 0..part.len, "[cut]")]));
                let head = shown[n].split('=').next().unwrap_or_default();
                expect.push(format!("{head}=[cut]"));
            }
            _ => {
                pieces.push(keep(view.handle.0));
                expect.push(shown[n].clone());
            }
        }
    }
    let after = compact(&document, pieces);
    let unended = if text.ends_with('\n') { "" } else { "\n" };
    assert!(
        after.starts_with(&format!("{text}{unended}")),
        "{name}: the file's bytes stay"
    );
    let again = open_leniently(&after);
    assert_eq!(shape(&again.conversations()[0]), expect, "{name}");
    after
}
