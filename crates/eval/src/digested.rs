//! A whole compaction by our digest: the newest whole units as they are, what lies before them as an extract.

use std::ops::Range;

use conspectus_core::count::TokenCounter as _;
use conspectus_core::digest::{DigestSource, digest};
use conspectus_core::ledger::Ledger;
use conspectus_core::view::{MessageView, Role};

use crate::counter::EvalCounter;
use crate::part::{Part, groups, quarters, render_all};
use crate::session::Session;

/// Percent of the budget that the newest whole units may take.
const TAIL: usize = 15;
const RULE: &str = "\n---\n";

/// A conversation that is compacted again and again as it grows.
#[derive(Clone, Debug, Default)]
pub struct Digested {
    /// What was folded is forgotten, as in a file that is replaced by its compacted form: a later digest reads the one
    /// before it. A thread forgets nothing, and each of its digests is made from all that is folded.
    forgets: bool,
    ledger: Ledger,
    /// Messages that are only in the digest.
    gone: usize,
    /// The digest of these.
    text: String,
}

impl Digested {
    /// See [`Self`]; `default()` forgets nothing.
    pub(crate) fn forgetting(forgets: bool) -> Self {
        Self {
            forgets,
            ..Self::default()
        }
    }

    /// Compacts the messages up to `until` and gives what the model would still see: at most `budget` tokens.
    pub fn compact(&mut self, session: &Session<'_>, until: usize, budget: usize) -> String {
        let until = until.min(session.views.len());
        let (first_kept, tail) = tail(session, self.gone..until, budget * TAIL / 100);
        let is_said = |view: &&MessageView| view.role != Role::System;
        let new: Vec<&MessageView> = session.views[self.gone..first_kept]
            .iter()
            .filter(is_said)
            .collect();
        let kept: Vec<&MessageView> = session.views[first_kept..until]
            .iter()
            .filter(is_said)
            .collect();
        for view in &new {
            self.ledger.fold(view, session.texts);
        }
        let gone = match self.forgets {
            true => new,
            false => session.views[..first_kept].iter().filter(is_said).collect(),
        };
        let tail = if tail.is_empty() {
            tail
        } else {
            [RULE, &tail].concat()
        };
        let room = (budget as u64).saturating_sub(EvalCounter.tokens(EvalCounter.text(&tail)));
        let source = DigestSource {
            messages: &gone,
            kept: &kept,
            texts: session.texts,
            previous: Some(self.text.as_str()).filter(|text| self.forgets && !text.is_empty()),
            beside: "",
            ledger: &self.ledger,
        };
        self.text = digest(&source, room, &EvalCounter).text;
        self.gone = first_kept;
        [self.text.as_str(), &tail].concat()
    }

    /// The user's standing rules among what was folded.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.ledger.rules().iter().map(|rule| rule.text.as_ref())
    }
}

/// Which message the newest whole units that fit `budget` begin with, and their text.
fn tail(session: &Session<'_>, within: Range<usize>, budget: usize) -> (usize, String) {
    let place = |part: &Part| usize::try_from(part.message).unwrap_or(usize::MAX);
    let parts: Vec<Part> = session
        .parts
        .iter()
        .filter(|part| within.contains(&place(part)))
        .cloned()
        .collect();
    let (mut start, mut used, mut units) = (within.end, 0, Vec::new());
    for group in groups(&parts).iter().rev() {
        let text = render_all(group.iter().map(|at| &parts[*at]));
        // With the line end that joins it to the next.
        let size = quarters(&text) + usize::from(!units.is_empty());
        if (used + size).div_ceil(4) > budget {
            break;
        }
        used += size;
        units.push(text);
        start = group.first().map_or(start, |at| place(&parts[*at]));
    }
    units.reverse();
    (start, units.join("\n"))
}
