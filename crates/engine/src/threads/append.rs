//! Messages that come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use conspectus_core::effect::Fence;
use conspectus_core::id::{CallId, Ident, IdentHasher, NodeId};
use conspectus_core::thread::{Known, Thread};
use conspectus_core::view::{Role, Texts, Usage};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::json::Json;
use super::message::{Message, made_id, placed, read_all};
use super::note::Note;
use super::open::{Much, Opened, new_message};
use super::settings::Asked;
use super::skills;
use crate::clock::Clock;
use crate::store::{NewMessage, Once, StoredMessage, ThreadKey, Write, Written};
use crate::terms::Terms;

/// Messages to append at the head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Append {
    /// The messages, in order: LangChain's JSON, or objects with a role. They are stored as they are.
    pub messages: Vec<Json>,
    /// A key that makes it happen once however often it is sent.
    pub once: Option<Arc<str>>,
    /// What the provider reported for the newest reply, where the messages do not say it themselves.
    pub usage: Option<Usage>,
    /// What an agent keeps with the thread from now on.
    #[serde(skip)]
    pub note: Option<Note>,
    /// Calls that the host waits for from now on, in place of those before: they stay, whatever is compacted.
    #[serde(skip)]
    pub pending: Option<BTreeSet<CallId>>,
    /// The thread must still be held under this lease.
    #[serde(skip)]
    pub under: Option<Fence>,
}

impl Append {
    fn says_usage(&self) -> bool {
        self.usage.is_some() || self.once.is_some()
    }

    /// There is something to write beside messages.
    fn says_more(&self) -> bool {
        self.says_usage() || self.note.is_some() || self.pending.is_some()
    }
}

/// What became of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Appended {
    /// The ids of all messages that were sent, in order; those that came without one have one now.
    pub ids: Vec<Arc<str>>,
    /// How many are new. The others were there already, under the same id and with the same content.
    pub new: u64,
    /// The same was written before under the same key; nothing was written now.
    pub repeated: bool,
    /// The state now.
    pub checkpoint_id: CheckpointId,
}

/// Whether messages can be appended, as far as they themselves say.
///
/// # Errors
/// The first that is none.
pub fn check_messages(messages: &[Json]) -> Result<(), ThreadsError> {
    read_all(messages).map(drop)
}

impl<C: Clock> Threads<C> {
    /// Appends messages at the head. Costs what is new, and what is in the window where it does not stay open. A message whose id is there with the
    /// same content is not stored again.
    ///
    /// # Errors
    /// When one of them is no message or has the id of another; then none is stored. When the key was used for
    /// something else.
    pub async fn append(&self, key: &ThreadKey, append: &Append) -> Result<Appended, ThreadsError> {
        let messages = read_all(&append.messages)?;
        let once = append.once.clone().map(|once| Once {
            digest: digest(append),
            key: once,
        });
        let mut much = Much::Window;
        for _ in 0..Self::TRIES {
            self.kept_open().turns.wait(key).await;
            let mut opened = self.open(key, much, &Asked::default()).await?;
            if append.under.is_some_and(|fence| fence != opened.head.fence) {
                return Err(ThreadsError::Busy);
            }
            let rows = opened.thread.rows();
            let there = self.there(key, &opened, &messages).await?;
            let (ids, new) = take(&mut opened, &messages, &there)?;
            let mut changed = Vec::new();
            if let Some(usage) = &append.usage {
                opened.thread.usage(usage.clone());
                changed.extend(reported(&opened.thread, opened.head.nodes));
            }
            if let Some(pending) = &append.pending {
                let (thread, src) = opened.parts();
                thread.set_pending(pending.clone(), src);
            }
            if !opened.thread.is_enough() && much == Much::Window {
                much = Much::Whole;
                continue;
            }
            let checkpoint_id = CheckpointId::new(rows, opened.thread.branch().head());
            if new.is_empty() && !append.says_more() {
                return Ok(Appended {
                    ids,
                    new: 0,
                    repeated: false,
                    checkpoint_id,
                });
            }
            let count = new.len() as u64;
            // Reports may change what is known of a message that is written now.
            let nodes = opened.head.nodes..;
            let new = nodes.zip(new).map(|(node, message)| NewMessage {
                known: opened.thread.known(NodeId(node)).unwrap_or(message.known),
                ..message
            });
            let new: Vec<NewMessage> = new.collect();
            let event = ThreadEvent::Appended {
                ids: ids.clone(),
                checkpoint_id,
            };
            let events = match append.messages.is_empty() && !append.says_usage() {
                true => Vec::new(),
                false => vec![event.to_text()],
            };
            let counted = opened.meta.counter.replace(opened.run.counter.id());
            let mut is_changed = counted.is_none();
            for message in &append.messages {
                is_changed |= skills::note(&mut opened.meta.skills, message);
            }
            if let Some(note) = &append.note {
                is_changed |= *note != opened.meta.note;
                opened.meta.note.clone_from(note);
            }
            let meta = is_changed.then(|| opened.meta.to_text());
            let write = Write {
                revision: opened.head.revision,
                search: terms(&new, opened.head.nodes, &opened.shelf),
                messages: new,
                changed,
                state: Some(Arc::new(opened.thread.state())),
                meta,
                once: once.clone(),
                events,
                now: self.now(),
                ..Write::default()
            };
            match self.write(key, write).await? {
                Written::Done(revision) => {
                    opened.head.revision = revision;
                    self.leave_open(key, opened);
                    return Ok(Appended {
                        ids,
                        new: count,
                        repeated: false,
                        checkpoint_id,
                    });
                }
                Written::Behind(_) => {}
                Written::Repeated(first) => return self.repeated(key, &messages, first).await,
                Written::KeyReused | Written::Conflict => {
                    let key = append.once.clone().unwrap_or_else(|| "".into());
                    return Err(ThreadsError::KeyReused(key));
                }
            }
        }
        Err(ThreadsError::Contended)
    }
}

impl<C: Clock> Threads<C> {
    /// Digests of what stands on the branch under the ids of these messages.
    async fn there(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        messages: &[Message],
    ) -> Result<BTreeMap<Arc<str>, Ident>, ThreadsError> {
        let mut there = BTreeMap::new();
        let state = opened.thread.state();
        for id in messages.iter().filter_map(|message| message.id.as_ref()) {
            let node = match opened.shelf.find(id) {
                None if opened.thread.is_partial() => self.store().by_native_id(key, id).await?,
                found => found,
            };
            let is_on = |node: NodeId| state.path().iter().any(|(a, b)| *a <= node && node <= *b);
            let Some(node) = node.filter(|node| is_on(*node)) else {
                continue;
            };
            let stored = self.store().messages(key, node, node).await?;
            if let Some(stored) = stored.first() {
                there.insert(id.clone(), stored.message.known.view.ident);
            }
        }
        Ok(there)
    }

    /// What the first write under the same key came to.
    async fn repeated(
        &self,
        key: &ThreadKey,
        messages: &[Message],
        first: NodeId,
    ) -> Result<Appended, ThreadsError> {
        let last = NodeId(first.0 + messages.len() as u64);
        let stored = self.store().messages(key, first, last).await?;
        let ids = ids_of(messages, &stored);
        let head = self.head(key).await?;
        let state = head.state.as_ref();
        let checkpoint_id = state.map(|s| CheckpointId::new(s.knows().2, s.head()));
        Ok(Appended {
            ids,
            new: 0,
            repeated: true,
            checkpoint_id: checkpoint_id.unwrap_or_default(),
        })
    }
}

/// The ids of messages of which those that were new then are stored one after another.
fn ids_of(messages: &[Message], stored: &[StoredMessage]) -> Vec<Arc<str>> {
    let stored = stored.iter().map(|stored| &stored.message.native_id);
    let mut stored = stored.peekable();
    let ids = messages.iter().map(|message| match &message.id {
        Some(id) => {
            stored.next_if(|there| there.as_ref() == Some(id));
            id.clone()
        }
        None => stored
            .next()
            .cloned()
            .flatten()
            .unwrap_or_else(|| "".into()),
    });
    ids.collect()
}

/// Appends to the thread what is not there yet: the ids of all, and what is to be stored.
///
/// # Errors
/// When an id stands for another message.
fn take(
    opened: &mut Opened,
    messages: &[Message],
    there: &BTreeMap<Arc<str>, Ident>,
) -> Result<(Vec<Arc<str>>, Vec<NewMessage>), ThreadsError> {
    let mut there = there.clone();
    let (mut ids, mut new) = (Vec::new(), Vec::new());
    let mut next = opened.head.nodes;
    for message in messages {
        let known = message.id.as_ref().and_then(|id| there.get(id));
        match (&message.id, known) {
            (Some(id), Some(known)) if *known == message.view.ident => {
                ids.push(id.clone());
                continue;
            }
            (Some(id), Some(_)) => return Err(ThreadsError::IdTaken(id.clone())),
            _ => {}
        }
        let node = NodeId(next);
        let bytes: Arc<[u8]> = message.json.as_str().as_bytes().into();
        let view = placed(&message.view, node);
        opened.shelf.put(node, bytes.clone(), message.id.clone());
        let (thread, src) = opened.parts();
        let appended = thread.append([view], src);
        debug_assert_eq!(
            appended,
            [node],
            "the store numbers messages as the thread does"
        );
        let id = match &message.id {
            Some(id) => id.clone(),
            None => {
                let prefix = thread.branch().prefix();
                made_id(prefix, node)
            }
        };
        opened.shelf.name(node, id.clone());
        new.push(new_message(&opened.thread, node, bytes, id.clone()));
        there.insert(id.clone(), message.view.ident);
        ids.push(id);
        next += 1;
    }
    Ok((ids, new))
}

/// What new messages can be found by; the first of them has the number `from`.
pub(super) fn terms(new: &[NewMessage], from: u64, texts: &dyn Texts) -> Vec<(NodeId, Terms)> {
    let numbered = (from..).map(NodeId).zip(new);
    let terms = numbered.map(|(node, message)| {
        let terms = Terms::of_message(&message.known.view, texts);
        (node, terms)
    });
    terms.filter(|(_, terms)| !terms.is_empty()).collect()
}

/// What is known now of the newest reply, if that is stored already.
pub(super) fn reported(thread: &Thread, stored: u64) -> Option<(NodeId, Known)> {
    let branch = thread.branch();
    let is_reply = |at: &usize| branch.view(*at).role == Role::Assistant;
    let at = (0..branch.len()).rev().find(is_reply)?;
    let node = branch.path()[at];
    (node.0 < stored).then(|| Some((node, thread.known(node)?)))?
}

fn digest(append: &Append) -> Ident {
    let mut hash = IdentHasher::new();
    for message in &append.messages {
        hash.field(message.as_str().as_bytes());
    }
    let usage = serde_json::to_string(&append.usage).unwrap_or_default();
    hash.field(usage.as_bytes());
    hash.finish()
}
