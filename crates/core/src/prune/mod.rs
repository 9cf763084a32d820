//! Pruning: what can be saved before any model is asked.
//!
//! Three rungs, each tried only while the caller has not enough: equal media and equal long answers are sent
//! once, answers over the limit keep their head and tail, long argument strings of old calls likewise.
//! [`plan`] climbs them over a window, [`shorten`] is the second rung for one message, for limits that are in
//! force at every rendering.
//!
//! What holds for every patch made here, whatever the input and the setting (invariants 42 to 44):
//!
//! * What is shortened has at most the limit's characters, marker included, and fewer than before. Where
//!   that cannot be had (a limit smaller than a marker) the text is left alone.
//! * No answer becomes empty, no character and no common grapheme cluster is split, arguments stay JSON.
//! * A part is decided once: one that has a patch is not touched again. The decision depends on the part's
//!   own content, not on its neighbours (but for duplicates, which need another copy).
//! * What the person wrote, signed reasoning, parts that the surface does not know, pinned and unfinished
//!   messages and the newest results of the policy are not touched.
//! * The marker says how much went, and carries a reference by which host and model find it again. That
//!   something was pruned is known from the patch, never from the marker's words.

mod arguments;
mod duplicates;
mod headtail;
mod marker;
mod nous;
mod plan;
mod results;

pub use marker::find_reference;
pub(crate) use nous::shorten_as_nous;
pub use plan::{Item, PrunePlan, plan};
pub use results::shorten;

pub(crate) use arguments::{is_limited, shorten_call};
pub(crate) use plan::{is_sealed, is_untouchable};
pub(crate) use results::{mask, pieces_of_results, reclaim, result_weight, shorten_some};

#[cfg(test)]
mod tests;
