//! The statements, and rows as values. Pure.

use std::sync::Arc;

use conspectus::store::{
    Head, Listing, NewMessage, ONCE_MS, Order, Rewrite, StoreError, StoredMessage, ThreadKey, Write,
};
use conspectus::terms::Terms;
use conspectus_core::effect::{Fence, Millis, Version};
use conspectus_core::id::{Ident, NodeId};
use conspectus_core::thread::{HeadChange, State};
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

/// What is read of a thread's row and lease.
macro_rules! columns {
    () => {
        "SELECT t.revision, t.nodes, t.records, t.moves, t.events, t.version, t.state, t.meta, t.created_ms, \
         t.written_ms, l.holder, l.fence, l.until_ms, l.mark"
    };
}

/// The thread's row and lease.
pub(crate) fn head(key: &ThreadKey) -> Statement {
    let sql = concat!(
        columns!(),
        " FROM thread t JOIN lease l ON l.tenant = t.tenant AND l.thread = t.id WHERE t.tenant = $1 AND t.id = $2"
    );
    of(key, sql, [])
}

/// Rows and leases of a page of threads, each with its name behind it. The page is found before anything but keys is read.
macro_rules! page {
    ($behind:literal, $by:literal) => {
        concat!(
            columns!(),
            ", t.id FROM (SELECT id FROM thread t WHERE t.tenant = $1 AND ",
            $behind,
            " ORDER BY ",
            $by,
            " LIMIT $4 OFFSET $5) p JOIN thread t ON t.tenant = $1 AND t.id = p.id \
             JOIN lease l ON l.tenant = $1 AND l.thread = p.id ORDER BY ",
            $by
        )
    };
}

/// A page of threads.
pub(crate) fn list(tenant: &str, listing: &Listing) -> Statement {
    let sql = match (listing.order, listing.descending, &listing.after) {
        (Order::Name, false, _) => page!("$2 < CAST(1 AS BIGINT) AND t.id > $3", "t.id"),
        (Order::Name, true, None) => page!("$2 > CAST(0 AS BIGINT) AND t.id >= $3", "t.id DESC"),
        (Order::Name, true, Some(_)) => page!("$2 < CAST(1 AS BIGINT) AND t.id < $3", "t.id DESC"),
        (Order::Created, false, _) => {
            page!("(t.created_ms, t.id) > ($2, $3)", "t.created_ms, t.id")
        }
        (Order::Created, true, _) => page!(
            "(t.created_ms, t.id) < ($2, $3)",
            "t.created_ms DESC, t.id DESC"
        ),
        (Order::Written, false, _) => {
            page!("(t.written_ms, t.id) > ($2, $3)", "t.written_ms, t.id")
        }
        (Order::Written, true, _) => page!(
            "(t.written_ms, t.id) < ($2, $3)",
            "t.written_ms DESC, t.id DESC"
        ),
    };
    let (ms, thread) = match &listing.after {
        Some(after) => (int(after.ms), &*after.thread),
        // Before everything.
        None if listing.descending => (Value::Int(i64::MAX), ""),
        None => (Value::Int(-1), ""),
    };
    let counts = [listing.limit, listing.offset].map(|count| int(u64::from(count)));
    let [limit, offset] = counts;
    Statement::new(sql, [text(tenant), ms, text(thread), limit, offset])
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
            all.push(content(key, &hash, &stored.message.bytes));
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
            all.push(moved(key, seq, change, ms)?);
        }
        for (seq, event) in (self.events + 1..).zip(&write.events) {
            all.push(event_row(key, seq, event, ms));
        }
        for (node, terms) in &write.search {
            all.push(found_by(key, *node, terms));
        }
        if let Some(once) = &write.once {
            all.push(of(
                key,
                "DELETE FROM once WHERE tenant = $1 AND thread = $2 AND ms < $3",
                [int(ms.saturating_sub(ONCE_MS))],
            ));
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
        let after = After {
            nodes: head.nodes + write.messages.len() as u64,
            records: head.records + u64::from(write.commit.is_some()),
            moves: self.moves + write.moved.len() as u64,
            events: self.events + write.events.len() as u64,
            state: write.state.as_deref(),
            meta: write.meta.as_deref(),
            ms,
        };
        all.push(self.row(key, &after)?);
        Ok(all)
    }

    /// What writes over, which was found to fit.
    ///
    /// # Errors
    /// When something cannot be written as JSON.
    pub(crate) fn rewriting(
        &self,
        key: &ThreadKey,
        rewrite: &Rewrite,
    ) -> Result<Vec<Statement>, StoreError> {
        let (head, ms) = (&self.head, rewrite.now);
        let mut all = Vec::new();
        for (node, message) in &rewrite.messages {
            let hash = hash(&message.bytes);
            all.push(content(key, &hash, &message.bytes));
            all.push(of(
                key,
                "UPDATE node SET native_id = $3, hash = $4, known = $5 WHERE tenant = $1 AND thread = $2 AND seq = $6",
                [
                    message.native_id.as_deref().map_or(Value::Null, text),
                    Value::Bytes(hash.to_vec()),
                    json(&message.known)?,
                    int(node.0),
                ],
            ));
        }
        for record in &rewrite.records {
            all.push(of(
                key,
                "UPDATE record SET payload = $3 WHERE tenant = $1 AND thread = $2 AND id = $4",
                [json(record)?, int(record.id.0)],
            ));
        }
        for (seq, event) in &rewrite.told {
            all.push(of(
                key,
                "UPDATE event SET event = $3 WHERE tenant = $1 AND thread = $2 AND seq = $4",
                [text(event), int(*seq)],
            ));
        }
        for (node, terms) in &rewrite.search {
            all.push(found_by(key, *node, terms));
        }
        for sql in [
            "DELETE FROM content WHERE tenant = $1 AND thread = $2 AND hash NOT IN \
             (SELECT hash FROM node WHERE tenant = $1 AND thread = $2)",
            "DELETE FROM chunk WHERE tenant = $1 AND thread = $2",
            "DELETE FROM preview WHERE tenant = $1 AND thread = $2",
        ] {
            all.push(of(key, sql, []));
        }
        for (seq, change) in (self.moves..).zip(&rewrite.moved) {
            all.push(moved(key, seq, change, ms)?);
        }
        for (seq, event) in (self.events + 1..).zip(&rewrite.events) {
            all.push(event_row(key, seq, event, ms));
        }
        let after = After {
            nodes: head.nodes,
            records: head.records,
            moves: self.moves + rewrite.moved.len() as u64,
            events: self.events + rewrite.events.len() as u64,
            state: rewrite.state.as_deref(),
            meta: rewrite.meta.as_deref(),
            ms,
        };
        all.push(self.row(key, &after)?);
        Ok(all)
    }

    /// The thread's row after a write.
    fn row(&self, key: &ThreadKey, after: &After<'_>) -> Result<Statement, StoreError> {
        let head = &self.head;
        let state = after.state.or(head.state.as_deref());
        let version = state.map_or(head.version, State::version);
        Ok(of(
            key,
            "UPDATE thread SET revision = $3, nodes = $4, records = $5, moves = $6, events = $7, version = $8, \
             state = $9, meta = $10, written_ms = $11 WHERE tenant = $1 AND id = $2",
            [
                int(head.revision + 1),
                int(after.nodes),
                int(after.records),
                int(after.moves),
                int(after.events),
                int(version.0),
                state.map_or(Ok(Value::Null), json)?,
                text(after.meta.unwrap_or(&head.meta)),
                int(after.ms),
            ],
        ))
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

/// What a write leaves in the thread's row.
struct After<'a> {
    nodes: u64,
    records: u64,
    moves: u64,
    events: u64,
    state: Option<&'a State>,
    meta: Option<&'a str>,
    ms: Millis,
}

/// Bytes, once a thread.
fn content(key: &ThreadKey, hash: &[u8], bytes: &[u8]) -> Statement {
    of(
        key,
        "INSERT INTO content (tenant, thread, hash, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        [Value::Bytes(hash.to_vec()), Value::Bytes(bytes.to_vec())],
    )
}

fn moved(
    key: &ThreadKey,
    seq: u64,
    change: &HeadChange,
    ms: Millis,
) -> Result<Statement, StoreError> {
    Ok(of(
        key,
        "INSERT INTO head_log (tenant, thread, seq, payload, ms) VALUES ($1, $2, $3, $4, $5)",
        [int(seq), json(change)?, int(ms)],
    ))
}

/// What a message can be found by. The thread's own term narrows what an index over all threads has to look at.
fn found_by(key: &ThreadKey, node: NodeId, terms: &Terms) -> Statement {
    if terms.is_empty() {
        return of(
            key,
            "DELETE FROM search WHERE tenant = $1 AND thread = $2 AND seq = $3",
            [int(node.0)],
        );
    }
    of(
        key,
        "INSERT INTO search (tenant, thread, seq, terms) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant, thread, seq) DO UPDATE SET terms = excluded.terms",
        [
            int(node.0),
            Value::Text(format!("{} {}", own_term(key), terms.to_text())),
        ],
    )
}

/// A term that stands in every message of a thread, and that no text has: terms do not begin with `_`.
pub(crate) fn own_term(key: &ThreadKey) -> String {
    let mut digest = Sha256::new();
    digest.update((key.tenant.len() as u64).to_le_bytes());
    digest.update(key.tenant.as_bytes());
    digest.update(key.thread.as_bytes());
    let digest = digest.finalize();
    let hex: String = digest.iter().take(12).map(|b| format!("{b:02x}")).collect();
    format!("_{hex}")
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

/// As JSON with its sum behind it: a byte that changes on the disk is noticed.
///
/// # Errors
/// When it has no JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Value, StoreError> {
    let json = serde_json::to_string(value).map_err(|e| StoreError::Failed(e.to_string()))?;
    Ok(Value::Text(format!("{json}#{}", sum(&json))))
}

/// From JSON. What a newer version wrote and this one does not know is damage to it.
///
/// # Errors
/// When it is not what was written.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, StoreError> {
    // Until version 2 nothing stood behind it.
    let json = match text
        .rsplit_once('#')
        .filter(|(_, end)| !end.ends_with(['}', ']', '"']))
    {
        Some((json, stated)) if stated == sum(json) => json,
        Some(_) => {
            return Err(StoreError::Damaged(format!(
                "{what} is not what was stored"
            )));
        }
        None => text,
    };
    // The position, not the text: what people wrote stays out of errors.
    serde_json::from_str(json).map_err(|e| {
        StoreError::Damaged(format!(
            "{what} cannot be read at {}:{}",
            e.line(),
            e.column()
        ))
    })
}

fn sum(json: &str) -> String {
    let digest = hash(json.as_bytes());
    digest.iter().take(4).map(|b| format!("{b:02x}")).collect()
}
