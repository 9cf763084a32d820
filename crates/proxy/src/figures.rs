//! Figures for Prometheus, in its text format. Labels come from closed sets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use conspectus::telemetry::{Event, Subscriber};

use crate::note::Done;

/// All figures of a proxy.
#[derive(Default)]
pub(crate) struct Figures {
    running: AtomicU64,
    saved_tokens: AtomicU64,
    saved_micros: AtomicU64,
    input_tokens: AtomicU64,
    cache_read_tokens: AtomicU64,
    overflows: AtomicU64,
    requests: Mutex<BTreeMap<(&'static str, &'static str, u16), u64>>,
    compactions: Mutex<BTreeMap<&'static str, u64>>,
}

/// Counted as long as it is held.
pub(crate) struct Running(Arc<Figures>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Figures {
    pub(crate) fn running(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(self.clone())
    }

    pub(crate) fn request(&self, call: &'static str, done: Done, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((call, done.as_str(), status)).or_default() += 1;
    }

    pub(crate) fn saved(&self, tokens: u64, micros: u64) {
        self.saved_tokens.fetch_add(tokens, Ordering::Relaxed);
        self.saved_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn usage(&self, input: u64, cache_read: u64) {
        self.input_tokens.fetch_add(input, Ordering::Relaxed);
        self.cache_read_tokens
            .fetch_add(cache_read, Ordering::Relaxed);
    }

    pub(crate) fn overflow(&self) {
        self.overflows.fetch_add(1, Ordering::Relaxed);
    }

    /// As Prometheus reads it. `known`: conversations in memory, and bytes of kept bodies.
    pub(crate) fn text(&self, known: (usize, usize)) -> String {
        let mut out = String::new();
        let mut single = |name: &str, kind: &str, help: &str, value: String| {
            let _ = writeln!(
                out,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
            );
        };
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let dollars = of(&self.saved_micros) as f64 / 1e6;
        single(
            "conspectus_proxy_requests_in_flight",
            "gauge",
            "Requests under way.",
            of(&self.running).to_string(),
        );
        single(
            "conspectus_proxy_conversations",
            "gauge",
            "Conversations known in memory.",
            known.0.to_string(),
        );
        single(
            "conspectus_proxy_kept_bytes",
            "gauge",
            "Bytes of bodies kept to be compared with.",
            known.1.to_string(),
        );
        single(
            "conspectus_proxy_saved_tokens_total",
            "counter",
            "Tokens that clients sent and upstreams were spared.",
            of(&self.saved_tokens).to_string(),
        );
        single(
            "conspectus_proxy_saved_dollars_total",
            "counter",
            "What they would have cost.",
            dollars.to_string(),
        );
        single(
            "conspectus_proxy_input_tokens_total",
            "counter",
            "Input tokens that upstreams reported.",
            of(&self.input_tokens).to_string(),
        );
        single(
            "conspectus_proxy_cache_read_tokens_total",
            "counter",
            "Of these, read from the provider's cache.",
            of(&self.cache_read_tokens).to_string(),
        );
        single(
            "conspectus_proxy_upstream_overflows_total",
            "counter",
            "Requests that an upstream refused as too large.",
            of(&self.overflows).to_string(),
        );
        let name = "conspectus_proxy_requests_total";
        let _ = writeln!(
            out,
            "# HELP {name} Requests by call, outcome and status.\n# TYPE {name} counter"
        );
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((call, outcome, status), count) in requests.iter() {
            let _ = writeln!(
                out,
                "{name}{{call=\"{call}\",outcome=\"{outcome}\",status=\"{status}\"}} {count}"
            );
        }
        let name = "conspectus_proxy_compactions_total";
        let _ = writeln!(
            out,
            "# HELP {name} Compactions by outcome.\n# TYPE {name} counter"
        );
        let compactions = self
            .compactions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (outcome, count) in compactions.iter() {
            let _ = writeln!(out, "{name}{{outcome=\"{outcome}\"}} {count}");
        }
        out
    }
}

impl Subscriber for Figures {
    fn told(&self, event: &Event) {
        let outcome = match event {
            Event::Start(_) => return,
            Event::Stop(stop) => stop.metadata.outcome.as_str(),
            _ => "exception",
        };
        let mut compactions = self
            .compactions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *compactions.entry(outcome).or_default() += 1;
    }
}
