//! Spans of the service to an OpenTelemetry collector: OTLP over HTTP, as the usual variables of the environment say.
//!
//! Nothing waits for a collector. Spans stand in a queue of bounded length that a thread of its own sends in batches; what
//! does not fit is dropped, and so is what a collector does not take. Only an address that was named is spoken to.

mod client;

use std::time::Duration;

use conspectus_server::{Settings, instance};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use client::Client;

/// Where to; the first is the address itself, to the second `/v1/traces` is added.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
const PROTOCOLS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];
const TIMEOUTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
];
/// What is spoken.
const SPOKEN: &str = "http/protobuf";
/// For one batch, unless the environment says otherwise.
const TIMEOUT_MS: u64 = 10_000;
/// What still stands in the queue at the end is given this long.
const LAST: Duration = Duration::from_secs(5);

/// Spans are exported as long as it is held, if they are at all.
pub(crate) struct Exporting {
    provider: Option<SdkTracerProvider>,
    log: fn(&str),
}

impl Exporting {
    /// Begins to export if the environment names a collector. What cannot be done is logged; the service runs without.
    /// Called inside of a runtime.
    pub(crate) fn begin(log: fn(&str)) -> Self {
        let provider = provider(log).unwrap_or_else(|why| {
            log(&format!("otel: spans are not exported: {why}"));
            None
        });
        if let Some(provider) = &provider {
            let layer = tracing_opentelemetry::layer()
                .with_tracer(provider.tracer("conspectus"))
                .with_location(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_target(false)
                .with_level(false)
                // Our own spans: those of other crates may hold addresses and more.
                .with_filter(filter_fn(|of| of.is_span() && of.target() == "conspectus"));
            let all = tracing_subscriber::registry().with(layer);
            // Nobody else sets one in this program.
            let _ = tracing::subscriber::set_global_default(all);
        }
        Self { provider, log }
    }

    /// Requests go on with the traces of their clients.
    pub(super) fn settle(&self, settings: Settings) -> Settings {
        if self.provider.is_none() {
            return settings;
        }
        let headers_as = TraceContextPropagator::new();
        settings.continuing(move |headers, span| {
            // A span that is not exported has no parent either.
            let _ = span.set_parent(headers_as.extract(&HeaderExtractor(headers)));
        })
    }

    /// Sends what is left, within a limit.
    pub(crate) async fn end(self) {
        let Some(provider) = self.provider else {
            return;
        };
        let ending = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST));
        if !matches!(ending.await, Ok(Ok(()))) {
            (self.log)("otel: the last spans could not be exported");
        }
    }
}

/// What makes and exports spans; `None`: nothing is to be exported.
///
/// # Errors
/// Why it cannot be done. Values of variables are not repeated: they may hold keys.
fn provider(log: fn(&str)) -> Result<Option<SdkTracerProvider>, String> {
    let Some((name, endpoint)) = said(&ENDPOINTS) else {
        return Ok(None);
    };
    let is_off = said(&["OTEL_SDK_DISABLED"]).is_some_and(|(_, v)| v.eq_ignore_ascii_case("true"));
    match said(&["OTEL_TRACES_EXPORTER"]) {
        _ if is_off => return Ok(None),
        Some((_, exporter)) if exporter == "none" => return Ok(None),
        Some((name, exporter)) if exporter != "otlp" => {
            return Err(format!("{name} names another exporter than otlp"));
        }
        _ => {}
    }
    if let Some((name, protocol)) = said(&PROTOCOLS)
        && protocol != SPOKEN
    {
        return Err(format!("only {SPOKEN} is spoken; set {name} to that"));
    }
    let url = reqwest::Url::parse(&endpoint).ok();
    if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https")) {
        return Err(format!(
            "{name} is no address; it should be like http://host:4318"
        ));
    }
    let timeout = said(&TIMEOUTS).and_then(|(_, ms)| ms.parse().ok());
    let timeout = Duration::from_millis(timeout.unwrap_or(TIMEOUT_MS));
    let client = Client::new(&endpoint, timeout, log)?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(timeout)
        .with_http_client(client)
        .build()
        .map_err(|why| why.to_string())?;
    let provider = SdkTracerProvider::builder()
        .with_resource(resource())
        .with_batch_exporter(exporter)
        .build();
    Ok(Some(provider))
}

/// Who tells: what the environment says, and what it leaves open.
fn resource() -> Resource {
    let said = Resource::builder().build();
    let is_named = said
        .get(&Key::new("service.name"))
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let mut ours = vec![
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", instance()),
    ];
    ours.retain(|ours| said.get(&ours.key).is_none());
    if !is_named {
        ours.push(KeyValue::new("service.name", "conspectus"));
    }
    Resource::builder().with_attributes(ours).build()
}

/// The first of these variables that says something.
fn said(names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| {
        let value = std::env::var_os(name)?.into_string().ok()?;
        let value = value.trim();
        (!value.is_empty()).then(|| (*name, value.to_owned()))
    })
}
