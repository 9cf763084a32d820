//! What must not be kept any longer is taken out of a stored thread, everywhere: messages, records with their summaries,
//! rules, files and patches, events, what the host keeps with the thread, and what it can be searched by. Partial results
//! and previews go. A tombstone ([`PURGED`]) stands where it stood.
//!
//! [`purge`] is pure: it makes a [`Rewrite`] of what was read, and
//! [`ThreadStore::rewrite`](crate::store::ThreadStore::rewrite) writes it, all or nothing.
//!
//! - **A secret** is replaced in every text, also within JSON within JSON, whatever its spelling. A message that cannot be
//!   read afterwards becomes a tombstone as a whole.
//! - **A message** keeps its place, its role and the ids of its calls and answers, and nothing of what it said. Where
//!   a summary was made of it, nobody knows which words of it came from there: such a summary is withdrawn, the record
//!   before it is in force again, and the next compaction sums up what is left.
//!
//! What a copy of the thread holds (a branch under another name, an export, a backup) is a matter of its owner.

mod mask;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use conspectus_core::count::TokenCounter;
use conspectus_core::effect::Millis;
use conspectus_core::id::{CallId, NodeId, RecordId};
use conspectus_core::policy::Policy;
use conspectus_core::record::{Author, Record, Summary};
use conspectus_core::thread::{Known, RestoreError, Sources, Stored, Thread};
use conspectus_core::view::{MessageView, Texts};

use crate::store::{NewMessage, Read, Rewrite, StoredEvent, StoredMessage};
use crate::terms::Terms;

pub use mask::{MIN_SECRET_CHARS, PURGED};

/// What is to be taken out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purge<'a> {
    /// All that a message says.
    Message(NodeId),
    /// A text, wherever it stands.
    Secret(&'a str),
}

/// Secrets are not shown.
impl std::fmt::Debug for Purge<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(node) => f.debug_tuple("Message").field(node).finish(),
            Self::Secret(_) => f.write_str("Secret(****)"),
        }
    }
}

/// How a host reads what it stored.
pub trait Surface {
    /// A message as it is read from its bytes.
    fn view(&self, node: NodeId, bytes: &[u8]) -> Option<MessageView>;

    /// The texts of these messages, by the handles that are known of them.
    fn texts<'a>(&'a self, messages: &'a [StoredMessage]) -> Box<dyn Texts + 'a>;
}

/// What was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Messages that say something else now.
    pub messages: Vec<NodeId>,
    /// Records of which a text is another one or gone.
    pub records: Vec<RecordId>,
    /// Events that were changed.
    pub events: u64,
    /// The record in force is another one: the summary was withdrawn.
    pub is_withdrawn: bool,
}

impl Purged {
    /// Whether there was nothing to take out.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Why nothing is taken out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PurgeError {
    /// There is no such message.
    #[error("there is no message {0:?}")]
    NoMessage(NodeId),
    /// It stands everywhere.
    #[error(
        "a text to purge has at least {MIN_SECRET_CHARS} characters and is no part of {PURGED:?}; purge the message"
    )]
    TooCommon,
    /// The host cannot read a message of which something was taken out.
    #[error("message {0:?} cannot be read without what is to be purged; delete the thread")]
    Unreadable(NodeId),
    /// What was read is not the whole thread, or is damaged.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}

/// Whether a text can be taken out of everything else.
///
/// # Errors
/// When it is too common.
pub fn rare(secret: &str) -> Result<(), PurgeError> {
    mask::is_rare(secret)
        .then_some(())
        .ok_or(PurgeError::TooCommon)
}

/// What to write over. `read` is the whole thread ([`whole`](crate::store::whole)), `told` all its events. The rewrite
/// is of the revision that was read; who is behind reads again.
///
/// # Errors
/// When it cannot be taken out.
pub fn purge(
    read: Read,
    told: &[StoredEvent],
    what: Purge<'_>,
    policy: Arc<Policy>,
    counter: &dyn TokenCounter,
    surface: &dyn Surface,
    now: Millis,
) -> Result<(Rewrite, Purged), PurgeError> {
    if let Purge::Secret(secret) = what {
        rare(secret)?;
    }
    let mut messages = read.messages;
    let changed = change(&mut messages, what, surface)?;
    let (records, active) = records(read.stored.records, read.state.active(), what);
    let before = read.stored.messages;
    let rows = read.stored.log.len();
    let old_records: Vec<_> = records.iter().map(|(old, _)| old.clone()).collect();
    let texts = surface.texts(&messages);
    let is_withdrawn = active != read.state.active();
    let stored = Stored {
        messages: messages
            .iter()
            .map(|m| (m.node, m.message.known.clone()))
            .collect(),
        records: records.iter().map(|(_, new)| new.clone()).collect(),
        log: read.stored.log,
        ledger: read.stored.ledger,
    };
    let src = Sources {
        texts: texts.as_ref(),
        counter,
    };
    let thread = Thread::purged(policy, read.state, stored, &changed, active, src)?;
    let known: BTreeMap<NodeId, Known> = before.into_iter().collect();
    let (mut written, mut search) = (Vec::new(), Vec::new());
    for stored in &messages {
        let node = stored.node;
        let Some(now_known) = thread.known(node) else {
            continue;
        };
        if changed.contains(&node) {
            search.push((node, Terms::of_message(&now_known.view, src.texts)));
        } else if known.get(&node) == Some(&now_known) {
            continue;
        }
        let message = NewMessage {
            known: now_known,
            ..stored.message.clone()
        };
        written.push((node, message));
    }
    let new_records = thread.records().iter().zip(&old_records);
    let new_records: Vec<_> = new_records
        .filter(|(new, old)| new != old)
        .map(|(new, _)| new.clone())
        .collect();
    let meta = without(what, &read.head.meta);
    let told: Vec<_> = told
        .iter()
        .filter_map(|event| Some((event.seq, without(what, &event.event)?)))
        .collect();
    let is_told_otherwise = |(old, new): &(Arc<Record>, Arc<Record>)| old != new;
    let purged = Purged {
        messages: changed.into_iter().collect(),
        records: records
            .iter()
            .filter(|r| is_told_otherwise(r))
            .map(|(_, new)| new.id)
            .collect(),
        events: told.len() as u64,
        is_withdrawn,
    };
    let rewrite = Rewrite {
        revision: read.head.revision,
        messages: written,
        records: new_records,
        told,
        search,
        moved: thread.head_log().get(rows..).unwrap_or_default().to_vec(),
        state: Some(Arc::new(thread.state())),
        meta,
        events: Vec::new(),
        now,
    };
    Ok((rewrite, purged))
}

/// A text of ours without the secret; `None`: it is not in it.
fn without(what: Purge<'_>, text: &str) -> Option<Arc<str>> {
    match what {
        Purge::Secret(secret) => mask::without(text, secret).map(Arc::from),
        Purge::Message(_) => None,
    }
}

/// Changes the messages; which ones.
fn change(
    messages: &mut [StoredMessage],
    what: Purge<'_>,
    surface: &dyn Surface,
) -> Result<BTreeSet<NodeId>, PurgeError> {
    let mut changed = BTreeSet::new();
    for stored in messages {
        let text = String::from_utf8_lossy(&stored.message.bytes);
        let masked = match what {
            Purge::Message(node) if node != stored.node => continue,
            Purge::Message(_) => mask::tombstone(&text),
            Purge::Secret(secret) => match mask::without(&text, secret) {
                None => continue,
                Some(masked) => masked,
            },
        };
        let is_clean = |masked: &str| match what {
            Purge::Secret(secret) => !mask::holds(masked, secret),
            Purge::Message(_) => true,
        };
        let old = &stored.message.known.view;
        let node = stored.node;
        let reread = |masked: String| {
            let view = surface.view(node, masked.as_bytes())?;
            (is_clean(&masked) && is_alike(old, &view)).then_some((masked, view))
        };
        let (masked, view) = reread(masked)
            .or_else(|| reread(mask::tombstone(&text)))
            .ok_or(PurgeError::Unreadable(node))?;
        let view = MessageView {
            handle: old.handle,
            flags: old.flags,
            usage: old.usage.clone(),
            reply: old.reply,
            ..view
        };
        stored.message.bytes = masked.into_bytes().into();
        stored.message.known.view = Arc::new(view);
        changed.insert(node);
    }
    match what {
        Purge::Message(node) if changed.is_empty() => Err(PurgeError::NoMessage(node)),
        _ => Ok(changed),
    }
}

/// Whether it takes the place of the other one: the same speaker, calls and answers.
fn is_alike(old: &MessageView, new: &MessageView) -> bool {
    fn ids(view: &MessageView) -> Vec<(bool, &CallId)> {
        let calls = view.calls().map(|(_, id, _)| (true, id));
        calls
            .chain(view.results().map(|(_, id)| (false, id)))
            .collect()
    }
    old.role == new.role && ids(old) == ids(new)
}

/// Each record as it was and as it is from now on, and the record in force from now on.
#[expect(clippy::type_complexity, reason = "said in the line above")]
fn records(
    records: Vec<Arc<Record>>,
    active: Option<RecordId>,
    what: Purge<'_>,
) -> (Vec<(Arc<Record>, Arc<Record>)>, Option<RecordId>) {
    let mut in_force = active;
    if let Purge::Message(node) = what {
        let find = |id| records.iter().find(|r| Some(r.id) == id);
        while let Some(record) = find(in_force).filter(|r| r.removed.contains(node)) {
            in_force = record.parent;
        }
    }
    let pairs = records.into_iter().map(|record| {
        let new = match what {
            Purge::Message(node) if record.removed.contains(node) => Some(withdrawn(&record)),
            Purge::Message(_) => None,
            Purge::Secret(secret) => masked(&record, secret),
        };
        let new = new.map_or_else(|| record.clone(), Arc::new);
        (record, new)
    });
    (pairs.collect(), in_force)
}

/// Without its texts. It is never in force again.
fn withdrawn(record: &Record) -> Record {
    let author = |summary: &Summary| summary.author.clone();
    Record {
        summary: record.summary.as_ref().map(|summary| Summary {
            text: PURGED.into(),
            author: author(summary),
        }),
        durable: "".into(),
        ..record.clone()
    }
}

/// Without the secret in its texts. Its ledger is made anew from the messages anyway.
fn masked(record: &Record, secret: &str) -> Option<Record> {
    let without = |text: &Arc<str>| mask::without(text, secret).map(Arc::<str>::from);
    let mut new = record.clone();
    if let Some(summary) = &mut new.summary {
        summary.text = without(&summary.text).unwrap_or_else(|| summary.text.clone());
        if let Author::Model(Some(name)) = &mut summary.author {
            *name = without(name).unwrap_or_else(|| name.clone());
        }
    }
    new.durable = without(&new.durable).unwrap_or_else(|| new.durable.clone());
    // Markers and reasons are ours; that nothing is left in them is made sure of.
    let rest = Record {
        ledger: conspectus_core::ledger::Ledger::default(),
        ..new.clone()
    };
    let json = serde_json::to_string(&rest).ok();
    let clean = json.and_then(|json| mask::without(&json, secret));
    if let Some(clean) = clean.and_then(|json| serde_json::from_str::<Record>(&json).ok()) {
        new = Record {
            ledger: new.ledger,
            ..clean
        };
    }
    (new != *record).then_some(new)
}
