//! A request whose body holds a conversation: looked at, prepared, sent, sent once more where that helps, and its answer
//! passed on.

use std::sync::Arc;

use conspectus::Format;
use conspectus::wire::failure::ProviderError;
use conspectus::wire::json::Object;
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Request, Response};

use crate::answer::{Down, Ended};
use crate::api::Call;
use crate::body::Coding;
use crate::book::Look;
use crate::handle::{App, Turn, millis, text, unreachable};
use crate::headers::{credential, end_hop, session};
use crate::keeper::{About, worth};
use crate::note::{Done, Line, Note};
use crate::send::{SendError, Sender, UpBody};
use crate::tee::{Tee, overflow};
use crate::trace::CallTrace;
use crate::waiting::{Waiting, begun};
use crate::{binding, capsule, sealed, way};

/// An error is read up to this, to see whether it says that the request was too large.
const ERROR: usize = 64 << 10;

/// A request with what was seen of its body.
struct Asked {
    turn: Turn,
    parts: Parts,
    ask: way::Ask,
    /// The body as it came.
    body: Bytes,
    /// The same with our capsules opened, which nobody else can read.
    expanded: Option<Bytes>,
    /// What it says, unless it cannot be unpacked.
    whole: Option<Bytes>,
    seen: Option<way::Seen>,
}

/// Answers it.
pub(crate) async fn conversation(
    app: &Arc<App>,
    sender: Arc<Sender>,
    turn: Turn,
    parts: Parts,
    (head, tenant): (Arc<HeaderMap>, Arc<str>),
    body: Bytes,
) -> Response<Down> {
    let call = turn.call;
    let plain = Coding::of(&parts.headers).decode(&body, app.settings.limits.max_unpacked);
    let ask = way::Ask {
        tenant,
        call,
        upstream: turn.upstream.clone(),
        scope: way::scope(call, &turn.upstream, credential(&head), session(&head)),
        head,
    };
    let expanded = plain.as_ref().and_then(|plain| {
        let is_responses = call.format() == Some(Format::Responses);
        let key = &app.settings.capsule_key;
        is_responses.then(|| capsule::expanded(key, &ask.tenant, plain))?
    });
    let whole = expanded.clone().or(plain);
    let is_sealed = |whole: &Bytes| sealed::is_asked(call, whole) && !app.settings.observe;
    let (seen, is_stream) = match &whole {
        None => (
            Some(way::Seen::unseen("the body cannot be unpacked")),
            false,
        ),
        Some(whole) if is_sealed(whole) => (None, asks_for_stream(whole)),
        Some(_) if call == Call::Compact => {
            let why = "the upstream is asked to compact";
            (Some(way::Seen::unseen(why)), false)
        }
        Some(whole) => {
            let seen = way::look(app, &ask, whole).await;
            let is_stream = seen.is_stream();
            (Some(seen), is_stream)
        }
    };
    let asked = Asked {
        turn,
        parts,
        ask,
        body,
        expanded,
        whole,
        seen,
    };
    let waiting = Arc::new(Waiting::new());
    let rest = went(app.clone(), sender, asked, waiting.clone());
    let every = app.settings.limits.keep_alive;
    if !is_stream || every.is_zero() {
        return rest.await;
    }
    let mut rest = Box::pin(rest);
    tokio::select! {
        biased;
        response = &mut rest => response,
        () = waiting.long(every) => {
            waiting.begin();
            begun(call, every, app.settings.headers, rest)
        }
    }
}

async fn went(
    app: Arc<App>,
    sender: Arc<Sender>,
    asked: Asked,
    waiting: Arc<Waiting>,
) -> Response<Down> {
    let Asked {
        mut turn,
        mut parts,
        ask,
        body,
        expanded,
        whole,
        seen,
    } = asked;
    let seen = match (seen, whole) {
        (Some(seen), _) => seen,
        (None, whole) => {
            let whole = whole.unwrap_or_default();
            if let Some(answer) = waiting.during(way::sealed(&app, &ask, whole.clone())).await {
                answered(&app, &turn, &answer);
                return answer;
            }
            match turn.call {
                Call::Compact => way::Seen::unseen("the upstream is asked to compact"),
                _ => way::look(&app, &ask, &whole).await,
            }
        }
    };
    let way::Prepared {
        body: rewritten,
        mut note,
        seen,
        is_stored,
    } = waiting.during(way::prepare(&app, seen)).await;
    let is_rewritten = rewritten.is_some();
    let mut up = match rewritten.or(expanded) {
        Some(up) => {
            parts.headers.remove(header::CONTENT_ENCODING);
            up
        }
        None => body,
    };
    if let Some((look, about)) = &seen {
        // What this upstream does not take is put right, whether it is ours or the client's.
        if !app.settings.observe
            && let Some(right) = way::in_strict_form(about, look, &up, is_rewritten)
        {
            parts.headers.remove(header::CONTENT_ENCODING);
            up = right;
        }
        if is_rewritten
            && app.keeper.drops_blocks(about)
            && let Some(dropping) = binding::dropping(&up)
        {
            binding::ask(&mut parts.headers);
            up = dropping.into();
        }
    }
    if let Some((look, about)) = seen.as_ref().filter(|_| turn.call.is_turn()) {
        let is_stream = look.list.is_true("stream");
        turn.trace = CallTrace::new(turn.call, &about.model, about.upstream.host(), is_stream);
    }
    let mut up_bytes = up.len() as u64;
    waiting.asks_plainly(&mut parts.headers);
    let mut response = match send(&sender, &parts, UpBody::Whole(Some(up.clone()))).await {
        Ok(response) => response,
        Err(why) => return unreachable(&app, turn.call, &why),
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
        let mut again = None;
        if let Some(failure) = overflow(error.class) {
            app.figures.overflow();
            if !app.settings.observe {
                again = waiting
                    .during(way::recover(&app, look, about, failure))
                    .await;
            }
        } else if is_rewritten && app.keeper.may_drop_blocks(about) && binding::is_refused(&read) {
            // It binds thinking to what stood before it: the model is remembered.
            app.keeper.learn_to_drop(about);
            again = binding::dropping(&up).map(|body| (body.into(), note.clone()));
        }
        first = Some(read);
        if let Some((mut again, found)) = again {
            if let Some(right) = way::in_strict_form(about, look, &again, true) {
                again = right;
            }
            if app.keeper.drops_blocks(about) {
                again = binding::dropping(&again).map_or(again, Bytes::from);
                binding::ask(&mut parts.headers);
            }
            parts.headers.remove(header::CONTENT_ENCODING);
            waiting.asks_plainly(&mut parts.headers);
            up_bytes += again.len() as u64;
            match send(&sender, &parts, UpBody::Whole(Some(again))).await {
                Ok(second) => {
                    (response, first, note) = (second, None, found);
                }
                // The first answer stands.
                Err(_) => note.why = Some("the second try did not reach the upstream".into()),
            }
        }
    }
    let after = seen.map(|(look, about)| (look, about, is_stored));
    passed(&app, turn, response, first, note, after, up_bytes)
}

/// Whether a body asks for a stream.
fn asks_for_stream(body: &[u8]) -> bool {
    let body = std::str::from_utf8(body).ok().and_then(Object::of);
    body.is_some_and(|body| body.is_true("stream"))
}

/// It was answered here.
fn answered(app: &App, turn: &Turn, answer: &Response<Down>) {
    let status = answer.status().as_u16();
    app.figures
        .request(turn.call.as_str(), Done::Answered, status);
    let ms = millis(turn.began.elapsed());
    let line = Line {
        call: turn.call.as_str(),
        upstream: &turn.upstream.name,
        status,
        note: &Note::of(Done::Answered),
        up: 0,
        down: 0,
        ms: (ms, ms),
        usage: None,
        micros: 0,
        is_cut: false,
    };
    app.log.line(&line);
}

/// The upstream's answer, on its way down.
pub(crate) fn passed(
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
            micros,
            is_cut: !ended.is_whole,
        };
        turn.trace.ended(&line);
        app.log.line(&line);
        if let Some((look, about, is_stored)) = after {
            let is_fine = (200..300).contains(&status);
            let saved = (note.saved, micros);
            way::after(&app, look, about, ended, is_fine, is_stored, saved);
        }
        drop(turn.running);
    };
    let idle = app.settings.limits.upstream_idle;
    let body = Down::passing(first, Some(body), tee, idle, Box::new(then));
    Response::from_parts(head, body)
}

pub(crate) async fn send(
    sender: &Sender,
    parts: &Parts,
    body: UpBody,
) -> Result<Response<Incoming>, SendError> {
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    if matches!(request.body(), UpBody::Whole(_)) {
        request.headers_mut().remove(header::CONTENT_LENGTH);
    }
    sender.send(request).await
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
