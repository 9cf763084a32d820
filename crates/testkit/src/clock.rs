//! A clock that stands still until a test moves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use conspectus_core::effect::Millis;

/// Milliseconds that move only when told. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct FakeClock(Arc<AtomicU64>);

impl FakeClock {
    /// A clock that shows `now`.
    pub fn at(now: Millis) -> Self {
        Self(Arc::new(AtomicU64::new(now)))
    }

    /// The time.
    pub fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }

    /// Moves it on by `ms`.
    pub fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// Moves it to `to`; never back.
    pub fn advance_to(&self, to: Millis) {
        self.0.fetch_max(to, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_time_and_it_never_goes_back() {
        let clock = FakeClock::at(5);
        let other = clock.clone();
        clock.advance(10);
        other.advance_to(3);
        assert_eq!((clock.now(), other.now()), (15, 15));
    }
}
