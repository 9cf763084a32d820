//! A compaction as the client itself writes one, appended to the file.
//!
//! `compacted` holds the new history. Behind it stand, again, the newest records about the client's surroundings,
//! without which it would tell them all anew behind the kept messages, and a count of tokens, without which it
//! would compact at once by the old one.

use conspectus_core::projection::{BlockKind, Piece, Projection};
use conspectus_core::view::Role;

use super::record::{self, Record, RecordKind};
use crate::conversation::Conversation;
use crate::document::{Document, RenderContext, check_handles, is_whole};
use crate::error::WriteError;
use crate::json::{Object, Span, Splices, string};
use crate::responses::{Responses, string_as_message};
use crate::time::iso_time;
use crate::write::{Writer as _, texts};

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
            out = append(document, conversation, &pieces, context)?;
        }
    }
    Ok(out.into_bytes())
}

fn append(
    document: &Document,
    conversation: &Conversation,
    pieces: &[&Piece],
    context: &RenderContext,
) -> Result<String, WriteError> {
    let source = document.source.text();
    let records = record::read(&document.source, true)
        .map(|(records, _)| records)
        .unwrap_or_default();
    let written = Responses.list(conversation, pieces, false)?;
    let items: Vec<_> = texts(conversation, &written.slots)
        .map(string_as_message)
        .collect();
    let mut log = Log {
        out: source.to_owned(),
        time: iso_time(context.now_ms),
        ordinal: records.iter().rev().find_map(|record| record.ordinal),
    };
    if !log.out.ends_with('\n') {
        log.out.push('\n');
    }
    let payload = format!(
        "{{\"message\":{},\"replacement_history\":[{}]}}",
        string::encode(&summary(pieces)),
        items.join(",")
    );
    log.add("compacted", &payload);
    if keeps_context(conversation, pieces) {
        for record in surroundings(&records) {
            let Some(object) = Object::of(record.span.text(source)) else {
                continue;
            };
            let name = object.string("type").unwrap_or_default();
            log.add(&name, object.get("payload").unwrap_or("{}"));
        }
    }
    if context.tokens_after > 0
        && let Some(count) = token_count(source, &records, context.tokens_after)
    {
        log.add("event_msg", &count);
    }
    Ok(log.out)
}

/// The file with records behind it.
struct Log {
    out: String,
    time: String,
    /// The number of the last record, in files that number them.
    ordinal: Option<u64>,
}

impl Log {
    fn add(&mut self, name: &str, payload: &str) {
        self.ordinal = self.ordinal.map(|ordinal| ordinal.saturating_add(1));
        let ordinal = self
            .ordinal
            .map_or_else(String::new, |n| format!("\"ordinal\":{n},"));
        let (time, name) = (&self.time, string::encode(name));
        self.out.push_str(&format!(
            "{{\"timestamp\":\"{time}\",{ordinal}\"type\":{name},\"payload\":{payload}}}\n"
        ));
    }
}

/// What the client shows as the summary.
fn summary(pieces: &[&Piece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Insert(block) if block.kind == BlockKind::Summary => Some(block.text.as_ref()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// All that the client told by itself is still there, so that it need not be told again.
fn keeps_context(conversation: &Conversation, pieces: &[&Piece]) -> bool {
    let is_told = |n: &usize| {
        let view = &conversation.views()[*n];
        !view.flags.summary && (view.role == Role::System || view.flags.hidden)
    };
    let mut kept = vec![false; conversation.views().len()];
    for piece in pieces {
        if let Piece::Keep(handle) = piece
            && let Some(kept) = kept.get_mut(handle.0 as usize)
        {
            *kept = true;
        }
    }
    (0..kept.len()).filter(is_told).all(|n| kept[n])
}

/// The newest settings, and the state of the world that they go with: the last full one and all changes since. Only
/// what stands behind the newest compaction counts for the client.
fn surroundings(records: &[Record]) -> Vec<Record> {
    let is = |kind: fn(&RecordKind) -> bool| records.iter().rposition(|record| kind(&record.kind));
    let compacted = is(|kind| matches!(kind, RecordKind::Compacted(_)));
    let since = compacted.map_or(0, |at| at + 1);
    let turn = is(|kind| *kind == RecordKind::TurnContext).filter(|at| *at >= since);
    let Some(turn) = turn else {
        return Vec::new();
    };
    let full = is(|kind| *kind == RecordKind::WorldState { full: true }).filter(|at| *at >= since);
    let is_state = |record: &&Record| matches!(record.kind, RecordKind::WorldState { .. });
    let states = full
        .map_or(&[][..], |at| &records[at..])
        .iter()
        .filter(is_state);
    states.chain([&records[turn]]).copied().collect()
}

/// The newest report with the new size in the place of the last reply's.
fn token_count(source: &str, records: &[Record], tokens: u64) -> Option<String> {
    records.iter().rev().find_map(|record| {
        let RecordKind::TokenCount(payload) = record.kind else {
            return None;
        };
        let info = Object::of(payload.text(source))?.object("info")?;
        let last = info.value("last_token_usage")?;
        let members = Object::of(last)?.members;
        let members = members.iter().map(|member| {
            let number = if member.key == "total_tokens" {
                tokens
            } else {
                0
            };
            format!("{}:{number}", member.key_source)
        });
        let mut splices = Splices::new();
        let members: Vec<_> = members.collect();
        splices.replace(Span::of(source, last), format!("{{{}}}", members.join(",")));
        Some(splices.apply(source, payload))
    })
}
