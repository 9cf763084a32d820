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
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::book::Book;
use crate::figures::Figures;
use crate::handle::App;
use crate::keeper::Keeper;
use crate::lanes::{GRACE, Lanes};
use crate::send::Way;
use crate::settings::Settings;
use crate::sweep::sweeping;

/// Where the system has no sockets left, it may have some soon.
const AGAIN: Duration = Duration::from_millis(50);
/// Jobs beside requests at a time.
const BESIDE: usize = 256;

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    lanes: Lanes,
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
        let way = Way::new(&settings)?;
        let keeper = Keeper::new(store, clock, telemetry, settings.clone(), instance());
        let app = App {
            allowed: Allowed::new(address, &settings.hosts, &settings.origins),
            book: Book::new(settings.room),
            keeper,
            figures,
            log,
            beside: Arc::new(Semaphore::new(BESIDE)),
            work: Handle::current(),
            settings,
        };
        let app = Arc::new(app);
        Ok(Self {
            listener,
            address,
            lanes: Lanes::begin(&app, &way)?,
            app,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs until `until` ends, and a little longer for what is under way.
    pub async fn run(self, until: impl Future<Output = ()>) {
        let room = Arc::new(Semaphore::new(self.app.settings.limits.connections));
        let mut until = pin!(until);
        let sweeping = tokio::spawn(sweeping(self.app.clone()));
        loop {
            let next = async {
                let place = room.clone().acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (Ok(place), accepted) = (tokio::select! {
                next = next => next,
                () = &mut until => break,
            }) else {
                break;
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            self.lanes.give(stream, place);
        }
        drop(self.listener);
        sweeping.abort();
        self.lanes.end().await;
        // What is stored beside requests is waited for.
        let all = u32::try_from(BESIDE).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(GRACE, self.app.beside.acquire_many(all)).await;
    }
}
