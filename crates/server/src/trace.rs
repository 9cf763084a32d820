//! Requests as spans of `tracing` (feature `tracing`), by OpenTelemetry's names for HTTP servers. Without it `untraced`
//! stands here. What a request does happens in its span. Never a body, a query, or what the path does not name by its
//! pattern.

use std::fmt;
use std::sync::Arc;

use axum::http::HeaderMap;
use tracing::field::Empty;
use tracing::instrument::Instrumented;
use tracing::{Instrument as _, Span, info_span};

use crate::log::Line;
use crate::settings::Settings;

/// These are asked every few seconds and do nothing.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Puts a request's span where its client's left off.
#[derive(Clone, Default)]
pub(crate) struct Continue(Option<Arc<Continues>>);

type Continues = dyn Fn(&HeaderMap, &Span) + Send + Sync;

impl Settings {
    /// `goes_on` is given each request's headers and its span, before anything happens in it: whoever knows how traces are
    /// carried in headers makes the client's span its parent.
    #[must_use]
    pub fn continuing(
        mut self,
        goes_on: impl Fn(&HeaderMap, &Span) + Send + Sync + 'static,
    ) -> Self {
        self.goes_on = Continue(Some(Arc::new(goes_on)));
        self
    }
}

impl fmt::Debug for Continue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Continue")
    }
}

/// A request.
pub(crate) struct RequestTrace(Span);

impl RequestTrace {
    /// It came. `route` is a pattern, empty where there is none.
    pub(crate) fn new(
        settings: &Settings,
        headers: &HeaderMap,
        method: &str,
        route: &str,
        id: &str,
    ) -> Self {
        if PROBES.contains(&route) {
            return Self(Span::none());
        }
        let span = info_span!(
            target: "conspectus",
            "request",
            otel.name = [method, route].join(" ").trim_end(),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            http.route = Some(route).filter(|route| !route.is_empty()),
            http.response.status_code = Empty,
            url.scheme = "http",
            gen_ai.conversation.id = Empty,
            "error.type" = Empty,
            conspectus.request.id = id,
            conspectus.tenant = Empty,
            conspectus.problem = Empty,
        );
        if let Some(goes_on) = &settings.goes_on.0 {
            goes_on(headers, &span);
        }
        Self(span)
    }

    /// What happens in `work` happens in it.
    pub(crate) fn around<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.0.clone())
    }

    /// It was answered.
    pub(crate) fn ended(self, line: &Line<'_>) {
        let span = self.0;
        span.record("http.response.status_code", i64::from(line.status));
        span.record("gen_ai.conversation.id", line.thread);
        span.record("conspectus.tenant", line.tenant);
        span.record("conspectus.problem", line.code);
        // What a client did wrong is no error of a server.
        if line.status >= 500 {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", line.code.unwrap_or("500"));
        }
    }
}
