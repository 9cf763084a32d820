//! One request: refused, passed through, or looked at and sent as it came or rewritten.

use std::convert::Infallible;
use std::sync::Arc;

use conspectus_server::{Allowed, Log};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::answer::Down;
use crate::api::Call;
use crate::body::{BodyError, collect};
use crate::book::Book;
use crate::conversation::{conversation, passed, send};
use crate::figures::{Figures, Running};
use crate::guard::{self, Refusal};
use crate::headers::to_upstream;
use crate::keeper::Keeper;
use crate::note::{Done, Note};
use crate::send::{SendError, Sender, UpBody};
use crate::settings::Settings;
use crate::trace::CallTrace;
use crate::upstream::Upstream;

/// What every request needs.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) allowed: Allowed,
    pub(crate) book: Book,
    pub(crate) keeper: Keeper,
    pub(crate) figures: Arc<Figures>,
    pub(crate) log: Log,
    /// Work beside requests that may be under way.
    pub(crate) beside: Arc<Semaphore>,
    /// Where what takes longer than a moment is done: not on the threads that move bytes.
    pub(crate) work: tokio::runtime::Handle,
}

/// A request that has been let in.
pub(crate) struct Turn {
    pub(crate) call: Call,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) began: Instant,
    pub(crate) running: Running,
    pub(crate) is_head: bool,
    pub(crate) trace: CallTrace,
}

/// Answers a request.
pub(crate) async fn handle(
    app: Arc<App>,
    sender: Arc<Sender>,
    request: Request<Incoming>,
) -> Result<Response<Down>, Infallible> {
    let running = app.figures.running();
    let began = Instant::now();
    let call = Call::of(request.method().as_str(), request.uri().path());
    let tenant = match guard::tenant(&request, &app.allowed, &app.settings.tokens) {
        Ok(tenant) => tenant,
        Err(refusal) => return Ok(refused(&app, call, &refusal)),
    };
    if request.method() == Method::GET && request.uri().path() == "/metrics" {
        let text = app.figures.text(app.book.size());
        let mut response = Response::new(Down::own(text));
        let kind = HeaderValue::from_static("text/plain; version=0.0.4");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        return Ok(response);
    }
    let (mut parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |p| p.as_str());
    let (upstream, rest) = app.settings.upstreams.of(target);
    let (upstream, uri) = (upstream.clone(), upstream.target(rest));
    let Ok(uri) = uri else {
        return Ok(refused(&app, call, &BAD_TARGET));
    };
    parts.uri = uri;
    let turn = Turn {
        call,
        began,
        running,
        is_head: parts.method == Method::HEAD,
        trace: CallTrace::none(),
        upstream: upstream.clone(),
    };
    let head = Arc::new(parts.headers.clone());
    to_upstream(&mut parts.headers, upstream.host());
    if call == Call::Other {
        let sent = send(&sender, &parts, UpBody::Passing(body)).await;
        let note = Note::of(Done::Passed);
        return Ok(match sent {
            Ok(response) => passed(&app, turn, response, None, note, None, 0),
            Err(why) => unreachable(&app, call, &why),
        });
    }
    let limits = &app.settings.limits;
    let body = match collect(body, limits.max_body, limits.body_idle).await {
        Ok(body) => body,
        Err(why) => return Ok(refused(&app, call, &of_body(&why))),
    };
    Ok(conversation(&app, sender, turn, parts, (head, tenant), body).await)
}

fn refused(app: &App, call: Call, refusal: &Refusal) -> Response<Down> {
    app.figures
        .request(call.as_str(), Done::Refused, refusal.status.as_u16());
    app.log.line(format_args!(
        "{} status={} outcome=refused",
        call.as_str(),
        refusal.status.as_u16()
    ));
    own(refusal.status, call.error(refusal.kind, refusal.message))
}

pub(crate) fn unreachable(app: &App, call: Call, why: &SendError) -> Response<Down> {
    let (status, message) = match why {
        SendError::Unreachable => (StatusCode::BAD_GATEWAY, "the upstream cannot be reached"),
        SendError::Silent => (
            StatusCode::GATEWAY_TIMEOUT,
            "the upstream did not answer in time",
        ),
    };
    refused(
        app,
        call,
        &Refusal {
            status,
            kind: "api_error",
            message,
        },
    )
}

/// An answer of ours.
pub(crate) fn own(status: StatusCode, json: String) -> Response<Down> {
    let mut response = Response::new(Down::own(json));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

const BAD_TARGET: Refusal = Refusal {
    status: StatusCode::BAD_REQUEST,
    kind: "invalid_request_error",
    message: "the path cannot be asked of the upstream",
};

fn of_body(why: &BodyError) -> Refusal {
    let (status, kind, message) = match why {
        BodyError::TooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "request_too_large",
            "the body of the request is larger than the proxy takes",
        ),
        BodyError::Silent => (
            StatusCode::REQUEST_TIMEOUT,
            "invalid_request_error",
            "the body of the request did not come in time",
        ),
        BodyError::Broken => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "the body of the request broke off",
        ),
    };
    Refusal {
        status,
        kind,
        message,
    }
}

pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

pub(crate) fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
