//! The port to a store of threads.
//!
//! The engine owns it, since the engine performs the effects: stores know the engine, never the other way round, and who
//! embeds the library compiles no database. `conspectus-store` has the stores.
//!
//! Three rules make it small:
//!
//! - **What is said is stored once, as it came** ([`NewMessage`]); what follows from it is one [`State`] that is written
//!   anew with every change. A committed record holds the ledger, so the record in force is the checkpoint: opening a
//!   thread reads the state, that record and the messages that it does not fold ([`window`]).
//! - **There is one way to change a thread**: [`ThreadStore::write`], all or nothing. It compares the revision that the
//!   writer had read; whoever is behind reads again and writes again.
//! - **A commit is a write with a record.** It also compares version and fence, and only these make it a conflict:
//!   messages that came late make the writer [`Written::Behind`]. It then reads them, lets
//!   [`Thread::commit`](conspectus_core::thread::Thread::commit) say whether they touch what the record folds, and writes
//!   the same record again.

mod read;

use std::sync::Arc;

use conspectus_core::effect::{CommitAck, Expect, Failure, Fence, Millis, Version};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Known, Learnt, Limits, State};

use serde::{Deserialize, Serialize};

use crate::model::Boxed;
use crate::terms::Terms;

pub use read::{Read, whole, window};

/// Previews of a thread that are kept.
pub const MAX_PREVIEWS: usize = 16;
/// How long the key of a write that is to happen once is remembered: a week.
pub const ONCE_MS: Millis = 7 * 24 * 60 * 60 * 1_000;

/// What every method of a store gives.
pub type Stores<'a, T> = Boxed<'a, Result<T, StoreError>>;

/// A thread's name. Tenants see nothing of each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// Whose.
    pub tenant: Arc<str>,
    /// Which.
    pub thread: Arc<str>,
}

impl ThreadKey {
    /// A thread of a tenant.
    pub fn new(tenant: &str, thread: &str) -> Self {
        Self {
            tenant: tenant.into(),
            thread: thread.into(),
        }
    }
}

/// What a store knows of a thread without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Counts writes. Whoever writes compares it.
    pub revision: u64,
    /// Messages, over all branches; the number of the next one.
    pub nodes: u64,
    /// Records; the number of the next one.
    pub records: u64,
    /// The version of what is shown.
    pub version: Version,
    /// The fence of the newest lease.
    pub fence: Fence,
    /// The attempt that is under way, or was when its process died.
    pub mark: Option<Mark>,
    /// The thread's state; `None` before the first write.
    pub state: Option<Arc<State>>,
    /// What the host keeps with the thread (its title, a policy of its own), unread.
    pub meta: Arc<str>,
    /// When it was created.
    pub created_ms: Millis,
    /// When it was written last.
    pub written_ms: Millis,
}

/// A page of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// In which order. Threads of one time are in the order of their names.
    pub order: Order,
    /// The other way round, names included.
    pub descending: bool,
    /// Those behind this one, in that order.
    pub after: Option<Listed>,
    /// Leaves out so many of them.
    pub offset: u32,
    /// At most so many.
    pub limit: u32,
}

/// The order of a list of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By name.
    #[default]
    Name,
    /// By the time when they were made.
    Created,
    /// By the time when they were written last.
    Written,
}

/// A thread's place in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// The time by which it is ordered; 0 where the name is the order.
    pub ms: Millis,
    /// Its name.
    pub thread: Arc<str>,
}

impl Order {
    /// Where a thread stands in this order.
    pub fn place(self, thread: &Arc<str>, head: &Head) -> Listed {
        Listed {
            ms: match self {
                Self::Name => 0,
                Self::Created => head.created_ms,
                Self::Written => head.written_ms,
            },
            thread: thread.clone(),
        }
    }
}

/// An attempt that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// The attempt.
    pub attempt: AttemptId,
    /// The lease it runs under.
    pub fence: Fence,
    /// Since when.
    pub since_ms: Millis,
}

/// A message to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The message as it came, byte for byte.
    pub bytes: Arc<[u8]>,
    /// Its id where it came from, if it has one.
    pub native_id: Option<Arc<str>>,
    /// What the core knows of it.
    pub known: Known,
}

/// A message as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its number.
    pub node: NodeId,
    /// What was stored.
    pub message: NewMessage,
    /// What the path up to and including it weighs, as far as that was counted.
    pub cumulative: u64,
    /// When it was stored.
    pub stored_ms: Millis,
}

/// One change of a thread, all or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// The revision that it was made on.
    pub revision: u64,
    /// New messages; the first has the number [`Head::nodes`], the others follow.
    pub messages: Vec<NewMessage>,
    /// Messages of which something else is known now: usage, a pin.
    pub changed: Vec<(NodeId, Known)>,
    /// Changes of the head, oldest first, a commit's included.
    pub moved: Vec<HeadChange>,
    /// The state after it all.
    pub state: Option<Arc<State>>,
    /// Another [`Head::meta`].
    pub meta: Option<Arc<str>>,
    /// A record to put in force.
    pub commit: Option<Commit>,
    /// Makes the write happen once however often it is sent.
    pub once: Option<Once>,
    /// What messages, new ones and others, can be found by from now on; see [`ThreadStore::search`].
    pub search: Vec<(NodeId, Terms)>,
    /// Events that are told with it; [`ThreadStore::events`] gives them back.
    pub events: Vec<Arc<str>>,
    /// When it happens.
    pub now: Millis,
}

/// What a purge writes over, all or nothing. The bytes that were there are not kept anywhere; partial results and
/// previews of the thread, which may repeat them, are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The revision that it was made on.
    pub revision: u64,
    /// Messages as they are from now on: their bytes, their id and what is known of them.
    pub messages: Vec<(NodeId, NewMessage)>,
    /// Records as they are from now on.
    pub records: Vec<Arc<Record>>,
    /// Events as they are from now on, by number.
    pub told: Vec<(u64, Arc<str>)>,
    /// What messages can be found by from now on.
    pub search: Vec<(NodeId, Terms)>,
    /// Changes of the head that come with it.
    pub moved: Vec<HeadChange>,
    /// The state after it all.
    pub state: Option<Arc<State>>,
    /// Another [`Head::meta`].
    pub meta: Option<Arc<str>>,
    /// Events that are told with it.
    pub events: Vec<Arc<str>>,
    /// When it happens.
    pub now: Millis,
}

/// A record to put in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The record.
    pub record: Arc<Record>,
    /// What it was planned on.
    pub expect: Expect,
}

/// A caller's key for a write that may be sent again, within [`ONCE_MS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    /// The key.
    pub key: Arc<str>,
    /// Digest of what is written: the same key for something else is refused.
    pub digest: Ident,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is there for good; this is the revision now.
    Done(u64),
    /// Nothing is written: somebody else wrote meanwhile. Read the thread again, then write again.
    Behind(u64),
    /// Nothing is written: what the record was planned on has changed, or the lease is another's.
    Conflict,
    /// Nothing is written: the same was written before, with messages from this number on.
    Repeated(NodeId),
    /// Nothing is written: the key was used for something else.
    KeyReused,
}

/// What came of asking for a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It is the caller's until then. `orphan`: an attempt whose holder died before it ended; report it, then clear
    /// the mark.
    Held {
        /// Every holder has a higher one than the one before.
        fence: Fence,
        /// When it ends by itself.
        until_ms: Millis,
        /// What the holder before left behind.
        orphan: Option<Mark>,
    },
    /// Somebody else has it until then.
    Taken {
        /// When it ends by itself.
        until_ms: Millis,
    },
}

/// A message that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub node: NodeId,
    /// How many of the terms stand in it.
    pub matched: u64,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Counts the events of a thread from 1.
    pub seq: u64,
    /// When it was told.
    pub ms: Millis,
    /// What was told, as the teller wrote it.
    pub event: Arc<str>,
}

/// A store of threads.
///
/// The contract, which one suite checks for every store:
///
/// - A write is there completely or not at all, whatever dies when. Once it is acknowledged, it stays.
/// - Bytes come back as they were given. Nothing is ever edited but what [`Known`] allows.
/// - Of several writers on one revision one succeeds. A commit under an old fence or version changes nothing.
/// - Methods that name a thread which is not there answer [`StoreError::NoThread`], but for [`Self::head`] and
///   [`Self::delete`].
/// - `now` is the caller's clock. PostgreSQL takes its own for leases, since instances share it.
/// - Dropping a future may leave its write done or not done; a caller that must know looks it up.
///
/// No method has a body of its own here: stores around stores pass each one on by hand, and one that had a body would be
/// passed over in silence.
pub trait ThreadStore: Send + Sync {
    /// Makes an empty thread. `false`: there is one already.
    fn create<'a>(&'a self, key: &'a ThreadKey, meta: &'a str, now: Millis) -> Stores<'a, bool>;

    /// Removes a thread and everything of it. `false`: there was none.
    fn delete<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, bool>;

    /// A page of a tenant's threads, with what is known of each. In every store the same; costs the page, and what is
    /// left out before it.
    fn list<'a>(
        &'a self,
        tenant: &'a str,
        listing: &'a Listing,
    ) -> Stores<'a, Vec<(Arc<str>, Head)>>;

    /// How many threads a tenant has.
    fn count<'a>(&'a self, tenant: &'a str) -> Stores<'a, u64>;

    /// What is known of a thread without opening it. One row.
    fn head<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Option<Head>>;

    /// Changes a thread.
    fn write<'a>(&'a self, key: &'a ThreadKey, write: Write) -> Stores<'a, Written>;

    /// Writes over what is there. Ends as a write does, but never as a conflict.
    fn rewrite<'a>(&'a self, key: &'a ThreadKey, rewrite: Rewrite) -> Stores<'a, Written>;

    /// Removes threads that were written last before `before_ms`, at most `limit` of them, and says which.
    fn expire<'a>(
        &'a self,
        tenant: &'a str,
        before_ms: Millis,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>>;

    /// Whether this record of an attempt was written: for acknowledgements that were lost.
    fn has_record<'a>(
        &'a self,
        key: &'a ThreadKey,
        attempt: AttemptId,
        record: RecordId,
    ) -> Stores<'a, bool>;

    /// The messages in a run of numbers, both ends included, ascending.
    fn messages<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: NodeId,
        last: NodeId,
    ) -> Stores<'a, Vec<StoredMessage>>;

    /// Messages with some of these terms, over all branches: those with most of them first, of equals the newest. Every
    /// store gives the same.
    fn search<'a>(
        &'a self,
        key: &'a ThreadKey,
        terms: &'a Terms,
        limit: u32,
    ) -> Stores<'a, Vec<Found>>;

    /// The newest message with this id of its origin.
    fn by_native_id<'a>(
        &'a self,
        key: &'a ThreadKey,
        native_id: &'a str,
    ) -> Stores<'a, Option<NodeId>>;

    /// The records in a run of numbers, both ends included, ascending.
    fn records<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: RecordId,
        last: RecordId,
    ) -> Stores<'a, Vec<Arc<Record>>>;

    /// The log of heads, oldest first.
    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>>;

    /// Asks for the right to run an attempt, for `ttl_ms`. A holder that asks again before the end goes on under the same
    /// fence.
    fn acquire<'a>(
        &'a self,
        key: &'a ThreadKey,
        holder: &'a str,
        ttl_ms: Millis,
        now: Millis,
    ) -> Stores<'a, Lease>;

    /// Gives the lease back. `false`: it was another's already.
    fn release<'a>(&'a self, key: &'a ThreadKey, fence: Fence) -> Stores<'a, bool>;

    /// Says that an attempt is under way, or that it ended. `false`: the lease is another's.
    fn mark<'a>(&'a self, key: &'a ThreadKey, fence: Fence, mark: Option<Mark>)
    -> Stores<'a, bool>;

    /// A partial result of this thread's attempts.
    fn cached<'a>(&'a self, key: &'a ThreadKey, part: Ident) -> Stores<'a, Option<Arc<str>>>;

    /// Keeps a partial result.
    fn cache<'a>(
        &'a self,
        key: &'a ThreadKey,
        part: Ident,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()>;

    /// What a dry run made, by name.
    fn preview<'a>(&'a self, key: &'a ThreadKey, name: &'a str) -> Stores<'a, Option<Arc<str>>>;

    /// Keeps what a dry run made, unread. The newest [`MAX_PREVIEWS`] of a thread stay.
    fn keep_preview<'a>(
        &'a self,
        key: &'a ThreadKey,
        name: &'a str,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()>;

    /// Adds an event and says its number.
    fn emit<'a>(&'a self, key: &'a ThreadKey, event: &'a str, now: Millis) -> Stores<'a, u64>;

    /// Events behind number `after`, oldest first.
    fn events<'a>(
        &'a self,
        key: &'a ThreadKey,
        after: u64,
        limit: u32,
    ) -> Stores<'a, Vec<StoredEvent>>;

    /// What a tenant's threads learnt about how large a request may be.
    fn limits<'a>(&'a self, tenant: &'a str) -> Stores<'a, Limits>;

    /// Adds to it: the narrower of what was known and what is new.
    fn learn<'a>(
        &'a self,
        tenant: &'a str,
        endpoint: &'a str,
        model: &'a str,
        learnt: Learnt,
    ) -> Stores<'a, ()>;
}

/// Why a store did not do what was asked, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such thread.
    #[error("there is no such thread; create it first")]
    NoThread,
    /// Somebody holds the store longer than we wait. Nothing is written.
    #[error("the store is busy; try again")]
    Busy,
    /// No space is left. Nothing is written.
    #[error("no space is left for the store; free some")]
    Full,
    /// It may not be written. Nothing is written.
    #[error("the store cannot be written; check the permissions of {0}")]
    ReadOnly(String),
    /// What is stored is damaged.
    #[error("the store is damaged: {0}; restore it from a backup")]
    Damaged(String),
    /// A newer version wrote it.
    #[error("the store has format {found}, this version knows {known}; update conspectus")]
    Newer {
        /// What was found.
        found: u32,
        /// What is known.
        known: u32,
    },
    /// The store went away. A write may have happened: look it up.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// The caller asked for something that cannot be.
    #[error("the write does not fit the thread: {0}")]
    Unfit(String),
    /// Anything else.
    #[error("the store failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// Whether the same may work in a moment.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy | Self::Unreachable(_))
    }

    /// Whether a write that ended so may have happened all the same.
    pub fn is_uncertain(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

/// What the core is told of a commit. `None`: the committer is behind; it reads what came and writes again.
pub fn commit_ack(written: &Result<Written, StoreError>, version: Version) -> Option<CommitAck> {
    Some(match written {
        Ok(Written::Done(_) | Written::Repeated(_)) => CommitAck::Ok(version),
        Ok(Written::Behind(_)) => return None,
        Ok(Written::Conflict | Written::KeyReused) => CommitAck::Conflict,
        Err(error) if error.is_uncertain() => CommitAck::Unknown,
        Err(error) => CommitAck::Failed(Failure::Store {
            message: error.to_string().into(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_core_is_told() {
        let version = Version(3);
        for (written, expect) in [
            (Ok(Written::Done(4)), Some(CommitAck::Ok(version))),
            (Ok(Written::Behind(9)), None),
            (Ok(Written::Conflict), Some(CommitAck::Conflict)),
            (
                Err(StoreError::Unreachable("gone".to_owned())),
                Some(CommitAck::Unknown),
            ),
        ] {
            assert_eq!(commit_ack(&written, version), expect, "{written:?}");
        }
        let full = commit_ack(&Err(StoreError::Full), version);
        assert!(matches!(full, Some(CommitAck::Failed(_))), "{full:?}");
    }
}
