//! A piece of a projection, as Python is told of it.

use conspectus::core::id::Handle;
use conspectus::core::projection::{Block, BlockKind, Piece};
use conspectus::core::view::Role;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::Serialize;

use super::Surface;

/// Its kind first: `("keep", at)`, `("edit", at, json)`, `("insert", kind, role, text, call_id, tool)`.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Entry<'a> {
    Keep(&'static str, u32),
    Edit(&'static str, u32, Option<String>),
    Insert(&'static str, &'a str, &'a str, &'a str, &'a str, &'a str),
}

impl Surface {
    pub(super) fn entry<'a>(&self, piece: &'a Piece) -> Entry<'a> {
        match piece {
            Piece::Keep(Handle(at)) => Entry::Keep("keep", *at),
            Piece::Edit(Handle(at), patches) => {
                let json = match self {
                    Self::Shelf(shelf) => {
                        let inner = shelf.0.get(*at as usize);
                        inner.and_then(|inner| inner.patched(patches.clone()))
                    }
                    Self::Document(..) => None,
                };
                Entry::Edit("edit", *at, json)
            }
            Piece::Insert(block) => inserted(block),
        }
    }
}

impl Entry<'_> {
    pub(super) fn into_tuple<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self {
            Self::Keep(name, at) => (name, at).into_pyobject(py),
            Self::Edit(name, at, json) => (name, at, json).into_pyobject(py),
            Self::Insert(name, kind, role, text, call, tool) => {
                (name, kind, role, text, call, tool).into_pyobject(py)
            }
        }
    }
}

fn inserted(block: &Block) -> Entry<'_> {
    let (kind, id, tool) = match &block.kind {
        BlockKind::Rules => ("rules", "", ""),
        BlockKind::Summary => ("summary", "", ""),
        BlockKind::Reminder => ("reminder", "", ""),
        BlockKind::Acknowledgement => ("acknowledgement", "", ""),
        BlockKind::Answer { id, tool } => ("answer", id.as_str(), tool.as_ref()),
    };
    let role = match block.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    Entry::Insert("insert", kind, role, block.text.as_ref(), id, tool)
}
