//! Figures for Prometheus, in its text format. Labels come from closed sets: routes as patterns, methods, statuses,
//! outcomes; never a thread, a tenant or a model.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::header;
use axum::response::{IntoResponse, Response};
use conspectus::telemetry::{Event, Subscriber, Way};

/// Upper bounds in seconds.
const SECONDS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 20.0, 80.0, 320.0,
];
/// Upper bounds in tokens.
const TOKENS: [f64; 9] = [
    256.0, 1024.0, 4096.0, 16384.0, 65536.0, 131072.0, 262144.0, 1048576.0, 4194304.0,
];

/// All figures of a server. Clones show the same ones.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Mutex<Figures>>);

#[derive(Default)]
struct Figures {
    running: u64,
    streams: u64,
    requests: BTreeMap<(String, &'static str, u16), u64>,
    request_seconds: BTreeMap<String, Histogram>,
    compactions: BTreeMap<Labels, u64>,
    compaction_seconds: Histogram,
    tokens_before: Histogram,
    tokens_after: Histogram,
    saved: u64,
    /// In micro-dollars.
    spent: u64,
}

/// What is told of how a compaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    outcome: &'static str,
    moment: &'static str,
    strategy: &'static str,
}

/// Counts by upper bound, the last one without.
#[derive(Clone, Debug, Default)]
struct Histogram {
    counts: Vec<u64>,
    sum: f64,
    count: u64,
}

/// Counted as long as it is held.
pub(crate) struct Held {
    metrics: Metrics,
    figure: fn(&mut Figures) -> &mut u64,
}

impl Metrics {
    /// All at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// A request is under way.
    pub(crate) fn running(&self) -> Held {
        self.held(|figures| &mut figures.running)
    }

    /// A stream of events is read.
    pub(crate) fn stream(&self) -> Held {
        self.held(|figures| &mut figures.streams)
    }

    pub(crate) fn request(&self, route: &str, method: &'static str, status: u16, ms: u64) {
        let mut figures = self.lock();
        let key = (route.to_owned(), method, status);
        *figures.requests.entry(key).or_default() += 1;
        let seconds = figures.request_seconds.entry(route.to_owned()).or_default();
        seconds.add(ms as f64 / 1000.0, &SECONDS);
    }

    fn compaction(&self, labels: Labels, ms: u64, spent: u64, sizes: Option<(u64, Option<u64>)>) {
        let mut figures = self.lock();
        *figures.compactions.entry(labels).or_default() += 1;
        figures.compaction_seconds.add(ms as f64 / 1000.0, &SECONDS);
        figures.spent += spent;
        let Some((before, after)) = sizes else {
            return;
        };
        figures.tokens_before.add(before as f64, &TOKENS);
        if let Some(after) = after {
            figures.tokens_after.add(after as f64, &TOKENS);
            figures.saved += before.saturating_sub(after);
        }
    }

    fn held(&self, figure: fn(&mut Figures) -> &mut u64) -> Held {
        *figure(&mut self.lock()) += 1;
        Held {
            metrics: self.clone(),
            figure,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Figures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As Prometheus reads it.
    pub(crate) fn text(&self) -> String {
        let figures = self.lock();
        let mut text = Text::default();
        text.head(
            "conspectus_http_requests_in_flight",
            "gauge",
            "Requests under way.",
        );
        text.line("", "", figures.running);
        text.head(
            "conspectus_event_streams",
            "gauge",
            "Streams of events that are read.",
        );
        text.line("", "", figures.streams);
        text.head(
            "conspectus_http_requests_total",
            "counter",
            "Requests answered.",
        );
        for ((route, method, status), count) in &figures.requests {
            let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
            text.line("", &labels, count);
        }
        let about = "Seconds until a request was answered.";
        text.head(
            "conspectus_http_request_duration_seconds",
            "histogram",
            about,
        );
        for (route, seconds) in &figures.request_seconds {
            text.histogram(&format!("route=\"{route}\""), seconds, &SECONDS);
        }
        let about = "Compactions that were asked for, by how they ended.";
        text.head("conspectus_compactions_total", "counter", about);
        for (labels, count) in &figures.compactions {
            let labels = format!(
                "outcome=\"{}\",moment=\"{}\",strategy=\"{}\"",
                labels.outcome, labels.moment, labels.strategy
            );
            text.line("", &labels, count);
        }
        let about = "Seconds that compactions took.";
        text.head("conspectus_compaction_duration_seconds", "histogram", about);
        text.histogram("", &figures.compaction_seconds, &SECONDS);
        let about = "Tokens of the request before a compaction.";
        text.head("conspectus_compaction_tokens_before", "histogram", about);
        text.histogram("", &figures.tokens_before, &TOKENS);
        let about = "Tokens of the request after a compaction that changed it.";
        text.head("conspectus_compaction_tokens_after", "histogram", about);
        text.histogram("", &figures.tokens_after, &TOKENS);
        text.head(
            "conspectus_tokens_saved_total",
            "counter",
            "Tokens saved in one request.",
        );
        text.line("", "", figures.saved);
        let about = "What models were paid for summaries, in dollars.";
        text.head("conspectus_summary_cost_dollars_total", "counter", about);
        text.line("", "", figures.spent as f64 / 1e6);
        text.text
    }

    /// The answer to Prometheus.
    pub(crate) fn response(&self) -> Response {
        let kind = [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )];
        (kind, self.text()).into_response()
    }
}

/// Counts how attempts end.
impl Subscriber for Metrics {
    fn told(&self, event: &Event) {
        match event {
            Event::Stop(stop) => {
                let (said, numbers) = (&stop.metadata, &stop.measurements);
                let labels = Labels {
                    outcome: said.outcome.as_str(),
                    moment: said.start.moment.as_str(),
                    strategy: said.strategy.map_or("none", Way::as_str),
                };
                let sizes = (numbers.tokens_before, numbers.tokens_after);
                self.compaction(labels, numbers.duration, numbers.spent_micros, Some(sizes));
            }
            Event::Exception(exception) => {
                let labels = Labels {
                    outcome: "exception",
                    moment: exception.metadata.start.moment.as_str(),
                    strategy: "none",
                };
                self.compaction(labels, exception.measurements.duration, 0, None);
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut figures = self.metrics.lock();
        let figure = (self.figure)(&mut figures);
        *figure = figure.saturating_sub(1);
    }
}

impl Histogram {
    fn add(&mut self, value: f64, bounds: &[f64]) {
        self.counts.resize(bounds.len(), 0);
        if let Some(at) = bounds.iter().position(|bound| value <= *bound) {
            self.counts[at] += 1;
        }
        self.sum += value;
        self.count += 1;
    }
}

#[derive(Default)]
struct Text {
    text: String,
    name: &'static str,
}

impl Text {
    fn head(&mut self, name: &'static str, kind: &str, about: &str) {
        self.name = name;
        let _ = writeln!(self.text, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, suffix: &str, labels: &str, value: impl std::fmt::Display) {
        let name = self.name;
        let _ = match labels {
            "" => writeln!(self.text, "{name}{suffix} {value}"),
            labels => writeln!(self.text, "{name}{suffix}{{{labels}}} {value}"),
        };
    }

    fn histogram(&mut self, labels: &str, histogram: &Histogram, bounds: &[f64]) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut below = 0;
        for (at, bound) in bounds.iter().enumerate() {
            below += histogram.counts.get(at).copied().unwrap_or(0);
            self.line("_bucket", &format!("{labels}{comma}le=\"{bound}\""), below);
        }
        self.line(
            "_bucket",
            &format!("{labels}{comma}le=\"+Inf\""),
            histogram.count,
        );
        self.line("_sum", labels, histogram.sum);
        self.line("_count", labels, histogram.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_adds_up() {
        let metrics = Metrics::default();
        metrics.request("/api/threads", "GET", 200, 7);
        metrics.request("/api/threads", "GET", 200, 400_000);
        let labels = Labels {
            outcome: "compacted",
            moment: "manual",
            strategy: "digest",
        };
        metrics.compaction(labels, 30, 1_500, Some((9000, Some(2000))));
        let held = metrics.running();
        let text = metrics.text();
        drop(held);
        for line in [
            "conspectus_http_requests_in_flight 1",
            "conspectus_http_requests_total{route=\"/api/threads\",method=\"GET\",status=\"200\"} 2",
            "conspectus_http_request_duration_seconds_bucket{route=\"/api/threads\",le=\"0.005\"} 0",
            "conspectus_http_request_duration_seconds_bucket{route=\"/api/threads\",le=\"320\"} 1",
            "conspectus_http_request_duration_seconds_bucket{route=\"/api/threads\",le=\"+Inf\"} 2",
            "conspectus_http_request_duration_seconds_sum{route=\"/api/threads\"} 400.007",
            "conspectus_compactions_total{outcome=\"compacted\",moment=\"manual\",strategy=\"digest\"} 1",
            "conspectus_compaction_tokens_after_bucket{le=\"4096\"} 1",
            "conspectus_tokens_saved_total 7000",
            "conspectus_summary_cost_dollars_total 0.0015",
        ] {
            assert!(
                text.lines().any(|l| l == line),
                "{line} is missing in\n{text}"
            );
        }
        assert!(metrics.text().contains("in_flight 0"));
    }
}
