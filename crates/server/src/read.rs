//! What handlers are given: bodies as values within limits, queries, names out of the path.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use conspectus::store::ThreadKey;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::guard::Tenant;
use crate::parts::Object;
use crate::problem::Problem;
use crate::tokens::is_name;

/// A body as a value. An empty one is `{}`.
pub(crate) struct Body<T>(pub(crate) T);

/// A body as it came.
pub(crate) struct Raw(pub(crate) Bytes);

/// A query as a value.
pub(crate) struct Asked<T>(pub(crate) T);

/// The thread of the path, of the tenant whose token it is.
pub(crate) struct Named {
    pub(crate) tenant: Arc<str>,
    pub(crate) thread: Arc<str>,
    /// Whatever else the path names.
    pub(crate) other: Option<Arc<str>>,
}

impl Named {
    /// As the store knows it.
    pub(crate) fn key(&self) -> ThreadKey {
        ThreadKey {
            tenant: self.tenant.clone(),
            thread: self.thread.clone(),
        }
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let kind = is_kind(request.headers(), |kind| {
            kind == "application/json"
                || kind.starts_with("application/") && kind.ends_with("+json")
        });
        let bytes = bytes(request, app).await?;
        if !kind && !bytes.is_empty() {
            let detail = "the body is taken as JSON only; send Content-Type: application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "not_json", detail));
        }
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let value = serde_json::from_slice(bytes);
        value
            .map(|Object(value)| Self(value))
            .map_err(|error| Problem::invalid(format!("the body is not as expected: {error}")))
    }
}

impl FromRequest<Arc<App>> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        bytes(request, app).await.map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::try_from_uri(&parts.uri);
        let query = query.map_err(|error| {
            let why = std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), |e| e.to_string());
            Problem::invalid(format!("the query is not as expected: {why}"))
        })?;
        Ok(Self(query.0))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Some(Tenant(tenant)) = parts.extensions.get::<Tenant>().cloned() else {
            // Every route below /api has one.
            return Err(Problem::fault());
        };
        let not_utf8 = |_| Problem::invalid("the path is not UTF-8");
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(not_utf8)?;
        let find = |wanted: &str| params.iter().find(|(name, _)| *name == wanted);
        let thread = find("thread_id").map(|(_, id)| id).unwrap_or_default();
        if !is_name(thread) {
            let detail = "a thread's id is 1 to 64 letters, digits, - and _";
            return Err(Problem::invalid(detail));
        }
        let other = params.iter().find(|(name, _)| *name != "thread_id");
        Ok(Self {
            tenant,
            thread: thread.into(),
            other: other.map(|(_, value)| value.into()),
        })
    }
}

/// The whole body, if it is small enough and comes in time.
async fn bytes(request: Request, app: &Arc<App>) -> Result<Bytes, Problem> {
    let limits = app.settings.limits;
    let too_large = || {
        let detail = format!(
            "the body may have {} bytes; send less at a time",
            limits.max_body
        );
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail)
    };
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limits.max_body) {
        return Err(too_large());
    }
    let read = axum::body::to_bytes(request.into_body(), limits.max_body);
    match within(limits.request, read).await {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(error)) => {
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            let mut is_limit = false;
            while let Some(error) = cause {
                is_limit |= error.to_string() == "length limit exceeded";
                cause = error.source();
            }
            Err(match is_limit {
                true => too_large(),
                false => Problem::new(StatusCode::BAD_REQUEST, "broken_body", "the body broke off"),
            })
        }
        None => {
            let detail = "the body did not come in time";
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "body_too_slow",
                detail,
            ))
        }
    }
}

/// `None`: it took longer.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// What kind of content is said to be sent, without its parameters.
fn is_kind(headers: &HeaderMap, is: impl Fn(&str) -> bool) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| is(&kind.trim().to_ascii_lowercase()))
}
