//! Work given to subagents: captured from calls of the tool `task` and the metadata that its results carry.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::message::{Kind, Message};
use crate::text::{bounded, head};

/// The tool that gives work away.
pub const TASK: &str = "task";
/// Entries that are kept, the newest.
pub const MAX_ENTRIES: usize = 50;
/// Characters of a description.
pub const MAX_DESCRIPTION: usize = 200;
/// Characters of what a result comes to.
pub const MAX_BRIEF: usize = 2_000;

/// A piece of work given away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    /// The id of the tool call.
    pub id: Arc<str>,
    /// What is to be done.
    pub description: Arc<str>,
    /// Which kind of agent does it.
    pub subagent_type: Arc<str>,
    /// Where it stands.
    pub status: Status,
    /// When it was first seen, in UTC.
    pub created_at: Arc<str>,
    /// The run that gave it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Arc<str>>,
    /// What came of it, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_brief: Option<Arc<str>>,
    /// SHA-256 of what came of it, in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_sha256: Option<Arc<str>>,
    /// Where the result stands: the id of the tool's message, else of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_ref: Option<Arc<str>>,
    /// It was stopped by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
}

/// Where delegated work stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It runs.
    InProgress,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// Nobody heard of it in time.
    PollingTimedOut,
}

impl Status {
    /// Nothing more comes of it.
    pub fn is_terminal(self) -> bool {
        self != Self::InProgress
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::PollingTimedOut => "polling_timed_out",
        }
    }

    /// What is said where an ended work says nothing itself.
    fn sentence(self) -> Option<&'static str> {
        match self {
            Self::InProgress | Self::Completed => None,
            Self::Failed => Some("The subagent failed without saying why."),
            Self::Cancelled => Some("The subagent was cancelled."),
            Self::TimedOut => Some("The subagent did not finish in time."),
            Self::PollingTimedOut => Some("Nothing was heard of the subagent in time."),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let ended = [
            Self::Completed,
            Self::Failed,
            Self::Cancelled,
            Self::TimedOut,
            Self::PollingTimedOut,
        ];
        ended.into_iter().find(|status| status.name() == text)
    }
}

/// Which limit stopped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Tokens.
    TokenCapped,
    /// Model calls.
    TurnCapped,
    /// The same calls again and again.
    LoopCapped,
}

impl StopReason {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::TokenCapped => "token_capped",
            Self::TurnCapped => "turn_capped",
            Self::LoopCapped => "loop_capped",
        }
    }

    fn read(text: &str) -> Option<Self> {
        let all = [Self::TokenCapped, Self::TurnCapped, Self::LoopCapped];
        all.into_iter().find(|reason| reason.name() == text)
    }
}

/// What a subagent's end is stamped on the message of the tool with (`additional_kwargs`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// How it ended.
    pub status: Status,
    /// What it came to, or what went wrong.
    pub text: Arc<str>,
    /// It was stopped by a limit.
    pub stop_reason: Option<StopReason>,
}

impl Stamp {
    /// As members of `additional_kwargs`.
    pub fn to_extra(&self) -> Map<String, Value> {
        let mut extra = Map::new();
        extra.insert("subagent_status".into(), json!(self.status));
        let key = match self.status {
            Status::Completed => "subagent_result_brief",
            _ => "subagent_error",
        };
        extra.insert(key.into(), json!(bounded(self.text.trim(), MAX_BRIEF)));
        extra.insert("subagent_result_sha256".into(), json!(sha256(&self.text)));
        if let Some(reason) = self.stop_reason {
            extra.insert("subagent_stop_reason".into(), json!(reason));
        }
        extra
    }
}

/// New and changed entries in the messages behind `from`. Those in front of it are looked at where a result needs its
/// call. `known`: what is known already. A result without structured metadata leaves the work in progress.
pub fn capture(
    messages: &[Message],
    from: usize,
    known: &[Delegation],
    run: Option<&str>,
    now: &str,
) -> Vec<Delegation> {
    let oldest = too_old(messages, known);
    let mut found: Vec<Delegation> = Vec::new();
    for (at, message) in messages.iter().enumerate().skip(from) {
        for call in message.calls().iter().filter(|call| *call.name == *TASK) {
            let is_forgotten = oldest.is_some_and(|oldest| at < oldest);
            if is_forgotten && !known.iter().any(|entry| entry.id == call.id) {
                continue;
            }
            found.retain(|entry| entry.id != call.id);
            found.push(dispatched(call.id.clone(), &call.args, run, now));
        }
        let Some(call) = message.answers().filter(|_| message.kind() == Kind::Tool) else {
            continue;
        };
        let entry = found.iter().rposition(|entry| *entry.id == *call);
        let entry = match entry {
            Some(at) => Some(&mut found[at]),
            None => known.iter().find(|entry| *entry.id == *call).map(|entry| {
                found.push(entry.clone());
                found.last_mut().expect("it was pushed")
            }),
        };
        if let (Some(entry), Some(ended)) = (entry, ended(message)) {
            end(entry, message, &ended);
        }
    }
    let is_news = |entry: &Delegation| {
        let before = known.iter().find(|known| known.id == entry.id);
        before.is_none_or(|before| merged(before, entry) != *before)
    };
    found.retain(is_news);
    found
}

/// Where the call of the oldest entry stands once the ledger is full: what is older is not taken in again.
fn too_old(messages: &[Message], known: &[Delegation]) -> Option<usize> {
    let oldest = known.first().filter(|_| known.len() >= MAX_ENTRIES)?;
    messages
        .iter()
        .position(|message| message.calls().iter().any(|call| call.id == oldest.id))
}

fn dispatched(id: Arc<str>, args: &Value, run: Option<&str>, now: &str) -> Delegation {
    let text = |key: &str| args.get(key).and_then(Value::as_str).map(str::trim);
    let text = |keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| text(key));
        found.find(|text| !text.is_empty()).unwrap_or_default()
    };
    Delegation {
        id,
        description: head(text(&["description", "prompt"]), MAX_DESCRIPTION).into(),
        subagent_type: text(&["subagent_type"]).into(),
        status: Status::InProgress,
        created_at: now.into(),
        run_id: run.map(Arc::from),
        result_brief: None,
        result_sha256: None,
        result_ref: None,
        stop_reason: None,
    }
}

/// What the metadata of a result says.
struct Ended {
    status: Status,
    stop_reason: Option<StopReason>,
}

fn ended(message: &Message) -> Option<Ended> {
    let text = |key: &str| message.extra(key).and_then(Value::as_str);
    let said = text("subagent_status")?;
    let stop_reason = text("subagent_stop_reason").and_then(StopReason::read);
    // An older spelling.
    if said == "max_turns_reached" {
        let has_brief = text("subagent_result_brief").is_some_and(|brief| !brief.trim().is_empty());
        return Some(Ended {
            status: match has_brief {
                true => Status::Completed,
                false => Status::Failed,
            },
            stop_reason: Some(StopReason::TurnCapped),
        });
    }
    Some(Ended {
        status: Status::read(said)?,
        stop_reason,
    })
}

fn end(entry: &mut Delegation, message: &Message, ended: &Ended) {
    let text = |key: &str| {
        let text = message.extra(key).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty())
    };
    let said = match ended.status {
        Status::Completed => text("subagent_result_brief"),
        _ => text("subagent_error"),
    };
    let brief = said
        .or(ended.status.sentence())
        .map(|text| bounded(text, MAX_BRIEF));
    let is_digest = |text: &&str| {
        text.len() == 64
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let digest = text("subagent_result_sha256").filter(is_digest);
    let digest = digest.map(str::to_owned);
    entry.result_sha256 = digest
        .or_else(|| brief.as_deref().map(sha256))
        .map(Arc::from);
    entry.result_brief = brief.map(Arc::from);
    entry.result_ref = Some(message.id().unwrap_or(&entry.id).into());
    entry.status = ended.status;
    entry.stop_reason = ended.stop_reason;
}

/// Lower-case hexadecimal SHA-256.
pub fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is known of an entry after news of it: its first time and run stay, and what ended is not in progress again.
fn merged(before: &Delegation, news: &Delegation) -> Delegation {
    if before.status.is_terminal() && !news.status.is_terminal() {
        return before.clone();
    }
    Delegation {
        created_at: before.created_at.clone(),
        run_id: before.run_id.clone().or_else(|| news.run_id.clone()),
        ..news.clone()
    }
}

/// The reducer: entries by id, in the order in which they were first seen, the newest [`MAX_ENTRIES`] kept.
pub fn reduce(known: &[Delegation], news: &[Delegation]) -> Vec<Delegation> {
    let mut all = known.to_vec();
    for entry in news {
        match all.iter_mut().find(|known| known.id == entry.id) {
            Some(known) => *known = merged(known, entry),
            None => all.push(entry.clone()),
        }
    }
    let over = all.len().saturating_sub(MAX_ENTRIES);
    all.drain(..over);
    all
}

#[cfg(test)]
mod tests;
