//! Threads that move bytes, each with a runtime of its own.
//!
//! A request, its connection to the upstream and its answer stay on one thread. Where they do not, each step of a request
//! wakes another thread, which costs more than all that is done with it. What takes longer than a moment (a long body
//! read for the first time, a compaction, the store) is done elsewhere: see [`App::work`](crate::handle::App).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::handle::{App, handle};
use crate::send::{Sender, Way};

/// Whoever connects has this long to say what is wanted.
const HEAD: Duration = Duration::from_secs(30);
/// What is under way when it stops is given this.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// More do not make a machine move bytes faster.
const MOST: usize = 8;

/// A connection with its place among those that may be open.
type Given = (std::net::TcpStream, OwnedSemaphorePermit);

/// All of them.
pub(crate) struct Lanes(Vec<Lane>);

struct Lane {
    give: mpsc::UnboundedSender<Given>,
    open: Arc<AtomicUsize>,
    done: oneshot::Receiver<()>,
}

impl Lanes {
    /// As many as the machine has cores.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn begin(app: &Arc<App>, way: &Way) -> io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lane = |_| Lane::begin(app.clone(), way.clone());
        let lanes = (0..cores.min(MOST)).map(lane).collect::<io::Result<_>>()?;
        Ok(Self(lanes))
    }

    /// Gives a connection to the lane that has the fewest.
    pub(crate) fn give(&self, stream: TcpStream, place: OwnedSemaphorePermit) {
        let fewest = self
            .0
            .iter()
            .min_by_key(|lane| lane.open.load(Ordering::Relaxed));
        if let (Some(lane), Ok(stream)) = (fewest, stream.into_std()) {
            lane.open.fetch_add(1, Ordering::Relaxed);
            // A lane ends after it was told to, when no connection is given any more.
            let _ = lane.give.send((stream, place));
        }
    }

    /// Connections end when their requests have, or after the time of grace.
    pub(crate) async fn end(self) {
        let all: Vec<_> = self.0.into_iter().map(|lane| lane.done).collect();
        for done in all {
            let _ = done.await;
        }
    }
}

impl Lane {
    fn begin(app: Arc<App>, way: Way) -> io::Result<Self> {
        let (give, taken) = mpsc::unbounded_channel();
        let (tell, done) = oneshot::channel();
        let open = Arc::new(AtomicUsize::new(0));
        let counted = open.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::Builder::new()
            .name("conspectus-lane".to_owned())
            .spawn(move || {
                runtime.block_on(run(app, way, taken, counted));
                let _ = tell.send(());
            })?;
        Ok(Self { give, open, done })
    }
}

async fn run(
    app: Arc<App>,
    way: Way,
    mut taken: mpsc::UnboundedReceiver<Given>,
    open: Arc<AtomicUsize>,
) {
    let sender = Arc::new(Sender::new(way));
    let connections = GracefulShutdown::new();
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .half_close(false);
    while let Some((stream, place)) = taken.recv().await {
        let Ok(stream) = TcpStream::from_std(stream) else {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        };
        let (app, sender, open) = (app.clone(), sender.clone(), open.clone());
        let service = service_fn(move |request| handle(app.clone(), sender.clone(), request));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // What a client does to its connection is no news.
            let _ = connection.await;
            open.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
}
