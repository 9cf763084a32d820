//! A thread beside a list of messages that its client keeps itself, and sends whole with every request.
//!
//! A proxy sees such lists. What the list has more than the thread is appended, and what comes back is the edit script
//! for the list: message number n of the list is handle n of the projection. A list that went another way belongs to
//! another thread ([`Mirrored::Apart`]); [`Place::Count`](super::Place::Count) says where to branch off.

use std::sync::Arc;

use conspectus_core::id::{Ident, NodeId, RecordId};
use conspectus_core::projection::Projection;
use conspectus_core::thread::{Fixed, Size};
use conspectus_core::view::{MessageView, Usage};

use super::Threads;
use super::append::{reported, terms};
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::message::{made_id, placed};
use super::meta::{Metadata, RunsOn, merge};
use super::open::{Much, Opened, new_message};
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::{NewMessage, ThreadKey, Write, Written};

/// A list as its client keeps it.
pub trait ClientList: Sync {
    /// How many messages it has.
    fn count(&self) -> u64;

    /// Digest of its first `count` messages: their idents one after another, from [`Ident::EMPTY`].
    fn prefix(&self, count: u64) -> Option<Ident>;

    /// A message as it stands there, and what the core sees of it. `None`: it cannot be read.
    fn message(&self, at: u64) -> Option<(Arc<[u8]>, MessageView)>;
}

/// What is told with a list.
#[derive(Clone, Debug, Default)]
pub struct Mirror {
    /// The model that the list is for, where the client says.
    pub runs_on: Option<RunsOn>,
    /// What the provider reported for the request that ended after so many messages, if the message behind them is its
    /// reply and the newest one. A thread that has other messages by now takes no notice.
    pub usage: Option<(u64, Usage)>,
    /// What stands outside of the list: system prompt and tools. `None`: as before.
    pub fixed: Option<Vec<String>>,
    /// The request is sent now.
    pub is_sent: bool,
    /// Members of the thread's metadata to set.
    pub metadata: Metadata,
}

/// How the thread stands to the list.
#[derive(Clone, Debug)]
pub enum Mirrored {
    /// It has all of it, and maybe more.
    InStep(Box<InStep>),
    /// It went another way behind so many messages.
    Apart(u64),
}

/// A thread that has all of a list.
#[derive(Clone, Debug)]
pub struct InStep {
    /// Its messages; more than the list has where an earlier request is made again.
    pub messages: u64,
    /// The request, as an edit script over the thread's messages.
    pub projection: Projection,
    /// Messages that the record in force was made of: the list has a use for the projection if it has as many.
    pub frozen: u64,
    /// The record in force.
    pub record: Option<RecordId>,
    /// The size of the request.
    pub size: Size,
    /// Whether a trigger is reached.
    pub is_due: bool,
    /// Whether a summary should be made in the background.
    pub is_soft: bool,
    /// The size from which on something is due, as far as that can be said in tokens.
    pub trigger: Option<u64>,
    /// The most that a request may hold.
    pub limit: u64,
}

impl<C: Clock> Threads<C> {
    /// Brings a thread in step with a list. Costs what is new and what is in the window; what is new alone where it
    /// [stays open](Self::keeping_open).
    ///
    /// # Errors
    /// When there is no such thread, or a message cannot be read; then nothing is stored.
    pub async fn mirror(
        &self,
        key: &ThreadKey,
        list: &dyn ClientList,
        mirror: &Mirror,
    ) -> Result<Mirrored, ThreadsError> {
        let mut much = Much::Window;
        for _ in 0..Self::TRIES {
            self.kept_open().turns.wait(key).await;
            let mut opened = self.open(key, much, &Asked::default()).await?;
            let has = opened.thread.branch().len() as u64;
            let both = has.min(list.count());
            if let Some(apart) = self.apart(key, &opened, list, both).await? {
                return Ok(Mirrored::Apart(apart));
            }
            let before = opened.thread.state();
            if let Some(fixed) = &mirror.fixed {
                let texts = fixed.iter().map(String::as_str);
                let fixed = Fixed::of(texts, opened.counter());
                opened.thread.set_fixed(fixed);
            }
            let new = take(&mut opened, list, has)?;
            let mut changed = Vec::new();
            let reply = mirror.usage.as_ref().filter(|(at, _)| *at == has);
            if let Some((_, usage)) = reply.filter(|_| !new.is_empty()) {
                opened.thread.usage(usage.clone());
                changed.extend(reported(&opened.thread, opened.head.nodes));
            }
            if !opened.thread.is_enough() && much == Much::Window {
                much = Much::Whole;
                continue;
            }
            let is_other = mirror.runs_on.is_some() && mirror.runs_on != opened.meta.runs_on;
            let is_told = is_other || !mirror.metadata.is_empty();
            if new.is_empty() && opened.thread.state() == before && !is_told {
                return self.mirrored(key, opened).await;
            }
            if mirror.is_sent {
                let now = self.now();
                opened.thread.sent(now);
            }
            let nodes = opened.head.nodes..;
            let new = nodes.zip(new).map(|(node, message)| NewMessage {
                known: opened.thread.known(NodeId(node)).unwrap_or(message.known),
                ..message
            });
            let new: Vec<NewMessage> = new.collect();
            let ids = new.iter().filter_map(|message| message.native_id.clone());
            let event = ThreadEvent::Appended {
                ids: ids.collect(),
                checkpoint_id: opened.checkpoint(),
            };
            let counted = opened.meta.counter.replace(opened.run.counter.id());
            merge(&mut opened.meta.metadata, &mirror.metadata);
            if is_other {
                opened.meta.runs_on.clone_from(&mirror.runs_on);
            }
            let write = Write {
                revision: opened.head.revision,
                search: terms(&new, opened.head.nodes, &opened.shelf),
                events: (!new.is_empty())
                    .then(|| event.to_text())
                    .into_iter()
                    .collect(),
                messages: new,
                changed,
                state: Some(Arc::new(opened.thread.state())),
                meta: (counted.is_none() || is_told).then(|| opened.meta.to_text()),
                now: self.now(),
                ..Write::default()
            };
            match self.write(key, write).await? {
                Written::Done(revision) => {
                    opened.head.revision = revision;
                    return self.mirrored(key, opened).await;
                }
                Written::Behind(_) => {}
                Written::Repeated(_) | Written::KeyReused | Written::Conflict => break,
            }
        }
        Err(ThreadsError::Contended)
    }

    /// What is told of a thread that has all of its list. It stays open as it is stored.
    async fn mirrored(
        &self,
        key: &ThreadKey,
        mut opened: Opened,
    ) -> Result<Mirrored, ThreadsError> {
        self.recall_limits(key, &mut opened).await?;
        let step = in_step(&opened);
        self.leave_open(key, opened);
        Ok(Mirrored::InStep(Box::new(step)))
    }

    /// Where the two part, among the messages that both have as many of.
    async fn apart(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        list: &dyn ClientList,
        both: u64,
    ) -> Result<Option<u64>, ThreadsError> {
        let path = opened.thread.branch().path();
        // Somebody moved its head: the numbers are not the list's any more.
        if path.iter().zip(0..).any(|(node, at)| node.0 != at)
            || opened.head.nodes != path.len() as u64
        {
            return Ok(Some(0));
        }
        let is_same = |prefix: Ident, count: u64| list.prefix(count) == Some(prefix);
        if both == 0 || is_same(self.prefix_at(key, opened, both).await?, both) {
            return Ok(None);
        }
        let (mut same, mut other) = (0, both);
        while other - same > 1 {
            let middle = same + (other - same) / 2;
            match is_same(self.prefix_at(key, opened, middle).await?, middle) {
                true => same = middle,
                false => other = middle,
            }
        }
        Ok(Some(same))
    }

    async fn prefix_at(
        &self,
        key: &ThreadKey,
        opened: &Opened,
        count: u64,
    ) -> Result<Ident, ThreadsError> {
        if count == opened.thread.branch().len() as u64 {
            return Ok(opened.thread.branch().prefix());
        }
        let node = NodeId(count - 1);
        let stored = self.store().messages(key, node, node).await?;
        let prefix = stored.first().map(|stored| stored.message.known.prefix);
        Ok(prefix.unwrap_or(Ident::EMPTY))
    }
}

/// Appends what the list has behind `from`.
fn take(
    opened: &mut Opened,
    list: &dyn ClientList,
    from: u64,
) -> Result<Vec<NewMessage>, ThreadsError> {
    let mut new = Vec::new();
    for at in from..list.count() {
        let Some((bytes, view)) = list.message(at) else {
            return Err(ThreadsError::BadMessage {
                index: usize::try_from(at).unwrap_or(usize::MAX),
                found: "a message that cannot be read".to_owned(),
                expected: "a message of the list's own format",
            });
        };
        let node = NodeId(at);
        opened.shelf.put(node, bytes.clone(), None);
        let (thread, src) = opened.parts();
        thread.append([placed(&view, node)], src);
        // Ids that clients write may repeat, and here the place is the name.
        let id = made_id(thread.branch().prefix(), node);
        opened.shelf.name(node, id.clone());
        new.push(new_message(&opened.thread, node, bytes, id));
    }
    Ok(new)
}

fn in_step(opened: &Opened) -> InStep {
    let (thread, src) = (&opened.thread, opened.sources());
    let size = thread.size(src);
    let policy = thread.policy();
    let branch = thread.branch();
    let upto = thread
        .active()
        .and_then(|record| branch.position(record.upto));
    InStep {
        messages: branch.len() as u64,
        projection: thread.projection(),
        frozen: upto.map_or(0, |at| at as u64 + 1),
        record: thread.active().map(|record| record.id),
        size,
        is_due: policy.enabled && thread.is_triggered(&size),
        is_soft: policy.enabled && policy.soft_tokens.is_some_and(|soft| size.tokens >= soft),
        trigger: policy.trigger_tokens(),
        limit: thread.input_limit(),
    }
}
