//! `compact` where all goes well.

use serde_json::Value;

use crate::support::{EXAMPLES, NO_PRUNING, Place, compacted, example};

#[test]
fn every_format_beside_its_input() {
    for (name, format) in EXAMPLES {
        let place = Place::with(&[name]);
        let out = compacted(name);
        place
            .run(&["compact", name, NO_PRUNING[0], NO_PRUNING[1]])
            .done()
            .says(&format!("{name}  {format}: compacted\n"))
            .says("and a summary of the ")
            .says(&format!("written to {out}\n"));
        assert_eq!(
            place.read(name),
            example(name),
            "{name} itself is untouched"
        );
        let mut files = vec![name.to_owned(), out.clone()];
        files.sort();
        assert_eq!(place.files(), files);
        // What was written is a conversation of the same format, and smaller.
        let tokens = |file: &str| {
            let (code, report) = place.json(&["inspect", file]);
            assert_eq!(
                (code, &report["results"][0]["format"]),
                (0, &Value::from(format))
            );
            report["results"][0]["conversations"][0]["tokens"]
                .as_u64()
                .expect("tokens")
        };
        let (before, after) = (tokens(name), tokens(&out));
        assert!(after * 4 < before * 3, "{name}: {before} -> {after}");
        let pairing = place.json(&["inspect", &out]).1;
        assert_eq!(
            pairing["results"][0]["conversations"][0]["pairing_faults"],
            Value::Array(Vec::new()),
            "{name}"
        );
    }
}

#[test]
fn shortening_alone_may_be_enough() {
    let place = Place::with(&["langchain.json"]);
    place
        .run(&["compact", "langchain.json"])
        .done()
        .says("langchain: pruned, shortening was enough and nothing was folded\n")
        .says("  messages       27      27\n")
        .says("shortened 1 part, ")
        .says("  #3  read_file  long result  60,302  ->  ");
    let (_, report) = place.json(&["compact", "langchain.json", "--prune-over", "2000"]);
    let one = &report["results"][0]["conversations"][0];
    for part in one["shortened"].as_array().expect("a list") {
        let after = part["chars_after"].as_u64().expect("a number");
        assert!(
            after <= 2000 && part["chars_before"].as_u64() > Some(2000),
            "{part}"
        );
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for (name, _) in EXAMPLES {
        let place = Place::with(&[name]);
        place.run(&["compact", name, "--out", "a"]).done();
        place.run(&["compact", name, "--out", "b"]).done();
        assert_eq!(place.read("a"), place.read("b"), "{name}");
    }
}

#[test]
fn stdin_to_stdout_and_the_report_to_stderr() {
    let (name, _) = EXAMPLES[0];
    let place = Place::with(&[name]);
    place.run(&["compact", name]).done();
    let output = place.pipe(&["compact", "-"], &example(name));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, place.read(&compacted(name)));
    let report = String::from_utf8(output.stderr).expect("text");
    assert!(
        report.starts_with("standard input  openai: compacted\n"),
        "{report}"
    );
    assert!(report.ends_with("written to standard output\n"), "{report}");
    let ran = place.run(&["compact", name, "--out", "-"]);
    assert_eq!(ran.out.into_bytes(), output.stdout);
}

#[test]
fn several_files() {
    let place = Place::with(&["openai.json", "anthropic.json"]);
    place
        .run(&["compact", "openai.json", "anthropic.json"])
        .done()
        .says("openai.json  openai: compacted")
        .says("\n\nanthropic.json  cline: compacted");
    assert!(
        place
            .files()
            .contains(&"anthropic.compacted.json".to_owned())
    );
    place
        .run(&[
            "compact",
            "openai.json",
            "anthropic.json",
            "--out",
            "new/deep",
        ])
        .done();
    assert_eq!(
        place.read("new/deep/openai.json"),
        place.read("openai.compacted.json")
    );
}

#[test]
fn a_directory() {
    let place = Place::with(&["openai.json"]);
    place.write("in/a/openai.json", &example("openai.json"));
    place.write("in/claude-code.jsonl", &example("claude-code.jsonl"));
    place.write("in/notes.md", b"# notes");
    place.write("in/package.json", br#"{"name":"x"}"#);
    place.write("in/old.compacted.json", b"[]");
    place.write("in/empty.json", b"");
    place.write("in/.git/config.json", b"[1]");
    place
        .run(&["compact", "in", "--out", "out"])
        .done()
        .says("skipped 4 files:\n")
        .says("  in/empty.json: empty\n")
        .says("  in/notes.md: not JSON\n")
        .says("  in/old.compacted.json: already compacted\n")
        .says(
            "  in/package.json: line 1: an object with `name` is no conversation that is known\n",
        );
    let written: Vec<String> = place
        .files()
        .into_iter()
        .filter(|f| f.starts_with("out"))
        .collect();
    assert_eq!(written, ["out/a/openai.json", "out/claude-code.jsonl"]);
    // Beside the inputs, and again: what we wrote is no input.
    place.run(&["compact", "in"]).done();
    place
        .run(&["compact", "in"])
        .done()
        .says("already there, with the same bytes");
}

#[test]
fn several_conversations_in_a_file() {
    let place = Place::new();
    let one = String::from_utf8(example("openai.json")).expect("text");
    let small = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
    let file = format!(r#"[{{"task_id":7,"traj":{one}}},{{"task_id":8,"traj":{small}}}]"#);
    place.write("runs.json", file.as_bytes());
    place
        .run(&["compact", "runs.json"])
        .done()
        .says("runs.json  openai, 2 conversations: 1 compacted, 1 nothing_to_compact\n")
        .says("written to runs.compacted.json");
    let runs: Value = serde_json::from_slice(&place.read("runs.compacted.json")).expect("JSON");
    assert_eq!(
        runs[1]["traj"],
        serde_json::from_str::<Value>(small).expect("JSON")
    );
    assert!(runs[0]["traj"].as_array().expect("a list").len() < 40);
    assert_eq!(runs[0]["task_id"], 7);
}

#[test]
fn nothing_to_do_is_done_and_said() {
    let place = Place::with(&["openai.json"]);
    let skipped = place.run(&["compact", "openai.json", "--trigger", "tokens=1000000"]);
    skipped
        .done()
        .says("openai: nothing done, no trigger is reached at 62 messages and ")
        .says("nothing written\n");
    let kept = place.run(&["compact", "openai.json", "--keep", "messages=100"]);
    kept.done()
        .says("openai: nothing to compact in 62 messages and ")
        .says("note: folding what may go would not make the conversation smaller\n")
        .says("recent (58 messages)")
        .says("to fold more: a smaller --keep, or --below-keep\n");
    assert_eq!(place.files(), ["openai.json"]);
    // A pipe gets the conversation all the same.
    let output = place.pipe(
        &["compact", "-", "--trigger", "tokens=1000000"],
        &example("openai.json"),
    );
    assert_eq!(output.stdout, example("openai.json"));
}

#[test]
fn keep_and_below_keep() {
    let place = Place::with(&["openai.json"]);
    let after = |args: &[&str]| {
        let mut all = vec!["compact", "openai.json", "--dry-run"];
        all.extend(args);
        let (code, report) = place.json(&all);
        assert_eq!(code, 0);
        report["results"][0]["conversations"][0]["messages_after"]
            .as_u64()
            .expect("messages")
    };
    let twenty = after(&["--keep", "messages=20"]);
    assert!((20..=24).contains(&twenty), "{twenty}");
    assert!(after(&["--keep", "messages=20", "--below-keep"]) < 8);
}

#[test]
fn a_trigger_of_several_sizes() {
    let place = Place::with(&["openai.json"]);
    let outcome = |args: &[&str]| {
        let mut all = vec![
            "compact",
            "openai.json",
            "--dry-run",
            "--keep",
            "messages=4",
        ];
        all.extend(args);
        let (_, report) = place.json(&all);
        report["results"][0]["conversations"][0]["outcome"]
            .as_str()
            .expect("an outcome")
            .to_owned()
    };
    assert_eq!(outcome(&["--trigger", "messages=62"]), "compacted");
    assert_eq!(outcome(&["--trigger", "messages=63"]), "skipped");
    assert_eq!(
        outcome(&["--trigger", "messages=10,tokens=90000"]),
        "skipped"
    );
    let any = ["--trigger", "messages=10", "--trigger", "tokens=90000"];
    assert_eq!(outcome(&any), "compacted");
    let share = ["--trigger", "fraction=0.5", "--max-context", "12000"];
    assert_eq!(outcome(&share), "compacted");
}

#[test]
fn presets_without_a_configuration_compact() {
    let place = Place::with(&["openai.json"]);
    for preset in ["default", "deerflow", "langchain", "nous"] {
        place
            .run(&["compact", "openai.json", "--dry-run", "--preset", preset])
            .done()
            .says("openai: compacted");
    }
}

#[test]
fn json_has_everything() {
    let place = Place::with(&["openai.json", "anthropic.json"]);
    let (code, report) = place.json(&["compact", "openai.json", "missing.json"]);
    assert_eq!(code, 4);
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        let mut keys: Vec<String> = object.keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(
        keys(&report),
        [
            "advice",
            "command",
            "errors",
            "exit_code",
            "results",
            "skipped",
            "version",
            "warnings"
        ]
    );
    assert_eq!(report["command"], "compact");
    assert_eq!(report["exit_code"], 4);
    let file = &report["results"][0];
    assert_eq!(file["output"]["path"], "openai.compacted.json");
    assert_eq!(file["output"]["state"], "written");
    assert_eq!(file["bytes_before"], example("openai.json").len());
    assert_eq!(
        file["bytes_after"],
        place.read("openai.compacted.json").len()
    );
    assert_eq!(file["error"], Value::Null);
    let one = &file["conversations"][0];
    assert_eq!(one["outcome"], "compacted");
    assert_eq!(one["messages_before"], 62);
    let number = |key: &str| one[key].as_u64().expect("a number");
    assert_eq!(number("messages_after") + number("messages_folded"), 62);
    assert!(number("tokens_after") < number("tokens_before"));
    assert_eq!(one["summary"]["author"], "digest");
    let text = one["summary"]["text"].as_str().expect("a text");
    let written = String::from_utf8(place.read("openai.compacted.json")).expect("text");
    let first = text.lines().next().expect("a line");
    assert!(!first.is_empty() && written.contains(first), "{first}");
    let failed = &report["results"][1];
    assert_eq!(failed["input"], "missing.json");
    assert_eq!(failed["error"]["exit_code"], 4);
    assert_eq!(
        failed["error"]["message"],
        "missing.json: no such file or directory"
    );
}

#[test]
fn the_latest_codex_session() {
    let place = Place::new();
    let name = ".codex/sessions/2026/01/02/rollout-x.jsonl";
    place.write(name, &example("codex.jsonl"));
    place
        .run(&["compact", "--latest", "codex", "--dry-run"])
        .done()
        .says(&format!("{name}  codex: compacted"));
}

#[test]
fn the_latest_claude_code_session() {
    let place = Place::new();
    place.write(".claude/projects/-p/s.jsonl", &example("claude-code.jsonl"));
    place
        .run(&["compact", "--latest", "claude", "--dry-run"])
        .done()
        .says(".claude/projects/-p/s.jsonl  claude: compacted");
    let elsewhere = place
        .command(&["compact", "--latest", "claude", "--out", "s.jsonl"])
        .env("CLAUDE_CONFIG_DIR", place.path("nowhere"))
        .output()
        .expect("runs");
    let message = String::from_utf8(elsewhere.stderr).expect("text");
    let looked = place.path("nowhere/projects/*/*.jsonl");
    assert_eq!(
        message,
        format!(
            "error: --latest claude: no session found in {}; set CLAUDE_CONFIG_DIR, or name the session file\n",
            looked.display()
        )
    );
    assert_eq!(elsewhere.status.code(), Some(4));
}
