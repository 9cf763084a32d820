//! The port over any database that can run our statements.

use std::sync::Arc;

use conspectus::store::{
    Found, Head, Lease, Listing, MAX_PREVIEWS, Mark, Rewrite, StoreError, StoredEvent,
    StoredMessage, Stores, ThreadKey, ThreadStore, Write, Written,
};
use conspectus::terms::Terms;
use conspectus_core::effect::{Fence, Millis};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};

use crate::common::{cumulative, decide, decide_rewrite};
use crate::sql::{Backend, Columns, Row, Statement, Value, int, text};
use crate::statements::{Read, head, ident, json, list, message, messages, of, own_term, parse};

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

    /// A transaction after which something is not to be found any more.
    fn for_good<'s, T: Send + 's>(&'s self, done: Stores<'s, T>) -> Stores<'s, T> {
        Box::pin(async move {
            let answer = done.await?;
            // It is deleted whether or not the rest of it could be wiped out right now.
            let _ = self.0.scrub().await;
            Ok(answer)
        })
    }

    /// Rows of a thread that has to be there.
    fn read<T: Send + 'static>(
        &self,
        key: &ThreadKey,
        statement: Statement,
        each: impl Fn(Row) -> Result<T, StoreError> + Send + 'static,
    ) -> Stores<'_, Vec<T>> {
        self.read_all(key, statement, |_| None, each)
    }

    /// As [`Self::read`], with as many rows as there have to be: one that is not there is not passed over in silence.
    fn read_all<T: Send + 'static>(
        &self,
        key: &ThreadKey,
        statement: Statement,
        expected: impl Fn(&Counts) -> Option<u64> + Send + 'static,
        each: impl Fn(Row) -> Result<T, StoreError> + Send + 'static,
    ) -> Stores<'_, Vec<T>> {
        let counts = of(
            key,
            "SELECT nodes, records, moves, events FROM thread WHERE tenant = $1 AND id = $2",
            [],
        );
        // Both are of one instant: a transaction that locks nothing sees what was there when it began.
        self.0.transact(vec![counts, statement], move |mut rows| {
            let row = take(&mut rows, 0).pop().ok_or(StoreError::NoThread)?;
            let counts = Counts::of(row)?;
            let all: Result<Vec<T>, _> = take(&mut rows, 1).into_iter().map(each).collect();
            let all = all?;
            match expected(&counts) {
                Some(count) if count != all.len() as u64 => {
                    let what = format!("{} of {count} rows are there", all.len());
                    Err(StoreError::Damaged(what))
                }
                _ => Ok((Vec::new(), all)),
            }
        })
    }
}

/// How much there is of a thread.
struct Counts {
    nodes: u64,
    records: u64,
    moves: u64,
    events: u64,
}

impl Counts {
    fn of(row: Row) -> Result<Self, StoreError> {
        let mut row = Columns::of(row);
        Ok(Self {
            nodes: row.int()?,
            records: row.int()?,
            moves: row.int()?,
            events: row.int()?,
        })
    }
}

/// Of `count` numbers from 0, how many are from `first` to `last`.
fn within(first: u64, last: u64, count: u64) -> u64 {
    last.saturating_add(1).min(count).saturating_sub(first)
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
        let reads = vec![head(&key).locking()];
        self.for_good(self.0.transact(reads, move |mut rows| {
            let is_there = Read::of(take(&mut rows, 0))?.is_some();
            // All other tables follow.
            let gone = of(&key, "DELETE FROM thread WHERE tenant = $1 AND id = $2", []);
            Ok((vec![gone], is_there))
        }))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a str,
        listing: &'a Listing,
    ) -> Stores<'a, Vec<(Arc<str>, Head)>> {
        let rows = self.0.query(list(tenant, listing));
        Box::pin(async move {
            let listed = |mut row: Row| {
                let Some(Value::Text(name)) = row.pop() else {
                    return Err(StoreError::Damaged("a thread has no name".to_owned()));
                };
                Ok((name.into(), Read::needed(vec![row])?.head))
            };
            rows.await?.into_iter().map(listed).collect()
        })
    }

    fn count<'a>(&'a self, tenant: &'a str) -> Stores<'a, u64> {
        let sql = "SELECT count(*) FROM thread WHERE tenant = $1";
        let rows = self.0.query(Statement::new(sql, [text(tenant)]));
        Box::pin(async move {
            let row = rows.await?.pop().unwrap_or_default();
            Columns::of(row).int()
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

    fn rewrite<'a>(&'a self, key: &'a ThreadKey, rewrite: Rewrite) -> Stores<'a, Written> {
        let key_of = key.clone();
        self.for_good(self.on(key, move |read| {
            if let Some(end) = decide_rewrite(&read.head, &rewrite)? {
                return Ok((Vec::new(), end));
            }
            let all = read.rewriting(&key_of, &rewrite)?;
            Ok((all, Written::Done(read.head.revision + 1)))
        }))
    }

    fn expire<'a>(
        &'a self,
        tenant: &'a str,
        before_ms: Millis,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        let tenant: Arc<str> = tenant.into();
        let old = Statement::new(
            "SELECT id FROM thread WHERE tenant = $1 AND written_ms < $2 ORDER BY id LIMIT $3",
            [text(&tenant), int(before_ms), int(u64::from(limit))],
        );
        self.for_good(self.0.transact(vec![old.locking()], move |mut rows| {
            let name = |row| Ok(Columns::of(row).text()?.into());
            let names: Result<Vec<Arc<str>>, StoreError> =
                take(&mut rows, 0).into_iter().map(name).collect();
            let names = names?;
            let gone = |name: &Arc<str>| {
                let key = ThreadKey::new(&tenant, name);
                of(&key, "DELETE FROM thread WHERE tenant = $1 AND id = $2", [])
            };
            Ok((names.iter().map(gone).collect(), names))
        }))
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
        let expected = move |counts: &Counts| Some(within(first.0, last.0, counts.nodes));
        self.read_all(key, messages(key, first, last), expected, message)
    }

    fn search<'a>(
        &'a self,
        key: &'a ThreadKey,
        terms: &'a Terms,
        limit: u32,
    ) -> Stores<'a, Vec<Found>> {
        let asked: Vec<&str> = terms.iter().collect();
        let asked = serde_json::Value::from(asked).to_string();
        let found = of(
            key,
            B::SEARCH,
            [
                Value::Text(own_term(key)),
                Value::Text(asked),
                int(u64::from(limit)),
            ],
        );
        self.read(key, found, |row| {
            let mut row = Columns::of(row);
            Ok(Found {
                node: NodeId(row.int()?),
                matched: row.int()?,
            })
        })
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
        let expected = move |counts: &Counts| Some(within(first.0, last.0, counts.records));
        self.read_all(key, asked, expected, |row| {
            Ok(Arc::new(parse("a record", &Columns::of(row).text()?)?))
        })
    }

    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>> {
        let all = of(
            key,
            "SELECT payload FROM head_log WHERE tenant = $1 AND thread = $2 ORDER BY seq",
            [],
        );
        self.read_all(
            key,
            all,
            |counts| Some(counts.moves),
            |row| parse("a change of the head", &Columns::of(row).text()?),
        )
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
        reads.extend(self.0.clock().map(|sql| Statement::new(sql, [])));
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

    fn preview<'a>(&'a self, key: &'a ThreadKey, name: &'a str) -> Stores<'a, Option<Arc<str>>> {
        let kept = of(
            key,
            "SELECT text FROM preview WHERE tenant = $1 AND thread = $2 AND name = $3",
            [text(name)],
        );
        first(self.read(key, kept, |row| {
            let text = String::from_utf8(Columns::of(row).bytes()?);
            let text = text.map_err(|_| StoreError::Damaged("a preview".to_owned()))?;
            Ok(text.into())
        }))
    }

    fn keep_preview<'a>(
        &'a self,
        key: &'a ThreadKey,
        name: &'a str,
        words: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        let kept = of(
            key,
            "INSERT INTO preview (tenant, thread, name, nth, text, ms) VALUES ($1, $2, $3, \
             (SELECT coalesce(max(nth), 0) + 1 FROM preview WHERE tenant = $1 AND thread = $2), $4, $5) \
             ON CONFLICT (tenant, thread, name) DO UPDATE \
             SET nth = excluded.nth, text = excluded.text, ms = excluded.ms",
            [text(name), Value::Bytes(words.into()), int(now)],
        );
        let newest = of(
            key,
            "DELETE FROM preview WHERE tenant = $1 AND thread = $2 AND nth NOT IN \
             (SELECT nth FROM preview WHERE tenant = $1 AND thread = $2 ORDER BY nth DESC LIMIT $3)",
            [int(MAX_PREVIEWS as u64)],
        );
        self.on(key, move |_| Ok((vec![kept, newest], ())))
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
        let left = move |counts: &Counts| counts.events.saturating_sub(after);
        let expected = move |counts: &Counts| Some(left(counts).min(u64::from(limit)));
        self.read_all(key, behind, expected, |row| {
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
