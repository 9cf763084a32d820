//! States: the newest, one by its checkpoint, those before it. Paths and shapes are LangGraph's.

use std::sync::Arc;

use axum::extract::State as Of;
use conspectus::store::ThreadKey;
use conspectus::threads::{Append, CheckpointId, Json, Metadata, PatchThread};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::parts::{Object, Whole};
use crate::problem::Problem;
use crate::read::{Asked, Body, Named};
use crate::shapes::{Checkpoint, State, Thread};

/// LangGraph's members of a query, which change nothing here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Newest {
    #[serde(rename = "subgraphs")]
    _subgraphs: Option<String>,
    #[serde(rename = "select")]
    _select: Option<String>,
}

pub(crate) async fn newest(
    Of(app): Of<Arc<App>>,
    named: Named,
    Asked(_): Asked<Newest>,
) -> Answered<State> {
    let key = named.key();
    let info = app.threads.get(&key).await?;
    let state = app.threads.state(&key, None).await?;
    Ok(Answer(State::of(&info, state)))
}

pub(crate) async fn at(
    Of(app): Of<Arc<App>>,
    named: Named,
    Asked(_): Asked<Newest>,
) -> Answered<State> {
    let id = named.other.as_deref().unwrap_or_default();
    let key = named.key();
    let state = app.threads.state(&key, Some(id.parse()?)).await?;
    let info = app.threads.get(&key).await?;
    Ok(Answer(State::of(&info, state)))
}

/// A checkpoint as LangGraph's clients name it: its id, an object that has it, or a configuration with that object.
pub(super) struct Point(Option<String>);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let said = Value::deserialize(reader)?;
        let object = said.get("configurable").unwrap_or(&said);
        let id = match object {
            Value::Object(object) => object.get("checkpoint_id").unwrap_or(&Value::Null),
            other => other,
        };
        match id {
            Value::String(id) => Ok(Self(Some(id.clone()))),
            Value::Null if object.is_object() => Ok(Self(None)),
            _ => Err(D::Error::custom(
                "a checkpoint is its id, or an object with checkpoint_id",
            )),
        }
    }
}

impl Point {
    /// `None`: the newest.
    fn id(&self) -> Result<Option<CheckpointId>, Problem> {
        let id = self.0.as_ref().map(|id| id.parse::<CheckpointId>());
        Ok(id.transpose()?)
    }
}

/// Which state, by its checkpoint.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtCheckpoint {
    checkpoint: Point,
    #[serde(rename = "subgraphs")]
    _subgraphs: Option<bool>,
    #[serde(rename = "select")]
    _select: Option<Vec<String>>,
}

pub(crate) async fn at_checkpoint(
    Of(app): Of<Arc<App>>,
    named: Named,
    Body(body): Body<AtCheckpoint>,
) -> Answered<State> {
    let key = named.key();
    let info = app.threads.get(&key).await?;
    let state = app.threads.state(&key, body.checkpoint.id()?).await?;
    Ok(Answer(State::of(&info, state)))
}

/// Values to add: LangGraph's way of appending messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Update {
    values: Option<Object<NewValues>>,
    checkpoint: Option<Point>,
    checkpoint_id: Option<String>,
    #[serde(rename = "as_node")]
    _as_node: Option<String>,
}

/// What may be added. Everything else follows from the messages.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewValues {
    /// One, or a list.
    messages: Option<Json>,
    title: Option<Arc<str>>,
}

/// One message, or a list of them.
pub(super) fn messages(said: Option<&Json>) -> Result<Vec<Json>, Problem> {
    let Some(said) = said else {
        return Ok(Vec::new());
    };
    match said.as_str().starts_with('[') {
        true => serde_json::from_str(said.as_str())
            .map_err(|error| Problem::invalid(format!("messages: {error}"))),
        false if said.as_str() == "null" => Ok(Vec::new()),
        false => Ok(vec![said.clone()]),
    }
}

/// Refuses every state but the newest, where one is named.
pub(super) async fn newest_only(
    app: &App,
    key: &ThreadKey,
    checkpoint: Option<Point>,
    checkpoint_id: Option<String>,
) -> Result<(), Problem> {
    let asked = match (&checkpoint, &checkpoint_id) {
        (_, Some(id)) => Some(id.parse::<CheckpointId>()?),
        (Some(checkpoint), None) => checkpoint.id()?,
        (None, None) => None,
    };
    if asked.is_some() && asked != app.threads.get(key).await?.checkpoint_id {
        let detail = "messages are added to the newest state only; branch off the other one first";
        return Err(Problem::conflict("not_the_newest", detail));
    }
    Ok(())
}

/// The state after it.
#[derive(Serialize)]
pub(crate) struct Updated {
    checkpoint: Checkpoint,
}

pub(crate) async fn update(
    Of(app): Of<Arc<App>>,
    named: Named,
    Body(update): Body<Update>,
) -> Answered<Updated> {
    let key = named.key();
    newest_only(&app, &key, update.checkpoint, update.checkpoint_id).await?;
    let values = update
        .values
        .map(|Object(values)| values)
        .unwrap_or_default();
    let append = Append {
        messages: messages(values.messages.as_ref())?,
        ..Append::default()
    };
    let appended = app.threads.append(&key, &append).await?;
    if values.title.is_some() {
        let patch = PatchThread {
            title: values.title,
            ..PatchThread::default()
        };
        app.threads.patch(&key, patch).await?;
    }
    let checkpoint = Checkpoint::of(&named.thread, appended.checkpoint_id);
    Ok(Answer(Updated { checkpoint }))
}

/// Metadata to set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    metadata: Metadata,
}

pub(crate) async fn patch(
    Of(app): Of<Arc<App>>,
    named: Named,
    Body(patch): Body<Patch>,
) -> Answered<Thread> {
    let patch = PatchThread {
        metadata: Some(patch.metadata),
        ..PatchThread::default()
    };
    let key = named.key();
    let info = app.threads.patch(&key, patch).await?;
    super::threads::with_values(&app, &key, info).await
}

/// Which states.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    limit: Option<Whole<u32>>,
    before: Option<Point>,
    /// LangGraph's. There is one line of checkpoints, and their metadata is ours.
    metadata: Option<Metadata>,
    #[serde(rename = "checkpoint")]
    _checkpoint: Option<Value>,
    #[serde(rename = "select")]
    _select: Option<Vec<String>>,
}

pub(crate) async fn history(
    Of(app): Of<Arc<App>>,
    named: Named,
    Body(history): Body<History>,
) -> Answered<Vec<State>> {
    if history
        .metadata
        .is_some_and(|metadata| !metadata.is_empty())
    {
        let detail = "metadata is not offered here; leave it out";
        return Err(Problem::invalid(detail));
    }
    let before = history
        .before
        .map(|before| before.id())
        .transpose()?
        .flatten();
    states(&app, &named, history.limit.map(|limit| limit.0), before).await
}

/// The same as a query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryPage {
    limit: Option<u32>,
    before: Option<String>,
}

pub(crate) async fn history_page(
    Of(app): Of<Arc<App>>,
    named: Named,
    Asked(page): Asked<HistoryPage>,
) -> Answered<Vec<State>> {
    let before = page
        .before
        .map(|before| before.parse::<CheckpointId>())
        .transpose()?;
    states(&app, &named, page.limit, before).await
}

async fn states(
    app: &App,
    named: &Named,
    limit: Option<u32>,
    before: Option<CheckpointId>,
) -> Answered<Vec<State>> {
    let limit = app.page(limit.unwrap_or(10))?;
    let key = named.key();
    let info = app.threads.get(&key).await?;
    let states = app.threads.history(&key, limit, before).await?;
    let states = states.into_iter().map(|state| State::of(&info, state));
    Ok(Answer(states.collect()))
}
