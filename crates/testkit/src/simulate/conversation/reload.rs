//! A thread that is stored and opened again is the same thread (invariant 39).

use std::sync::Arc;

use conspectus_core::id::NodeId;
use conspectus_core::thread::{Known, Sources, State, Stored, Thread};
use conspectus_core::view::MessageView;

/// Stores the thread as JSON and opens it again.
///
/// # Errors
/// It is another one then.
pub(super) fn reloaded(thread: &Thread, src: Sources<'_>) -> Result<Thread, String> {
    let nodes = (0..thread.history().len() as u64).map(NodeId);
    let stored = stored(thread, nodes, usize::MAX)?;
    let again = Thread::restore(thread.policy().clone(), state(thread)?, stored, src)
        .map_err(|e| format!("39: the thread cannot be opened again: {e}"))?;
    if again != *thread {
        let (was, is) = (format!("{thread:#?}"), format!("{again:#?}"));
        let mut lines = was.lines().zip(is.lines());
        let other = lines.find(|(a, b)| a != b).unwrap_or_default();
        return Err(format!("39: opened again it is another thread: {other:?}"));
    }
    Ok(again)
}

/// Opens the thread with nothing of what was folded, and says the next messages to it as to the thread itself:
/// `grown` is what the thread became.
///
/// # Errors
/// What is shown or its size is another.
pub(super) fn in_part(
    thread: &Thread,
    next: &[MessageView],
    grown: &Thread,
    src: Sources<'_>,
) -> Result<bool, String> {
    let Some(active) = thread.active() else {
        return Ok(false);
    };
    let kept = |node: &NodeId| !active.removed.contains(*node);
    let nodes = thread.branch().path().iter().copied().filter(kept);
    let stored = stored(thread, nodes, 1)?;
    let Ok(mut part) = Thread::restore(thread.policy().clone(), state(thread)?, stored, src) else {
        return Ok(false);
    };
    let other = |part: &Thread, whole: &Thread| {
        let (is, was) = (part.projection(), whole.projection());
        let first = is.pieces().zip(was.pieces()).find(|(is, was)| is != was);
        match first {
            Some((is, was)) => Some(format!("it shows {is:?}, not {was:?}")),
            None if is != was => Some("it shows another end".to_owned()),
            None if part.size(src) != whole.size(src) => Some(format!(
                "its size is {:?}, not {:?}",
                part.size(src),
                whole.size(src)
            )),
            None if part.checked() != whole.checked() => Some("other calls are open".to_owned()),
            None if part.ledger() != whole.ledger() => Some("it knows other facts".to_owned()),
            None => None,
        }
    };
    if let Some(other) = other(&part, thread) {
        return Err(format!("39: opened without what was folded {other}"));
    }
    part.append(next.iter().cloned(), src);
    if let Some(other) = other(&part, grown).filter(|_| part.is_enough()) {
        return Err(format!(
            "39: opened without what was folded {other}, after more was said"
        ));
    }
    Ok(part.is_enough() && part.is_partial())
}

fn state(thread: &Thread) -> Result<State, String> {
    let json = serde_json::to_string(&thread.state()).map_err(|e| format!("39: {e}"))?;
    serde_json::from_str(&json).map_err(|e| format!("39: {e}"))
}

fn stored(
    thread: &Thread,
    nodes: impl Iterator<Item = NodeId>,
    records: usize,
) -> Result<Stored, String> {
    let read = |node| -> Option<(NodeId, Known)> {
        let json = serde_json::to_string(&thread.known(node)?).ok()?;
        Some((node, serde_json::from_str(&json).ok()?))
    };
    let messages: Option<Vec<_>> = nodes.map(read).collect();
    let records = match records {
        1 => thread.active().cloned().into_iter().collect(),
        _ => thread.records().to_vec(),
    };
    let mut again = Vec::new();
    for record in records {
        let json = serde_json::to_string(&record).map_err(|e| format!("39: {e}"))?;
        again.push(Arc::new(
            serde_json::from_str(&json).map_err(|e| format!("39: {e}"))?,
        ));
    }
    Ok(Stored {
        messages: messages.ok_or("39: a message does not go through JSON")?,
        records: again,
        log: thread.head_log().to_vec(),
        ledger: thread.ledger().clone(),
    })
}
