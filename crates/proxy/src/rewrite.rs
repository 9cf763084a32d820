//! The body that goes up: the one that came, with the messages as the thread's projection says and all else byte for
//! byte.

use conspectus::Format;
use conspectus::RenderContext;
use conspectus::core::id::Handle;
use conspectus::core::projection::{Piece, Projection};
use conspectus::wire::valid;

use crate::list::{List, open};

/// Why a body goes up as it came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RewriteError {
    /// It cannot be read as a whole.
    #[error("the body cannot be read as a whole")]
    Unread,
    /// It cannot be written.
    #[error("the body cannot be written: {0}")]
    Unwritten(String),
    /// What would go up breaks a rule that the body kept.
    #[error("what would be sent breaks a rule that the body kept: {0}")]
    Invalid(String),
    /// It would not be smaller.
    #[error("what would be sent is not smaller")]
    NotSmaller,
}

/// The body for a projection of the first `messages` of its messages; what came behind them stays.
pub(crate) fn rewritten(
    list: &List,
    projection: &Projection,
    messages: usize,
) -> Result<Vec<u8>, RewriteError> {
    let count = list.len();
    let document = open(list.body().to_vec(), list.format()).ok_or(RewriteError::Unread)?;
    let has_all = document.conversations().first().map(|c| c.views().len()) == Some(count);
    if document.conversations().len() != 1 || !has_all {
        return Err(RewriteError::Unread);
    }
    let is_here = |piece: &&Piece| match piece {
        Piece::Keep(handle) | Piece::Edit(handle, _) => (handle.0 as usize) < count,
        Piece::Insert(_) => true,
    };
    let tail = projection.tail.iter().filter(is_here).cloned();
    let behind = (messages..count).filter_map(|at| u32::try_from(at).ok());
    let tail = tail.chain(behind.map(|at| Piece::Keep(Handle(at))));
    let projection = Projection {
        frozen: projection.frozen.clone(),
        tail: tail.collect::<Vec<_>>().into(),
    };
    let context = RenderContext {
        // Where the client keeps prefixes, the one that stays the same is worth a mark.
        cache_summary: list.format() == Format::Anthropic
            && memchr::memmem::find(list.body(), b"\"cache_control\"").is_some(),
        ..RenderContext::default()
    };
    let written = document
        .render(&[(0, &projection)], &context)
        .map_err(|why| RewriteError::Unwritten(why.to_string()))?;
    if written.len() >= list.body().len() {
        return Err(RewriteError::NotSmaller);
    }
    keeps_rules(list.format(), list.body(), &written)?;
    Ok(written)
}

/// Whether `after` breaks no rule of the provider that `before` kept.
pub(crate) fn keeps_rules(format: Format, before: &[u8], after: &[u8]) -> Result<(), RewriteError> {
    let broken = valid::check(format, after);
    if broken.is_empty() {
        return Ok(());
    }
    let was: Vec<valid::Rule> = valid::check(format, before)
        .iter()
        .map(|f| f.rule)
        .collect();
    match broken.into_iter().find(|fault| !was.contains(&fault.rule)) {
        // The detail may quote ids, which are the client's own; the rule says enough.
        Some(fault) => Err(RewriteError::Invalid(format!("{:?}", fault.rule))),
        None => Ok(()),
    }
}
