//! The statements, and rows as values. Pure.

use std::sync::Arc;

use conspectus::store::{Head, NewMessage, StoreError, StoredMessage, ThreadKey, Write};
use conspectus_core::effect::{Fence, Millis, Version};
use conspectus_core::id::{Ident, NodeId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::common::Held;
use crate::sql::{Columns, Row, Statement, Value, int, text};

/// A statement about one thread: `$1` is the tenant and `$2` the thread.
pub(crate) fn of(
    key: &ThreadKey,
    sql: &'static str,
    more: impl IntoIterator<Item = Value>,
) -> Statement {
    Statement::new(
        sql,
        [text(&key.tenant), text(&key.thread)]
            .into_iter()
            .chain(more),
    )
}

/// The thread's row and lease.
pub(crate) fn head(key: &ThreadKey) -> Statement {
    of(
        key,
        "SELECT t.revision, t.nodes, t.records, t.moves, t.events, t.version, t.state, t.meta, t.created_ms, \
         t.written_ms, l.holder, l.fence, l.until_ms, l.mark \
         FROM thread t JOIN lease l ON l.tenant = t.tenant AND l.thread = t.id WHERE t.tenant = $1 AND t.id = $2",
        [],
    )
}

/// What [`head`] reads.
pub(crate) struct Read {
    pub(crate) head: Head,
    pub(crate) held: Held,
    moves: u64,
    events: u64,
}

impl Read {
    /// # Errors
    /// When there is no such thread, or its row is damaged.
    pub(crate) fn needed(rows: Vec<Row>) -> Result<Self, StoreError> {
        Self::of(rows)?.ok_or(StoreError::NoThread)
    }

    /// # Errors
    /// When the row is damaged.
    pub(crate) fn of(rows: Vec<Row>) -> Result<Option<Self>, StoreError> {
        let Some(row) = rows.into_iter().next() else {
            return Ok(None);
        };
        let mut row = Columns::of(row);
        let (revision, nodes, records) = (row.int()?, row.int()?, row.int()?);
        let (moves, events, version) = (row.int()?, row.int()?, Version(row.int()?));
        let state = row.maybe_text()?.map(|json| parse("a state", &json));
        let meta = row.text()?.into();
        let (created_ms, written_ms) = (row.int()?, row.int()?);
        let held = Held {
            holder: row.maybe_text()?,
            fence: Fence(row.int()?),
            until_ms: row.int()?,
        };
        let mark = row.maybe_text()?.map(|json| parse("a mark", &json));
        Ok(Some(Self {
            head: Head {
                revision,
                nodes,
                records,
                version,
                fence: held.fence,
                mark: mark.transpose()?,
                state: state.transpose()?.map(Arc::new),
                meta,
                created_ms,
                written_ms,
            },
            held,
            moves,
            events,
        }))
    }

    /// What writes the write, which was found to fit.
    ///
    /// # Errors
    /// When something cannot be written as JSON.
    pub(crate) fn writing(
        &self,
        key: &ThreadKey,
        write: &Write,
        messages: &[StoredMessage],
    ) -> Result<Vec<Statement>, StoreError> {
        let (head, ms) = (&self.head, write.now);
        let mut all = Vec::new();
        for stored in messages {
            let hash = hash(&stored.message.bytes);
            all.push(of(
                key,
                "INSERT INTO content (tenant, thread, hash, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                [
                    Value::Bytes(hash.to_vec()),
                    Value::Bytes(stored.message.bytes.to_vec()),
                ],
            ));
            let native_id = stored.message.native_id.as_deref();
            all.push(of(
                key,
                "INSERT INTO node (tenant, thread, seq, native_id, hash, cumulative, known, stored_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                [
                    int(stored.node.0),
                    native_id.map_or(Value::Null, text),
                    Value::Bytes(hash.to_vec()),
                    int(stored.cumulative),
                    json(&stored.message.known)?,
                    int(ms),
                ],
            ));
        }
        for (node, known) in &write.changed {
            all.push(of(
                key,
                "UPDATE node SET known = $3 WHERE tenant = $1 AND thread = $2 AND seq = $4",
                [json(known)?, int(node.0)],
            ));
        }
        if let Some(commit) = &write.commit {
            let record = &commit.record;
            all.push(of(
                key,
                "INSERT INTO record (tenant, thread, id, attempt, format, payload) VALUES ($1, $2, $3, $4, $5, $6)",
                [
                    int(record.id.0),
                    int(record.attempt.0),
                    int(u64::from(record.format)),
                    json(record)?,
                ],
            ));
        }
        for (seq, change) in (self.moves..).zip(&write.moved) {
            all.push(of(
                key,
                "INSERT INTO head_log (tenant, thread, seq, payload, ms) VALUES ($1, $2, $3, $4, $5)",
                [int(seq), json(change)?, int(ms)],
            ));
        }
        for (seq, event) in (self.events + 1..).zip(&write.events) {
            all.push(event_row(key, seq, event, ms));
        }
        if let Some(once) = &write.once {
            all.push(of(
                key,
                "INSERT INTO once (tenant, thread, key, digest, first, ms) VALUES ($1, $2, $3, $4, $5, $6)",
                [
                    text(&once.key),
                    Value::Bytes(once.digest.0.to_vec()),
                    int(head.nodes),
                    int(ms),
                ],
            ));
        }
        let state = write.state.as_ref().or(head.state.as_ref());
        let version = state.map_or(head.version, |state| state.version());
        all.push(of(
            key,
            "UPDATE thread SET revision = $3, nodes = $4, records = $5, moves = $6, events = $7, version = $8, \
             state = $9, meta = $10, written_ms = $11 WHERE tenant = $1 AND id = $2",
            [
                int(head.revision + 1),
                int(head.nodes + write.messages.len() as u64),
                int(head.records + u64::from(write.commit.is_some())),
                int(self.moves + write.moved.len() as u64),
                int(self.events + write.events.len() as u64),
                int(version.0),
                state.map_or(Ok(Value::Null), json)?,
                text(write.meta.as_ref().unwrap_or(&head.meta)),
                int(ms),
            ],
        ));
        Ok(all)
    }

    /// What adds one event, and its number.
    pub(crate) fn telling(
        &self,
        key: &ThreadKey,
        event: &str,
        ms: Millis,
    ) -> (Vec<Statement>, u64) {
        let seq = self.events + 1;
        let counted = of(
            key,
            "UPDATE thread SET events = $3 WHERE tenant = $1 AND id = $2",
            [int(seq)],
        );
        (vec![event_row(key, seq, event, ms), counted], seq)
    }
}

fn event_row(key: &ThreadKey, seq: u64, event: &str, ms: Millis) -> Statement {
    of(
        key,
        "INSERT INTO event (tenant, thread, seq, ms, event) VALUES ($1, $2, $3, $4, $5)",
        [int(seq), int(ms), text(event)],
    )
}

/// Messages in a run of numbers.
pub(crate) fn messages(key: &ThreadKey, first: NodeId, last: NodeId) -> Statement {
    of(
        key,
        "SELECT n.seq, n.native_id, n.cumulative, n.known, n.stored_ms, n.hash, c.bytes \
         FROM node n LEFT JOIN content c ON c.tenant = n.tenant AND c.thread = n.thread AND c.hash = n.hash \
         WHERE n.tenant = $1 AND n.thread = $2 AND n.seq >= $3 AND n.seq <= $4 ORDER BY n.seq",
        [int(first.0), int(last.0)],
    )
}

/// What [`messages`] reads.
///
/// # Errors
/// When it is damaged.
pub(crate) fn message(row: Row) -> Result<StoredMessage, StoreError> {
    let mut row = Columns::of(row);
    let node = NodeId(row.int()?);
    let native_id = row.maybe_text()?.map(Into::into);
    let (cumulative, known, stored_ms) = (row.int()?, row.text()?, row.int()?);
    let (stated, bytes) = (row.bytes()?, row.bytes()?);
    if stated != hash(&bytes) {
        let what = format!("message {} is not what was stored", node.0);
        return Err(StoreError::Damaged(what));
    }
    Ok(StoredMessage {
        node,
        message: NewMessage {
            bytes: bytes.into(),
            native_id,
            known: parse("a message", &known)?,
        },
        cumulative,
        stored_ms,
    })
}

/// A digest as it was stored.
///
/// # Errors
/// When it is none.
pub(crate) fn ident(bytes: &[u8]) -> Result<Ident, StoreError> {
    let bytes = bytes.try_into();
    bytes
        .map(Ident)
        .map_err(|_| StoreError::Damaged("a digest is not 32 bytes long".to_owned()))
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// As JSON.
///
/// # Errors
/// When it has no JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Value, StoreError> {
    let json = serde_json::to_string(value);
    json.map(Value::Text)
        .map_err(|e| StoreError::Failed(e.to_string()))
}

/// From JSON. What a newer version wrote and this one does not know is damage to it.
///
/// # Errors
/// When it is not what it should be.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, StoreError> {
    // The position, not the text: what people wrote stays out of errors.
    serde_json::from_str(json).map_err(|e| {
        StoreError::Damaged(format!(
            "{what} cannot be read at {}:{}",
            e.line(),
            e.column()
        ))
    })
}
