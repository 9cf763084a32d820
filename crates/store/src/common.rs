//! What every store decides alike.

use conspectus::store::{Head, StoreError, StoredMessage, Write, Written};
use conspectus_core::effect::{Fence, Millis};
use conspectus_core::id::{Ident, NodeId};

/// What becomes of a write, before anything is written: `Some` ends it. `once`: what was written under its key.
///
/// # Errors
/// When it contradicts itself or the thread.
pub(crate) fn decide(
    head: &Head,
    once: Option<(Ident, NodeId)>,
    write: &Write,
) -> Result<Option<Written>, StoreError> {
    if let (Some((digest, first)), Some(asked)) = (once, &write.once) {
        return Ok(Some(match digest == asked.digest {
            true => Written::Repeated(first),
            false => Written::KeyReused,
        }));
    }
    if let Some(commit) = &write.commit
        && (commit.expect.version, commit.expect.fence) != (head.version, head.fence)
    {
        return Ok(Some(Written::Conflict));
    }
    if write.revision != head.revision {
        return Ok(Some(Written::Behind(head.revision)));
    }
    let unfit = |what: &str| Err(StoreError::Unfit(what.to_owned()));
    if let Some(commit) = &write.commit {
        if commit.record.id.0 != head.records {
            return unfit("the record has another number than the next one");
        }
        if write.state.is_none() {
            return unfit("a record comes with the state after it");
        }
    }
    for (number, message) in (head.nodes..).zip(&write.messages) {
        if message.known.parent.is_some_and(|p| p.0 >= number) {
            return unfit("a message comes before the one it follows");
        }
    }
    let nodes = head.nodes + write.messages.len() as u64;
    let records = head.records + u64::from(write.commit.is_some());
    if let Some(state) = &write.state
        && (state.knows().0, state.knows().1) != (nodes, records)
    {
        return unfit("the state knows other messages or records than there are");
    }
    if write.changed.iter().any(|(node, _)| node.0 >= head.nodes) {
        return unfit("a message that is not there cannot change");
    }
    Ok(None)
}

/// What the paths to new messages weigh. `before`: what the path to a stored one does.
pub(crate) fn cumulative(
    head: &Head,
    write: &Write,
    before: impl Fn(NodeId) -> u64,
) -> Vec<StoredMessage> {
    let mut stored: Vec<StoredMessage> = Vec::with_capacity(write.messages.len());
    for (number, message) in (head.nodes..).zip(&write.messages) {
        let parent = message.known.parent.map_or(0, |parent| {
            let new = parent.0.checked_sub(head.nodes);
            let new = new.and_then(|at| stored.get(usize::try_from(at).ok()?));
            new.map_or_else(|| before(parent), |m| m.cumulative)
        });
        stored.push(StoredMessage {
            node: NodeId(number),
            cumulative: parent.saturating_add(message.known.weight.unwrap_or(0)),
            message: message.clone(),
            stored_ms: write.now,
        });
    }
    stored
}

/// Who has a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) holder: Option<String>,
    pub(crate) fence: Fence,
    pub(crate) until_ms: Millis,
}

impl Held {
    /// Who has it after `holder` asked for it; `None`: somebody else still has it.
    pub(crate) fn asked(&self, holder: &str, ttl_ms: Millis, now: Millis) -> Option<Self> {
        let is_held = self.holder.is_some() && now < self.until_ms;
        let is_own = self.holder.as_deref() == Some(holder);
        let fence = match (is_held, is_own) {
            (true, false) => return None,
            (true, true) => self.fence,
            (false, _) => Fence(self.fence.0 + 1),
        };
        Some(Self {
            holder: Some(holder.to_owned()),
            fence,
            until_ms: now.saturating_add(ttl_ms),
        })
    }
}
