//! What pruning shortened, part by part.

use std::collections::BTreeMap;

use conspectus_core::patch::{PatchCause, Patched};
use conspectus_wire::Conversation;
use serde::Serialize;

use crate::compact::Compaction;
use crate::text::chars_of;

/// A part of a message that stays and is shown shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shortened {
    /// Index of the message in the conversation.
    pub message: usize,
    /// The tool whose call or result it is, where it is one's.
    pub tool: Option<String>,
    /// Why, in words.
    pub why: &'static str,
    /// Characters of the part before.
    pub chars_before: u64,
    /// Characters of the part as it is shown, the marker included.
    pub chars_after: u64,
}

/// The parts that are shown shortened, in the order of the conversation.
pub fn shortened(conversation: &Conversation, compaction: &Compaction) -> Vec<Shortened> {
    let thread = &compaction.thread;
    let branch = thread.branch();
    let mut tools = BTreeMap::new();
    for call in branch.units().calls() {
        for place in call.answers.iter().chain([&(call.at, call.part)]) {
            tools.insert(*place, call.tool.as_ref());
        }
    }
    let mut out = Vec::new();
    for at in (0..branch.len()).filter(|at| !thread.is_folded(*at)) {
        let view = branch.view(at);
        let patches = thread.patches_at(at);
        let after = Patched::new(conversation, view.handle, patches);
        // What stands inside a result is told with the result, once.
        let mut outer = BTreeMap::new();
        for patch in patches {
            let part = usize::from(patch.part());
            let inside = view.parts.get(part).and_then(|p| p.inside);
            outer
                .entry(inside.map_or(part, usize::from))
                .or_insert(patch.cause());
        }
        for (part, cause) in outer {
            out.push(Shortened {
                message: at,
                tool: tools
                    .get(&(at, part))
                    .filter(|tool| !tool.is_empty())
                    .map(|tool| (*tool).to_owned()),
                why: words(cause),
                chars_before: chars_of(conversation, view, part),
                chars_after: chars_of(&after, view, part),
            });
        }
    }
    out
}

fn words(cause: PatchCause) -> &'static str {
    match cause {
        PatchCause::Oversized => "long result",
        PatchCause::Duplicate => "same as another",
        PatchCause::Arguments => "long arguments",
        PatchCause::Masked => "old result",
        PatchCause::Orphan => "result without a call",
        PatchCause::Reasoning => "reasoning that no longer verifies",
        PatchCause::Summary => "the summary",
    }
}
