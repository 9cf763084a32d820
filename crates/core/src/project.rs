//! From history and record to the request: a pure function, so the same history gives the same bytes.
//!
//! Without a record the request is the history as it is, faults included. With one, what the host's list had
//! wrong is set right while it is rendered anyway: answers that no call asked for are left out, and a call
//! that nobody will answer gets a stand-in.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::frame;
use crate::id::CallId;
use crate::patch::{Patch, PatchCause, Site};
use crate::planted::{Bug, planted};
use crate::policy::Placement;
use crate::projection::{Block, BlockKind, Piece};
use crate::record::Patches;
use crate::unit::{Call, Pos};
use crate::view::{PartKind, Role};
use crate::window::Branch;

/// What stands where an answer never came.
pub const STAND_IN: &str = "No result: this call was never answered.";

/// What shapes a request beside the history.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    /// Folded positions.
    pub is_folded: &'a dyn Fn(Pos) -> bool,
    /// Shortened parts.
    pub patches: &'a Patches,
    /// What is shown of the summary; of a peer's record there can be several, oldest first.
    pub summaries: &'a [Arc<str>],
    /// What code keeps beside the newest.
    pub durable: &'a str,
    /// Where it is shown.
    pub placement: Placement,
    /// Whether faults of the list are set right. A peer's record leaves them, under `strict_parity` only.
    pub repairs: bool,
    /// Calls that the host still waits for.
    pub pending: &'a BTreeSet<CallId>,
}

/// The pieces for the positions before `end`, repaired.
pub fn frozen(branch: &Branch, end: Pos, shape: &Shape<'_>) -> Vec<Piece> {
    let repairs = Repairs::of(branch, end, shape);
    let mut pieces = Vec::with_capacity(end.min(64));
    let mut blocks = frame::all_blocks(shape.summaries, shape.durable, shape.placement);
    if planted(Bug::SummaryTwice) {
        blocks.extend(blocks.clone());
    }
    let leading = branch.leading_system();
    // Only a peer folds the system prompt.
    let prompt = in_prompt(branch, &blocks, shape.placement)
        .filter(|(at, _)| *at < end && !(shape.is_folded)(*at));
    if prompt.is_some() {
        blocks.clear();
    }
    for at in 0..end {
        if at == leading {
            pieces.extend(blocks.drain(..).map(Piece::Insert));
        }
        if let Some((_, patch)) = prompt.as_ref().filter(|(place, _)| *place == at) {
            let edits = Arc::from([patch.clone()]);
            pieces.push(Piece::Edit(branch.view(at).handle, edits));
        } else if !(shape.is_folded)(at) {
            pieces.extend(repaired(branch, at, &repairs.extra, shape.patches));
            pieces.extend(repairs.stand_ins(at));
        }
    }
    pieces.extend(blocks.drain(..).map(Piece::Insert));
    if planted(Bug::SwappedOrder)
        && let [.., a, b] = pieces.as_mut_slice()
    {
        std::mem::swap(a, b);
    }
    pieces
}

/// Where the summary, as `shown`, stands at the end of the system prompt: the newest of the leading system messages,
/// and what is added to it. `None` for other placements, and where no system prompt with a text is.
pub fn in_prompt(branch: &Branch, shown: &[Block], placement: Placement) -> Option<(Pos, Patch)> {
    if placement != Placement::SystemEnd || shown.is_empty() {
        return None;
    }
    let at = branch.leading_system().checked_sub(1)?;
    let parts = branch.view(at).parts.iter().enumerate().rev();
    let mut texts = parts.filter(|(_, p)| p.inside.is_none() && p.kind == PartKind::Text);
    let (part, text) = texts.next()?;
    let shown: String = shown
        .iter()
        .flat_map(|b| ["\n\n", b.text.as_ref()])
        .collect();
    let patch = Patch::Cut {
        part: u16::try_from(part).ok()?,
        site: Site::Text,
        range: text.len..text.len,
        marker: shown.into(),
        cause: PatchCause::Summary,
    };
    Some((at, patch))
}

/// The piece of a message that arrived after the record: as it is, but without answers to calls that were
/// folded before they came, since no call is left that they could answer. `None` when nothing else is in it.
pub(crate) fn tail_piece(
    branch: &Branch,
    at: Pos,
    is_folded: &dyn Fn(Pos) -> bool,
    patches: &Patches,
) -> Option<Piece> {
    let folded = |part: &usize| {
        branch
            .units()
            .call_of(at, *part)
            .is_some_and(|call| is_folded(call.at))
    };
    let late = branch
        .view(at)
        .results()
        .map(|(part, _)| part)
        .filter(folded);
    without(branch, at, &late.collect::<Vec<_>>(), patches)
}

/// The piece of a message with its patches.
fn as_it_is(branch: &Branch, at: Pos, patches: &Patches) -> Piece {
    let handle = branch.view(at).handle;
    match patches.get(&branch.path()[at]) {
        Some(edits) if !edits.is_empty() => Piece::Edit(handle, edits.clone()),
        _ => Piece::Keep(handle),
    }
}

/// Calls on the branch that the conversation has passed by without an answer, in order.
pub(crate) fn dangling<'a>(
    branch: &'a Branch,
    pending: &'a BTreeSet<CallId>,
) -> impl Iterator<Item = &'a Call> + 'a {
    let (views, units) = (branch.views(), branch.units());
    let is_reply = |at: &Pos| views[*at].role == Role::Assistant;
    // Who speaks in the message that answers the others of a batch has moved on too.
    let request = views.iter().rposition(|view| view.is_user_request());
    let reply = (0..views.len()).rev().find(is_reply);
    let of_another_unit = |newest: Pos| {
        let is_another = |at: &Pos| units.index_of(*at) != units.index_of(newest);
        (0..newest).rev().filter(is_reply).find(is_another)
    };
    let reply_before = reply.and_then(of_another_unit);
    units.open_calls().filter(move |call| {
        // A unit's own pieces do not pass over its calls.
        let is_own = |at: Pos| units.index_of(at) == units.index_of(call.at);
        let other = if reply.is_some_and(is_own) {
            reply_before
        } else {
            reply
        };
        request.max(other) > Some(call.at) && !pending.contains(&call.id)
    })
}

/// The piece of a message without these parts; `None` when nothing else is in it.
fn without(branch: &Branch, at: Pos, parts: &[usize], patches: &Patches) -> Option<Piece> {
    if parts.is_empty() {
        return Some(as_it_is(branch, at, patches));
    }
    let view = branch.view(at);
    if parts.len() == view.parts.iter().filter(|p| p.inside.is_none()).count() {
        return None;
    }
    // What stands inside an answer goes with it.
    let is_gone = |part: &usize| {
        let outer = view.parts[*part].inside.map_or(*part, usize::from);
        parts.contains(&outer)
    };
    let gone = (0..view.parts.len()).filter(is_gone);
    let gone: BTreeSet<u16> = gone.filter_map(|part| u16::try_from(part).ok()).collect();
    let is_gone = |patch: &Patch| gone.contains(&patch.part());
    let others = patches
        .get(&branch.path()[at])
        .into_iter()
        .flat_map(|p| p.iter());
    let mut edits: Vec<Patch> = gone
        .iter()
        .map(|part| Patch::Remove {
            part: *part,
            cause: PatchCause::Orphan,
        })
        .collect();
    edits.extend(others.filter(|p| !is_gone(p)).cloned());
    Some(Piece::Edit(view.handle, Arc::from(edits)))
}

/// Answers that are left out of the positions before `end` when they are rendered anew (position, part).
fn left_out(branch: &Branch, end: Pos, shape: &Shape<'_>) -> BTreeSet<(Pos, usize)> {
    if !shape.repairs {
        return BTreeSet::new();
    }
    let units = branch.units();
    let shown = |at: Pos| at < end && !(shape.is_folded)(at);
    let mut extra: BTreeSet<_> = units
        .orphans()
        .iter()
        .filter(|(at, _)| shown(*at))
        .copied()
        .collect();
    for call in units.calls() {
        // Answers to a call that was folded before they came, and answers after the first one.
        let from = match (shape.is_folded)(call.at) {
            true => 0,
            false if shape.pending.contains(&call.id) => call.answers.len(),
            false => 1,
        };
        let late = call.answers.iter().skip(from).filter(|(at, _)| shown(*at));
        extra.extend(late.copied());
    }
    if planted(Bug::OrphanKept) {
        extra.clear();
    }
    extra
}

/// The messages before `end` that are in the request when it is rendered anew, each with its piece.
pub fn shown<'a>(
    branch: &'a Branch,
    end: Pos,
    shape: &'a Shape<'_>,
) -> impl Iterator<Item = (Pos, Piece)> + 'a {
    let extra = left_out(branch, end, shape);
    (0..end)
        .filter(|at| !(shape.is_folded)(*at))
        .filter_map(move |at| Some((at, repaired(branch, at, &extra, shape.patches)?)))
}

/// The piece of a message without the answers that are left out.
fn repaired(
    branch: &Branch,
    at: Pos,
    extra: &BTreeSet<(Pos, usize)>,
    patches: &Patches,
) -> Option<Piece> {
    let results = branch.view(at).results().map(|(part, _)| part);
    let extra = results.filter(|part| extra.contains(&(at, *part)));
    without(branch, at, &extra.collect::<Vec<_>>(), patches)
}

#[derive(Default)]
struct Repairs {
    /// Answers to leave out (position, part).
    extra: BTreeSet<(Pos, usize)>,
    /// Where stand-ins go: after this position.
    stand_ins: Vec<(Pos, Block)>,
}

impl Repairs {
    fn of(branch: &Branch, end: Pos, shape: &Shape<'_>) -> Self {
        if !shape.repairs {
            return Self::default();
        }
        let mut stand_ins = Vec::new();
        for call in
            dangling(branch, shape.pending).filter(|c| c.at < end && !(shape.is_folded)(c.at))
        {
            let text = STAND_IN.into();
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
        if planted(Bug::StandInMissing) {
            stand_ins.clear();
        }
        stand_ins.sort_by_key(|(at, _)| *at);
        let extra = left_out(branch, end, shape);
        Self { extra, stand_ins }
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
