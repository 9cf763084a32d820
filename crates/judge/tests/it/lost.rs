//! What a thin summary loses and code keeps beside it, in names that the rest of the conversation uses again.

use std::fs;
use std::path::{Path, PathBuf};

use conspectus::core::effect::{Failure, Finish, Millis, Reply, Route, SummaryRequest};
use conspectus::core::policy::{Fidelity, KeepOption};
use conspectus::core::projection::Piece;
use conspectus::core::view::{PartRef, Texts};
use conspectus::{
    Conversation, Decision, Document, Host, Manual, ModelProfile, OpenOptions, Options, Outcome,
    Policy, Sources, Thread, drive,
};
use conspectus_core::count::counter_for;
use conspectus_judge::live::{names, share};
use conspectus_testkit::shared;

/// What a small model may say of anything.
const THIN: &str = "## Goal\nThe user asked for help with a task.\n## State\nThe assistant looked into it, used its tools and \
                    reported back; the work is going on.\n## Next steps\n- go on with it";

struct Thin;

impl Host for Thin {
    fn call(&mut self, _: &SummaryRequest, _: &Route, _: Millis) -> Result<Reply, Failure> {
        Ok(Reply {
            text: THIN.into(),
            finish: Finish::Stop,
            usage: None,
        })
    }
}

fn text(conversation: &Conversation, messages: impl Iterator<Item = usize>) -> String {
    let mut out = String::new();
    for at in messages {
        let view = &conversation.views()[at];
        for part in 0..view.parts.len() {
            let part = u16::try_from(part).expect("few parts");
            let message = view.handle;
            out.push_str(&conversation.text(PartRef { message, part }));
            out.push('\n');
        }
    }
    out
}

/// Names that went and are used again, and how many of them stand beside or in the summary.
fn kept(conversation: &Conversation, fidelity: Fidelity) -> Option<(usize, usize)> {
    let options = Options {
        fidelity: Some(fidelity),
        keep: Some(KeepOption::Messages(4)),
        ..Options::default()
    };
    let policy = Policy::resolve(&options, &ModelProfile::default()).expect("sane options");
    let policy = policy.policy;
    let counter = counter_for(policy.counter);
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let mut thread = Thread::new(policy.into());
    let all = conversation.views().len();
    let cut = all * 7 / 10;
    thread.append(conversation.views()[..cut].iter().cloned(), src);
    let request = Manual {
        routes: vec![Route {
            model: Some("thin".into()),
            replay: false,
            max_input: 1_000_000,
            max_output: 4_000,
            takes_schema: false,
        }],
        ..Manual::default()
    };
    let going: Vec<usize> = thread.preview(&request, src).going().collect();
    let Decision::Start(attempt, _) = thread.manual(0, &request, src) else {
        return None;
    };
    let report = drive(&mut thread, *attempt, src, &mut Thin);
    if report.outcome != Outcome::Compacted {
        return None;
    }
    let mut wanted = names(&text(conversation, going.into_iter()));
    let later = names(&text(conversation, cut..all));
    wanted.retain(|name| later.contains(name));
    let projection = thread.projection();
    let shown = projection.pieces().filter_map(|piece| match piece {
        Piece::Insert(block) => Some(block.text.as_ref()),
        _ => None,
    });
    let shown: Vec<&str> = shown.collect();
    Some((share(&wanted, &shown.join("\n")), wanted.len()))
}

fn files() -> Vec<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/conversations");
    let mut folders = vec![examples];
    for name in ["tau-bench", "claude-code-spotter", "codex", "openhands"] {
        match shared::path(&format!("data/{name}")) {
            Some(folder) => folders.push(folder),
            None => println!("shared data not found, {name} is left out"),
        }
    }
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let paths = entries
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    let is_ours = |p: &PathBuf| p.extension().is_some_and(|e| e == "json" || e == "jsonl");
    let mut files: Vec<PathBuf> = paths.filter(is_ours).collect();
    files.sort();
    files
}

#[test]
fn names_that_a_thin_summary_lost_are_kept_by_code() {
    let (mut with, mut without, mut all, mut conversations) = (0, 0, 0, 0);
    for file in files() {
        let bytes = fs::read(&file).expect("readable");
        let Ok(document) = Document::open(bytes, &OpenOptions::default()) else {
            continue;
        };
        for conversation in document.conversations().iter().take(20) {
            let both = kept(conversation, Fidelity::Flag).zip(kept(conversation, Fidelity::Off));
            let Some(((ours, wanted), (bare, _))) = both else {
                continue;
            };
            with += ours;
            without += bare;
            all += wanted;
            conversations += 1;
        }
    }
    println!(
        "{conversations} conversations, {all} names that are used again: {without} beside a thin summary without, {with} \
         with what code keeps"
    );
    assert!(conversations >= 4 && all > 50, "{conversations}, {all}");
    assert!(
        with >= without + all / 6,
        "{with}, else {without}, of {all}"
    );
}
