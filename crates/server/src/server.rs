//! [`Server`]: bound to an address, then run until it is told to stop.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use conspectus::Clock;
use conspectus::threads::Threads;
use conspectus_agent::Runs;
use tokio::net::TcpListener;

use crate::app::App;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::router::router;
use crate::runs::Begun;
use crate::serve::serve;
use crate::settings::Settings;
use crate::stop::{Stop, Tasks};

/// A name for this process that no other one has, for leases on a store that several share.
pub fn instance() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    tasks: Tasks,
}

impl Server {
    /// Listens; nothing is answered before [`Self::run`]. `metrics` should also be a subscriber of the compactor's
    /// telemetry, or no compaction is counted.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn bind(
        settings: Settings,
        threads: Arc<Threads<Arc<dyn Clock>>>,
        metrics: Metrics,
        log: Log,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let (stop, tasks) = Stop::new();
        let app = App {
            allowed: settings.allowed(address),
            began_ms: threads.now(),
            threads,
            runs: None,
            begun: Begun::default(),
            settings,
            metrics,
            log,
            stop,
            requests: AtomicU64::new(0),
        };
        Ok(Self {
            listener,
            address,
            app,
            tasks,
        })
    }

    /// With agents, which run on the same threads.
    #[must_use]
    pub fn with_runs(mut self, runs: Runs) -> Self {
        self.app.runs = Some(runs);
        self
    }

    /// Where it listens; the port is there even where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `until` ends. Then no connection is taken any more, streams of events end, and what was begun is
    /// finished; compactions that do not end in time are cancelled, which leaves their threads as they were.
    pub async fn run(self, until: impl Future<Output = ()>) {
        let app = Arc::new(self.app);
        let router = router(&app);
        let grace = app.settings.limits.shutdown;
        let stop = (app.stop.clone(), self.tasks);
        serve(&self.listener, router, stop, grace, until).await;
    }
}
