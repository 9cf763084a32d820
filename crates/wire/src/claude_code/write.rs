//! A compaction as the client itself writes one, appended to the file.
//!
//! The boundary lists what stays in sight by id, in order. Records that the projection changed are appended
//! before the boundary as copies under new ids and listed in the place of the originals; so are answers and
//! reminders of ours. The originals stay as they are, out of sight.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::patch::Patch;
use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
use conspectus_core::view::PartKind;

use super::chain::{self, Active};
use super::ids::Ids;
use super::record::{self, Record};
use crate::conversation::Conversation;
use crate::document::{Document, RenderContext, check_handles, is_whole};
use crate::error::WriteError;
use crate::json::{Object, Span, Splices, string};
use crate::time::iso_time;
use crate::write;

/// See [`Document::render`].
pub(super) fn render(
    document: &Document,
    edits: &[(usize, &Projection)],
    context: &RenderContext,
) -> Result<Vec<u8>, WriteError> {
    let mut out = document.source.text().to_owned();
    for (index, projection) in edits {
        let Some(conversation) = document.conversations.get(*index) else {
            return Err(WriteError::NoConversation(*index));
        };
        let pieces: Vec<&Piece> = projection.pieces().collect();
        check_handles(*index, conversation, &pieces)?;
        if !is_whole(conversation, &pieces) {
            out = append(document, conversation, projection, context);
        }
    }
    Ok(out.into_bytes())
}

fn append(
    document: &Document,
    conversation: &Conversation,
    projection: &Projection,
    context: &RenderContext,
) -> String {
    let source = document.source.text();
    let records = record::read(&document.source, true)
        .map(|(records, _)| records)
        .unwrap_or_default();
    let active = chain::active(&records);
    let mut appended = Appended::new(source, conversation, &records, &active, context);
    for piece in projection.pieces() {
        match piece {
            Piece::Keep(handle) => appended.keep(*handle),
            Piece::Edit(handle, patches) => appended.edit(*handle, patches),
            Piece::Insert(block) => appended.insert(block),
        }
    }
    let mut out = source.to_owned();
    if !out.ends_with('\n') {
        out.push('\n');
    }
    for line in appended.finish(context) {
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// The records to append.
struct Appended<'a> {
    source: &'a str,
    conversation: &'a Conversation,
    /// Ids that name exactly one record.
    unique: BTreeSet<Arc<str>>,
    ids: Ids,
    leaf: Option<Arc<str>>,
    /// `,"userType":…` and so on, as the newest record has them.
    surroundings: String,
    is_sidechain: bool,
    time: String,
    /// What stays in sight.
    list: Vec<Arc<str>>,
    /// Copies and records of ours, in the order of the list.
    lines: Vec<String>,
    summary: Option<Summary>,
}

/// The summary record to be.
struct Summary {
    id: Arc<str>,
    text: String,
    /// Something stays in sight before it.
    is_listed: bool,
}

/// What the records of a session have in common.
const SURROUNDINGS: [&str; 8] = [
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "slug",
    "agentId",
];

impl<'a> Appended<'a> {
    fn new(
        source: &'a str,
        conversation: &'a Conversation,
        records: &[Record],
        active: &Active,
        context: &RenderContext,
    ) -> Self {
        let ids = chain::unique_ids(records);
        let leaf = active.leaf.map(|leaf| &records[leaf]);
        let leaf_id = leaf.and_then(|leaf| leaf.uuid.clone());
        let after = format!(
            "{}:{}",
            source.len(),
            leaf_id.as_deref().unwrap_or_default()
        );
        let object = leaf.and_then(|leaf| Object::of(leaf.span.text(source)));
        let object = object.unwrap_or_default();
        let surroundings = SURROUNDINGS
            .iter()
            .filter_map(|key| Some(format!(",\"{key}\":{}", object.value(key)?)))
            .collect();
        let taken = ids.keys().cloned().collect();
        Self {
            source,
            conversation,
            ids: Ids::new(taken, context.id_seed, &after),
            unique: ids
                .into_iter()
                .filter_map(|(id, unique)| unique.then_some(id))
                .collect(),
            leaf: leaf_id,
            surroundings,
            is_sidechain: active.of_sidechain,
            time: iso_time(context.now_ms),
            list: Vec::new(),
            lines: Vec::new(),
            summary: None,
        }
    }

    /// Listed by its own id, or copied if that id would name another record too or none.
    fn keep(&mut self, handle: Handle) {
        let id = self
            .conversation
            .native_id(handle)
            .and_then(|id| self.unique.get(id));
        match id.cloned() {
            Some(id) => self.list.push(id),
            None => self.copy(self.conversation.json_of(handle), false),
        }
    }

    fn edit(&mut self, handle: Handle, patches: &[Patch]) {
        let (Some(view), Some(message)) = (
            self.conversation.views().get(handle.0 as usize),
            self.conversation.message(handle),
        ) else {
            return;
        };
        let Some(json) = write::edited(self.source, view, message, patches) else {
            return;
        };
        if json == message.span.text(self.source) {
            return self.keep(handle);
        }
        let is_result = |patch: &Patch| {
            let part = view.parts.get(usize::from(patch.part()));
            part.is_some_and(|p| p.inside.is_some() || matches!(p.kind, PartKind::Result { .. }))
        };
        self.copy(&json, patches.iter().any(is_result));
    }

    /// A record again under a new id. The client's own copy of a result goes when the result was changed: it
    /// holds what the change took out.
    fn copy(&mut self, json: &str, without_raw_result: bool) {
        let id = self.ids.next();
        let object = Object::of(json).unwrap_or_default();
        let mut splices = Splices::new();
        match object.get("uuid") {
            Some(uuid) => splices.replace(Span::of(json, uuid), string::encode(&id)),
            None => {
                let comma = if object.members.is_empty() { "" } else { "," };
                splices.insert(1, format!("\"uuid\":{}{comma}", string::encode(&id)));
            }
        }
        let whole = Span::new(0, json.len());
        if let Some(raw) = object.get("toolUseResult").filter(|_| without_raw_result) {
            splices.remove_members(json, whole, &[Span::of(json, raw)].into());
        }
        self.list.push(id);
        self.lines.push(splices.apply(json, whole));
    }

    fn insert(&mut self, block: &Block) {
        match &block.kind {
            BlockKind::Summary | BlockKind::Rules => self.summarise(&block.text),
            // The client puts a reply of its own where two messages of the user would meet.
            BlockKind::Acknowledgement => {}
            BlockKind::Reminder => {
                let content = string::encode(&block.text);
                self.user(&content, ",\"isMeta\":true");
            }
            BlockKind::Answer { id, .. } => {
                let (id, text) = (string::encode(id.as_str()), string::encode(&block.text));
                let content = format!(
                    "[{{\"type\":\"tool_result\",\"tool_use_id\":{id},\"content\":{text}}}]"
                );
                self.user(&content, "");
            }
        }
    }

    fn summarise(&mut self, text: &str) {
        match &mut self.summary {
            Some(summary) => {
                summary.text.push_str("\n\n");
                summary.text.push_str(text);
            }
            None => {
                let id = self.ids.next();
                let is_listed = !self.list.is_empty();
                if is_listed {
                    self.list.push(id.clone());
                }
                self.summary = Some(Summary {
                    id,
                    text: text.to_owned(),
                    is_listed,
                });
            }
        }
    }

    fn user(&mut self, content: &str, more: &str) {
        let id = self.ids.next();
        let parent = self.list.last().or(self.leaf.as_ref()).cloned();
        let line = self.record(
            &id,
            parent.as_deref(),
            &format!(
                ",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}{more}"
            ),
        );
        self.list.push(id);
        self.lines.push(line);
    }

    fn record(&self, id: &str, parent: Option<&str>, body: &str) -> String {
        let parent = parent.map_or_else(|| "null".to_owned(), string::encode);
        let (id, time) = (string::encode(id), &self.time);
        let (sidechain, surroundings) = (self.is_sidechain, &self.surroundings);
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":{sidechain}{body},\
             \"uuid\":{id},\"timestamp\":\"{time}\"{surroundings}}}"
        )
    }

    /// The copies, the boundary, the summary.
    fn finish(mut self, context: &RenderContext) -> Vec<String> {
        let boundary = self.ids.next();
        let mut lines = std::mem::take(&mut self.lines);
        let anchor = match &self.summary {
            Some(summary) if !summary.is_listed => summary.id.clone(),
            _ => boundary.clone(),
        };
        lines.push(self.boundary(&boundary, &anchor, context));
        if let Some(summary) = &self.summary {
            let text = string::encode(&summary.text);
            lines.push(self.record(
                &summary.id,
                Some(&boundary),
                &format!(
                    ",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{text}}},\
                     \"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true"
                ),
            ));
        }
        lines
    }

    /// Its members stand in the client's own order.
    fn boundary(&self, id: &str, anchor: &str, context: &RenderContext) -> String {
        let trigger = if context.automatic { "auto" } else { "manual" };
        let (before, after) = (context.tokens_before, context.tokens_after);
        let logical = self
            .leaf
            .as_deref()
            .map_or_else(|| "null".to_owned(), string::encode);
        let kept = if self.list.is_empty() {
            String::new()
        } else {
            let list: Vec<_> = self.list.iter().map(|id| string::encode(id)).collect();
            let (anchor, list) = (string::encode(anchor), list.join(","));
            format!(
                ",\"preservedMessages\":{{\"anchorUuid\":{anchor},\"uuids\":[{list}],\"allUuids\":[{list}]}}"
            )
        };
        let (id, time) = (string::encode(id), &self.time);
        let (sidechain, surroundings) = (self.is_sidechain, &self.surroundings);
        format!(
            "{{\"parentUuid\":null,\"logicalParentUuid\":{logical},\"isSidechain\":{sidechain},\
             \"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\
             \"isMeta\":false,\"timestamp\":\"{time}\",\"uuid\":{id},\"level\":\"info\",\
             \"compactMetadata\":{{\"trigger\":\"{trigger}\",\"preTokens\":{before},\"postTokens\":{after}{kept}}}\
             {surroundings}}}"
        )
    }
}
