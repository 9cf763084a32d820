//! What was said is found again, whatever was compacted: by words, or by id with what stands around it.

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

/// Words, or an id.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    q: Option<Arc<str>>,
    limit: Option<u32>,
    folded_only: Option<bool>,
    id: Option<Arc<str>>,
    before: Option<u32>,
    after: Option<u32>,
}

impl Question {
    fn recall(self, app: &App) -> Result<Recall, Problem> {
        match (self.q, self.id) {
            (Some(query), None) => {
                if self.before.is_some() || self.after.is_some() {
                    return Err(Problem::invalid("before and after go with id, not with q"));
                }
                if query.trim().is_empty() || query.chars().count() > MAX_QUERY {
                    let detail = format!("q has 1 to {MAX_QUERY} characters");
                    return Err(Problem::invalid(detail));
                }
                Ok(Recall::Words {
                    query,
                    limit: app.page(self.limit.unwrap_or(10))?,
                    folded_only: self.folded_only.unwrap_or(false),
                })
            }
            (None, Some(id)) => {
                if self.limit.is_some() || self.folded_only.is_some() {
                    return Err(Problem::invalid(
                        "limit and folded_only go with q, not with id",
                    ));
                }
                let (before, after) = (self.before.unwrap_or(0), self.after.unwrap_or(0));
                app.page(before.saturating_add(after).saturating_add(1))?;
                Ok(Recall::Id { id, before, after })
            }
            _ => Err(Problem::invalid("say q or id, one of them")),
        }
    }
}

/// What was found.
#[derive(Serialize)]
pub(crate) struct Found {
    messages: Vec<Recalled>,
}

pub(crate) async fn recall(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(question): Asked<Question>,
) -> Answered<Found> {
    let recall = question.recall(&app)?;
    let messages = app.threads.recall(&named.key(), &recall).await?;
    Ok(Answer(Found { messages }))
}
