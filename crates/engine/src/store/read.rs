//! How a thread is read from a store: its window, or whole.

use std::sync::Arc;

use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::ledger::Ledger;
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, State, Stored};

use super::{Head, StoreError, StoredMessage, ThreadKey, ThreadStore};

/// A thread as it was read: give `state` and `stored` to
/// [`Thread::restore`](conspectus_core::thread::Thread::restore), with texts over `messages`.
#[derive(Clone, Debug)]
pub struct Read {
    /// What the store knows of it; [`Head::revision`] is what the next write compares.
    pub head: Head,
    /// The state.
    pub state: State,
    /// What grows.
    pub stored: Stored,
    /// The messages with their bytes, ascending.
    pub messages: Vec<StoredMessage>,
}

/// Reads what the thread shows: its state, the record in force, what that does not fold, and the newest message. Costs what
/// is in the window. `None`: there is no such thread, or nothing was ever written to it.
///
/// # Errors
/// When the store fails.
pub async fn window(store: &dyn ThreadStore, key: &ThreadKey) -> Result<Option<Read>, StoreError> {
    let Some(head) = store.head(key).await? else {
        return Ok(None);
    };
    let Some(state) = head.state.clone() else {
        return Ok(None);
    };
    // Where all were taken back, one of them stands for those that are not read.
    let any = state.knows().1.checked_sub(1).map(RecordId);
    let records = match state.active().or(any) {
        Some(id) => store.records(key, id, id).await?,
        None => Vec::new(),
    };
    let active = records
        .iter()
        .find(|record| Some(record.id) == state.active());
    let mut messages = Vec::new();
    let mut runs = shown(&state, active.map(AsRef::as_ref));
    // The path goes on from its newest message, also where that is folded: a branch may begin there.
    if let Some(head) = state.head()
        && runs.last().is_none_or(|(_, last)| *last < head)
    {
        runs.push((head, head));
    }
    for (first, last) in runs {
        messages.extend(store.messages(key, first, last).await?);
    }
    let ledger = active.map(|record| record.ledger.clone());
    Ok(Some(read(
        head,
        &state,
        messages,
        records,
        Vec::new(),
        ledger,
    )))
}

/// Reads the whole thread, as compacting, moving and undoing need it.
///
/// # Errors
/// When the store fails.
pub async fn whole(store: &dyn ThreadStore, key: &ThreadKey) -> Result<Option<Read>, StoreError> {
    let Some(head) = store.head(key).await? else {
        return Ok(None);
    };
    let Some(state) = head.state.clone() else {
        return Ok(None);
    };
    let (nodes, count, _) = state.knows();
    let messages = match nodes.checked_sub(1) {
        Some(last) => store.messages(key, NodeId(0), NodeId(last)).await?,
        None => Vec::new(),
    };
    let records = match count.checked_sub(1) {
        Some(last) => store.records(key, RecordId(0), RecordId(last)).await?,
        None => Vec::new(),
    };
    let log = store.head_log(key).await?;
    let active = state
        .active()
        .and_then(|id| records.iter().find(|r| r.id == id));
    let ledger = active.map(|record| record.ledger.clone());
    Ok(Some(read(head, &state, messages, records, log, ledger)))
}

fn read(
    head: Head,
    state: &State,
    messages: Vec<StoredMessage>,
    records: Vec<Arc<Record>>,
    log: Vec<HeadChange>,
    ledger: Option<Ledger>,
) -> Read {
    let known = |m: &StoredMessage| (m.node, m.message.known.clone());
    let stored = Stored {
        messages: messages.iter().map(known).collect(),
        records,
        log,
        ledger: ledger.unwrap_or_default(),
    };
    Read {
        head,
        state: state.clone(),
        stored,
        messages,
    }
}

/// The branch without what the record folds, as runs of numbers.
fn shown(state: &State, active: Option<&Record>) -> Vec<(NodeId, NodeId)> {
    let mut runs = state.path().to_vec();
    for (from, to) in active.iter().flat_map(|record| record.removed.iter()) {
        let cut = |(first, last): (NodeId, NodeId)| {
            let before = (first, NodeId(last.0.min(from.0.wrapping_sub(1))));
            let behind = (NodeId(first.0.max(to.0.saturating_add(1))), last);
            let is_before = from.0 > first.0;
            let sides = match last < from || to < first {
                true => [Some((first, last)), None],
                false => [
                    Some(before).filter(|_| is_before),
                    Some(behind).filter(|(a, b)| a <= b && to < last),
                ],
            };
            sides.into_iter().flatten()
        };
        runs = runs.into_iter().flat_map(cut).collect();
    }
    runs
}
