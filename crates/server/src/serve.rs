//! Connections: taken while the server runs, ended gently when it stops.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::stop::{Phase, Stop, Tasks};

/// So many connections are served at a time.
const CONNECTIONS: usize = 1024;
/// Whoever connects has this long to say what is wanted.
const HEAD: Duration = Duration::from_secs(30);
/// After attempts were cancelled they end within this, or are left to their lease.
const LAST: Duration = Duration::from_secs(5);
/// Where the system has no sockets left, it may have some soon.
const AGAIN: Duration = Duration::from_millis(50);

/// Serves until `until` ends, then for at most `grace` and a little more.
pub(crate) async fn serve(
    listener: &TcpListener,
    router: Router,
    (stop, mut tasks): (Stop, Tasks),
    grace: Duration,
    until: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut until = pin!(until);
    loop {
        // Who comes when there is no room waits in the system's own queue.
        let next = async {
            let place = room.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            () = &mut until => break,
        };
        let Some(stream) = taken(accepted).await else {
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // What a client does to its connection is no news.
            let _ = connection.await;
            drop(place);
        });
    }
    stop.go_to(Phase::Draining);
    stop.last_task();
    let mut ended = pin!(async {
        connections.shutdown().await;
        tasks.ended().await;
    });
    if tokio::time::timeout(grace, &mut ended).await.is_err() {
        stop.go_to(Phase::Cancelled);
        let _ = tokio::time::timeout(LAST, ended).await;
    }
}

/// A connection, if one came.
async fn taken(accepted: io::Result<(TcpStream, SocketAddr)>) -> Option<TcpStream> {
    match accepted {
        Ok((stream, _)) => {
            // Small answers are sent at once. Where that cannot be said they come a little later.
            let _ = stream.set_nodelay(true);
            Some(stream)
        }
        Err(error) => {
            let of_client = [
                io::ErrorKind::ConnectionAborted,
                io::ErrorKind::ConnectionReset,
            ];
            if !of_client.contains(&error.kind()) {
                tokio::time::sleep(AGAIN).await;
            }
            None
        }
    }
}
