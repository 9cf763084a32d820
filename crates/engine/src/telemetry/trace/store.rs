//! Writes of a store as spans. Reading is not told: there is much of it, and it changes nothing.

use std::sync::Arc;

use conspectus_core::effect::{Fence, Millis};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Learnt, Limits};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use crate::store::{
    Found, Head, Lease, Listing, Mark, Rewrite, StoreError, StoredEvent, StoredMessage, Stores,
    ThreadKey, ThreadStore, Write, Written,
};
use crate::terms::Terms;

/// The same store, whose writes are spans.
pub(crate) fn traced(store: Arc<dyn ThreadStore>) -> Arc<dyn ThreadStore> {
    Arc::new(Traced(store))
}

struct Traced(Arc<dyn ThreadStore>);

fn span(operation: &str, tenant: &str, thread: Option<&str>) -> Span {
    info_span!(
        target: "conspectus",
        "store",
        otel.name = ["store", operation].join(" "),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.conversation.id = thread,
        "error.type" = Empty,
        conspectus.tenant = tenant,
        conspectus.store.operation = operation,
        conspectus.store.messages = Empty,
        conspectus.store.outcome = Empty,
    )
}

fn of(operation: &str, key: &ThreadKey) -> Span {
    span(operation, &key.tenant, Some(&key.thread))
}

/// The write in its span; `outcome` says in a word what became of it.
fn watched<'a, T: 'a>(
    span: Span,
    work: Stores<'a, T>,
    outcome: impl FnOnce(&T) -> &'static str + Send + 'a,
) -> Stores<'a, T> {
    let inside = span.clone();
    Box::pin(async move {
        let done = work.instrument(inside).await;
        match &done {
            Ok(done) => span.record("conspectus.store.outcome", outcome(done)),
            Err(error) => span
                .record("otel.status_code", "ERROR")
                .record("error.type", error.kind()),
        };
        done
    })
}

fn yes_no(is_done: &bool) -> &'static str {
    match is_done {
        true => "done",
        false => "not_done",
    }
}

fn written(written: &Written) -> &'static str {
    match written {
        Written::Done(_) => "done",
        Written::Behind(_) => "behind",
        Written::Conflict => "conflict",
        Written::Repeated(_) => "repeated",
        Written::KeyReused => "key_reused",
    }
}

fn lease(lease: &Lease) -> &'static str {
    match lease {
        Lease::Held { .. } => "done",
        Lease::Taken { .. } => "taken",
    }
}

fn done<T>(_: &T) -> &'static str {
    "done"
}

impl StoreError {
    /// A word for figures and spans.
    fn kind(&self) -> &'static str {
        match self {
            Self::NoThread => "no_thread",
            Self::Busy => "busy",
            Self::Full => "full",
            Self::ReadOnly(_) => "read_only",
            Self::Damaged(_) => "damaged",
            Self::Newer { .. } => "newer",
            Self::Unreachable(_) => "unreachable",
            Self::Unfit(_) => "unfit",
            Self::Failed(_) => "failed",
        }
    }
}

impl ThreadStore for Traced {
    fn create<'a>(&'a self, key: &'a ThreadKey, meta: &'a str, now: Millis) -> Stores<'a, bool> {
        watched(of("create", key), self.0.create(key, meta, now), yes_no)
    }

    fn delete<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, bool> {
        watched(of("delete", key), self.0.delete(key), yes_no)
    }

    fn list<'a>(
        &'a self,
        tenant: &'a str,
        listing: &'a Listing,
    ) -> Stores<'a, Vec<(Arc<str>, Head)>> {
        self.0.list(tenant, listing)
    }

    fn count<'a>(&'a self, tenant: &'a str) -> Stores<'a, u64> {
        self.0.count(tenant)
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Option<Head>> {
        self.0.head(key)
    }

    fn write<'a>(&'a self, key: &'a ThreadKey, write: Write) -> Stores<'a, Written> {
        let span = match &write.commit {
            Some(_) => of("commit", key),
            None => of("write", key),
        };
        span.record("conspectus.store.messages", write.messages.len() as i64);
        watched(span, self.0.write(key, write), written)
    }

    fn rewrite<'a>(&'a self, key: &'a ThreadKey, rewrite: Rewrite) -> Stores<'a, Written> {
        let span = of("rewrite", key);
        span.record("conspectus.store.messages", rewrite.messages.len() as i64);
        watched(span, self.0.rewrite(key, rewrite), written)
    }

    fn expire<'a>(
        &'a self,
        tenant: &'a str,
        before_ms: Millis,
        limit: u32,
    ) -> Stores<'a, Vec<Arc<str>>> {
        let work = self.0.expire(tenant, before_ms, limit);
        watched(span("expire", tenant, None), work, done)
    }

    fn has_record<'a>(
        &'a self,
        key: &'a ThreadKey,
        attempt: AttemptId,
        record: RecordId,
    ) -> Stores<'a, bool> {
        self.0.has_record(key, attempt, record)
    }

    fn messages<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: NodeId,
        last: NodeId,
    ) -> Stores<'a, Vec<StoredMessage>> {
        self.0.messages(key, first, last)
    }

    fn search<'a>(
        &'a self,
        key: &'a ThreadKey,
        terms: &'a Terms,
        limit: u32,
    ) -> Stores<'a, Vec<Found>> {
        self.0.search(key, terms, limit)
    }

    fn by_native_id<'a>(
        &'a self,
        key: &'a ThreadKey,
        native_id: &'a str,
    ) -> Stores<'a, Option<NodeId>> {
        self.0.by_native_id(key, native_id)
    }

    fn records<'a>(
        &'a self,
        key: &'a ThreadKey,
        first: RecordId,
        last: RecordId,
    ) -> Stores<'a, Vec<Arc<Record>>> {
        self.0.records(key, first, last)
    }

    fn head_log<'a>(&'a self, key: &'a ThreadKey) -> Stores<'a, Vec<HeadChange>> {
        self.0.head_log(key)
    }

    fn acquire<'a>(
        &'a self,
        key: &'a ThreadKey,
        holder: &'a str,
        ttl_ms: Millis,
        now: Millis,
    ) -> Stores<'a, Lease> {
        let work = self.0.acquire(key, holder, ttl_ms, now);
        watched(of("acquire", key), work, lease)
    }

    fn release<'a>(&'a self, key: &'a ThreadKey, fence: Fence) -> Stores<'a, bool> {
        watched(of("release", key), self.0.release(key, fence), yes_no)
    }

    fn mark<'a>(
        &'a self,
        key: &'a ThreadKey,
        fence: Fence,
        mark: Option<Mark>,
    ) -> Stores<'a, bool> {
        watched(of("mark", key), self.0.mark(key, fence, mark), yes_no)
    }

    fn cached<'a>(&'a self, key: &'a ThreadKey, part: Ident) -> Stores<'a, Option<Arc<str>>> {
        self.0.cached(key, part)
    }

    fn cache<'a>(
        &'a self,
        key: &'a ThreadKey,
        part: Ident,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        watched(of("cache", key), self.0.cache(key, part, text, now), done)
    }

    fn preview<'a>(&'a self, key: &'a ThreadKey, name: &'a str) -> Stores<'a, Option<Arc<str>>> {
        self.0.preview(key, name)
    }

    fn keep_preview<'a>(
        &'a self,
        key: &'a ThreadKey,
        name: &'a str,
        text: &'a str,
        now: Millis,
    ) -> Stores<'a, ()> {
        let work = self.0.keep_preview(key, name, text, now);
        watched(of("keep_preview", key), work, done)
    }

    fn emit<'a>(&'a self, key: &'a ThreadKey, event: &'a str, now: Millis) -> Stores<'a, u64> {
        watched(of("emit", key), self.0.emit(key, event, now), done)
    }

    fn events<'a>(
        &'a self,
        key: &'a ThreadKey,
        after: u64,
        limit: u32,
    ) -> Stores<'a, Vec<StoredEvent>> {
        self.0.events(key, after, limit)
    }

    fn limits<'a>(&'a self, tenant: &'a str) -> Stores<'a, Limits> {
        self.0.limits(tenant)
    }

    fn learn<'a>(
        &'a self,
        tenant: &'a str,
        endpoint: &'a str,
        model: &'a str,
        learnt: Learnt,
    ) -> Stores<'a, ()> {
        let work = self.0.learn(tenant, endpoint, model, learnt);
        watched(span("learn", tenant, None), work, done)
    }
}
