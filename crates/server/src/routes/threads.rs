//! Threads as such: made, found, looked at, changed, removed. Paths and shapes are LangGraph's.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use conspectus::store::ThreadKey;
use conspectus::threads::{
    CreateThread, IfExists, ListThreads, Metadata, PatchThread, SortBy, ThreadInfo, ThreadStatus,
    ThreadsError,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::guard::Tenant;
use crate::parts::{Whole, said};
use crate::problem::Problem;
use crate::read::{Asked, Body, Named};
use crate::shapes::Thread;
use crate::tokens::is_name;

/// A thread to make.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    thread_id: Option<Arc<str>>,
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(default)]
    if_exists: Option<IfExists>,
    title: Option<Arc<str>>,
    agent_name: Option<Arc<str>>,
    policy: Option<Value>,
    /// deer-flow's; kept as metadata.
    assistant_id: Option<Arc<str>>,
    /// LangGraph's, which are not offered.
    supersteps: Option<Value>,
    ttl: Option<Value>,
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    tenant: axum::Extension<Tenant>,
    Body(create): Body<Create>,
) -> Answered<Thread> {
    not_offered("supersteps", create.supersteps.as_ref())?;
    not_offered("ttl", create.ttl.as_ref())?;
    let id = match create.thread_id {
        Some(id) if is_name(&id) => id,
        Some(_) => {
            return Err(Problem::invalid(
                "thread_id is 1 to 64 letters, digits, - and _",
            ));
        }
        None => Uuid::now_v7().to_string().into(),
    };
    let mut metadata = create.metadata.unwrap_or_default();
    if let Some(assistant) = create.assistant_id {
        metadata
            .entry("assistant_id")
            .or_insert_with(|| (*assistant).into());
    }
    let create = CreateThread {
        metadata,
        title: create.title,
        agent_name: create.agent_name,
        policy: create.policy,
        if_exists: create.if_exists.unwrap_or_default(),
    };
    let key = ThreadKey::new(&tenant.0.0, &id);
    let info = app.threads.create(&key, create).await?;
    with_values(&app, &key, info).await
}

pub(crate) async fn get(State(app): State<Arc<App>>, named: Named) -> Answered<Thread> {
    let key = named.key();
    let info = app.threads.get(&key).await?;
    with_values(&app, &key, info).await
}

/// What to change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    metadata: Option<Metadata>,
    title: Option<Arc<str>>,
    agent_name: Option<Arc<str>>,
    #[serde(default, deserialize_with = "said")]
    policy: Option<Option<Value>>,
    ttl: Option<Value>,
}

pub(crate) async fn patch(
    State(app): State<Arc<App>>,
    named: Named,
    Body(patch): Body<Patch>,
) -> Answered<Thread> {
    not_offered("ttl", patch.ttl.as_ref())?;
    let key = named.key();
    let patch = PatchThread {
        metadata: patch.metadata,
        title: patch.title,
        agent_name: patch.agent_name,
        policy: patch.policy,
    };
    let info = app.threads.patch(&key, patch).await?;
    with_values(&app, &key, info).await
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    named: Named,
) -> Result<StatusCode, Problem> {
    app.delete(&named.key()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A page of threads by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    limit: Option<u32>,
    after: Option<Arc<str>>,
    text: Option<Arc<str>>,
    status: Option<ThreadStatus>,
}

/// One page, and where the next begins.
#[derive(Serialize)]
pub(crate) struct Page {
    threads: Vec<Thread>,
    /// `after` of the next page; `None`: this is the last.
    next: Option<Arc<str>>,
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    tenant: axum::Extension<Tenant>,
    Asked(list): Asked<List>,
) -> Answered<Page> {
    let limit = app.page(list.limit.unwrap_or(50))?;
    let asked = ListThreads {
        text: list.text,
        status: list.status,
        limit: limit.saturating_add(1),
        after: list.after,
        ..ListThreads::default()
    };
    let mut found = app.threads.list(&tenant.0.0, &asked).await?;
    let is_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found
        .last()
        .filter(|_| is_more)
        .map(|last| last.thread_id.clone());
    let threads = found
        .into_iter()
        .map(|info| Thread::of(info, None))
        .collect();
    Ok(Answer(Page { threads, next }))
}

/// LangGraph's search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    metadata: Option<Metadata>,
    /// Ours: in title or id.
    text: Option<Arc<str>>,
    ids: Option<Vec<Arc<str>>>,
    status: Option<ThreadStatus>,
    /// Ours: branched off from this one.
    origin: Option<Arc<str>>,
    limit: Option<Whole<u32>>,
    offset: Option<Whole<u32>>,
    /// Unless said, by when they were written.
    sort_by: Option<Order>,
    /// Unless said, the newest first.
    sort_order: Option<Direction>,
    /// `values` among them: the newest state's values too. `window`: how full its window is.
    select: Option<Vec<String>>,
    values: Option<Value>,
    extract: Option<Value>,
}

/// LangGraph's orders.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    ThreadId,
    Status,
    CreatedAt,
    UpdatedAt,
    StateUpdatedAt,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Asc,
    Desc,
}

pub(crate) async fn search(
    State(app): State<Arc<App>>,
    tenant: axum::Extension<Tenant>,
    Body(search): Body<Search>,
) -> Answered<Vec<Thread>> {
    not_offered("values", search.values.as_ref())?;
    not_offered("extract", search.extract.as_ref())?;
    let asked = ListThreads {
        metadata: search.metadata.unwrap_or_default(),
        text: search.text,
        status: search.status,
        ids: search.ids,
        origin: search.origin,
        sort: match search.sort_by {
            Some(Order::ThreadId | Order::Status) => SortBy::ThreadId,
            Some(Order::CreatedAt) => SortBy::CreatedAt,
            Some(Order::UpdatedAt | Order::StateUpdatedAt) | None => SortBy::UpdatedAt,
        },
        descending: search.sort_order != Some(Direction::Asc),
        limit: app.page(search.limit.map_or(10, |limit| limit.0))?,
        offset: search.offset.map_or(0, |offset| offset.0),
        ..ListThreads::default()
    };
    let found = app.threads.list(&tenant.0.0, &asked).await?;
    let select = search.select.unwrap_or_default();
    let selects = |wanted: &str| select.iter().any(|name| name == wanted);
    let (with_values, with_window) = (selects("values"), selects("window"));
    let mut threads = Vec::with_capacity(found.len());
    for info in found {
        let values = match with_values {
            true => {
                let key = ThreadKey::new(&tenant.0.0, &info.thread_id);
                Some(app.threads.state(&key, None).await?.values)
            }
            false => None,
        };
        let key = ThreadKey::new(&tenant.0.0, &info.thread_id);
        let mut thread = Thread::of(info, values);
        if with_window {
            thread = thread.with_window(app.threads.gauge(&key).await?);
        }
        threads.push(thread);
    }
    Ok(Answer(threads))
}

/// Which threads to count.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Count {
    metadata: Option<Metadata>,
    text: Option<Arc<str>>,
    status: Option<ThreadStatus>,
    values: Option<Value>,
}

pub(crate) async fn count(
    State(app): State<Arc<App>>,
    tenant: axum::Extension<Tenant>,
    Body(count): Body<Count>,
) -> Answered<u64> {
    not_offered("values", count.values.as_ref())?;
    let asked = ListThreads {
        metadata: count.metadata.unwrap_or_default(),
        text: count.text,
        status: count.status,
        ..ListThreads::default()
    };
    Ok(Answer(app.threads.count(&tenant.0.0, &asked).await?))
}

/// Threads to remove, as LangGraph's clients ask for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prune {
    thread_ids: Vec<Arc<str>>,
    #[serde(default)]
    strategy: PruneStrategy,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PruneStrategy {
    #[default]
    Delete,
    KeepLatest,
}

/// How many there were.
#[derive(Serialize)]
pub(crate) struct Pruned {
    pruned_count: u64,
}

pub(crate) async fn prune(
    State(app): State<Arc<App>>,
    tenant: axum::Extension<Tenant>,
    Body(prune): Body<Prune>,
) -> Answered<Pruned> {
    if matches!(prune.strategy, PruneStrategy::KeepLatest) {
        let detail = "checkpoints are never removed alone; strategy can be delete only";
        return Err(Problem::invalid(detail));
    }
    let mut pruned_count = 0;
    for id in prune.thread_ids.iter().filter(|id| is_name(id)) {
        match app.delete(&ThreadKey::new(&tenant.0.0, id)).await {
            Ok(()) => pruned_count += 1,
            Err(ThreadsError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Answer(Pruned { pruned_count }))
}

/// The thread with its newest state's values, as LangGraph shows one.
pub(super) async fn with_values(app: &App, key: &ThreadKey, info: ThreadInfo) -> Answered<Thread> {
    let state = app.threads.state(key, None).await?;
    Ok(Answer(Thread::of(info, Some(state.values))))
}

/// LangGraph's members that would change what is asked, and that nothing here does.
pub(super) fn not_offered(name: &str, value: Option<&Value>) -> Result<(), Problem> {
    let is_empty = match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        Some(_) => false,
    };
    match is_empty {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "{name} is not offered here; leave it out"
        ))),
    }
}
