//! One request: refused, passed through, or looked at and sent as it came or rewritten.

use std::convert::Infallible;
use std::sync::Arc;

use conspectus::Format;
use conspectus::wire::failure::ProviderError;
use conspectus_server::{Allowed, Log};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::answer::{Down, Ended};
use crate::api::Call;
use crate::body::{BodyError, Coding, collect};
use crate::book::{Book, Look};
use crate::figures::{Figures, Running};
use crate::guard::{self, Refusal};
use crate::headers::{credential, end_hop, session, to_upstream};
use crate::keeper::{About, Keeper, worth};
use crate::note::{Done, Line, Note};
use crate::send::{SendError, Sender, UpBody};
use crate::settings::Settings;
use crate::tee::{Tee, overflow};
use crate::upstream::Upstream;
use crate::{capsule, sealed, way};

/// An error is read up to this, to see whether it says that the request was too large.
const ERROR: usize = 64 << 10;

/// What every request needs.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) allowed: Allowed,
    pub(crate) sender: Sender,
    pub(crate) book: Book,
    pub(crate) keeper: Keeper,
    pub(crate) figures: Arc<Figures>,
    pub(crate) log: Log,
    /// Work beside requests that may be under way.
    pub(crate) beside: Arc<Semaphore>,
}

/// A request that has been let in.
struct Turn {
    call: Call,
    upstream: Arc<Upstream>,
    began: Instant,
    running: Running,
    is_head: bool,
}

/// Answers a request.
pub(crate) async fn handle(
    app: Arc<App>,
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
        upstream: upstream.clone(),
    };
    let head = Arc::new(parts.headers.clone());
    to_upstream(&mut parts.headers, upstream.host());
    if call == Call::Other {
        let sent = send(&app, &parts, UpBody::Passing(body)).await;
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
    Ok(watched(&app, turn, parts, head, tenant, body).await)
}

/// A call whose body holds a conversation.
async fn watched(
    app: &Arc<App>,
    turn: Turn,
    mut parts: Parts,
    head: Arc<HeaderMap>,
    tenant: Arc<str>,
    body: Bytes,
) -> Response<Down> {
    let coding = Coding::of(&parts.headers);
    let plain = coding.decode(&body, app.settings.limits.max_unpacked);
    let asked = way::Ask {
        tenant,
        call: turn.call,
        upstream: turn.upstream.clone(),
        head: head.clone(),
        scope: way::scope(turn.call, &turn.upstream, credential(&head), session(&head)),
    };
    let expanded = plain.as_ref().and_then(|plain| {
        let is_responses = turn.call.format() == Some(Format::Responses);
        let key = &app.settings.capsule_key;
        is_responses.then(|| capsule::expanded(key, &asked.tenant, plain))?
    });
    // What goes up unless something is done: with our capsules opened, which nobody else can read.
    let whole = expanded.as_ref().or(plain.as_ref());
    if let Some(whole) = whole.filter(|whole| sealed::is_asked(turn.call, whole))
        && !app.settings.observe
        && let Some(answer) = way::sealed(app, &asked, whole.clone()).await
    {
        let status = answer.status().as_u16();
        app.figures
            .request(turn.call.as_str(), Done::Answered, status);
        let line = Line {
            call: turn.call.as_str(),
            upstream: &turn.upstream.name,
            status,
            note: &Note::of(Done::Answered),
            up: 0,
            down: 0,
            ms: (millis(turn.began.elapsed()), millis(turn.began.elapsed())),
            usage: None,
            is_cut: false,
        };
        app.log.line(&line.to_string());
        return answer;
    }
    let seen = match whole {
        Some(whole) if turn.call != Call::Compact => way::look(app, asked, whole),
        Some(_) => way::Seen::unseen("the upstream is asked to compact"),
        None => way::Seen::unseen("the body cannot be unpacked"),
    };
    let prepared = way::prepare(app, seen).await;
    let way::Prepared {
        body: rewritten,
        mut note,
        seen,
        is_stored,
    } = prepared;
    let up = match rewritten.or(expanded) {
        Some(rewritten) => {
            parts.headers.remove(header::CONTENT_ENCODING);
            rewritten
        }
        None => body.clone(),
    };
    let mut up_bytes = up.len() as u64;
    let mut response = match send(app, &parts, UpBody::Whole(Some(up))).await {
        Ok(response) => response,
        Err(why) => return unreachable(app, turn.call, &why),
    };
    let mut first = None;
    if !response.status().is_success()
        && let Some((look, about)) = &seen
        && turn.call.is_turn()
    {
        let read = beginning(&mut response).await;
        let error = ProviderError::of_answer(
            response.status().as_u16(),
            text(response.headers(), &header::CONTENT_TYPE),
            &read,
            &|text| text,
        );
        first = Some(read);
        if let Some(failure) = overflow(error.class) {
            app.figures.overflow();
            if !app.settings.observe
                && let Some((again, found)) = way::recover(app, look, about, failure).await
            {
                parts.headers.remove(header::CONTENT_ENCODING);
                up_bytes += again.len() as u64;
                match send(app, &parts, UpBody::Whole(Some(again))).await {
                    Ok(second) => {
                        (response, first, note) = (second, None, found);
                    }
                    // The first answer stands.
                    Err(_) => note.why = Some("the second try did not reach the upstream".into()),
                }
            }
        }
    }
    let after = seen.map(|(look, about)| (look, about, is_stored));
    passed(app, turn, response, first, note, after, up_bytes)
}

/// The upstream's answer, on its way down.
fn passed(
    app: &Arc<App>,
    turn: Turn,
    response: Response<Incoming>,
    first: Option<Bytes>,
    note: Note,
    after: Option<(Look, About, bool)>,
    up: u64,
) -> Response<Down> {
    let (mut head, body) = response.into_parts();
    let status = head.status.as_u16();
    let length = head.headers.get(header::CONTENT_LENGTH).cloned();
    end_hop(&mut head.headers);
    if let Some(length) = length.filter(|_| turn.is_head) {
        head.headers.insert(header::CONTENT_LENGTH, length);
    }
    if app.settings.headers && turn.call != Call::Other {
        note.put(&mut head.headers);
    }
    let kind = text(&head.headers, &header::CONTENT_TYPE).unwrap_or_default();
    let is_stream = kind.starts_with("text/event-stream");
    let tee = turn
        .call
        .format()
        .filter(|_| after.is_some() && head.status.is_success())
        .map(|format| Tee::new(format, is_stream, Coding::of(&head.headers)));
    let began = turn.began;
    let to_begin = began.elapsed();
    let app_then = app.clone();
    let then = move |ended: Ended| {
        let app = app_then;
        let usage = ended.heard.usage.as_ref();
        if let Some(usage) = usage {
            app.figures.usage(usage.input, usage.cache_read);
        }
        let micros = match (&after, note.saved) {
            (Some((_, about, _)), saved) if saved > 0 && note.done != Done::Observed => {
                let micros = worth(about, saved, usage);
                app.figures.saved(saved, micros);
                micros
            }
            _ => 0,
        };
        app.figures.request(turn.call.as_str(), note.done, status);
        let line = Line {
            call: turn.call.as_str(),
            upstream: &turn.upstream.name,
            status,
            note: &note,
            up,
            down: ended.bytes,
            ms: (millis(to_begin), millis(began.elapsed())),
            usage: usage.map(|usage| (usage.input, usage.cache_read)),
            is_cut: !ended.is_whole,
        };
        app.log.line(&line.to_string());
        if let Some((look, about, is_stored)) = after {
            let is_fine = (200..300).contains(&status);
            way::after(
                &app,
                look,
                about,
                ended,
                is_fine,
                is_stored,
                (note.saved, micros),
            );
        }
        drop(turn.running);
    };
    let idle = app.settings.limits.upstream_idle;
    let body = Down::passing(first, Some(body), tee, idle, Box::new(then));
    Response::from_parts(head, body)
}

async fn send(app: &App, parts: &Parts, body: UpBody) -> Result<Response<Incoming>, SendError> {
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    if matches!(request.body(), UpBody::Whole(_)) {
        request.headers_mut().remove(header::CONTENT_LENGTH);
    }
    app.sender.send(request).await
}

/// The beginning of an answer, as far as it is looked at.
async fn beginning(response: &mut Response<Incoming>) -> Bytes {
    let mut read = Vec::new();
    while read.len() < ERROR {
        let frame = tokio::time::timeout(
            std::time::Duration::from_secs(10),
            response.body_mut().frame(),
        );
        let Ok(Some(Ok(frame))) = frame.await else {
            break;
        };
        if let Some(data) = frame.data_ref() {
            read.extend_from_slice(data);
        }
    }
    read.into()
}

fn refused(app: &App, call: Call, refusal: &Refusal) -> Response<Down> {
    app.figures
        .request(call.as_str(), Done::Refused, refusal.status.as_u16());
    app.log.line(&format!(
        "{} status={} outcome=refused",
        call.as_str(),
        refusal.status.as_u16()
    ));
    own(refusal.status, call.error(refusal.kind, refusal.message))
}

fn unreachable(app: &App, call: Call, why: &SendError) -> Response<Down> {
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

fn text<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
