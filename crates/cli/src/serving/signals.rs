//! When to stop: the first Ctrl-C or SIGTERM asks for it, a second one does not wait.

use std::future::Future;

use crate::fail::{Exit, Fail, io_words};

/// Ends with the first of them. From then on the next ends the program at once.
#[cfg(unix)]
pub(crate) fn stop() -> Result<impl Future<Output = ()>, Fail> {
    use tokio::signal::unix::{SignalKind, signal};

    let listen =
        |kind| signal(kind).map_err(|why| Fail::about(Exit::Usage, "signals", &io_words(&why)));
    let (mut interrupt, mut terminate) = (
        listen(SignalKind::interrupt())?,
        listen(SignalKind::terminate())?,
    );
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move {
            next().await;
            std::process::exit(i32::from(Exit::Stopped.code()));
        });
    })
}

/// Ends with the first of them.
#[cfg(not(unix))]
pub(crate) fn stop() -> Result<impl Future<Output = ()>, Fail> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
