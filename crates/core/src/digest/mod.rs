//! The digest: a summary of removed messages made without a model. It only ever repeats what stands in
//! the source, and the same source gives the same bytes.
//!
//! Structure first: the user's words and standing rules verbatim, then the facts of the [`Ledger`], then
//! the course of the work in its most telling lines, then names that may be needed again and are not shown
//! yet. Lines are chosen greedily by what they add for each token: entities weighted by how likely they
//! are used again, words weighted by how seldom they are, both only if nothing shown so far has them.
//!
//! Cost: the text is read once; choosing is O(n log n) in its lines. The budget is a hard limit by the
//! given counter.

mod load;
mod names;
mod noise;
mod pool;
mod render;
mod scan;
mod select;
mod sentence;

use crate::count::TokenCounter;
use crate::ledger::{Ledger, Row};
use crate::view::{MessageView, Texts};

pub(crate) use noise::said;
pub(crate) use scan::{EntityKind, entities};
pub(crate) use sentence::{cut_end, is_dense, words};

/// What is digested.
#[derive(Clone, Copy)]
pub struct DigestSource<'a> {
    /// The messages that go, in order.
    pub messages: &'a [&'a MessageView],
    /// The messages that stay in sight after the digest: what they say is not repeated. May be empty.
    pub kept: &'a [&'a MessageView],
    /// Their texts.
    pub texts: &'a dyn Texts,
    /// The summary that stood before these messages, if there was one. Its most telling lines stay.
    pub previous: Option<&'a str>,
    /// The facts of the thread up to the end of `messages`.
    pub ledger: &'a Ledger,
    /// What is shown beside the digest ([`crate::durable`]): not said again.
    pub beside: &'a str,
}

impl<'a> DigestSource<'a> {
    /// Messages with nothing before and nothing kept.
    pub fn new(messages: &'a [&'a MessageView], texts: &'a dyn Texts, ledger: &'a Ledger) -> Self {
        Self {
            messages,
            kept: &[],
            texts,
            previous: None,
            ledger,
            beside: "",
        }
    }

    /// With the summary that stood before.
    pub fn with_previous(self, previous: Option<&'a str>) -> Self {
        Self { previous, ..self }
    }

    /// With the messages that stay in sight.
    pub fn with_kept(self, kept: &'a [&'a MessageView]) -> Self {
        Self { kept, ..self }
    }
}

/// A summary made without a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The summary; empty when there is nothing to say or no room to say it.
    pub text: String,
    /// What went into it.
    pub stats: DigestStats,
}

/// What a digest shows, and out of how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestStats {
    /// Size of the text by the given counter.
    pub tokens: u64,
    /// Sentences and lines in the source.
    pub lines: usize,
    /// Of these shown.
    pub lines_shown: usize,
    /// Sentences that the user said.
    pub user_lines: usize,
    /// Of these shown.
    pub user_lines_shown: usize,
    /// Entities (paths, identifiers, numbers, …) in the source.
    pub entities: usize,
    /// Entities listed by name only, beside those in the lines.
    pub names_listed: usize,
    /// Facts of the ledger shown.
    pub facts_shown: usize,
}

/// Digests `source` into at most `budget_tokens` by `counter`.
pub fn digest(source: &DigestSource<'_>, budget_tokens: u64, counter: &dyn TokenCounter) -> Digest {
    let pieces = load::load(source);
    let pool = pool::Pool::new(&pieces, source.messages.len());
    let is_new = |row: &Row| source.beside.is_empty() || !source.beside.contains(&row.text);
    let rows: Vec<Row> = source.ledger.rows().into_iter().filter(is_new).collect();
    let mut selection = select::Selection::new(&pool, &pieces, &rows, counter, budget_tokens);
    selection.see_kept(source);
    selection.see_beside(source);
    selection.fill(source.ledger);
    render::fitted(&selection, counter, budget_tokens)
}

#[cfg(test)]
mod tests;
