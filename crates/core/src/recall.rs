//! What was shortened, read back by the reference that its marker carries. Nothing of it is stored twice: the patch
//! says where it is, and the history has it.

use std::collections::BTreeSet;

use crate::id::{Handle, NodeId};
use crate::json::{leaf_text, string_leaves};
use crate::patch::{Patch, Site};
use crate::prune::{find_reference, pieces_of_results};
use crate::record::Patches;
use crate::thread::Thread;
use crate::view::{PartKind, PartRef, Texts};

/// A text that was shortened, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The message that holds it.
    pub message: Handle,
    /// The part of it that has the marker.
    pub part: u16,
    /// The whole text of the result, the argument or the part, as it was said. Of pictures and files the data.
    pub text: String,
}

impl Thread {
    /// What stood where markers with this reference (`cx-0123456789ab`, see [`find_reference`]) stand now, or stood under
    /// an earlier record; in the order of the history. Several where the same text was cut out of several parts, since
    /// the reference is made of what went. O(patches).
    pub fn recall(&self, reference: &str, texts: &dyn Texts) -> Vec<Recalled> {
        let records = self.records().iter().map(|record| &record.patches);
        let known = records.chain([self.live_patches()]);
        let places: BTreeSet<_> = known.flat_map(|p| places(p, reference)).collect();
        let places = places.into_iter();
        places
            .filter_map(|place| self.whole(place, texts))
            .collect()
    }

    fn whole(&self, (node, part, site): Place, texts: &dyn Texts) -> Option<Recalled> {
        let view = &self.history().node(node)?.view;
        let read = |part: usize| {
            let part = u16::try_from(part).unwrap_or(u16::MAX);
            let message = view.handle;
            texts.text(PartRef { message, part })
        };
        let at = usize::from(part);
        let text = match site {
            Site::Leaf(leaf) => {
                let json = read(at);
                let leaves = string_leaves(&json)?;
                leaf_text(&json, leaves.get(leaf as usize)?)?
            }
            Site::Text if matches!(view.parts.get(at)?.kind, PartKind::Media(_)) => {
                read(at).into_owned()
            }
            Site::Text => {
                let results = pieces_of_results(view).into_iter();
                let mut holding = results.filter(|(_, pieces)| pieces.contains(&at));
                let pieces = holding
                    .next()
                    .map_or_else(|| vec![at], |(_, pieces)| pieces);
                pieces.into_iter().map(read).collect()
            }
        };
        Some(Recalled {
            message: view.handle,
            part,
            text,
        })
    }
}

type Place = (NodeId, u16, Site);

fn places<'a>(patches: &'a Patches, reference: &'a str) -> impl Iterator<Item = Place> + 'a {
    let all = patches
        .iter()
        .flat_map(|(node, all)| all.iter().map(|patch| (*node, patch)));
    all.filter_map(move |(node, patch)| match patch {
        Patch::Cut {
            part, site, marker, ..
        } if find_reference(marker) == Some(reference) => Some((node, *part, *site)),
        _ => None,
    })
}
