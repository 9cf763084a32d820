//! How batches are sent: by the HTTP client and on the runtime that the program has anyway.

use std::error::Error as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use conspectus_providers::http_client;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

/// No more of an answer is read.
const MOST_BYTES: usize = 64 << 10;
const RETRY_AFTER: &str = "retry-after";

/// Sends batches. The thread that asks waits for the runtime, not the other way round.
#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    runtime: Handle,
    timeout: Duration,
    /// The collector did not take the last batch, which was logged.
    is_down: AtomicBool,
    log: fn(&str),
}

impl Client {
    /// For a collector at this address.
    ///
    /// # Errors
    /// Why there can be none.
    pub(super) fn new(url: &str, timeout: Duration, log: fn(&str)) -> Result<Self, String> {
        Ok(Self {
            http: http_client(url, false).map_err(|why| why.to_string())?,
            runtime: Handle::current(),
            timeout,
            is_down: AtomicBool::new(false),
            log,
        })
    }

    /// Says once that it does not work, and once that it does again.
    fn tell(&self, sent: &Result<Response<Bytes>, String>) {
        let why = match sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the collector answers {}", answer.status())),
            Err(why) => Some(why.clone()),
        };
        let was_down = self.is_down.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_down => {
                (self.log)(&format!("otel: spans cannot be exported now: {why}"))
            }
            None if was_down => (self.log)("otel: spans are exported again"),
            _ => {}
        }
    }
}

type Sending<'f> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>;

impl HttpClient for Client {
    fn send_bytes<'c, 'f>(&'c self, request: Request<Bytes>) -> Sending<'f>
    where
        'c: 'f,
        Self: 'f,
    {
        let sending = exchange(self.http.clone(), request, self.timeout);
        // The thread that waits for it has no runtime.
        let sending = self.runtime.spawn(sending);
        Box::pin(async move {
            let ended = sending.await;
            let sent = ended.unwrap_or_else(|_| Err("the program ends".to_owned()));
            self.tell(&sent);
            sent.map_err(Into::into)
        })
    }
}

async fn exchange(
    http: reqwest::Client,
    request: Request<Bytes>,
    timeout: Duration,
) -> Result<Response<Bytes>, String> {
    let (head, body) = request.into_parts();
    let sent = http
        .request(head.method, head.uri.to_string())
        .headers(head.headers)
        .timeout(timeout)
        .body(body)
        .send();
    let mut answer = sent.await.map_err(words)?;
    let mut made = Response::builder().status(answer.status());
    if let Some(after) = answer.headers().get(RETRY_AFTER) {
        made = made.header(RETRY_AFTER, after);
    }
    let mut body = Vec::new();
    while body.len() < MOST_BYTES
        && let Some(piece) = answer.chunk().await.map_err(words)?
    {
        body.extend_from_slice(&piece);
    }
    made.body(body.into()).map_err(|why| why.to_string())
}

/// What went wrong, without the address: it may hold a key.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}
