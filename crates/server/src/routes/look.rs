//! How a thread came to be as it is: its attempts, the size of its window, what code keeps of it, its tree.

use std::sync::Arc;

use axum::extract::State;
use conspectus::threads::{Attempted, Curve, Registries, Tree};
use serde::Deserialize;

use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::parts::place;
use crate::read::{Asked, Named};

/// Which attempts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Before {
    limit: Option<u32>,
    #[serde(default, deserialize_with = "place")]
    before: Option<u64>,
}

pub(crate) async fn attempts(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(page): Asked<Before>,
) -> Answered<Vec<Attempted>> {
    let limit = app.page(page.limit.unwrap_or(50))?;
    let key = named.key();
    let attempts = app.threads.attempts(&key, limit, page.before);
    Ok(Answer(attempts.await?))
}

/// How many.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Points {
    points: Option<u32>,
}

pub(crate) async fn curve(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(asked): Asked<Points>,
) -> Answered<Curve> {
    let points = app.page(asked.points.unwrap_or(300))?;
    Ok(Answer(app.threads.curve(&named.key(), points).await?))
}

pub(crate) async fn registries(State(app): State<Arc<App>>, named: Named) -> Answered<Registries> {
    Ok(Answer(app.threads.registries(&named.key()).await?))
}

pub(crate) async fn tree(State(app): State<Arc<App>>, named: Named) -> Answered<Tree> {
    Ok(Answer(app.threads.tree(&named.key()).await?))
}
