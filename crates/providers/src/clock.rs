//! Tokio's time behind the engine's port.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use conspectus::core::effect::Millis;
use conspectus::{Boxed, Clock};
use tokio::time::{Instant, sleep_until};

/// Milliseconds on Tokio's clock, which never goes back. Waiting needs a Tokio runtime with time enabled.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    began: Instant,
    /// What it showed then.
    began_ms: Millis,
}

impl TokioClock {
    /// It begins at 0.
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            began_ms: 0,
        }
    }

    /// It begins at the system's time, as milliseconds since 1970: for threads that are stored, where processes have to
    /// agree.
    #[expect(clippy::disallowed_methods, reason = "an adapter: here time comes in")]
    pub fn since_1970() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            began: Instant::now(),
            began_ms: millis(since),
        }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Millis {
        self.began_ms.saturating_add(millis(self.began.elapsed()))
    }

    fn sleep_until(&self, until: Millis) -> Boxed<'_, ()> {
        // A time that cannot be represented is never reached.
        let at = self
            .began
            .checked_add(Duration::from_millis(until.saturating_sub(self.began_ms)));
        Box::pin(async move {
            match at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        })
    }
}

fn millis(time: Duration) -> Millis {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
