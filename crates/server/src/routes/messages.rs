//! Messages: added, shown to people, and as the model would be sent them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use conspectus::core::view::Usage;
use conspectus::threads::{Append, Appended, Json, Page, RequestInParts, Visible};
use serde::Deserialize;

use super::change::Empty;
use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::parts::{Object, Whole, place};
use crate::problem::Problem;
use crate::read::{Asked, Body, Named};

/// The longest key of a caller.
const MAX_KEY: usize = 255;

/// Messages to add.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct New {
    messages: Vec<Json>,
    /// As the header `Idempotency-Key`, which stands over it.
    idempotency_key: Option<Arc<str>>,
    usage: Option<Object<Reported>>,
}

/// What the provider reported for the newest reply.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reported {
    input: Whole<u64>,
    output: Whole<u64>,
    cache_read: Option<Whole<u64>>,
    cache_write: Option<Whole<u64>>,
    reported_total: Option<Whole<u64>>,
    provider: Option<Arc<str>>,
}

impl Reported {
    fn usage(self) -> Usage {
        Usage {
            input: self.input.0,
            output: self.output.0,
            cache_read: self.cache_read.unwrap_or_default().0,
            cache_write: self.cache_write.unwrap_or_default().0,
            reported_total: self.reported_total.map(|total| total.0),
            provider: self.provider,
        }
    }
}

pub(crate) async fn append(
    State(app): State<Arc<App>>,
    named: Named,
    headers: HeaderMap,
    Body(new): Body<New>,
) -> Answered<Appended> {
    let append = Append {
        messages: new.messages,
        once: once(&headers, new.idempotency_key)?,
        usage: new.usage.map(|Object(reported)| reported.usage()),
        ..Append::default()
    };
    Ok(Answer(app.threads.append(&named.key(), &append).await?))
}

/// The caller's key: the header's, else the body's.
fn once(headers: &HeaderMap, said: Option<Arc<str>>) -> Result<Option<Arc<str>>, Problem> {
    let header = headers.get("idempotency-key").map(|key| key.to_str());
    let header = header.transpose().map_err(|_| bad_key())?.map(Arc::from);
    let is_fine = |key: &Arc<str>| (1..=MAX_KEY).contains(&key.chars().count());
    let is_fine = [&header, &said].into_iter().flatten().all(is_fine);
    if is_fine {
        Ok(header.or(said))
    } else {
        Err(bad_key())
    }
}

fn bad_key() -> Problem {
    Problem::invalid(format!(
        "an idempotency key has 1 to {MAX_KEY} printable characters"
    ))
}

/// Which part of the conversation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    limit: Option<u32>,
    #[serde(default, deserialize_with = "place")]
    before: Option<u64>,
    #[serde(default, deserialize_with = "place")]
    after: Option<u64>,
}

pub(crate) async fn visible(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(part): Asked<Part>,
) -> Answered<Visible> {
    let page = Page {
        limit: app.page(part.limit.unwrap_or(50))?,
        before: part.before,
        after: part.after,
    };
    Ok(Answer(app.threads.visible(&named.key(), &page).await?))
}

/// As it is, or as it would be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct With {
    preview: Option<Arc<str>>,
}

pub(crate) async fn request(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(with): Asked<With>,
) -> Answered<RequestInParts> {
    let (key, preview) = (named.key(), with.preview.as_deref());
    let parts = app.threads.request_in_parts(&key, preview);
    Ok(Answer(parts.await?))
}

pub(crate) async fn pin(
    State(app): State<Arc<App>>,
    named: Named,
    Body(Empty {}): Body<Empty>,
) -> Result<StatusCode, Problem> {
    let id = named.other.as_deref().unwrap_or_default();
    app.threads.pin(&named.key(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn unpin(
    State(app): State<Arc<App>>,
    named: Named,
    Body(Empty {}): Body<Empty>,
) -> Result<StatusCode, Problem> {
    let id = named.other.as_deref().unwrap_or_default();
    app.threads.unpin(&named.key(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
