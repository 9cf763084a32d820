//! Answers whose body goes on: frames as they come, from whoever makes them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use tokio::sync::mpsc;

/// Frames that may wait for a slow reader; the rest waits where it comes from.
pub(crate) const WAITING: usize = 16;

/// An answer of this kind with what `frames` gives; it ends with the last sender.
pub(crate) fn going_on(kind: &'static str, frames: mpsc::Receiver<Bytes>) -> Response {
    let kind = HeaderValue::from_static(kind);
    // Proxies are not to hold frames back.
    let unbuffered = ("x-accel-buffering", HeaderValue::from_static("no"));
    let body = Body::new(Frames(frames));
    ([(header::CONTENT_TYPE, kind)], [unbuffered], body).into_response()
}

struct Frames(mpsc::Receiver<Bytes>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(cx)
            .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
