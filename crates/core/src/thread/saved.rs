//! A thread as it is stored, and opened again.
//!
//! What grows with the conversation is stored once, as it comes: messages ([`Known`]), records, the log of heads.
//! The rest is small and written anew with every change ([`State`]). What follows from both is not stored at all:
//! [`Thread::restore`] makes it anew, and the thread behaves as if it had never been away.
//!
//! Opening need not read the whole history. Messages that the active record folded may be left out of [`Stored`]; each
//! is then a placeholder. Such a thread is [partial](Thread::is_partial): it takes messages, tells its size and its
//! request like the whole one, and must be opened whole before it compacts, moves or undoes.

mod purged;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calibrate::Calibrator;
use super::{BreakerState, Fixed, HeadChange, Learnt, Sources, Spent, Thread, live};
use crate::count::Weight;
use crate::effect::{Fence, Millis, Version};
use crate::history::{History, Node};
use crate::id::{CallId, Handle, Ident, NodeId, RecordId};
use crate::ledger::Ledger;
use crate::policy::{Policy, Prune, PruneWhen};
use crate::record::{Patches, RECORD_FORMAT, Record};
use crate::unit::{Call, Pos};
use crate::view::{Flags, MessageView, Role};
use crate::window::Branch;

/// The version of the stored shape of [`State`] and [`Known`].
pub const STATE_FORMAT: u16 = 1;

/// Everything a thread knows that is neither messages, records, the log of heads nor its ledger. Its size follows
/// what was said since the last record. What is in it is the thread's own business.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    format: u16,
    /// Messages, over all branches, when it was written.
    nodes: u64,
    /// The branch, as runs of neighbouring numbers, both ends included.
    path: Vec<(NodeId, NodeId)>,
    /// Messages of the branch when its frozen part was computed.
    frozen_at: u64,
    pub(super) records: u64,
    log: u64,
    active: Option<RecordId>,
    undone: Vec<RecordId>,
    version: Version,
    fence: Fence,
    fixed: Fixed,
    pending: BTreeSet<CallId>,
    live_patches: Patches,
    live: live::Live,
    breaker: BreakerState,
    overflowed: bool,
    #[serde(default)]
    refused: Option<u64>,
    learnt: Learnt,
    #[serde(default)]
    calibrator: Calibrator,
    #[serde(default)]
    sent_under: Option<Sent>,
    quiet_until: Option<u64>,
    next_attempt: u64,
    shrunk: bool,
    last_request: Option<Millis>,
    spent: Spent,
}

/// A request that is not answered yet was sent under this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Sent {
    under: Option<RecordId>,
}

impl State {
    /// [`STATE_FORMAT`] when it was written.
    pub fn format(&self) -> u16 {
        self.format
    }

    /// How many messages, records and changes of the head it knows of. What the store has beyond that came later.
    pub fn knows(&self) -> (u64, u64, u64) {
        (self.nodes, self.records, self.log)
    }

    /// The newest message of the branch.
    pub fn head(&self) -> Option<NodeId> {
        self.path.last().map(|(_, last)| *last)
    }

    /// The record in force.
    pub fn active(&self) -> Option<RecordId> {
        self.active
    }

    /// The version of what is shown.
    pub fn version(&self) -> Version {
        self.version
    }

    /// What the host sends outside the messages.
    pub fn fixed(&self) -> &Fixed {
        &self.fixed
    }

    /// The branch, as runs of neighbouring node numbers, both ends included, ascending.
    pub fn path(&self) -> &[(NodeId, NodeId)] {
        &self.path
    }
}

/// What is stored of a message beside its bytes. Only `view` (usage, a pin) and `report` ever change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Known {
    /// The message before it.
    pub parent: Option<NodeId>,
    /// Digest of the path up to and including it.
    pub prefix: Ident,
    /// The message.
    pub view: Arc<MessageView>,
    /// What it weighs by the thread's counter, where it is on the branch. Elsewhere it is counted when the head moves.
    pub weight: Option<Weight>,
    /// Under which record its report of usage came, if one came.
    pub report: Option<Reported>,
}

/// Under which record a report of usage came: it measured what that record showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reported {
    /// The record; `None`: none was in force.
    pub under: Option<RecordId>,
}

/// What grows with a conversation, as read from a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Messages by number, ascending. Those that the active record folded may be missing.
    pub messages: Vec<(NodeId, Known)>,
    /// Records, ascending. All but the active one may be missing.
    pub records: Vec<Arc<Record>>,
    /// The log of heads, or its end.
    pub log: Vec<HeadChange>,
    /// The ledger as it was at some message of the branch; what came behind that is folded again.
    pub ledger: Ledger,
}

/// Why a stored thread cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// A newer version wrote it.
    #[error("stored in format {0}, which is newer than this version knows; update conspectus")]
    Newer(u16),
    /// More is needed than was read: read the whole thread.
    #[error("message {0:?} was not read; read the whole thread")]
    Missing(NodeId),
    /// The active record is not there.
    #[error("record {0:?} is not there; restore the store from a backup")]
    NoRecord(RecordId),
    /// What is stored contradicts itself.
    #[error("message {0:?} does not fit the ones before it; restore the store from a backup")]
    Damaged(NodeId),
}

impl Thread {
    /// What is to be stored of the thread beside its messages, records and log. An attempt that is under way is not in
    /// it: whoever opens the thread again starts without one.
    pub fn state(&self) -> State {
        State {
            format: STATE_FORMAT,
            nodes: self.history.len() as u64,
            path: runs(self.branch.path()),
            frozen_at: self.frozen.seen as u64,
            records: self.records.len() as u64,
            log: self.rows(),
            active: self.active,
            undone: self.undone.clone(),
            version: self.version,
            fence: self.fence,
            fixed: self.fixed.clone(),
            pending: self.pending.as_ref().clone(),
            live_patches: self.live_patches.clone(),
            live: self.live.clone(),
            breaker: self.breaker,
            overflowed: self.overflowed,
            refused: self.refused,
            learnt: self.learnt,
            calibrator: self.calibrator,
            sent_under: self.sent_under.map(|under| Sent { under }),
            quiet_until: self.quiet_until,
            next_attempt: self.next_attempt,
            shrunk: self.shrunk,
            last_request: self.last_request,
            spent: self.spent,
        }
    }

    /// What is to be stored of a message.
    pub fn known(&self, node: NodeId) -> Option<Known> {
        let found = self.history.node(node)?;
        let at = self.branch.position(node);
        Some(Known {
            parent: found.parent,
            prefix: found.prefix,
            view: found.view.clone(),
            weight: at.map(|at| self.branch.weight(at, at + 1)),
            report: self
                .reports
                .get(&node)
                .map(|under| Reported { under: *under }),
        })
    }

    /// The fence of the lease under which commits are made from now on.
    pub fn set_fence(&mut self, fence: Fence) {
        self.fence = fence;
    }

    /// Whether messages that were folded are not here. Such a thread must be opened whole before it compacts, moves or
    /// undoes.
    pub fn is_partial(&self) -> bool {
        self.absent.is_some()
    }

    /// Whether a partial thread can go on as if it were whole: nothing but messages and reports came, and no answer
    /// to a call that may not be here.
    pub fn is_enough(&self) -> bool {
        self.absent.is_none_or(|absent| !absent.is_missed)
    }

    /// What is shown of the record depends on messages that may not be here.
    pub(super) fn needs_whole(&mut self) {
        if let Some(absent) = &mut self.absent {
            absent.is_missed = true;
        }
    }

    /// Whether the message that comes at `at` goes on with a reply whose other pieces may not be here.
    pub(super) fn goes_on_with_absent(&self, at: Pos, view: &MessageView) -> bool {
        view.reply.is_some() && self.absent.is_some_and(|absent| absent.until == at)
    }

    /// Whether the calls that the message at `at` answers are surely here: each by its id, behind everything absent.
    pub(super) fn look_for_calls(&mut self, at: Pos) {
        let Some(absent) = &mut self.absent else {
            return;
        };
        let (view, units) = (self.branch.view(at), self.branch.units());
        absent.is_missed |= view.results().any(|(part, id)| {
            let call = units.call_of(at, part);
            // A second answer may be the first one of a call that is not here.
            let is_sure = |call: &Call| {
                let is_first = call.answers.first() == Some(&(at, part));
                is_first && call.at >= absent.until && call.id == *id && !id.as_str().is_empty()
            };
            !call.is_some_and(is_sure)
        });
    }

    /// A thread as it was when `state` was taken. Texts are read of what is patched, and of messages that the ledger in
    /// `stored` does not know yet. O(what is given), and a few nanoseconds for each message that is left out.
    ///
    /// # Errors
    /// When more must be read, or what is stored does not fit together.
    pub fn restore(
        policy: Arc<Policy>,
        state: State,
        stored: Stored,
        src: Sources<'_>,
    ) -> Result<Self, RestoreError> {
        if state.format > STATE_FORMAT {
            return Err(RestoreError::Newer(state.format));
        }
        let mut thread = Self::new(policy);
        thread.take_records(&state, stored.records)?;
        let messages = thread.take_messages(&state, stored.messages)?;
        thread.pending = Arc::new(state.pending);
        let frozen_at = usize::try_from(state.frozen_at).unwrap_or(usize::MAX);
        let nowhere = Arc::new(placeholder());
        // A little more than there is: a conversation goes on.
        let room = thread.history.len() + thread.history.len() / 64 + 16;
        Arc::make_mut(&mut thread.branch).reserve(room);
        for next in messages {
            let len = thread.branch.len();
            for next in next.split(frozen_at.saturating_sub(len)) {
                if thread.branch.len() == frozen_at {
                    thread.freeze(src);
                }
                next.push(Arc::make_mut(&mut thread.branch), &nowhere, src);
            }
        }
        if thread.branch.len() == frozen_at {
            thread.freeze(src);
        }
        thread.log_from = state.log.saturating_sub(stored.log.len() as u64);
        thread.log = stored.log;
        thread.ledger = stored.ledger;
        let from = usize::try_from(thread.ledger.messages()).unwrap_or(usize::MAX);
        for at in from..thread.branch.len() {
            let view = thread.branch.view(at).clone();
            if is_placeholder(&view) {
                return Err(RestoreError::Missing(thread.branch.path()[at]));
            }
            thread
                .ledger
                .fold_clear(&view, src.texts, &thread.policy.redact);
        }
        thread.undone = state.undone;
        thread.version = state.version;
        thread.fence = state.fence;
        thread.fixed = state.fixed;
        thread.breaker = state.breaker;
        thread.overflowed = state.overflowed;
        thread.refused = state.refused;
        thread.learnt = state.learnt;
        thread.calibrator = state.calibrator;
        thread.sent_under = state.sent_under.map(|sent| sent.under);
        thread.quiet_until = state.quiet_until;
        thread.next_attempt = state.next_attempt;
        thread.shrunk = state.shrunk;
        thread.last_request = state.last_request;
        thread.spent = state.spent;
        thread.live_patches = state.live_patches;
        thread.live = state.live;
        thread.show_rest(src);
        for at in thread.frozen.end..thread.branch.len() {
            thread.look_for_calls(at);
        }
        // What limits in force at every rendering may shorten depends on all pieces of a reply.
        let is_limited = |p: &Prune| p.when == PruneWhen::Always;
        if let Some(absent) = thread.absent
            && thread.policy.prune.as_ref().is_some_and(is_limited)
            && absent.until < thread.branch.len()
            && thread.goes_on_with_absent(absent.until, thread.branch.view(absent.until))
        {
            thread.needs_whole();
        }
        let units = thread.branch.units();
        // Whether a call has been passed by depends on who spoke behind it.
        let is_open = |until| units.open_calls().any(|call| call.at < until);
        let is_missed = !thread.is_enough()
            || !units.orphans().is_empty()
            // Calls without an id are answered by position, so what is absent decides too.
            || units.calls().iter().any(|call| call.id.as_str().is_empty())
            || thread.absent.is_some_and(|absent| is_open(absent.until));
        match thread.branch.head() {
            Some(head) if thread.is_partial() && is_missed => Err(RestoreError::Missing(head)),
            _ => Ok(thread),
        }
    }

    fn take_records(
        &mut self,
        state: &State,
        records: Vec<Arc<Record>>,
    ) -> Result<(), RestoreError> {
        if let Some(newer) = records.iter().find(|r| r.format > RECORD_FORMAT) {
            return Err(RestoreError::Newer(newer.format));
        }
        self.active = state.active;
        let missing = |id| RestoreError::NoRecord(RecordId(id));
        if records.len() as u64 == state.records {
            self.records = records;
        } else {
            // A place whose record was not read holds another one, which `record` does not take for it.
            let Some(other) = records.last().cloned() else {
                return Err(missing(state.active.map_or(0, |r| r.0)));
            };
            self.absent.get_or_insert_default();
            let count = usize::try_from(state.records).unwrap_or(usize::MAX);
            self.records = vec![other; count];
            for record in records {
                let place = usize::try_from(record.id.0).unwrap_or(usize::MAX);
                let slot = self.records.get_mut(place).ok_or(missing(record.id.0))?;
                *slot = record;
            }
        }
        let Some(id) = self.active else {
            return Ok(());
        };
        let active = self.record(id).ok_or(missing(id.0))?;
        // A peer's summaries pile up, so the earlier records are shown too.
        let shows_others = active.peer.is_some() && active.parent.is_some();
        match state.head() {
            Some(head) if shows_others && self.absent.is_some() => Err(RestoreError::Missing(head)),
            _ => Ok(()),
        }
    }

    /// The branch, in order. Runs of what was not read are taken at once.
    fn take_messages(
        &mut self,
        state: &State,
        messages: Vec<(NodeId, Known)>,
    ) -> Result<Vec<Next>, RestoreError> {
        let active = self.active().cloned();
        let newest = NodeId(state.nodes.saturating_sub(1));
        // A view's handle has 32 bits.
        let nodes = u32::try_from(state.nodes).map_err(|_| RestoreError::Damaged(newest))? as usize;
        let is_run = |(first, last): &(NodeId, NodeId)| first <= last;
        let is_behind = |runs: &[(NodeId, NodeId)]| runs[0].1 < runs[1].0;
        if !state.path.iter().all(is_run) || !state.path.windows(2).all(is_behind) {
            return Err(RestoreError::Damaged(newest));
        }
        let nowhere = Node {
            parent: None,
            prefix: Ident::EMPTY,
            view: Arc::new(placeholder()),
        };
        let mut history = History::default();
        history.reserve(nodes + nodes / 64 + 16);
        let mut branch = Vec::new();
        let mut on_branch = 0;
        let mut path = state.path.as_slice();
        let mut messages = messages.into_iter().peekable();
        while history.len() < nodes {
            let id = NodeId(history.len() as u64);
            let given = messages.peek().map_or(state.nodes, |(node, _)| node.0);
            if id.0 < given {
                let behind = given.min(state.nodes);
                let absent = self.absent.get_or_insert_default();
                for (first, last) in take_runs(&mut path, id, behind) {
                    let removed = active.as_ref().map(|record| &record.removed);
                    let outside = removed.map_or(Some(first), |r| r.first_outside(first, last));
                    if let Some(missing) = outside {
                        return Err(RestoreError::Missing(missing));
                    }
                    on_branch += (last.0 - first.0 + 1) as usize;
                    absent.until = on_branch;
                    branch.push(Next::Absent(first, last));
                }
                history.restore_absent((behind - id.0) as usize, nowhere.clone());
                continue;
            }
            let Some((node, known)) = messages.next() else {
                break;
            };
            if node != id || known.parent.is_some_and(|parent| parent >= id) {
                return Err(RestoreError::Damaged(node));
            }
            let before = match known.parent {
                None => Some(Ident::EMPTY),
                Some(parent) => history.node(parent).map(|n| n.prefix),
            };
            let follows = known.parent.is_none() || before != Some(Ident::EMPTY);
            if follows && before.map(|b| b.then(known.view.ident)) != Some(known.prefix) {
                return Err(RestoreError::Damaged(id));
            }
            if let Some(report) = known.report {
                self.reports.insert(id, report.under);
            }
            for _ in take_runs(&mut path, id, id.0 + 1) {
                on_branch += 1;
                branch.push(Next::read(id, &known));
            }
            history.restore(Node {
                parent: known.parent,
                prefix: known.prefix,
                view: known.view,
            });
        }
        if branch.last().map(Next::newest) != state.head() {
            return Err(RestoreError::Damaged(state.head().unwrap_or(newest)));
        }
        self.history = history;
        Ok(branch)
    }
}

/// What of a thread was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Absent {
    /// From here on every message of the branch is here.
    until: Pos,
    /// Something came that may belong to what is absent.
    is_missed: bool,
}

/// What comes next on the branch.
enum Next {
    /// A message.
    Read(ReadNext),
    /// Messages that were not read, neighbouring numbers, both ends included.
    Absent(NodeId, NodeId),
}

struct ReadNext {
    node: NodeId,
    view: Arc<MessageView>,
    weight: Option<Weight>,
    prefix: Ident,
}

impl Next {
    fn read(node: NodeId, known: &Known) -> Self {
        Self::Read(ReadNext {
            node,
            view: known.view.clone(),
            weight: known.weight,
            prefix: known.prefix,
        })
    }

    fn newest(&self) -> NodeId {
        match self {
            Self::Read(read) => read.node,
            Self::Absent(_, last) => *last,
        }
    }

    /// The first `count` messages of it, and the others.
    fn split(self, count: usize) -> impl Iterator<Item = Self> {
        let (first, second) = match self {
            Self::Absent(first, last) if count > 0 && (count as u64) <= last.0 - first.0 => {
                let middle = first.0 + count as u64;
                let before = Self::Absent(first, NodeId(middle - 1));
                (before, Some(Self::Absent(NodeId(middle), last)))
            }
            whole => (whole, None),
        };
        std::iter::once(first).chain(second)
    }

    fn push(self, branch: &mut Branch, nowhere: &Arc<MessageView>, src: Sources<'_>) {
        match self {
            Self::Absent(first, last) => branch.skip((first, last), nowhere),
            Self::Read(read) => {
                let weigh = || src.counter.message(&read.view, src.texts);
                let weight = read.weight.unwrap_or_else(weigh);
                branch.push(read.node, read.view, weight);
                branch.set_prefix(read.prefix);
            }
        }
    }
}

/// The runs of `path` among the numbers from `first` to before `behind`. What is before them leaves `path`.
fn take_runs<'p>(
    path: &mut &'p [(NodeId, NodeId)],
    first: NodeId,
    behind: u64,
) -> impl Iterator<Item = (NodeId, NodeId)> + use<'p> {
    while let Some(((_, last), rest)) = path.split_first()
        && *last < first
    {
        *path = rest;
    }
    let within = path.iter().take_while(move |(from, _)| from.0 < behind);
    within.map(move |(from, to)| (*from.max(&first), NodeId(to.0.min(behind - 1))))
}

/// Runs of neighbouring numbers.
fn runs(path: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let mut runs: Vec<(NodeId, NodeId)> = Vec::new();
    for node in path {
        match runs.last_mut() {
            Some((_, last)) if last.0 + 1 == node.0 => *last = *node,
            _ => runs.push((*node, *node)),
        }
    }
    runs
}

/// What stands where a message was not read.
fn placeholder() -> MessageView {
    let view = MessageView::new(Handle(u32::MAX), Role::Tool, Vec::new(), Ident::EMPTY);
    let flags = Flags {
        hidden: true,
        ..Flags::default()
    };
    MessageView { flags, ..view }
}

fn is_placeholder(view: &MessageView) -> bool {
    view.handle == Handle(u32::MAX) && view.ident == Ident::EMPTY
}
