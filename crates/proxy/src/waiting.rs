//! A stream that is begun before the upstream was asked, since a compaction takes its time.
//!
//! A client that asked for a stream may give up when it hears nothing. So after a while its answer begins (status 200, an
//! event stream) with what its API has for signs of life, until the upstream's own stream goes on behind it. From then on
//! a status cannot be said any more: an error of the upstream is told as an event of the API's own, with the body that
//! came.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use conspectus::Format;
use conspectus::wire::json::Object;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Frame};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use crate::answer::{BrokenOff, Down};
use crate::api::Call;

/// An error is told up to this.
const ERROR: usize = 256 << 10;

/// Whether a request waits for something of ours.
pub(crate) struct Waiting {
    waits: watch::Sender<bool>,
    is_begun: AtomicBool,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self {
            waits: watch::Sender::new(false),
            is_begun: AtomicBool::new(false),
        }
    }

    /// `work` is something of ours that may take long.
    pub(crate) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        self.waits.send_replace(true);
        let done = work.await;
        self.waits.send_replace(false);
        done
    }

    /// Ends when it has waited for so long at a stretch.
    pub(crate) async fn long(&self, time: Duration) {
        let mut waits = self.waits.subscribe();
        loop {
            if waits.wait_for(|waits| *waits).await.is_err() {
                return std::future::pending().await;
            }
            let over = waits.wait_for(|waits| !*waits);
            if tokio::time::timeout(time, over).await.is_err() {
                return;
            }
        }
    }

    /// The answer has begun.
    pub(crate) fn begin(&self) {
        self.is_begun.store(true, Ordering::SeqCst);
    }

    /// What comes from the upstream goes on a stream that has begun: it cannot be compressed.
    pub(crate) fn asks_plainly(&self, headers: &mut HeaderMap) {
        if self.is_begun.load(Ordering::SeqCst) {
            let plain = HeaderValue::from_static("identity");
            headers.insert(header::ACCEPT_ENCODING, plain);
        }
    }
}

type Rest = Pin<Box<dyn Future<Output = Down> + Send>>;

/// The body of an answer that has begun: signs of life, then what `rest` gives.
pub(crate) struct Held {
    call: Call,
    rest: Option<Rest>,
    then: Option<Box<Down>>,
    next: Pin<Box<Sleep>>,
    every: Duration,
}

impl Held {
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if let Some(rest) = &mut self.rest {
            match rest.as_mut().poll(cx) {
                Poll::Ready(then) => {
                    self.rest = None;
                    self.then = Some(Box::new(then));
                }
                Poll::Pending => {
                    if self.next.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    self.next.as_mut().reset(Instant::now() + self.every);
                    // Registers the next one.
                    if self.next.as_mut().poll(cx).is_ready() {
                        cx.waker().wake_by_ref();
                    }
                    let sign = Bytes::from_static(sign(self.call).as_bytes());
                    return Poll::Ready(Some(Ok(Frame::data(sign))));
                }
            }
        }
        match &mut self.then {
            Some(then) => Pin::new(&mut **then).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }
}

/// A sign of life in the words of the API: an event of Anthropic's, else a comment.
fn sign(call: Call) -> &'static str {
    match call.format() {
        Some(Format::Anthropic) => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        _ => ": keep-alive\n\n",
    }
}

/// The answer that begins now. `rest`: the answer that there would have been.
pub(crate) fn begun(
    call: Call,
    every: Duration,
    says: bool,
    rest: impl Future<Output = Response<Down>> + Send + 'static,
) -> Response<Down> {
    let rest = async move { behind(call, rest.await).await };
    let held = Held {
        call,
        rest: Some(Box::pin(rest)),
        then: None,
        // The first one at once.
        next: Box::pin(tokio::time::sleep(Duration::ZERO)),
        every,
    };
    let mut response = Response::new(Down::Held(Box::new(held)));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if says {
        // What will have been done is not known yet.
        let waited = HeaderValue::from_static("waited");
        headers.insert("x-conspectus-outcome", waited);
    }
    response
}

/// An answer as it goes on behind signs of life.
async fn behind(call: Call, response: Response<Down>) -> Down {
    let (head, mut body) = response.into_parts();
    let said = |name| {
        head.headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let is_stream =
        said(header::CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/event-stream"));
    let is_plain = said(header::CONTENT_ENCODING).is_none_or(|coding| coding == "identity");
    if head.status.is_success() && is_stream && is_plain {
        return body;
    }
    let mut read = Vec::new();
    while read.len() < ERROR
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Some(data) = frame.data_ref() {
            read.extend_from_slice(data);
        }
    }
    let text = std::str::from_utf8(&read).ok().filter(|_| is_plain);
    Down::own(error(call, head.status, text))
}

/// An error as an event of the API's own, in the words that came.
fn error(call: Call, status: StatusCode, body: Option<&str>) -> String {
    let is_error = |body: &&str| {
        let body = Object::of(body.trim());
        body.is_some_and(|body| body.object("error").is_some())
    };
    let ours = || {
        let message = match status.is_success() {
            true => "the upstream answered without the stream that was asked for".to_owned(),
            false => format!("the upstream answered with status {}", status.as_u16()),
        };
        call.error("api_error", &message)
    };
    // A line break can only stand between the values of JSON.
    let came = body.filter(is_error);
    let body = came.map_or_else(ours, |body| body.trim().replace(['\n', '\r'], " "));
    match call.format() {
        Some(Format::Anthropic) => format!("event: error\ndata: {body}\n\n"),
        Some(Format::Responses) => {
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            let said = |key: &str| body["error"].get(key).cloned().unwrap_or_default();
            let code = match said("code") {
                Value::Null => said("type"),
                code => code,
            };
            let event = json!({
                "type": "error", "code": code, "message": said("message"), "param": said("param"),
                "sequence_number": 0,
            });
            format!("event: error\ndata: {event}\n\n")
        }
        _ => format!("data: {body}\n\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_events_of_the_api() {
        let check = |call, body: Option<&str>, expect: &str| {
            assert_eq!(error(call, StatusCode::TOO_MANY_REQUESTS, body), expect);
        };
        let slow = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
        check(
            Call::Messages,
            Some(slow),
            &format!("event: error\ndata: {slow}\n\n"),
        );
        check(
            Call::Chat,
            Some("{\"error\":\n {\"message\":\"m\",\"code\":\"c\"}}\n"),
            "data: {\"error\":  {\"message\":\"m\",\"code\":\"c\"}}\n\n",
        );
        check(
            Call::Responses,
            Some(r#"{"error":{"message":"m","code":"c","param":null}}"#),
            "event: error\ndata: {\"code\":\"c\",\"message\":\"m\",\"param\":null,\"sequence_number\":0,\"type\":\"error\"}\n\n",
        );
        for odd in [None, Some("<html>"), Some("[]"), Some(r#"{"error":"x"}"#)] {
            let told = error(Call::Chat, StatusCode::BAD_GATEWAY, odd);
            assert!(
                told.contains("the upstream answered with status 502"),
                "{told}"
            );
        }
    }
}
