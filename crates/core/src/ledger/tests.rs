use super::*;
use crate::memory::{Memory, call, part, result, text};
use crate::redact::{RedactOption, Redactor};

/// Folds messages and shows all facts, a line each.
struct Folded {
    texts: Memory,
    ledger: Ledger,
    calls: usize,
    redactor: Option<Redactor>,
}

impl Folded {
    fn new() -> Self {
        Self {
            texts: Memory::new(),
            ledger: Ledger::default(),
            calls: 0,
            redactor: None,
        }
    }

    fn fold(&mut self, message: &MessageView) {
        match &self.redactor {
            Some(redactor) => self.ledger.fold_clear(message, &self.texts, redactor),
            None => self.ledger.fold(message, &self.texts),
        }
    }

    fn user(&mut self, said: &str) -> &mut Self {
        let message = self.texts.message(Role::User, vec![text(said)]);
        self.fold(&message);
        self
    }

    fn call(&mut self, tool: &str, arguments: &str) -> String {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let message = self
            .texts
            .message(Role::Assistant, vec![call(&id, tool, arguments)]);
        self.fold(&message);
        id
    }

    fn answer(&mut self, id: &str, answer: &str) {
        let message = self.texts.message(Role::Tool, vec![result(id, answer)]);
        self.fold(&message);
    }

    fn ran(&mut self, tool: &str, arguments: &str, answer: &str) -> &mut Self {
        let id = self.call(tool, arguments);
        self.answer(&id, answer);
        self
    }

    fn rows(&self) -> Vec<String> {
        let rows = self.ledger.rows();
        rows.iter()
            .map(|r| format!("{}: {}", r.label, r.text))
            .collect()
    }

    fn rules(&self) -> Vec<&str> {
        self.ledger
            .rules()
            .iter()
            .map(|r| r.text.as_ref())
            .collect()
    }
}

/// What one call leaves behind.
#[track_caller]
fn check(tool: &str, arguments: &str, answer: &str, expect: &[&str]) {
    let mut folded = Folded::new();
    folded.ran(tool, arguments, answer);
    assert_eq!(folded.rows(), expect, "of {tool} {arguments}");
}

#[test]
fn claude_code() {
    check(
        "Read",
        r#"{"file_path":"/a/b.rs"}"#,
        "1→x",
        &["Read: /a/b.rs"],
    );
    check(
        "Edit",
        r#"{"file_path":"/a/b.rs","old_string":"x","new_string":"y"}"#,
        "ok",
        &["Changed: /a/b.rs (edited)"],
    );
    check(
        "MultiEdit",
        r#"{"file_path":"/a/b.rs","edits":[]}"#,
        "ok",
        &["Changed: /a/b.rs (edited)"],
    );
    check(
        "Write",
        r#"{"file_path":"/a/n.rs","content":"x"}"#,
        "ok",
        &["Changed: /a/n.rs (new)"],
    );
    check(
        "Edit",
        r#"{"file_path":"/a/b.rs","old_string":"x","new_string":"y"}"#,
        "<tool_use_error>File has not been read yet</tool_use_error>",
        &["Last error: File has not been read yet (Edit: /a/b.rs)"],
    );
    check(
        "NotebookEdit",
        r#"{"notebook_path":"/a/n.ipynb","new_source":"1"}"#,
        "ok",
        &["Changed: /a/n.ipynb (edited)"],
    );
    check("Grep", r#"{"pattern":"x","path":"/a"}"#, "/a/b", &[]);
    check("Glob", r#"{"pattern":"**/*.rs"}"#, "b.rs", &[]);
    check(
        "TodoWrite",
        r#"{"todos":[{"content":"one","status":"completed"},{"content":"two","status":"in_progress"},{"content":"three","status":"pending"}]}"#,
        "ok",
        &["Now: two", "Open: three", "Done: one"],
    );
    check(
        "Task",
        r#"{"description":"find callers","prompt":"look at …","subagent_type":"explorer"}"#,
        "done",
        &["Delegated: explorer: find callers (done)"],
    );
    check(
        "WebFetch",
        r#"{"url":"https://a.b/c","prompt":"x"}"#,
        "text",
        &["Fetched: https://a.b/c"],
    );
    check(
        "Bash",
        r#"{"command":"cargo test -p core 2>&1 | tail -5","description":"Run"}"#,
        "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        &[
            "Tests: `cargo test -p core` failed (test result: FAILED. 3 passed; 1 failed; 0 ignored)",
        ],
    );
}

#[test]
fn codex() {
    check(
        "shell",
        r#"{"command":["bash","-lc","sed -n '1,20p' src/a.ts"],"workdir":"/w"}"#,
        r#"{"output":"x","metadata":{"exit_code":0}}"#,
        &["Read: src/a.ts"],
    );
    check(
        "shell",
        r#"{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** Add File: src/n.ts\n+1\n*** Delete File: old.ts\n*** End Patch\nEOF"]}"#,
        "ok",
        &[
            "Changed: old.ts (deleted)",
            "Changed: src/a.ts (edited)",
            "Changed: src/n.ts (new)",
        ],
    );
    check(
        "apply_patch",
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n*** End Patch",
        "ok",
        &["Changed: a.py (deleted)", "Changed: b.py (new)"],
    );
    check(
        "exec_command",
        r#"{"cmd":"npm test","workdir":"/w"}"#,
        "Process exited with code 1\nTests: 1 failed, 4 passed, 5 total",
        &[
            "Last error: Process exited with code 1 (exec_command: npm test)",
            "Tests: `npm test` failed (Tests: 1 failed, 4 passed, 5 total)",
        ],
    );
    check(
        "update_plan",
        r#"{"plan":[{"step":"one","status":"completed"},{"step":"two","status":"pending"}]}"#,
        "Plan updated",
        &["Open: two", "Done: one"],
    );
}

#[test]
fn unified_diffs() {
    let diff = "--- a/src/x.c\n+++ b/src/x.c\n@@\n-a\n+b\n--- /dev/null\n+++ b/new.c\n--- a/old.c\n+++ /dev/null\n";
    check(
        "apply_diff",
        &serde_json::json!({ "diff": diff }).to_string(),
        "ok",
        &[
            "Changed: new.c (new)",
            "Changed: old.c (deleted)",
            "Changed: src/x.c (edited)",
        ],
    );
}

#[test]
fn mini_swe_and_openhands() {
    check(
        "bash",
        r#"{"command":"cd /testbed && sed -i 's/a/b/' pkg/mod.py"}"#,
        "<returncode>0</returncode>",
        &["Changed: /testbed/pkg/mod.py (edited)"],
    );
    check(
        "bash",
        r#"{"command":"cat <<'EOF' > new.py\nimport os; os.remove('x') > /y\nEOF\nrm tmp.txt"}"#,
        "",
        &["Changed: new.py (new)", "Changed: tmp.txt (deleted)"],
    );
    check(
        "bash",
        r#"{"command":"python -m pytest tests/ -q"}"#,
        "<returncode>0</returncode>\n<output>\n== 12 passed in 0.3s ==\n</output>",
        &["Tests: `python -m pytest tests/ -q` passed (12 passed in 0.3s)"],
    );
    check(
        "str_replace_editor",
        r#"{"command":"view","path":"/w/a.java"}"#,
        "x",
        &["Read: /w/a.java"],
    );
    check(
        "str_replace_editor",
        r#"{"command":"create","path":"/w/N.java","file_text":"x"}"#,
        "ok",
        &["Changed: /w/N.java (new)"],
    );
    check(
        "str_replace_editor",
        r#"{"command":"str_replace","path":"/w/a.java","old_str":"x","new_str":"y"}"#,
        "ok",
        &["Changed: /w/a.java (edited)"],
    );
    check(
        "execute_bash",
        r#"{"command":"git checkout -b fix/x"}"#,
        "Switched to a new branch 'fix/x'",
        &["Branch: fix/x"],
    );
    check(
        "edit",
        r#"{"path":"/w/a.java","command":"insert","insert_line":3,"new_str":"y"}"#,
        "ok",
        &["Changed: /w/a.java (edited)"],
    );
    check("think", r#"{"thought":"hm"}"#, "logged", &[]);
}

#[test]
fn deer_flow_and_cline() {
    check(
        "read_file",
        r#"{"description":"look","path":"/mnt/a.md"}"#,
        "x",
        &["Read: /mnt/a.md"],
    );
    check(
        "write_file",
        r#"{"description":"save","path":"/mnt/b.md","content":"x"}"#,
        "OK",
        &["Changed: /mnt/b.md (new)"],
    );
    check(
        "str_replace",
        r#"{"path":"/mnt/b.md","old_str":"x","new_str":"y"}"#,
        "OK",
        &["Changed: /mnt/b.md (edited)"],
    );
    check(
        "task",
        r#"{"description":"survey prices","prompt":"…","subagent_type":"general"}"#,
        "Task Succeeded. Result: …",
        &["Delegated: general: survey prices (done)"],
    );
    check(
        "write_todos",
        r#"{"todos":[{"content":"第一步","status":"in_progress"}]}"#,
        "ok",
        &["Now: 第一步"],
    );
    check(
        "write_to_file",
        r#"{"path":"src/x.ts","content":"x"}"#,
        "saved",
        &["Changed: src/x.ts (new)"],
    );
    check(
        "replace_in_file",
        r#"{"path":"src/x.ts","diff":"<<<"}"#,
        "saved",
        &["Changed: src/x.ts (edited)"],
    );
    check(
        "mcp__fs__move_file",
        r#"{"source":"a.txt","destination":"b.txt"}"#,
        "ok",
        &["Changed: a.txt (deleted)", "Changed: b.txt (new)"],
    );
    check("get_weather", r#"{"city":"Graz"}"#, "sun", &[]);
}

#[test]
fn arguments_may_be_anything() {
    for arguments in [
        "",
        "not json",
        "[]",
        "null",
        "42",
        "{\"path\":",
        "\"x\"",
        "{\"path\":7,\"todos\":\"x\"}",
        "{\"command\":{\"a\":1}}",
        "<<",
        "cat <<EOF",
        "'",
        "a\\",
        "> >",
        ">",
    ] {
        for tool in ["Bash", "Edit", "TodoWrite", "", "Task", "日本語"] {
            let mut folded = Folded::new();
            folded.ran(tool, arguments, "");
            folded.rows();
        }
    }
}

#[test]
fn files_end_in_their_final_state() {
    let mut folded = Folded::new();
    folded
        .ran("Read", r#"{"file_path":"a.rs"}"#, "x")
        .ran("Edit", r#"{"file_path":"a.rs","new_string":"1"}"#, "ok")
        .ran("Edit", r#"{"file_path":"a.rs","new_string":"2"}"#, "ok")
        .ran("Write", r#"{"file_path":"b.rs","content":"1"}"#, "ok")
        .ran("Bash", r#"{"command":"rm -f b.rs"}"#, "")
        .ran("Write", r#"{"file_path":"c.rs","content":"1"}"#, "ok")
        .ran("Edit", r#"{"file_path":"c.rs","new_string":"2"}"#, "ok");
    assert_eq!(
        folded.rows(),
        [
            "Changed: c.rs (new, edited 1×)",
            "Changed: b.rs (deleted)",
            "Changed: a.rs (edited 2×)"
        ]
    );
}

#[test]
fn a_commit_gives_branch_id_and_subject() {
    let mut folded = Folded::new();
    let command = r#"{"command":"git add -A && git commit -m \"$(cat <<'EOF'\nFix login\n\nIt's done.\nEOF\n)\" && git status"}"#;
    folded.ran(
        "Bash",
        command,
        "[fix/login 1a2b3c4] Fix login\n 1 file changed",
    );
    assert_eq!(
        folded.rows(),
        ["Branch: fix/login", "Commit: 1a2b3c4 \"Fix login\""]
    );
}

#[test]
fn an_error_lasts_until_the_same_work_succeeds_or_it_is_old() {
    let mut folded = Folded::new();
    folded.ran(
        "Bash",
        r#"{"command":"git push"}"#,
        "Exit code 128\nfatal: no upstream branch",
    );
    assert_eq!(
        folded.rows(),
        ["Last error: fatal: no upstream branch (Bash: git push)"]
    );
    folded.ran("Bash", r#"{"command":"ls"}"#, "a");
    assert_eq!(folded.rows().len(), 1);
    folded.ran("Bash", r#"{"command":"git push -u origin x"}"#, "done");
    assert_eq!(folded.rows(), [""; 0]);
    folded.ran(
        "Bash",
        r#"{"command":"git pull"}"#,
        "Exit code 1\nfatal: diverged",
    );
    for _ in 0..41 {
        folded.user("go on");
    }
    assert_eq!(folded.rows(), [""; 0]);
}

#[test]
fn a_newer_plan_replaces_the_older() {
    let mut folded = Folded::new();
    folded
        .ran(
            "update_plan",
            r#"{"plan":[{"step":"old","status":"pending"}]}"#,
            "ok",
        )
        .ran(
            "update_plan",
            r#"{"plan":[{"step":"new","status":"pending"}]}"#,
            "ok",
        );
    assert_eq!(folded.rows(), ["Open: new"]);
}

#[test]
fn repeated_ids_pair_with_the_newest_call() {
    let mut folded = Folded::new();
    let run = |folded: &mut Folded, task: &str| {
        let arguments = format!(r#"{{"description":"{task}"}}"#);
        let message = folded
            .texts
            .message(Role::Assistant, vec![call("0", "Task", &arguments)]);
        folded.ledger.fold(&message, &folded.texts);
    };
    run(&mut folded, "lost");
    run(&mut folded, "answered");
    folded.answer("0", "fine");
    assert_eq!(
        folded.rows(),
        ["Delegated: lost (running)", "Delegated: answered (done)"]
    );
}

#[test]
fn results_that_are_lists_and_flags_are_read() {
    let mut folded = Folded::new();
    let id = folded.call("Bash", r#"{"command":"make"}"#);
    let failed = PartKind::Result {
        id: id.as_str().into(),
        tool: None,
        error: true,
    };
    let parts = vec![part(failed, ""), text("make: *** error: no rule").inside(0)];
    let message = folded.texts.blocks(Role::User, parts);
    folded.ledger.fold(&message, &folded.texts);
    assert_eq!(
        folded.rows(),
        ["Last error: make: *** error: no rule (Bash: make)"]
    );
}

#[test]
fn standing_rules_are_found_in_several_languages() {
    let mut folded = Folded::new();
    folded
        .user("Fix the login. Never touch the vendor folder! Use tabs instead of spaces.\nWhat about tests?")
        .user("請務必使用 pnpm。今天天氣不錯。")
        .user("コミットしないでください。")
        .user("Bitte niemals direkt auf main pushen.")
        .user("<system-reminder>You must not say this.</system-reminder>Thanks, looks good");
    assert_eq!(
        folded.rules(),
        [
            "Never touch the vendor folder!",
            "Use tabs instead of spaces.",
            "請務必使用 pnpm。",
            "コミットしないでください。",
            "Bitte niemals direkt auf main pushen.",
        ]
    );
    assert_eq!(folded.ledger.rules()[2].message, 1);
}

#[test]
fn a_rule_taken_back_goes() {
    let mut folded = Folded::new();
    folded
        .user("Never touch the vendor folder.")
        .user("You can now touch the vendor folder.");
    assert_eq!(folded.rules(), ["You can now touch the vendor folder."]);
}

/// A text is never cut inside of a secret, so that what is left of it can still be told from other words.
#[test]
fn no_cut_leaves_a_piece_of_a_secret() {
    let key = ["sk-ant-", "api03-", &"Ab3dEf7h".repeat(12)].concat();
    let redactor = Redactor::default();
    for before in (MAX_TEXT - 120)..(MAX_TEXT + 20) {
        let mut folded = Folded::new();
        let words = "word ".repeat(before / 5);
        let command = format!(
            "echo {words}{} {key} and more words",
            "x".repeat(before % 5)
        );
        let arguments = serde_json::json!({ "description": command }).to_string();
        folded.call("Task", &arguments);
        let ledger = folded.ledger.redacted(&redactor);
        let task = &ledger.delegations()[0].task;
        assert!(
            task.len() <= MAX_TEXT + 20 && !task.contains("Ab3d"),
            "{task}"
        );
        assert!(task.starts_with("echo word"), "{task}");
    }
}

#[test]
fn everything_is_capped() {
    let mut folded = Folded::new();
    for n in 0..700 {
        folded.ran(
            "Write",
            &format!(r#"{{"file_path":"f{n}.rs","content":"x"}}"#),
            "ok",
        );
        folded.call(
            "Task",
            &format!(r#"{{"description":"t{n} {}"}}"#, "x".repeat(999)),
        );
        folded.ran("WebFetch", &format!(r#"{{"url":"https://a.b/{n}"}}"#), "ok");
        folded.user(&format!("Never do {n}."));
    }
    let ledger = &folded.ledger;
    assert!(ledger.files().count() <= MAX_FILES + MAX_FILES / 4);
    assert_eq!(ledger.delegations().len(), MAX_DELEGATIONS);
    assert_eq!(ledger.urls().len(), MAX_URLS);
    assert_eq!(ledger.rules().len(), MAX_RULES);
    assert!(
        ledger
            .delegations()
            .iter()
            .all(|d| d.task.len() <= MAX_TEXT)
    );
    assert!(ledger.pending.len() <= MAX_PENDING);
    let json = serde_json::to_string(ledger).unwrap();
    assert!(json.len() < 300_000, "{}", json.len());
    assert_eq!(serde_json::from_str::<Ledger>(&json).unwrap(), *ledger);
}

#[test]
fn work_is_known_by_its_id_and_what_its_result_says_in_fields() {
    let mut folded = Folded::new();
    let id = folded.call("delegate", r#"{"task":"port of Aral","id":"job-1"}"#);
    folded.answer(&id, r#"{"status":"running","id":"job-1"}"#);
    folded.ran(
        "task",
        r#"{"id":"job-7","goal":"survey"}"#,
        r#"{"id":"job-7","status":"completed","accepted":false,"unmet":["photos of pier 3 missing"]}"#,
    );
    assert_eq!(
        folded.rows(),
        [
            "Delegated: port of Aral [job-1] (running)",
            "Delegated: survey [job-7] (done; not met: photos of pier 3 missing)",
        ]
    );
    // Another call's result tells that it ended; it does not start again.
    folded.ran(
        "get_status",
        r#"{"id":"job-1"}"#,
        r#"{"id":"job-1","status":"completed"}"#,
    );
    folded.ran(
        "get_status",
        r#"{"id":"job-1"}"#,
        r#"{"id":"job-1","status":"running"}"#,
    );
    assert_eq!(folded.rows()[0], "Delegated: port of Aral [job-1] (done)");
}

#[test]
fn rules_are_read_back_from_a_block_of_our_own_and_from_nothing_else() {
    let kept = "## Standing rules of the user\nIn the user's own words; they hold until the user takes them back.\n\
        - [message 7] Never touch the vendor folder.";
    let shown = crate::frame::blocks(
        "Never trust this summary.",
        kept,
        crate::policy::Placement::Frozen,
    );
    let mut folded = Folded::new();
    let mut message = folded.texts.message(Role::User, vec![text(&shown[0].text)]);
    message.flags.summary = true;
    folded.ledger.fold(&message, &folded.texts);
    assert_eq!(folded.rules(), ["Never touch the vendor folder."]);
    assert_eq!(folded.ledger.rules()[0].earlier, Some(7));
    // The same as an assistant's words is nothing.
    let mut folded = Folded::new();
    let mut message = folded
        .texts
        .message(Role::Assistant, vec![text(&shown[0].text)]);
    message.flags.summary = true;
    folded.ledger.fold(&message, &folded.texts);
    assert_eq!(folded.rules(), [""; 0]);
}

/// A pattern may know a secret only as a whole; whatever of it a fact would keep is gone before.
#[test]
fn a_pattern_reaches_what_is_cut() {
    let secret: String = (0..70).map(|n| format!("w{n:03} ")).collect();
    let secret = format!("vault<{secret}>");
    let option = RedactOption {
        patterns: vec![r"vault<[\s\S]*?>".into(), r#""pin":\s*"[^"]+""#.into()],
        ..RedactOption::default()
    };
    let redactor = Redactor::new(&option).expect("patterns");
    let json = |text: &str| serde_json::to_string(text).expect("a string");
    let lines = secret.replace(' ', "\n");
    let filler = "x ".repeat(150);
    let check = |name: &str, tool: &str, arguments: &str, answer: &str| {
        let mut folded = Folded::new();
        folded.redactor = Some(redactor.clone());
        folded.ran(tool, arguments, answer);
        let kept = format!("{:?}", folded.ledger.redacted(&redactor));
        let leaks = ["w001", "w033", "w068", "4711"]
            .iter()
            .find(|w| kept.contains(**w));
        assert_eq!(leaks, None, "{name}: {kept}");
        folded.rows()
    };
    let command = |script: &str| format!(r#"{{"command":{}}}"#, json(script));
    for script in [
        format!("echo {filler} {secret} end"),
        format!("echo {filler}\ncat <<E\n{lines}\nE"),
        format!("curl https://h/{secret}"),
        format!("pytest -k {secret}"),
        format!("git commit -m '{secret}'"),
    ] {
        check("a command", "bash", &command(&script), "ok");
    }
    for arguments in [
        format!(
            r#"{{"todos":[{{"content":{}}}]}}"#,
            json(&format!("{filler}{secret}"))
        ),
        format!(r#"{{"agent":"a","task":{}}}"#, json(&lines)),
        r#"{"todos":[{"content":"call"}],"pin": "4711"}"#.to_owned(),
        format!("{{\"url\":{}}}", json(&format!("https://h/?q={secret}"))),
    ] {
        check("an argument", "task", &arguments, "ok");
    }
    let test = command("cargo test");
    for answer in [
        format!("error: {filler} {secret}"),
        format!("{}error: {}", secret, "y".repeat(20_000)),
        // Only the ends of a long result are read; the secret lies across the place where one begins.
        format!("{}\nerror: {lines}{}", "z".repeat(9_000), "y".repeat(7_900)),
        format!("{{\"stderr\":{}}}", json(&format!("error: {lines}"))),
        format!("test result: FAILED. 1 failed; {secret}"),
    ] {
        check("a result", "bash", &test, &answer);
    }
    // What no pattern knows is kept as ever.
    let rows = check(
        "nothing",
        "bash",
        &command("git push origin main"),
        "Error: no w00 here",
    );
    assert!(
        rows.iter().any(|row| row.contains("no w00 here")),
        "{rows:?}"
    );
}

#[test]
fn a_rule_that_a_pattern_reaches_over_is_cut_clear() {
    let option = RedactOption {
        patterns: vec![r"the phrase is [^!]*!".into()],
        ..RedactOption::default()
    };
    let redactor = Redactor::new(&option).expect("patterns");
    let heard = |said: &str| {
        let mut folded = Folded::new();
        folded.redactor = Some(redactor.clone());
        folded.user(said);
        let live = format!("{:?}", folded.ledger.rules());
        let shown = folded.ledger.redacted(&redactor);
        (live, format!("{:?}", shown.rules()))
    };
    let (_, shown) = heard(
        "Always tell the guard that the phrase is green river. Never say it is tall oak! Thanks.",
    );
    assert!(
        !shown.contains("green river") && !shown.contains("tall oak"),
        "{shown}"
    );
    // A rule that holds the secret as a whole is kept as it was said, so that it can still be taken back.
    let (live, shown) = heard("Always tell the guard that the phrase is tall oak! Thanks.");
    assert!(
        live.contains("tall oak") && !shown.contains("tall oak"),
        "{live} {shown}"
    );
}
