//! In place of [`otel`](super::otel) in a program that was built without it: nothing is exported.

use conspectus_server::Settings;

pub(crate) struct Exporting;

impl Exporting {
    /// Says so, where the environment names a collector.
    pub(crate) fn begin(log: fn(&str)) -> Self {
        if std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_some_and(|v| !v.is_empty()) {
            log("otel: spans are not exported: this program was built without the feature otel");
        }
        Self
    }

    pub(super) fn settle(&self, settings: Settings) -> Settings {
        settings
    }

    #[expect(clippy::unused_async, reason = "as where something is exported")]
    pub(crate) async fn end(self) {}
}
