//! An answer as it arrives: its head, and its body in pieces, each within a time.

use std::future::Future;
use std::time::Duration;

use conspectus::core::effect::Failure;
use conspectus::wire::failure::retry_after_ms;
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

/// A time and how long it was away.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    at: Instant,
    after_ms: u64,
}

impl Limit {
    pub(crate) fn from_now(after_ms: u64) -> Self {
        let now = Instant::now();
        // A day is as good as never.
        let day = Duration::from_secs(86_400);
        let at = now + Duration::from_millis(after_ms).min(day);
        Self { at, after_ms }
    }
}

pub(crate) async fn within<F: Future>(limit: Limit, future: F) -> Result<F::Output, Failure> {
    timeout_at(limit.at, future)
        .await
        .map_err(|_| Failure::TimedOut {
            after_ms: limit.after_ms,
        })
}

/// A body as it arrives.
pub(crate) struct Pieces<'a> {
    pub(crate) response: Response,
    /// Until the next piece.
    pub(crate) limit: Limit,
    pub(crate) idle_ms: u64,
    pub(crate) alive: &'a (dyn Fn() + Send + Sync),
}

/// How a body ended.
pub(crate) enum Ended {
    Whole,
    Full,
    Broken(reqwest::Error),
    Late(Failure),
}

impl Pieces<'_> {
    /// The next piece; `None`: that was all.
    pub(crate) async fn next(
        &mut self,
    ) -> Result<Result<Option<impl AsRef<[u8]> + use<>>, reqwest::Error>, Failure> {
        let piece = within(self.limit, self.response.chunk()).await?;
        self.limit = Limit::from_now(self.idle_ms);
        (self.alive)();
        Ok(piece)
    }

    /// Everything, up to a cap.
    pub(crate) async fn collect(&mut self, most: usize) -> (Vec<u8>, Ended) {
        let mut all = Vec::new();
        loop {
            match self.next().await {
                Ok(Ok(Some(piece))) if all.len() + piece.as_ref().len() <= most => {
                    all.extend_from_slice(piece.as_ref());
                }
                Ok(Ok(Some(_))) => return (all, Ended::Full),
                Ok(Ok(None)) => return (all, Ended::Whole),
                Ok(Err(error)) => return (all, Ended::Broken(error)),
                Err(failure) => return (all, Ended::Late(failure)),
            }
        }
    }
}

/// What the head of an answer says.
pub(crate) struct Head {
    pub(crate) content_type: Option<String>,
    pub(crate) retry_after_ms: Option<u64>,
    pub(crate) should_retry: Option<bool>,
}

impl Head {
    pub(crate) fn of(response: &Response) -> Self {
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        Self {
            content_type: header("content-type").map(str::to_ascii_lowercase),
            retry_after_ms: retry_after_ms(header, unix_ms),
            should_retry: match header("x-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => None,
            },
        }
    }

    pub(crate) fn is_events(&self) -> bool {
        let kind = self.content_type.as_deref();
        kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an adapter: a server's date is compared with ours when it sends none of its own"
)]
fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
