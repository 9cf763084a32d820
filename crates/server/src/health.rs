//! For whoever watches the process: does it live, can it work, what are its figures.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use conspectus::threads::ListThreads;

use crate::app::App;
use crate::problem::Problem;
use crate::read::within;

/// It answers, so it lives.
pub(crate) async fn healthz() -> Response {
    said("ok")
}

/// Whether requests should come here: the store answers, and the server is not stopping.
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Response {
    if !app.stop.is_running() {
        return Problem::unavailable("stopping", "the server is stopping").into_response();
    }
    let one = ListThreads {
        limit: 1,
        ..ListThreads::default()
    };
    match within(
        app.settings.limits.request,
        app.threads.list("default", &one),
    )
    .await
    {
        Some(Ok(_)) => said("ready"),
        Some(Err(_)) | None => {
            Problem::unavailable("store_unavailable", "the store does not answer").into_response()
        }
    }
}

/// Figures for Prometheus.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    app.metrics.response()
}

fn said(word: &'static str) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (kind, word).into_response()
}
