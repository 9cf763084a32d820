//! The port over any database that can run our statements.

use std::sync::Arc;

use conspectus::store::{
    Head, Lease, Mark, StoreError, StoredEvent, StoredMessage, Stores, ThreadKey, ThreadStore,
    Write, Written,
};
use conspectus_core::effect::{Fence, Millis};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};

use crate::common::{cumulative, decide};
use crate::sql::{Backend, Columns, Row, Statement, Value, int, text};
use crate::statements::{Read, head, ident, json, message, messages, of, parse};

/// A store in a database.
#[derive(Debug)]
pub struct Database<B>(pub(crate) B);

impl<B: Backend> Database<B> {
    /// One transaction on a thread that has to be there: its row first.
    fn on<T: Send + 'static>(
        &self,
        key: &ThreadKey,
        then: impl FnOnce(Read) -> Result<(Vec<Statement>, T), StoreError> + Send + 'static,
    ) -> Stores<'_, T> {
        let reads = vec![head(key).locking()];
        self.0
            .transact(reads, |mut rows| then(Read::needed(take(&mut rows, 0))?))
    }

    /// Rows of a thread that has to be there.
    fn read<T: Send + 'static>(
        &self,
        key: &ThreadKey,
        statement: Statement,
        each: impl Fn(Row) -> Result<T, StoreError> + Send + 'static,
    ) -> Stores<'_, Vec<T>> {
        let exists = of(
            key,
            "SELECT nodes FROM thread WHERE tenant = $1 AND id = $2",
            [],
        );
        self.0.transact(vec![exists, statement], move |mut rows| {
            if take(&mut rows, 0).is_empty() {
                return Err(StoreError::NoThread);
            }
            let all: Result<Vec<T>, _> = take(&mut rows, 1).into_iter().map(each).collect();
            Ok((Vec::new(), all?))
        })
    }
}

fn take(rows: &mut [Vec<Row>], at: usize) -> Vec<Row> {
    rows.get_mut(at).map(std::mem::take).unwrap_or_default()
}

/// The first of what was read, in a future.
fn first<T: Send + 'static>(all: Stores<'_, Vec<T>>) -> Stores<'_, Option<T>> {
    Box::pin(async move { Ok(all.await?.into_iter().next()) })
}

impl<B: Backend> ThreadStore for Database<B> {
    fn create<'a>(&'a self, key: &'a ThreadKey, meta: &'a str, now: Millis) -> Stores<'a, bool> {
        let (key, meta) = (key.clone(), meta.to_owned());
        self.0.transact(vec![head(&key)], move |mut rows| {
            if Read::of(take(&mut rows, 0))?.is_some() {
                return Ok((Vec::new(), false));
            }
            let thread = of(
                &key,
                "INSERT INTO thread (tenant, id, revision, nodes, records, moves, events, version, meta, created_ms, \
                 written_ms) VALUES ($1, $2, 0, 0, 0, 0, 0, 0, $3, $4, $4)",
                [text(&meta), int(now)],
            );
            let lease = of(
                &key,
                "INSERT INTO lease (tenant, thread, fence, until_ms) VALUES ($1, $2, 0, 0)",
                [],
            );
            Ok((vec![thread, lease], true))
        })
    }

    fn delete<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, bool> {
        let key = key.clone();
        self.0
            .transact(vec![head(&key).locking()], move |mut rows| {
                let is_there = Read::of(take(&mut rows, 0))?.is_some();
                // All other tables follow.
                let gone = of(&key, "DELETE FROM thread WHERE tenant = $1 AND id = $2", []);
                Ok((vec![gone], is_there))
            })
    }

    fn list<'a>(
        &'a self,
        tenant: &'a str,
        after: &'a str,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        let names = Statement::new(
            "SELECT id FROM thread WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
            [text(tenant), text(after), int(u64::from(limit))],
        );
        let rows = self.0.query(names);
        Box::pin(async move {
            let name = |row| Ok(Columns::of(row).text()?.into());
            rows.await?.into_iter().map(name).collect()
        })
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Option<Head>> {
        let rows = self.0.query(head(key));
        Box::pin(async move { Ok(Read::of(rows.await?)?.map(|read| read.head)) })
    }

    fn write<'a>(&'a self, key: &'a ThreadKey, write: Write) -> Stores<'a, Written> {
        let key = key.clone();
        let parent = write.messages.first().and_then(|m| m.known.parent);
        let before = of(
            &key,
            "SELECT cumulative FROM node WHERE tenant = $1 AND thread = $2 AND seq = $3",
            [parent.map_or(Value::Null, |p| int(p.0))],
        );
        let once = of(
            &key,
            "SELECT digest, first FROM once WHERE tenant = $1 AND thread = $2 AND key = $3",
            [write.once.as_ref().map_or(Value::Null, |o| text(&o.key))],
        );
        let reads = vec![head(&key).locking(), before, once];
        self.0.transact(reads, move |mut rows| {
            let read = Read::needed(take(&mut rows, 0))?;
            let before = take(&mut rows, 1).pop();
            let before = before.map_or(Ok(0), |row| Columns::of(row).int())?;
            let once = take(&mut rows, 2).pop().map(|row| {
                let mut row = Columns::of(row);
                Ok::<_, StoreError>((ident(&row.bytes()?)?, NodeId(row.int()?)))
            });
            if let Some(end) = decide(&read.head, once.transpose()?, &write)? {
                return Ok((Vec::new(), end));
            }
            let messages = cumulative(&read.head, &write, |_| before);
            let all = read.writing(&key, &write, &messages)?;
            Ok((all, Written::Done(read.head.revision + 1)))
        })
    }

    fn has_record<'a>(
        &'a self,
        key: &'a ThreadKey,
        attempt: AttemptId,
        record: RecordId,
    ) -> Stores<'a, bool> {
        let found = of(
            key,
            "SELECT id FROM record WHERE tenant = $1 AND thread = $2 AND attempt = $3 AND id = $4",
            [int(attempt.0), int(record.0)],
        );
        let rows = self.read(key, found, |_| Ok(()));
        Box::pin(async move { Ok(!rows.await?.is_empty()) })
    }

    fn messages<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: NodeId,
        last: NodeId,
    ) -> Stores<'a, Vec<StoredMessage>> {
        self.read(key, messages(key, first, last), message)
    }

    fn by_native_id<'a>(
        &'a self,
        key: &'a ThreadKey,
        native_id: &'a str,
    ) -> Stores<'a, Option<NodeId>> {
        let newest = of(
            key,
            "SELECT seq FROM node WHERE tenant = $1 AND thread = $2 AND native_id = $3 ORDER BY seq DESC LIMIT 1",
            [text(native_id)],
        );
        first(self.read(key, newest, |row| Ok(NodeId(Columns::of(row).int()?))))
    }

    fn records<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: RecordId,
        last: RecordId,
    ) -> Stores<'a, Vec<Arc<Record>>> {
        let asked = of(
            key,
            "SELECT payload FROM record WHERE tenant = $1 AND thread = $2 AND id >= $3 AND id <= $4 ORDER BY id",
            [int(first.0), int(last.0)],
        );
        self.read(key, asked, |row| {
            Ok(Arc::new(parse("a record", &Columns::of(row).text()?)?))
        })
    }

    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>> {
        let all = of(
            key,
            "SELECT payload FROM head_log WHERE tenant = $1 AND thread = $2 ORDER BY seq",
            [],
        );
        self.read(key, all, |row| {
            parse("a change of the head", &Columns::of(row).text()?)
        })
    }

    fn acquire<'a>(
        &'a self,
        key: &'a ThreadKey,
        holder: &'a str,
        ttl_ms: Millis,
        now: Millis,
    ) -> Stores<'a, Lease> {
        let (key, holder) = (key.clone(), holder.to_owned());
        let mut reads = vec![head(&key).locking()];
        reads.extend(B::CLOCK.map(|sql| Statement::new(sql, [])));
        self.0.transact(reads, move |mut rows| {
            let read = Read::needed(take(&mut rows, 0))?;
            let clock = take(&mut rows, 1).pop();
            let now = clock.map_or(Ok(now), |row| Columns::of(row).int())?;
            let Some(held) = read.held.asked(&holder, ttl_ms, now) else {
                let until_ms = read.held.until_ms;
                return Ok((Vec::new(), Lease::Taken { until_ms }));
            };
            let taken = of(
                &key,
                "UPDATE lease SET holder = $3, fence = $4, until_ms = $5 WHERE tenant = $1 AND thread = $2",
                [text(&holder), int(held.fence.0), int(held.until_ms)],
            );
            let lease = Lease::Held {
                fence: held.fence,
                until_ms: held.until_ms,
                orphan: read.head.mark.filter(|mark| mark.fence != held.fence),
            };
            Ok((vec![taken], lease))
        })
    }

    fn release<'a>(&'a self, key: &'a ThreadKey, fence: Fence) -> Stores<'a, bool> {
        let free = of(
            key,
            "UPDATE lease SET holder = NULL WHERE tenant = $1 AND thread = $2",
            [],
        );
        self.on(key, move |read| {
            let is_own = read.held.fence == fence && read.held.holder.is_some();
            Ok((if is_own { vec![free] } else { Vec::new() }, is_own))
        })
    }

    fn mark<'a>(
        &'a self,
        key: &'a ThreadKey,
        fence: Fence,
        mark: Option<Mark>,
    ) -> Stores<'a, bool> {
        let key_of = key.clone();
        self.on(key, move |read| {
            if read.head.fence != fence {
                return Ok((Vec::new(), false));
            }
            let mark = mark.map_or(Ok(Value::Null), |mark| json(&mark))?;
            let marked = of(
                &key_of,
                "UPDATE lease SET mark = $3 WHERE tenant = $1 AND thread = $2",
                [mark],
            );
            Ok((vec![marked], true))
        })
    }

    fn cached<'a>(&'a self, key: &'a ThreadKey, part: Ident) -> Stores<'a, Option<Arc<str>>> {
        let kept = of(
            key,
            "SELECT text FROM chunk WHERE tenant = $1 AND thread = $2 AND part = $3",
            [Value::Bytes(part.0.to_vec())],
        );
        // Bytes, since PostgreSQL's texts cannot hold what a model may write.
        first(self.read(key, kept, |row| {
            let text = String::from_utf8(Columns::of(row).bytes()?);
            let text = text.map_err(|_| StoreError::Damaged("a partial result".to_owned()))?;
            Ok(text.into())
        }))
    }

    fn cache<'a>(
        &'a self,
        key: &'a ThreadKey,
        part: Ident,
        words: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        let kept = of(
            key,
            "INSERT INTO chunk (tenant, thread, part, text, ms) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (tenant, thread, part) DO UPDATE SET text = excluded.text, ms = excluded.ms",
            [
                Value::Bytes(part.0.to_vec()),
                Value::Bytes(words.into()),
                int(now),
            ],
        );
        self.on(key, move |_| Ok((vec![kept], ())))
    }

    fn emit<'a>(&'a self, key: &'a ThreadKey, event: &'a str, now: Millis) -> Stores<'a, u64> {
        let (key_of, event) = (key.clone(), event.to_owned());
        self.on(key, move |read| Ok(read.telling(&key_of, &event, now)))
    }

    fn events<'a>(
        &'a self,
        key: &'a ThreadKey,
        after: u64,
        limit: u32,
    ) -> Stores<'a, Vec<StoredEvent>> {
        let behind = of(
            key,
            "SELECT seq, ms, event FROM event WHERE tenant = $1 AND thread = $2 AND seq > $3 ORDER BY seq LIMIT $4",
            [int(after), int(u64::from(limit))],
        );
        self.read(key, behind, |row| {
            let mut row = Columns::of(row);
            Ok(StoredEvent {
                seq: row.int()?,
                ms: row.int()?,
                event: row.text()?.into(),
            })
        })
    }

    fn limits<'a>(&'a self, tenant: &'a str) -> Stores<'a, Limits> {
        let all = Statement::new(
            "SELECT endpoint, model, tokens, bytes FROM learnt WHERE tenant = $1 ORDER BY endpoint, model",
            [text(tenant)],
        );
        let rows = self.0.query(all);
        Box::pin(async move {
            let mut limits = Limits::default();
            for row in rows.await? {
                let mut row = Columns::of(row);
                let (endpoint, model) = (row.text()?, row.text()?);
                let learnt = Learnt {
                    tokens: row.maybe_int()?,
                    bytes: row.maybe_int()?,
                };
                limits.learn(&endpoint, &model, learnt);
            }
            Ok(limits)
        })
    }

    fn learn<'a>(
        &'a self,
        tenant: &'a str,
        endpoint: &'a str,
        model: &'a str,
        learnt: Learnt,
    ) -> Stores<'a, ()> {
        if learnt == Learnt::default() {
            return Box::pin(std::future::ready(Ok(())));
        }
        let maybe = |number: Option<u64>| number.map_or(Value::Null, int);
        // The narrower of both, and whichever there is.
        let narrower = Statement::new(
            "INSERT INTO learnt (tenant, endpoint, model, tokens, bytes) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (tenant, endpoint, model) DO UPDATE SET \
             tokens = CASE WHEN learnt.tokens IS NULL OR excluded.tokens < learnt.tokens \
             THEN excluded.tokens ELSE learnt.tokens END, \
             bytes = CASE WHEN learnt.bytes IS NULL OR excluded.bytes < learnt.bytes \
             THEN excluded.bytes ELSE learnt.bytes END",
            [
                text(tenant),
                text(endpoint),
                text(model),
                maybe(learnt.tokens),
                maybe(learnt.bytes),
            ],
        );
        self.0.transact(Vec::new(), |_| Ok((vec![narrower], ())))
    }
}
