//! Constraints of COMPINT, put into real sessions, through ten compactions.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use conspectus::core::effect::{Failure, Finish, Millis, Reply, Route, SummaryRequest};
use conspectus::core::ledger::rules_of;
use conspectus::core::policy::{Keep, TriggerOption};
use conspectus::core::projection::Piece;
use conspectus::core::view::{PartKind, PartRef, Texts};
use conspectus::{
    CompactRequest, Conversation, Decision, Document, Host, Manual, OpenOptions, Options, Outcome,
    Sources, Thread, drive, open_thread,
};
use serde_json::Value;

/// Trajectories of tau-bench that are joined into one long session.
const JOINED: usize = 8;
/// Compactions that are chained.
const COMPACTIONS: usize = 10;
/// Shorter Claude Code sessions are left out: they do not have ten compactions in them.
const LEAST_RECORDS: usize = 80;

/// A session with constraints in it.
#[derive(Clone, Debug)]
pub struct Injected {
    /// What it is made of.
    pub name: String,
    /// The session file.
    pub bytes: Vec<u8>,
    /// The constraints put in.
    pub constraints: Vec<String>,
}

/// What became of the constraints of some sessions.
#[derive(Clone, Debug, Default)]
pub struct Survival {
    /// Sessions.
    pub sessions: usize,
    /// Compactions that were committed.
    pub compactions: usize,
    /// Sessions with fewer than ten.
    pub short: usize,
    /// Constraints put in.
    pub injected: usize,
    /// Of these found.
    pub found: usize,
    /// Of the found: verbatim in the request after the last compaction.
    pub survived: usize,
    /// What was not found or did not survive.
    pub lost: Vec<String>,
    /// Rules found that were not put in.
    pub others: usize,
}

/// The distinct constraints of COMPINT.
///
/// # Errors
/// When the file is not there or not as expected.
pub fn compint(shared: &Path) -> anyhow::Result<Vec<String>> {
    let path = shared.join("data/compint-constraints/pairs.jsonl");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut all = Vec::new();
    for line in text.lines() {
        let pair: Value = serde_json::from_str(line)?;
        let said = pair["sssc_message"].as_str().context("a constraint")?;
        all.push(said.to_owned());
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// Whether a message that says this and nothing else is found as a rule, whole.
pub fn is_found(constraint: &str) -> bool {
    rules_of(constraint)
        .iter()
        .any(|rule| rule.text.as_ref() == constraint)
}

/// Sessions of tau-bench (joined) and Claude Code, with the constraints put into messages of the user. Of two
/// constraints that contradict each other a session gets one.
///
/// # Errors
/// When the data is not there or not as expected.
pub fn sessions(shared: &Path, constraints: &[String]) -> anyhow::Result<Vec<Injected>> {
    let mut out = Vec::new();
    let data = shared.join("data");
    for path in crate::sessions::files(&data.join("tau-bench"))? {
        let tasks: Vec<Value> = serde_json::from_slice(&std::fs::read(&path)?)?;
        for (nth, some) in tasks.chunks(JOINED).enumerate() {
            let trajectories = some.iter().filter_map(|task| task["traj"].as_array());
            let mut messages: Vec<Value> = Vec::new();
            for (at, trajectory) in trajectories.enumerate() {
                let skipped = usize::from(
                    at > 0 && trajectory.first().is_some_and(|m| m["role"] == "system"),
                );
                messages.extend(trajectory.iter().skip(skipped).cloned());
            }
            let mine = without_contradiction(constraints, nth);
            let put = inject(&mut messages, &mine, |m| &mut m["content"]);
            out.push(Injected {
                name: format!("tau-bench {nth}"),
                bytes: serde_json::to_vec(&messages)?,
                constraints: put,
            });
        }
    }
    let folders = [
        "claude-code-spotter",
        "claude-code-ja",
        "claude-code-agentcmd",
        "claude-code-zh",
    ];
    let mut nth = 0;
    for folder in folders {
        for path in crate::sessions::files(&data.join(folder))? {
            let text = std::fs::read_to_string(&path)?;
            let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
            let Ok(mut lines) = lines else { continue };
            // Up to its first own compaction, so that all of it is compacted here.
            let boundary = lines
                .iter()
                .position(|l| l["isCompactSummary"] == true || l["subtype"] == "compact_boundary");
            lines.truncate(boundary.unwrap_or(lines.len()));
            let spoken = lines.iter().filter(|l| is_spoken(l)).count();
            if lines.len() < LEAST_RECORDS || spoken == 0 {
                continue;
            }
            let mine = without_contradiction(constraints, nth);
            nth += 1;
            let put = inject(&mut lines, &mine, |l| &mut l["message"]["content"]);
            let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
            out.push(Injected {
                name: format!("{folder} {nth}"),
                bytes: lines.join("\n").into_bytes(),
                constraints: put,
            });
        }
    }
    Ok(out)
}

fn is_spoken(record: &Value) -> bool {
    record["type"] == "user"
        && record["isMeta"] != true
        && record["isSidechain"] != true
        && record["message"]["content"]
            .as_str()
            .is_some_and(|t| !t.trim_start().starts_with('<'))
}

/// All constraints but one of those that say the contrary of each other.
fn without_contradiction(constraints: &[String], nth: usize) -> Vec<String> {
    let asks = |c: &&String| c.contains("go-ahead");
    let never_asks = |c: &&String| c.contains("ask me to confirm");
    let mine = constraints.iter().filter(|c| {
        if nth.is_multiple_of(2) {
            !asks(c)
        } else {
            !never_asks(c)
        }
    });
    mine.cloned().collect()
}

/// Adds the constraints to messages that a user wrote, one each as far as there are enough, in the first half.
pub fn inject(
    messages: &mut [Value],
    constraints: &[String],
    content: impl Fn(&mut Value) -> &mut Value,
) -> Vec<String> {
    let mut places = Vec::new();
    for (at, message) in messages.iter_mut().enumerate() {
        let is_user = message["role"] == "user" || is_spoken(message);
        if is_user
            && content(message)
                .as_str()
                .is_some_and(|t| !t.contains("###STOP###"))
        {
            places.push(at);
        }
    }
    places.truncate((places.len() / 2).max(1));
    for (nth, constraint) in constraints.iter().enumerate() {
        let Some(place) = places.get(nth * places.len() / constraints.len()) else {
            continue;
        };
        let text = content(&mut messages[*place]);
        if let Some(said) = text.as_str() {
            *text = Value::String(format!("{said}\n\n{constraint}"));
        }
    }
    constraints.to_vec()
}

/// A model that forgets everything.
struct Forgetful;

impl Host for Forgetful {
    fn call(&mut self, _: &SummaryRequest, _: &Route, _: Millis) -> Result<Reply, Failure> {
        Ok(Reply {
            text: "The conversation went on, and several things were done.".into(),
            finish: Finish::Stop,
            usage: None,
        })
    }
}

/// Compacts a session ten times while it arrives, with a model that forgets everything or the digest, and adds
/// what became of its constraints.
///
/// # Errors
/// When the session cannot be read.
pub fn survive(session: &Injected, with_model: bool, into: &mut Survival) -> anyhow::Result<()> {
    let document = Document::open(session.bytes.clone(), &OpenOptions::default())?;
    let conversation = document.conversations().first().context("a conversation")?;
    let options = Options {
        trigger: TriggerOption::Never,
        max_context: Some(200_000),
        ..Options::default()
    };
    let request = CompactRequest::command(options);
    let opened = open_thread(conversation, &request)?;
    let src = Sources {
        texts: conversation,
        counter: opened.counter.as_ref(),
    };
    let mut thread = Thread::new(opened.thread.policy().clone());
    thread.set_fixed(opened.thread.fixed().clone());
    let manual = Manual {
        keep: Some(Keep::Messages(4)),
        routes: if with_model {
            vec![route()]
        } else {
            Vec::new()
        },
        ..Manual::default()
    };
    let mut host = Forgetful;
    let views = conversation.views();
    let mut committed = 0;
    // An attempt after every so many messages; one that finds a call open is made up for after the next message.
    let every = (views.len() / (COMPACTIONS + 1)).max(1);
    let mut due = every;
    for (at, view) in views.iter().enumerate() {
        thread.append([view.clone()], src);
        if at + 1 < due && at + 1 < views.len() {
            continue;
        }
        if let Decision::Start(attempt, _) = thread.manual(0, &manual, src) {
            let report = drive(&mut thread, *attempt, src, &mut host);
            if report.outcome == Outcome::Compacted {
                committed += 1;
                due = at + 1 + every;
            }
        }
    }
    let request = request_text(&thread, conversation);
    into.sessions += 1;
    into.compactions += committed;
    into.short += usize::from(committed < COMPACTIONS);
    for constraint in &session.constraints {
        into.injected += 1;
        let rules = thread.ledger().rules();
        if !rules.iter().any(|rule| rule.text.as_ref() == constraint) {
            into.lost
                .push(format!("not found in {}: {constraint}", session.name));
            continue;
        }
        into.found += 1;
        if request.contains(constraint.as_str()) {
            into.survived += 1;
        } else {
            into.lost.push(format!(
                "not in the request of {}: {constraint}",
                session.name
            ));
        }
    }
    let is_other = |text: &Arc<str>| !session.constraints.iter().any(|c| c == text.as_ref());
    into.others += thread
        .ledger()
        .rules()
        .iter()
        .filter(|r| is_other(&r.text))
        .count();
    Ok(())
}

fn route() -> Route {
    Route {
        model: Some("forgetful".into()),
        replay: false,
        max_input: 100_000,
        max_output: 4_000,
        takes_schema: false,
    }
}

/// The decoded texts of the request that would be sent now.
fn request_text(thread: &Thread, conversation: &Conversation) -> String {
    let mut out = String::new();
    let branch = thread.branch();
    for piece in thread.projection().pieces() {
        match piece {
            Piece::Insert(block) => out.push_str(&block.text),
            Piece::Keep(handle) | Piece::Edit(handle, _) => {
                let views = branch.views();
                let Some(view) = views.iter().find(|v| v.handle == *handle) else {
                    continue;
                };
                for (part, what) in view.parts.iter().enumerate() {
                    let part = u16::try_from(part).unwrap_or(u16::MAX);
                    if what.kind == PartKind::Text {
                        let at = PartRef {
                            message: *handle,
                            part,
                        };
                        out.push_str(&conversation.text(at));
                    }
                }
            }
        }
        out.push('\n');
    }
    out
}
