//! Reasoning that its provider signed, and what of it is bound to what stands before it.

use std::sync::Arc;

use crate::patch::{Patch, PatchCause};
use crate::prune::is_sealed;
use crate::unit::Pos;
use crate::view::{MessageView, PartKind, Role};
use crate::window::Branch;

/// Whether the message holds signed reasoning of its own.
pub(crate) fn is_bound(view: &MessageView) -> bool {
    let is_signed = |kind: &PartKind| matches!(kind, PartKind::Reasoning { bound: true });
    let mut own = view.parts.iter().filter(|part| part.inside.is_none());
    view.role == Role::Assistant && own.any(|part| is_signed(&part.kind))
}

/// Where the turn begins that waits for the model to go on after its calls; the end where none is open.
pub(crate) fn open_turn(branch: &Branch) -> Pos {
    let views = branch.views();
    let begin = views
        .iter()
        .rposition(|view| view.is_user_request())
        .map_or(0, |request| begin_after(branch, request));
    let newest = (begin..views.len())
        .rev()
        .find(|at| views[*at].role == Role::Assistant);
    let is_open = newest.is_some_and(|reply| calls(branch, reply));
    if is_open { begin } else { views.len() }
}

/// Where the turn of a request begins. Results that come with it belong to the reply before it, which is the newest one as
/// long as nothing follows, and must begin with its reasoning.
pub(crate) fn begin_after(branch: &Branch, request: Pos) -> Pos {
    let views = branch.views();
    let answers = views[request].results().next().is_some();
    let reply = || {
        let before = views[..request].iter();
        before.clone().rposition(|v| v.role == Role::Assistant)
    };
    answers.then(reply).flatten().unwrap_or(request + 1)
}

/// Whether the unit of the reply at `at` holds calls.
pub(crate) fn calls(branch: &Branch, at: Pos) -> bool {
    let mut members = branch.units().of(at).members().iter();
    members.any(|at| branch.view(*at).calls().next().is_some())
}

/// `before` and the removal of all reasoning; `None` where that removes nothing, or nothing signed.
pub(crate) fn without_reasoning(view: &MessageView, before: &[Patch]) -> Option<Arc<[Patch]>> {
    if !is_sealed(view) {
        return None;
    }
    let is_gone = |part: u16| {
        let removes = |p: &Patch| matches!(p, Patch::Remove { part: gone, .. } if *gone == part);
        before.iter().any(removes)
    };
    let reasoning = view.parts.iter().zip(0..).filter(|(part, at)| {
        matches!(part.kind, PartKind::Reasoning { .. }) && part.inside.is_none() && !is_gone(*at)
    });
    let gone: Vec<(bool, u16)> = reasoning
        .map(|(part, at)| (matches!(part.kind, PartKind::Reasoning { bound: true }), at))
        .collect();
    if !gone.iter().any(|(bound, _)| *bound) {
        return None;
    }
    let stays = |patch: &&Patch| gone.iter().all(|(_, part)| *part != patch.part());
    let removes = gone.iter().map(|(_, part)| Patch::Remove {
        part: *part,
        cause: PatchCause::Reasoning,
    });
    Some(
        before
            .iter()
            .filter(stays)
            .cloned()
            .chain(removes)
            .collect(),
    )
}
