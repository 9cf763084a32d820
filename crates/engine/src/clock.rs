//! The port to time.

use std::sync::Arc;

use conspectus_core::effect::Millis;

use crate::model::Boxed;

/// A clock that can be waited on. Only differences matter, and it never goes back.
pub trait Clock: Send + Sync {
    /// Milliseconds since whenever.
    fn now(&self) -> Millis;

    /// Ends when [`Self::now`] is at least `until`. Dropping the future stops waiting.
    fn sleep_until(&self, until: Millis) -> Boxed<'_, ()>;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Millis {
        (**self).now()
    }

    fn sleep_until(&self, until: Millis) -> Boxed<'_, ()> {
        (**self).sleep_until(until)
    }
}
