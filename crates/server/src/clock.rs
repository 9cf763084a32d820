//! The system's time behind the engine's port, for threads that are stored: milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use conspectus::core::effect::Millis;
use conspectus::{Boxed, Clock};
use tokio::time::{Instant, sleep_until};

/// Milliseconds since 1970 when it was made, and from then on Tokio's clock, which never goes back. Waiting needs a
/// Tokio runtime with time enabled.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    began: Instant,
    began_ms: Millis,
}

impl SystemClock {
    /// It shows the system's time.
    #[expect(clippy::disallowed_methods, reason = "an adapter: here time comes in")]
    pub fn new() -> Self {
        // Before 1970 only where no clock was ever set.
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            began: Instant::now(),
            began_ms: millis(since),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        self.began_ms.saturating_add(millis(self.began.elapsed()))
    }

    fn sleep_until(&self, until: Millis) -> Boxed<'_, ()> {
        let wait = Duration::from_millis(until.saturating_sub(self.began_ms));
        // A time that cannot be represented is never reached.
        let at = self.began.checked_add(wait);
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
