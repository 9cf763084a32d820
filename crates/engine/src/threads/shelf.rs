//! The texts of stored messages, and what a projection of them looks like as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use conspectus_core::id::{Handle, NodeId};
use conspectus_core::patch::Patch;
use conspectus_core::projection::{Block, Piece, Projection};
use conspectus_core::view::{PartRef, Texts};
use conspectus_wire::{Conversation, Document, Format, OpenOptions, RenderContext};

use super::json::Json;
use super::message::{handle, open, with_id};
use crate::store::StoredMessage;

/// Messages by number. Each is taken apart when a text of it is asked for, so opening a thread costs no parsing.
#[derive(Debug, Default)]
pub(crate) struct Shelf(BTreeMap<u32, Slot>);

#[derive(Debug)]
struct Slot {
    bytes: Arc<[u8]>,
    id: Option<Arc<str>>,
    read: OnceLock<Option<Document>>,
}

impl Shelf {
    pub(crate) fn of(messages: &[StoredMessage]) -> Self {
        let mut shelf = Self::default();
        for stored in messages {
            let message = &stored.message;
            shelf.put(
                stored.node,
                message.bytes.clone(),
                message.native_id.clone(),
            );
        }
        shelf
    }

    pub(crate) fn put(&mut self, node: NodeId, bytes: Arc<[u8]>, id: Option<Arc<str>>) {
        let slot = Slot {
            bytes,
            id,
            read: OnceLock::new(),
        };
        self.0.insert(handle(node).0, slot);
    }

    /// Bytes of the messages.
    pub(crate) fn bytes(&self) -> usize {
        self.0.values().map(|slot| slot.bytes.len()).sum()
    }

    /// Gives a message its id.
    pub(crate) fn name(&mut self, node: NodeId, id: Arc<str>) {
        if let Some(slot) = self.0.get_mut(&handle(node).0) {
            slot.id = Some(id);
        }
    }

    /// The number of the newest message with this id.
    pub(crate) fn find(&self, id: &str) -> Option<NodeId> {
        let mut newest_first = self.0.iter().rev();
        let found = newest_first.find(|(_, slot)| slot.id.as_deref() == Some(id));
        found.map(|(node, _)| NodeId(u64::from(*node)))
    }

    /// The id of a message, if it is here and has one.
    pub(crate) fn id(&self, node: NodeId) -> Option<&Arc<str>> {
        self.slot(handle(node))?.id.as_ref()
    }

    /// The message as it came, with its id.
    pub(crate) fn json(&self, node: NodeId) -> Option<Json> {
        self.slot(handle(node)).map(Slot::json)
    }

    /// One piece of a request. `None`: its patches leave nothing of it, or it is not here.
    pub(crate) fn shown(&self, piece: &Piece) -> Option<Json> {
        match piece {
            Piece::Keep(at) => self.slot(*at).map(Slot::json),
            Piece::Edit(at, patches) => self.edited(*at, patches),
            Piece::Insert(block) => Some(block_as_message(block)),
        }
    }

    /// The message with these parts changed.
    pub(crate) fn edited(&self, at: Handle, patches: &Arc<[Patch]>) -> Option<Json> {
        let slot = self.slot(at)?;
        if patches.is_empty() {
            return Some(slot.json());
        }
        // In its own document its handle is another one.
        let piece = Piece::Edit(Handle(0), patches.clone());
        let message = rendered(slot.document()?, piece)?;
        Some(with_id(&message, slot.id.as_deref()))
    }

    fn slot(&self, at: Handle) -> Option<&Slot> {
        self.0.get(&at.0)
    }

    fn read(&self, at: PartRef) -> Option<(&Conversation, PartRef)> {
        let document = self.slot(at.message)?.document()?;
        let own = PartRef {
            message: Handle(0),
            part: at.part,
        };
        Some((document.conversations().first()?, own))
    }
}

impl Slot {
    fn document(&self) -> Option<&Document> {
        self.read.get_or_init(|| open(&self.bytes).ok()).as_ref()
    }

    fn json(&self) -> Json {
        with_id(&String::from_utf8_lossy(&self.bytes), self.id.as_deref())
    }
}

impl Texts for Shelf {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        let found = self.read(at);
        found.map(|(read, own)| read.text(own)).unwrap_or_default()
    }

    fn head(&self, at: PartRef, max_bytes: usize) -> Cow<'_, str> {
        let found = self.read(at);
        found
            .map(|(read, own)| read.head(own, max_bytes))
            .unwrap_or_default()
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        let (read, own) = self.read(at)?;
        Texts::json(read, own)
    }
}

/// A block of ours as LangChain's JSON.
fn block_as_message(block: &Block) -> Json {
    static EMPTY: OnceLock<Option<Document>> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| {
        let options = OpenOptions {
            format: Some(Format::LangChain),
            lenient: false,
        };
        Document::open(b"[]".to_vec(), &options).ok()
    });
    let written = empty
        .as_ref()
        .and_then(|list| rendered(list, Piece::Insert(block.clone())));
    Json::trusted(written.expect("a block of ours can be written into an empty list"))
}

/// The one message of a list that is rendered from one piece.
fn rendered(list: &Document, piece: Piece) -> Option<String> {
    let projection = Projection {
        frozen: Arc::from([piece]),
        tail: Arc::default(),
    };
    let bytes = list
        .render(&[(0, &projection)], &RenderContext::default())
        .ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}
