//! What happens to a thread, as server-sent events that can be taken up again, or as one page of JSON; and which threads
//! change.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use conspectus::threads::{Changes, Subscription, ThreadsError, Told};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::answer::Answer;
use crate::app::App;
use crate::frames::{WAITING, going_on};
use crate::guard::Tenant;
use crate::parts::place;
use crate::problem::Problem;
use crate::read::{Asked, Named};
use crate::stop::Phase;

/// From where on, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    /// Those behind this number; the header `Last-Event-ID` stands over it.
    #[serde(default, deserialize_with = "place")]
    after: Option<u64>,
    /// `false`: one page of what is there.
    follow: Option<bool>,
    limit: Option<u32>,
}

/// What is there.
#[derive(Serialize)]
struct Page {
    events: Vec<Told>,
}

pub(crate) async fn events(
    State(app): State<Arc<App>>,
    named: Named,
    headers: HeaderMap,
    Asked(from): Asked<From>,
) -> Result<Response, Problem> {
    let key = named.key();
    let last = headers.get("last-event-id");
    let last = match last.map(|id| id.to_str().ok().and_then(|id| id.trim().parse().ok())) {
        Some(None) => return Err(Problem::invalid("Last-Event-ID is the number of an event")),
        Some(Some(id)) => Some(id),
        None => None,
    };
    let after = last.or(from.after).unwrap_or(0);
    if from.follow == Some(false) {
        let limit = app.page(from.limit.unwrap_or(100))?;
        let events = app.threads.events(&key, after, limit).await?;
        return Ok(Answer(Page { events }).into_response());
    }
    // Whatever is wrong with the request is said before the stream begins.
    let subscription = app.threads.subscribe(&key, after).await?;
    let (frames, rest) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        tell(&app, &frames, tell_events(&app, subscription, &frames)).await;
    });
    Ok(going_on("text/event-stream", rest))
}

/// Which of the tenant's threads change, for whoever looks at a list of them.
pub(crate) async fn changes(
    State(app): State<Arc<App>>,
    Extension(Tenant(tenant)): Extension<Tenant>,
) -> Result<Response, Problem> {
    let changes = app.threads.changes(&tenant).await?;
    let (frames, rest) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        tell(&app, &frames, tell_changes(&app, changes, &frames)).await;
    });
    Ok(going_on("text/event-stream", rest))
}

/// Lets events be told until nobody reads any more, there is nothing more to tell of or the server stops.
async fn tell(
    app: &App,
    frames: &mpsc::Sender<Bytes>,
    telling: impl Future<Output = Result<(), ThreadsError>>,
) {
    let _read = app.metrics.stream();
    let told = tokio::select! {
        told = telling => told,
        () = app.stop.reached(Phase::Draining) => Ok(()),
        () = frames.closed() => return,
    };
    let last = match told {
        Ok(()) => "event: end\ndata: {}\n\n".to_owned(),
        Err(error) => {
            let problem = Problem::from(error);
            let detail = serde_json::json!({"detail": problem.detail, "code": problem.code});
            format!("event: error\ndata: {detail}\n\n")
        }
    };
    let _ = frames.try_send(last.into());
}

/// Readers know at once that they are connected.
const CONNECTED: Bytes = Bytes::from_static(b": connected\n\n");
const HEARTBEAT: Bytes = Bytes::from_static(b": heartbeat\n\n");

/// When something must be said again, be it that there is nothing.
fn heartbeat(app: &App) -> u64 {
    let after = app.settings.limits.heartbeat.as_millis();
    let after = u64::try_from(after).unwrap_or(u64::MAX);
    app.threads.now().saturating_add(after)
}

async fn tell_events(
    app: &App,
    mut subscription: Subscription,
    frames: &mpsc::Sender<Bytes>,
) -> Result<(), ThreadsError> {
    let _ = frames.send(CONNECTED).await;
    loop {
        let events = subscription.next(&app.threads, heartbeat(app)).await?;
        if events.is_empty() {
            let _ = frames.send(HEARTBEAT).await;
        }
        for event in &events {
            let _ = frames.send(frame(event).into()).await;
        }
    }
}

async fn tell_changes(
    app: &App,
    mut changes: Changes,
    frames: &mpsc::Sender<Bytes>,
) -> Result<(), ThreadsError> {
    let _ = frames.send(CONNECTED).await;
    loop {
        let frame = match changes.next(&app.threads, heartbeat(app)).await? {
            None => HEARTBEAT,
            Some(changed) => {
                let data = serde_json::to_string(&changed).unwrap_or_default();
                format!("event: changed\ndata: {data}\n\n").into()
            }
        };
        let _ = frames.send(frame).await;
    }
}

/// As LangGraph's clients read them: event, data, id.
fn frame(told: &Told) -> String {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
    }
    let kind = serde_json::from_str::<Kind<'_>>(told.event.as_str());
    let kind = kind.map_or("event", |kind| kind.kind);
    let data = serde_json::to_string(told).unwrap_or_default();
    format!("event: {kind}\ndata: {data}\nid: {}\n\n", told.seq)
}
