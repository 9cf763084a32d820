//! A proxy bound to an address: its connections, taken while it runs, ended gently when it stops.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use conspectus::Clock;
use conspectus::store::ThreadStore;
use conspectus::telemetry::{Event, Subscriber as _, Telemetry};
use conspectus_server::{Allowed, Log, instance};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::book::Book;
use crate::figures::Figures;
use crate::handle::{App, handle};
use crate::keeper::Keeper;
use crate::send::Sender;
use crate::settings::Settings;

/// Whoever connects has this long to say what is wanted.
const HEAD: Duration = Duration::from_secs(30);
/// Where the system has no sockets left, it may have some soon.
const AGAIN: Duration = Duration::from_millis(50);
/// What is under way when it stops is given this.
const GRACE: Duration = Duration::from_secs(10);
/// Jobs beside requests at a time.
const BESIDE: usize = 256;

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

impl Proxy {
    /// Binds it. Conversations become threads in `store`; `log` is given a line a request.
    ///
    /// # Errors
    /// When it cannot listen there, when others could use it and nobody is asked for a token, or when the system has no
    /// certificates to trust and an upstream needs them.
    pub async fn bind(
        settings: Settings,
        store: Arc<dyn ThreadStore>,
        clock: Arc<dyn Clock>,
        log: Log,
    ) -> io::Result<Self> {
        settings.check().map_err(io::Error::other)?;
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let figures = Arc::new(Figures::default());
        let told = figures.clone();
        let telemetry = Telemetry::new().with(move |event: &Event| told.told(event));
        let limits = settings.limits;
        let sender = Sender::new(
            limits.connect,
            limits.upstream_idle,
            settings.upstreams.need_tls(),
        )?;
        let keeper = Keeper::new(store, clock, telemetry, settings.clone(), instance());
        let app = App {
            allowed: Allowed::new(address, &settings.hosts, &settings.origins),
            sender,
            book: Book::new(settings.room),
            keeper,
            figures,
            log,
            beside: Arc::new(Semaphore::new(BESIDE)),
            settings,
        };
        Ok(Self {
            listener,
            address,
            app: Arc::new(app),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs until `until` ends, and a little longer for what is under way.
    pub async fn run(self, until: impl Future<Output = ()>) {
        let connections = GracefulShutdown::new();
        let mut builder = Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .half_close(false);
        let room = Arc::new(Semaphore::new(self.app.settings.limits.connections));
        let mut until = pin!(until);
        loop {
            let next = async {
                let place = room.clone().acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                next = next => next,
                () = &mut until => break,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let app = self.app.clone();
            let service = service_fn(move |request| handle(app.clone(), request));
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            let connection = connections.watch(connection);
            tokio::spawn(async move {
                // What a client does to its connection is no news.
                let _ = connection.await;
                drop(place);
            });
        }
        let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
        // What is stored beside requests is waited for.
        let all = u32::try_from(BESIDE).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(GRACE, self.app.beside.acquire_many(all)).await;
    }
}
