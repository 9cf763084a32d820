//! Where a thread stands, and what its compactions came to.

use std::sync::Arc;

use axum::extract::State;
use conspectus::threads::{LogEntry, ThreadStatusReport};
use serde::{Deserialize, Serialize};

use super::runs::last;
use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::read::{Asked, Named};
use crate::runs::Run;

/// Where a thread stands, its run too.
#[derive(Serialize)]
pub(crate) struct Status {
    #[serde(flatten)]
    report: ThreadStatusReport,
    run: Option<Run>,
}

pub(crate) async fn status(State(app): State<Arc<App>>, named: Named) -> Answered<Status> {
    let report = app.threads.status(&named.key()).await?;
    let run = last(&app, &named).await?;
    Ok(Answer(Status { report, run }))
}

/// How many.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Newest {
    limit: Option<u32>,
}

pub(crate) async fn log(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(newest): Asked<Newest>,
) -> Answered<Vec<LogEntry>> {
    let limit = app.page(newest.limit.unwrap_or(50))?;
    Ok(Answer(app.threads.log(&named.key(), limit).await?))
}
