//! What a peer takes for a summary, and what it shows of it.

use std::sync::Arc;

use super::given::bound_chars;
use crate::effect::{Refusal, Reply};
use crate::policy::Preset;
use crate::record::Record;

/// deer-flow shows at most so many characters of a summary, whatever came.
const SHOWN_CHARS: usize = 6_000;

/// What each peer refuses: nothing but a blank answer, and LangChain not even that.
///
/// # Errors
/// The reply has no text.
pub(crate) fn accept(reply: &Reply, preset: Preset) -> Result<&str, Refusal> {
    match reply.text.trim() {
        "" if preset != Preset::Langchain => Err(Refusal::Blank),
        text => Ok(text),
    }
}

/// The summaries that `record` shows, oldest first: one, unless it is Nous's, whose earlier summaries are system
/// messages like others and stay. `parent` finds records.
pub(crate) fn in_force<'r>(
    record: &'r Record,
    parent: impl Fn(&'r Record) -> Option<&'r Record>,
) -> Vec<Arc<str>> {
    let mut out: Vec<_> = record.summary.iter().map(|s| s.text.clone()).collect();
    let mut newest = record;
    while newest.peer == Some(Preset::Nous)
        && let Some(before) = parent(newest)
    {
        // A record of pruning repeats the summary.
        if before.summaries < newest.summaries {
            out.extend(before.summary.iter().map(|s| s.text.clone()));
        }
        newest = before;
    }
    out.reverse();
    out
}

/// What is shown of a summary.
pub(crate) fn shown(text: &Arc<str>, peer: Option<Preset>) -> Arc<str> {
    match peer {
        Some(Preset::Deerflow) => bound_chars(text, SHOWN_CHARS).into(),
        _ => text.clone(),
    }
}
