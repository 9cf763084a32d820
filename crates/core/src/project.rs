//! From history and record to the request: a pure function, so the same history gives the same bytes.
//!
//! Without a record the request is the history as it is, faults included. With one, what the host's list had
//! wrong is set right while it is rendered anyway: answers that no call asked for are left out, and a call
//! that nobody will answer gets a stand-in.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::frame;
use crate::id::CallId;
use crate::patch::{Patch, PatchCause};
use crate::projection::{Block, BlockKind, Piece};
use crate::record::{Patches, Summary};
use crate::unit::{Call, Pos};
use crate::view::Role;
use crate::window::Branch;

/// What shapes a request beside the history.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    /// Folded positions.
    pub is_folded: &'a dyn Fn(Pos) -> bool,
    /// Shortened parts.
    pub patches: &'a Patches,
    /// The summary, with where it is shown.
    pub summary: Option<(&'a Summary, crate::policy::Placement)>,
    /// Calls that the host still waits for.
    pub pending: &'a BTreeSet<CallId>,
}

/// The pieces for the positions before `end`, repaired.
pub fn frozen(branch: &Branch, end: Pos, shape: &Shape<'_>) -> Vec<Piece> {
    let repairs = Repairs::of(branch, end, shape);
    let mut pieces = Vec::with_capacity(end.min(64));
    let mut blocks = shape
        .summary
        .map(|(s, at)| frame::blocks(&s.text, at))
        .unwrap_or_default();
    let leading = branch.leading_system();
    for at in 0..end {
        if at == leading {
            pieces.extend(blocks.drain(..).map(Piece::Insert));
        }
        if !(shape.is_folded)(at) {
            pieces.extend(repairs.piece(branch, at, shape.patches));
            pieces.extend(repairs.stand_ins(at));
        }
    }
    pieces.extend(blocks.drain(..).map(Piece::Insert));
    pieces
}

/// The piece of a message that arrived after the record.
pub fn as_it_is(branch: &Branch, at: Pos, patches: &Patches) -> Piece {
    let handle = branch.view(at).handle;
    match patches.get(&branch.path()[at]) {
        Some(edits) if !edits.is_empty() => Piece::Edit(handle, edits.clone()),
        _ => Piece::Keep(handle),
    }
}

/// Calls on the branch that the conversation has passed by without an answer, in order.
pub fn dangling<'a>(
    branch: &'a Branch,
    pending: &'a BTreeSet<CallId>,
) -> impl Iterator<Item = &'a Call> + 'a {
    let passed = (0..branch.len()).rev().find(|at| {
        let view = branch.view(*at);
        view.is_user_request() || view.role == Role::Assistant
    });
    branch.units().open_calls().filter(move |call| {
        let moved_on = passed.is_some_and(|at| {
            at > call.at && branch.units().index_of(at) != branch.units().index_of(call.at)
        });
        moved_on && !pending.contains(&call.id)
    })
}

struct Repairs {
    /// Answers to leave out (position, part).
    extra: BTreeSet<(Pos, usize)>,
    /// Where stand-ins go: after this position.
    stand_ins: Vec<(Pos, Block)>,
}

impl Repairs {
    fn of(branch: &Branch, end: Pos, shape: &Shape<'_>) -> Self {
        let units = branch.units();
        let mut extra: BTreeSet<_> = units
            .orphans()
            .iter()
            .filter(|(at, _)| *at < end)
            .copied()
            .collect();
        for call in units
            .calls()
            .iter()
            .filter(|c| !shape.pending.contains(&c.id))
        {
            extra.extend(
                call.answers
                    .iter()
                    .skip(1)
                    .filter(|(at, _)| *at < end)
                    .copied(),
            );
        }
        let mut stand_ins = Vec::new();
        for call in
            dangling(branch, shape.pending).filter(|c| c.at < end && !(shape.is_folded)(c.at))
        {
            let text = "No result: this call was never answered.".into();
            let kind = BlockKind::Answer {
                id: call.id.clone(),
                tool: call.tool.clone(),
            };
            stand_ins.push((
                last_answer_beside(branch, call, end),
                Block {
                    kind,
                    role: Role::Tool,
                    text,
                },
            ));
        }
        stand_ins.sort_by_key(|(at, _)| *at);
        Self { extra, stand_ins }
    }

    fn piece(&self, branch: &Branch, at: Pos, patches: &Patches) -> Option<Piece> {
        let view = branch.view(at);
        let mut edits: Vec<Patch> = Vec::new();
        for (part, _) in view
            .results()
            .filter(|(part, _)| self.extra.contains(&(at, *part)))
        {
            edits.push(Patch::Remove {
                part: u16::try_from(part).ok()?,
                cause: PatchCause::Orphan,
            });
        }
        if edits.is_empty() {
            return Some(as_it_is(branch, at, patches));
        }
        let outer = view.parts.iter().filter(|p| p.inside.is_none()).count();
        if edits.len() == outer {
            return None;
        }
        let gone: BTreeSet<u16> = edits.iter().map(Patch::part).collect();
        let others = patches
            .get(&branch.path()[at])
            .map(|p| p.to_vec())
            .unwrap_or_default();
        edits.extend(others.into_iter().filter(|p| !gone.contains(&p.part())));
        Some(Piece::Edit(view.handle, Arc::from(edits)))
    }

    fn stand_ins(&self, at: Pos) -> impl Iterator<Item = Piece> + '_ {
        let from = self.stand_ins.partition_point(|(place, _)| *place < at);
        self.stand_ins[from..]
            .iter()
            .take_while(move |(place, _)| *place == at)
            .map(|(_, b)| Piece::Insert(b.clone()))
    }
}

/// The end of the run of answers directly behind the calling message: stand-ins follow them.
fn last_answer_beside(branch: &Branch, call: &Call, end: Pos) -> Pos {
    let units = branch.units();
    let unit = units.index_of(call.at);
    let mut place = call.at;
    while place + 1 < end
        && units.index_of(place + 1) == unit
        && branch.view(place + 1).results().next().is_some()
    {
        place += 1;
    }
    place
}
