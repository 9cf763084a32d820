//! What must hold for every part that was shortened (invariants 42 to 44), seen in the request.

use std::collections::BTreeMap;

use conspectus_core::id::Handle;
use conspectus_core::json::{leaf_text, string_leaves};
use conspectus_core::patch::{Patch, PatchCause, Patched, Site};
use conspectus_core::policy::Prune;
use conspectus_core::projection::{Piece, Projection};
use conspectus_core::prune::find_reference;
use conspectus_core::view::{MessageView, PartKind, PartRef, Texts};

use super::invariants::Broken;

/// The shortened parts seen so far, for what must not change again.
#[derive(Clone, Debug, Default)]
pub struct Shortened {
    seen: BTreeMap<Handle, Vec<Patch>>,
}

impl Shortened {
    /// After an undo, a redo or a rewind parts may be whole again.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// How many messages are shortened.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Everything that is wrong with the shortened parts of `request`. `view` finds a message by its handle.
    pub fn broken<'v>(
        &mut self,
        request: &Projection,
        view: &dyn Fn(Handle) -> Option<&'v MessageView>,
        texts: &dyn Texts,
        limits: Option<&Prune>,
    ) -> Vec<Broken> {
        let mut out = Vec::new();
        for piece in request.pieces() {
            let (handle, patches): (_, Vec<Patch>) = match piece {
                Piece::Keep(handle) => (*handle, Vec::new()),
                Piece::Edit(handle, patches) => {
                    let others = [
                        PatchCause::Orphan,
                        PatchCause::Summary,
                        PatchCause::Reasoning,
                    ];
                    let shorten = |p: &&Patch| !others.contains(&p.cause());
                    (*handle, patches.iter().filter(shorten).cloned().collect())
                }
                Piece::Insert(_) => continue,
            };
            // What answers nothing any more is not sent, shortened or not.
            let gone = |part: u16| match piece {
                Piece::Edit(_, all) => all
                    .iter()
                    .any(|p| p.cause() == PatchCause::Orphan && p.part() == part),
                _ => false,
            };
            let before = self.seen.get(&handle);
            if before.map_or(patches.is_empty(), |b| *b == patches) {
                continue;
            }
            for patch in before.into_iter().flatten().filter(|p| !gone(p.part())) {
                let same = |p: &&Patch| p.part() == patch.part();
                let then: Vec<_> = before.into_iter().flatten().filter(same).collect();
                if patches.iter().filter(same).collect::<Vec<_>>() != then {
                    let what = format!("part {} of {handle:?} changed twice", patch.part());
                    out.push(Broken { number: 43, what });
                }
            }
            let Some(view) = view(handle) else { continue };
            let wrong = Message {
                view,
                patches: &patches,
                texts,
                limits,
            };
            out.extend(wrong.broken());
            self.seen.insert(handle, patches);
        }
        out
    }
}

struct Message<'a> {
    view: &'a MessageView,
    patches: &'a [Patch],
    texts: &'a dyn Texts,
    limits: Option<&'a Prune>,
}

impl Message<'_> {
    fn broken(&self) -> Vec<Broken> {
        let mut out = Vec::new();
        let mut add = |number, what: String| out.push(Broken { number, what });
        let handle = self.view.handle;
        for patch in self.patches {
            if let Err(what) = self.sound(patch) {
                add(42, format!("{what} in part {} of {handle:?}", patch.part()));
            }
        }
        let limit = self.limits.map_or(0, |l| l.max_result_chars);
        for (part, _) in self.view.results() {
            let pieces: Vec<usize> = (0..self.view.parts.len())
                .filter(|at| {
                    let inside = self.view.parts[*at].inside.map(usize::from);
                    *at == part || inside == Some(part)
                })
                .collect();
            let is_cut = self.patches.iter().any(|p| {
                p.cause() == PatchCause::Oversized && pieces.contains(&usize::from(p.part()))
            });
            let chars: usize = pieces.iter().map(|at| self.text(*at).chars().count()).sum();
            let media = |at: &usize| matches!(self.view.parts[*at].kind, PartKind::Media(_));
            if is_cut && chars as u64 > limit && !pieces.iter().any(media) {
                add(
                    44,
                    format!("{handle:?} has {chars} characters, limit {limit}"),
                );
            }
            if is_cut && chars == 0 {
                add(42, format!("result {part} of {handle:?} is empty"));
            }
        }
        out
    }

    fn text(&self, part: usize) -> String {
        let Ok(part) = u16::try_from(part) else {
            return String::new();
        };
        let message = self.view.handle;
        let patched = Patched::new(self.texts, message, self.patches);
        patched.text(PartRef { message, part }).into_owned()
    }

    /// 42: cut at characters, with a marker that says how to get the rest; arguments stay JSON.
    fn sound(&self, patch: &Patch) -> Result<(), String> {
        let message = self.view.handle;
        let part = patch.part();
        let kind = self.view.parts.get(usize::from(part)).map(|p| &p.kind);
        let Some(kind) = kind else {
            return Err("no such part".to_owned());
        };
        let Patch::Cut {
            site,
            range,
            marker,
            ..
        } = patch
        else {
            let whole_answer = matches!(kind, PartKind::Result { .. } | PartKind::Call { .. });
            return if whole_answer {
                Err("a call or answer is taken out".to_owned())
            } else {
                Ok(())
            };
        };
        let whole = self.texts.text(PartRef { message, part });
        let text = match site {
            Site::Text => whole.into_owned(),
            Site::Leaf(n) => {
                let leaves = string_leaves(&whole).unwrap_or_default();
                let leaf = leaves.get(*n as usize).and_then(|at| leaf_text(&whole, at));
                leaf.ok_or("no such string in the arguments")?
            }
        };
        let (from, to) = (range.start as usize, range.end as usize);
        let Some(gone) = text.get(from..to) else {
            return Err("cut inside a character".to_owned());
        };
        if find_reference(marker).is_none() {
            return Err(format!("the marker {marker:?} has no reference"));
        }
        let left = text.chars().count() - gone.chars().count() + marker.chars().count();
        if let Site::Leaf(_) = site {
            let limit = self.limits.map_or(0, |l| l.max_argument_chars);
            if left as u64 > limit {
                return Err(format!("an argument of {left} characters, limit {limit}"));
            }
            let is_json = |json: &str| serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
            let before = self.texts.text(PartRef { message, part });
            if is_json(&before) && !is_json(&self.text(usize::from(part))) {
                return Err("the arguments are no JSON any more".to_owned());
            }
        }
        Ok(())
    }
}
