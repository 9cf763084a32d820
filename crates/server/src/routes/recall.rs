//! What was said is found again, whatever was compacted: by words, by id with what stands around it,
//! or by the reference in the marker of what was shortened.

use std::sync::Arc;

use axum::extract::State;
use conspectus::threads::{Recall, Recalled};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::problem::Problem;
use crate::read::{Asked, Named};

/// The longest question, in characters.
const MAX_QUERY: usize = 1000;

/// Words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    q: Arc<str>,
    limit: Option<u32>,
    folded_only: Option<bool>,
}

/// What was found.
#[derive(Serialize)]
pub(crate) struct Found {
    messages: Vec<Recalled>,
}

pub(crate) async fn recall(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(words): Asked<Words>,
) -> Answered<Found> {
    if words.q.trim().is_empty() || words.q.chars().count() > MAX_QUERY {
        return Err(Problem::invalid(format!(
            "q has 1 to {MAX_QUERY} characters"
        )));
    }
    let recall = Recall::Words {
        query: words.q,
        limit: app.page(words.limit.unwrap_or(10))?,
        folded_only: words.folded_only.unwrap_or(false),
    };
    found(&app, &named, &recall).await
}

/// How much of what stands around it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Around {
    before: Option<u32>,
    after: Option<u32>,
}

pub(crate) async fn message(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(around): Asked<Around>,
) -> Answered<Found> {
    let (before, after) = (around.before.unwrap_or(0), around.after.unwrap_or(0));
    app.page(before.saturating_add(after).saturating_add(1))?;
    let id = named.other.clone().unwrap_or_default();
    found(&app, &named, &Recall::Id { id, before, after }).await
}

pub(crate) async fn reference(State(app): State<Arc<App>>, named: Named) -> Answered<Found> {
    let reference = named.other.clone().unwrap_or_default();
    found(&app, &named, &Recall::Reference { reference }).await
}

async fn found(app: &App, named: &Named, recall: &Recall) -> Answered<Found> {
    let messages = app.threads.recall(&named.key(), recall).await?;
    Ok(Answer(Found { messages }))
}
