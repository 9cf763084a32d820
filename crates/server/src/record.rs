//! Around every request: its id, its line in the log, its place in the metrics, and a task of its own.
//!
//! A request runs to its end in its own task: a client that goes away leaves no half-finished compaction behind, and a
//! panic ends one request, not a connection with others on it.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::guard::Tenant;
use crate::log::Line;
use crate::problem::{Problem, Told};
use crate::tokens::is_name;
use crate::trace::RequestTrace;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What is not routed counts as one.
const UNROUTED: &str = "unrouted";
const MAX_ID: usize = 64;

/// The outermost layer.
pub(crate) async fn record(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = app.threads.now();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref();
    let route = path.map_or(UNROUTED, MatchedPath::as_str).to_owned();
    let thread = route
        .contains("{thread_id}")
        .then(|| thread(&request))
        .flatten();
    let method = method(&request);
    let given = request
        .headers()
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok());
    let id = given.filter(|id| is_id(id)).map(str::to_owned);
    let id = id.unwrap_or_else(|| app.request_id());

    let _running = app.metrics.running();
    let task = app.stop.task();
    let pattern = path.map_or("", MatchedPath::as_str);
    let trace = RequestTrace::new(&app.settings, request.headers(), method, pattern, &id);
    let running = tokio::spawn(trace.around(async move {
        let response = next.run(request).await;
        drop(task);
        response
    }));
    let ended = running.await;
    let mut response = ended.unwrap_or_else(|_| Problem::fault().into_response());

    let ms = app.threads.now().saturating_sub(began);
    let status = response.status().as_u16();
    app.metrics.request(&route, method, status, ms);
    let tenant = response.extensions_mut().remove::<Tenant>();
    let told = response.extensions_mut().remove::<Told>();
    let line = Line {
        at: &conspectus::wire::iso_time(app.threads.now()),
        status,
        method,
        route: &route,
        ms,
        request: &id,
        tenant: tenant.as_ref().map(|tenant| &*tenant.0),
        thread: thread.as_deref(),
        code: told.as_ref().map(|told| told.code),
        why: told.as_ref().and_then(|told| told.why.as_deref()),
    };
    app.log.line(&line);
    trace.ended(&line);
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}

/// The name behind `/api/threads/`, if it can be one.
fn thread(request: &Request) -> Option<String> {
    let mut parts = request.uri().path().split('/').skip(3);
    parts.next().filter(|name| is_name(name)).map(str::to_owned)
}

/// Of a closed set, since it is a label.
fn method(request: &Request) -> &'static str {
    match request.method().as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "PUT" => "PUT",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

fn is_id(id: &str) -> bool {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_fine)
}
