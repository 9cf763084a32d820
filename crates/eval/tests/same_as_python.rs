//! The measures beside the shared evaluation, on the same parts. Needs Python and the shared data.

use std::path::{Path, PathBuf};
use std::process::Command;

use conspectus_eval::{
    Part, PartKind, Question, Questions, keep_last, later, mask_results, recall, tokens, user_words,
};
use serde_json::Value;

/// Prints, for each conversation and cut, parts and what the shared evaluation makes of them, a line of JSON each.
const SCRIPT: &str = r#"
import sys, json, glob
sys.path.insert(0, sys.argv[1] + '/data/tools')
import retention_eval as E
fmt, pattern = sys.argv[2], sys.argv[3]
for f in sorted(glob.glob(sys.argv[1] + '/data/' + pattern))[:6]:
    for _, parts in E.R.load(fmt, open(f, errors='replace').read())[:12]:
        n = len(E.groups(parts))
        if n < 12: continue
        for c in (0.5, 0.75):
            cut = int(n * c)
            pre, need, art = E.fer_case(parts, cut)
            budget = int(E.toks('\n'.join(E.render(p) for p in pre)) * 0.1)
            last, mask = E.keep_last(pre, budget), E.mask_results(pre, budget)
            said = [p['text'] for p in pre if p['role'] == 'user' and p['kind'] == 'text']
            have, shares = set(E.norm(last).split()), []
            for s in said:
                w = set(E.norm(s).split()) - E.STOP
                if w: shares.append(len(w & have) / len(w))
            print(json.dumps(dict(parts=parts, cut=cut, need=sorted(need), art=sorted(art), budget=budget, last=last,
                mask=mask, size=E.toks(last), fer=E.recall(last, need), words=sum(shares) / len(shares) if shares else None)))
"#;

fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("CONSPECTUS_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    [named, Some(beside)]
        .into_iter()
        .flatten()
        .find(|dir| dir.join("data/tools").exists())
}

fn part(value: &Value) -> Part {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let kind = match value["kind"].as_str() {
        Some("text") => PartKind::Text,
        Some("thinking") => PartKind::Thinking,
        Some("tool_call") => PartKind::Call,
        Some("tool_result") => PartKind::Result,
        Some("summary") => PartKind::Summary,
        _ => PartKind::Opaque,
    };
    let message = value["msg"].as_u64().expect("messages are numbered");
    Part {
        role: text("role"),
        kind,
        text: text("text"),
        name: text("name"),
        message,
    }
}

#[test]
fn figures_are_those_of_the_shared_evaluation() {
    let Some(shared) = shared() else {
        println!("shared data not found, the comparison is left out");
        return;
    };
    let mut cases = 0;
    for (format, files) in [
        ("claude", "claude-code-*/*.jsonl"),
        ("codex", "codex*/*.jsonl"),
        ("miniswe", "mini-swe-agent/*.json"),
        ("langchain", "deer-flow/*.json"),
        ("tau", "tau-bench/*.json"),
    ] {
        let run = Command::new("python3")
            .args(["-c", SCRIPT])
            .arg(&shared)
            .args([format, files])
            .output();
        let Ok(run) = run else {
            println!("python3 not found, the comparison is left out");
            return;
        };
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
        for line in String::from_utf8_lossy(&run.stdout).lines() {
            let case: Value = serde_json::from_str(line).expect("a line of JSON");
            same(&case, format);
            cases += 1;
        }
    }
    assert!(cases > 40, "only {cases} cases");
    println!("{cases} cases compared");
}

fn same(case: &Value, format: &str) {
    let parts: Vec<Part> = case["parts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(part)
        .collect();
    let number = |key: &str| case[key].as_u64().expect("a number") as usize;
    let found = later(&parts, number("cut"));
    let names: Vec<&String> = found.names.keys().collect();
    assert_eq!(
        serde_json::json!(names),
        case["need"],
        "{format}: needed later"
    );
    assert_eq!(
        serde_json::json!(found.edited),
        case["art"],
        "{format}: edited"
    );
    let before: Vec<Part> = found.before.iter().map(|at| parts[*at].clone()).collect();
    let last = keep_last(&before, number("budget"));
    assert_eq!(
        last.as_str(),
        case["last"].as_str().expect("text"),
        "{format}: keep-last"
    );
    assert_eq!(
        Some(mask_results(&before, number("budget")).as_str()),
        case["mask"].as_str(),
        "{format}: mask"
    );
    assert_eq!(tokens(&last), number("size"), "{format}");
    close(
        recall(&last, names.iter().map(|name| name.as_str())),
        &case["fer"],
        format,
    );
    let said = before
        .iter()
        .filter(|p| p.role == "user" && p.kind == PartKind::Text);
    close(
        user_words(&last, said.map(|p| p.text.as_str())),
        &case["words"],
        format,
    );
}

fn close(ours: Option<f64>, theirs: &Value, format: &str) {
    match (ours, theirs.as_f64()) {
        (Some(ours), Some(theirs)) => {
            assert!((ours - theirs).abs() < 1e-9, "{format}: {ours} {theirs}")
        }
        (ours, theirs) => assert_eq!(ours, theirs, "{format}"),
    }
}

/// For each budget: the text that keep-last leaves, and the figures that the shared evaluation prints of it.
const ASKED: &str = r#"
import sys, json, io, contextlib, glob
sys.path.insert(0, sys.argv[1] + '/data/tools')
import retention_eval as E
for f in sorted(glob.glob(sys.argv[1] + '/data/longmemeval-evidence/*.json')):
    cases = E.lme(f)
    parts, probes = cases[0]
    for b in (0.05, 0.25, 0.5):
        out = E.keep_last(parts, int(b * E.toks('\n'.join(E.render(p) for p in parts))))
        said = io.StringIO()
        with contextlib.redirect_stdout(said): E.run_qa(cases, (b,), {'it': E.keep_last})
        print(json.dumps(dict(texts=[p['text'] for p in parts], probes=probes, out=out, row=said.getvalue().splitlines()[1].split()[2:5])))
"#;

#[test]
fn questions_are_answered_as_in_the_shared_evaluation() {
    let Some(shared) = shared() else {
        println!("shared data not found, the questions are left out");
        return;
    };
    let run = Command::new("python3")
        .args(["-c", ASKED])
        .arg(&shared)
        .output();
    let Ok(run) = run else {
        println!("python3 not found, the questions are left out");
        return;
    };
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let mut cases = 0;
    for line in String::from_utf8_lossy(&run.stdout).lines() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let list = |value: &Value| -> Vec<String> {
            let items = value.as_array().expect("a list").iter();
            items
                .map(|item| item.as_str().expect("text").to_owned())
                .collect()
        };
        let probes = case["probes"].as_array().expect("a list").iter();
        let probes = probes.map(|probe| Question {
            answer: probe[0]
                .as_str()
                .map_or_else(|| probe[0].to_string(), str::to_owned),
            evidence: list(&probe[1]),
        });
        let texts = list(&case["texts"]);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let questions = Questions::new(&texts, probes.collect());
        let found = questions.ask(case["out"].as_str().expect("text"));
        let shown = [found.anywhere, found.local, found.evidence]
            .map(|share| format!("{:.3}", share.unwrap_or(0.0)));
        assert_eq!(serde_json::json!(shown), case["row"]);
        cases += 1;
    }
    assert!(cases > 0);
    println!("{cases} runs of questions compared");
}
