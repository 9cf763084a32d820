//! What was done is taken back, put in force again, gone on from elsewhere, or taken out for good.

use std::sync::Arc;

use axum::extract::State;
use conspectus::store::ThreadKey;
use conspectus::threads::{CreateThread, Metadata, Moved, Place, Purge, Purged};
use serde::Deserialize;
use uuid::Uuid;

use super::threads::with_values;
use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::problem::Problem;
use crate::read::{Body, Named};
use crate::shapes::Thread;
use crate::tokens::is_name;

/// No members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Empty {}

pub(crate) async fn undo(
    State(app): State<Arc<App>>,
    named: Named,
    Body(Empty {}): Body<Empty>,
) -> Answered<Moved> {
    Ok(Answer(app.threads.undo(&named.key()).await?))
}

pub(crate) async fn redo(
    State(app): State<Arc<App>>,
    named: Named,
    Body(Empty {}): Body<Empty>,
) -> Answered<Moved> {
    Ok(Answer(app.threads.redo(&named.key()).await?))
}

/// A place in a thread.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct To {
    message_id: Option<Arc<str>>,
    checkpoint_id: Option<String>,
}

impl To {
    fn place(self) -> Result<Option<Place>, Problem> {
        match (self.message_id, self.checkpoint_id) {
            (Some(_), Some(_)) => Err(Problem::invalid(
                "message_id and checkpoint_id are two places; send one",
            )),
            (Some(id), None) => Ok(Some(Place::Message(id))),
            (None, Some(id)) => Ok(Some(Place::Checkpoint(id.parse()?))),
            (None, None) => Ok(None),
        }
    }
}

pub(crate) async fn rewind(
    State(app): State<Arc<App>>,
    named: Named,
    Body(to): Body<To>,
) -> Answered<Moved> {
    let Some(place) = to.place()? else {
        return Err(Problem::invalid(
            "say where to: message_id or checkpoint_id",
        ));
    };
    Ok(Answer(app.threads.rewind(&named.key(), &place).await?))
}

/// A thread that goes on from a place in this one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branch {
    /// The new thread's.
    thread_id: Option<Arc<str>>,
    message_id: Option<Arc<str>>,
    checkpoint_id: Option<String>,
    metadata: Option<Metadata>,
    title: Option<Arc<str>>,
}

pub(crate) async fn branch(
    State(app): State<Arc<App>>,
    named: Named,
    Body(branch): Body<Branch>,
) -> Answered<Thread> {
    let to = To {
        message_id: branch.message_id,
        checkpoint_id: branch.checkpoint_id,
    };
    let create = CreateThread {
        metadata: branch.metadata.unwrap_or_default(),
        title: branch.title,
        ..CreateThread::default()
    };
    branched(&app, &named, branch.thread_id, to.place()?, create).await
}

/// LangGraph's: all of it, metadata too.
pub(crate) async fn copy(
    State(app): State<Arc<App>>,
    named: Named,
    Body(Empty {}): Body<Empty>,
) -> Answered<Thread> {
    let info = app.threads.get(&named.key()).await?;
    let create = CreateThread {
        metadata: info.metadata,
        ..CreateThread::default()
    };
    branched(&app, &named, None, None, create).await
}

async fn branched(
    app: &App,
    named: &Named,
    id: Option<Arc<str>>,
    place: Option<Place>,
    create: CreateThread,
) -> Answered<Thread> {
    let id = match id {
        Some(id) if is_name(&id) => id,
        Some(_) => {
            return Err(Problem::invalid(
                "thread_id is 1 to 64 letters, digits, - and _",
            ));
        }
        None => Uuid::now_v7().to_string().into(),
    };
    let to = ThreadKey::new(&named.tenant, &id);
    let info = app
        .threads
        .branch(&named.key(), place.as_ref(), &to, create)
        .await?;
    with_values(app, &to, info).await
}

/// What to take out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakeOut {
    message_id: Option<Arc<str>>,
    secret: Option<Arc<str>>,
}

pub(crate) async fn purge(
    State(app): State<Arc<App>>,
    named: Named,
    Body(out): Body<TakeOut>,
) -> Answered<Purged> {
    let purge = match (out.message_id, out.secret) {
        (Some(id), None) => Purge::Message(id),
        (None, Some(secret)) if secret.trim().is_empty() => {
            return Err(Problem::invalid("secret is blank"));
        }
        (None, Some(secret)) => Purge::Secret(secret),
        _ => return Err(Problem::invalid("say message_id or secret, one of them")),
    };
    Ok(Answer(app.threads.purge(&named.key(), &purge).await?))
}
