//! Texts that look like an agent's work: paths, identifiers, numbers, orders, test output.
//! Digests and entity finders need such food; lorem ipsum would starve them.

use crate::rng::Rng;

const DIRS: &[&str] = &[
    "src",
    "src/auth",
    "crates/ledger/src",
    "web/components",
    "tests/it",
    "docs/guide",
    "infra/k8s",
    "scripts",
];
const STEMS: &[&str] = &[
    "session", "invoice", "router", "cache", "parser", "migrate", "worker", "schema", "retry",
    "report", "login", "billing",
];
const ENDINGS: &[&str] = &["rs", "py", "ts", "md", "sql", "yaml", "go", "json"];
const VERBS: &[&str] = &[
    "load", "flush", "parse", "resolve", "merge", "commit", "render", "verify", "rotate", "drain",
];
const NOUNS: &[&str] = &[
    "Session", "Invoice", "Token", "Cursor", "Batch", "Lease", "Window", "Snapshot", "Ledger",
    "Queue",
];
const ORDERS: &[&str] = &[
    "Find out why {id} fails when {path} is empty, and fix it.",
    "Please rename {id} to {id2} everywhere, tests included.",
    "The build broke after commit {hash}. Look at {path} first.",
    "Add a test for ticket #{n}: {id} must return {n2} rows, not {n}.",
    "Move the {noun} handling out of {path} into its own module.",
    "How long does {id} take with {n} entries? Measure it.",
    "Write the release notes for version 2.{n2}.0 into {path}.",
    "Compare {path} with {path2} and tell me what differs.",
];
const RULES: &[&str] = &[
    "From now on never touch anything under infra/k8s without asking me.",
    "Always answer in German, but keep code comments in English.",
    "Do not add dependencies; the limit is {n} crates.",
    "Keep every function in {path} under 40 lines.",
    "You must run the tests before each commit.",
];
const REMARKS: &[&str] = &[
    "I will read {path} first.",
    "{id} is called from {path}, line {n}. Checking the caller.",
    "The test fails because {id} returns {n} instead of {n2}.",
    "Decision: keep {id}, delete {id2}; the cache in {path} stays.",
    "Now I run the tests.",
    "That leaves two open points: the timeout of {n} ms and the migration in {path}.",
];
const ENDS: &[&str] = &[
    "Done. {id} in {path} now handles the empty case; {n} tests pass.",
    "Fixed in commit {hash}. Still open: {path2} needs the same change.",
    "The two files differ in {n2} lines, all of them in {id}.",
    "It takes {n} ms with {n2}000 entries; most of it is spent in {id}.",
];
const ASIDES: &[&str] = &[
    "One more thing: leave {path} alone.",
    "Wait, use {id} instead.",
    "Is {path} done?",
    "ok",
    "go on",
];
const CJK: &[&str] = &[
    "请先检查数据库迁移脚本，再修改登录模块。",
    "会議の議事録を三行でまとめてください。",
    "테스트가 실패한 이유를 알려 주세요.",
    "不要删除用户表里的任何数据！",
    "型チェックは通りました。次へ進みます。",
];
const EMOJI: &[&str] = &["👩‍💻👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪🇯🇵", "❤️‍🔥", "e\u{301}a\u{308}", "🧑🏿‍🚀🚀"];
const RTL: &[&str] = &[
    "שלום, בדוק את הקובץ",
    "لا تحذف أي ملف قبل السؤال",
    "\u{202b}مرحبا\u{202c} (rtl)",
];

/// A file's path.
pub(super) fn path(rng: &mut Rng) -> String {
    let (dir, stem, ending) = (rng.pick(DIRS), rng.pick(STEMS), rng.pick(ENDINGS));
    format!("{dir}/{stem}.{ending}")
}

/// An identifier.
pub(super) fn ident(rng: &mut Rng) -> String {
    let (noun, verb) = (rng.pick(NOUNS), rng.pick(VERBS));
    match rng.below(3) {
        0 => format!("{noun}::{verb}"),
        1 => format!("{verb}_{}", noun.to_lowercase()),
        _ => format!("{verb}{noun}"),
    }
}

/// One of `templates` with its holes filled.
fn fill(templates: &[&str], rng: &mut Rng) -> String {
    let mut out = (*rng.pick(templates)).to_owned();
    for (key, value) in [
        ("{path}", path(rng)),
        ("{path2}", path(rng)),
        ("{id}", ident(rng)),
        ("{id2}", ident(rng)),
        ("{hash}", rng.hex(7)),
        ("{n}", rng.between(2, 4800).to_string()),
        ("{n2}", rng.between(1, 97).to_string()),
        ("{noun}", rng.pick(NOUNS).to_string()),
    ] {
        out = out.replace(key, &value);
    }
    out
}

/// What the host tells the model.
pub(super) fn system(rng: &mut Rng) -> String {
    let rule = fill(RULES, rng);
    let project = rng.pick(STEMS);
    format!("You are a careful engineer working on the project \"{project}\".\n\n- {rule}")
}

/// What a person asks for, now and then with a rule for the future.
pub(super) fn order(rng: &mut Rng) -> String {
    let order = fill(ORDERS, rng);
    if rng.percent(25) {
        format!("{order} {}", fill(RULES, rng))
    } else {
        order
    }
}

/// A short second thought of a person.
pub(super) fn aside(rng: &mut Rng) -> String {
    fill(ASIDES, rng)
}

/// What the model says before it calls a tool.
pub(super) fn remark(rng: &mut Rng) -> String {
    fill(REMARKS, rng)
}

/// What the model says when it is done.
pub(super) fn finding(rng: &mut Rng) -> String {
    let mut text = fill(ENDS, rng);
    for _ in 0..rng.below(3) {
        text.push(' ');
        text.push_str(&fill(REMARKS, rng));
    }
    text
}

/// What the model thinks.
pub(super) fn thought(rng: &mut Rng) -> String {
    let (a, b) = (ident(rng), path(rng));
    format!("The user wants {a} changed. Let me look at {b} before I touch it.")
}

/// A picture's data.
pub(super) fn picture(rng: &mut Rng) -> String {
    let len = rng.between(40, 1200);
    "iVBORw0KGgoA".to_owned() + &rng.base64(len)
}

/// A text in a script that costs more tokens than letters, or whose characters are more than one code point.
pub(super) fn foreign(rng: &mut Rng, script: Script) -> String {
    let set = match script {
        Script::Cjk => CJK,
        Script::Emoji => EMOJI,
        Script::Rtl => RTL,
    };
    let count = rng.between(1, 6);
    (0..count).map(|_| *rng.pick(set)).collect()
}

/// Scripts that need care.
#[derive(Clone, Copy, Debug)]
pub(super) enum Script {
    /// Chinese, Japanese, Korean.
    Cjk,
    /// Emoji with joiners, flags and modifiers; combining accents.
    Emoji,
    /// Right to left, with direction marks.
    Rtl,
}

/// A tool call with its answer.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) tool: &'static str,
    pub(super) args: String,
    pub(super) answer: String,
}

/// What an agent does.
pub(super) fn work(rng: &mut Rng) -> Work {
    let (p, q, id) = (path(rng), path(rng), ident(rng));
    let n = rng.between(1, 400);
    let (tool, args, answer) = match rng.below(8) {
        0 => (
            "read_file",
            format!(r#"{{"path":"{p}","limit":{n}}}"#),
            code(rng, 6),
        ),
        1 => (
            "bash",
            format!(
                r#"{{"command":"cargo test -p {}","timeout_ms":{n}000}}"#,
                rng.pick(STEMS)
            ),
            test_run(rng),
        ),
        2 => (
            "grep",
            format!(r#"{{"pattern":"{id}","glob":"**/*.rs"}}"#),
            hits(rng, 4),
        ),
        3 => (
            "edit_file",
            format!(r#"{{"path":"{p}","old":"{id}()","new":"{id}(\"{q}\")?;\n"}}"#),
            format!("edited {p}: 1 replacement"),
        ),
        4 => (
            "write_file",
            format!(
                r#"{{"path":"{p}","content":{}}}"#,
                super::write::plain_string(&code(rng, 3))
            ),
            format!("wrote {n} lines to {p}"),
        ),
        5 => (
            "web_search",
            format!(r#"{{"query":"{id} timeout {n}"}}"#),
            format!(
                "1. https://docs.example.org/{n}/{}\n2. https://blog.example.net/{id}",
                rng.pick(STEMS)
            ),
        ),
        6 => (
            "task",
            format!(
                r#"{{"description":"Check {p}","prompt":"Read {p} and list callers of {id}","id":"task-{n}"}}"#
            ),
            format!(
                r#"{{"id":"task-{n}","status":"completed","result":"{} callers, see {q}"}}"#,
                n % 7
            ),
        ),
        _ => (
            "write_todos",
            format!(
                r#"{{"todos":[{{"content":"Fix {id}","status":"completed"}},{{"content":"Update {p}","status":"in_progress"}}]}}"#
            ),
            "Updated todo list".to_owned(),
        ),
    };
    Work { tool, args, answer }
}

/// About `lines` lines of code.
pub(super) fn code(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for line in 0..rng.between(1, lines.max(1)) {
        let (id, noun) = (ident(rng), rng.pick(NOUNS));
        let n = rng.below(1000);
        out.push_str(&format!(
            "{:>4}\tlet {} = {id}({n})?; // {noun}\n",
            line + 1,
            rng.pick(VERBS)
        ));
    }
    out
}

/// A tool's answer of about `bytes` bytes, with what matters hidden in it.
pub(super) fn long_answer(rng: &mut Rng, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 200);
    while out.len() < bytes {
        match rng.below(4) {
            0 => out.push_str(&hits(rng, 5)),
            1 => out.push_str(&test_run(rng)),
            2 => out.push_str(&code(rng, 12)),
            _ => out.push_str(&format!(
                "{{\"row\":{},\"path\":\"{}\",\"ok\":{}}}\n",
                rng.below(100_000),
                path(rng),
                rng.percent(50)
            )),
        }
    }
    out
}

fn hits(rng: &mut Rng, most: usize) -> String {
    let mut out = String::new();
    for _ in 0..rng.between(1, most) {
        let (p, n) = (path(rng), rng.between(1, 900));
        out.push_str(&format!("{p}:{n}: {}\n", ident(rng)));
    }
    out
}

fn test_run(rng: &mut Rng) -> String {
    let (failed, passed) = (rng.below(3), rng.below(200));
    let mut out = format!("running {} tests\n", failed + passed);
    for _ in 0..failed {
        let (id, p, n) = (ident(rng), path(rng), rng.between(1, 300));
        out.push_str(&format!(
            "test {id} ... FAILED\nthread panicked at {p}:{n}:5: assertion failed\n"
        ));
    }
    out + &format!("test result: {passed} passed; {failed} failed\n")
}
