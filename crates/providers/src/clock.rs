//! Tokio's time behind the engine's port.

use std::time::Duration;

use conspectus::core::effect::Millis;
use conspectus::{Boxed, Clock};
use tokio::time::{Instant, sleep_until};

/// Milliseconds since it was made, on Tokio's clock. Waiting needs a Tokio runtime with time enabled.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock(Instant);

impl TokioClock {
    /// It begins at 0.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Millis {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep_until(&self, until: Millis) -> Boxed<'_, ()> {
        // A time that cannot be represented is never reached.
        let at = self.0.checked_add(Duration::from_millis(until));
        Box::pin(async move {
            match at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        })
    }
}
