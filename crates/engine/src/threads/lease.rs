//! The right to run an attempt on a thread, over all processes: taken, kept up while it runs, given back.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use conspectus_core::effect::Fence;

use super::Threads;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use crate::clock::Clock;
use crate::control::Control;
use crate::store::{Lease, Mark, ThreadKey};

/// A thread that is held: nobody else compacts it or runs on it meanwhile. It ends by itself
/// [`Settings::lease_ms`](super::Settings::lease_ms) after it was kept up last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    holder: String,
    pub(super) fence: Fence,
}

impl Held {
    /// Every holder has a higher one than the one before.
    pub fn fence(&self) -> Fence {
        self.fence
    }
}

impl<C: Clock> Threads<C> {
    /// Holds a thread, as a run does. `None`: somebody else has it. What a dead process left of an attempt is told of.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn hold(&self, key: &ThreadKey) -> Result<Option<Held>, ThreadsError> {
        self.acquire(key).await
    }

    /// Keeps it up; ends when it is lost, which `control` is told then.
    pub async fn keep_held(&self, key: &ThreadKey, held: &Held, control: &Control) {
        self.keep_up(key, held, control).await;
    }

    /// Gives it back.
    pub async fn let_go(&self, key: &ThreadKey, held: &Held) {
        self.release(key, held).await;
    }
}

impl<C: Clock> Threads<C> {
    /// Asks for the thread. `None`: somebody else has it. What a dead process left is told of and cleared.
    pub(super) async fn acquire(&self, key: &ThreadKey) -> Result<Option<Held>, ThreadsError> {
        let holder = self.holder();
        let ttl = self.settings().lease_ms;
        let lease = self.store().acquire(key, &holder, ttl, self.now()).await;
        match lease.map_err(|why| self.of_store(key, why))? {
            Lease::Taken { .. } => Ok(None),
            Lease::Held { fence, orphan, .. } => {
                if let Some(mark) = orphan {
                    self.abandoned(key, fence, mark).await?;
                }
                Ok(Some(Held { holder, fence }))
            }
        }
    }

    async fn abandoned(
        &self,
        key: &ThreadKey,
        fence: Fence,
        mark: Mark,
    ) -> Result<(), ThreadsError> {
        self.tell(key, &ThreadEvent::Abandoned { mark }).await?;
        self.store().mark(key, fence, None).await?;
        Ok(())
    }

    /// Gives the thread back. One that is not given back is free when its time is over.
    pub(super) async fn release(&self, key: &ThreadKey, held: &Held) {
        let _ = self.store().release(key, held.fence).await;
    }

    /// Runs `work` while the lease is kept up and `beside` runs too; an attempt whose lease is lost is told to stop.
    pub(super) async fn held<T>(
        &self,
        key: &ThreadKey,
        held: &Held,
        control: &Control,
        work: impl Future<Output = T>,
        beside: impl Future<Output = ()>,
    ) -> T {
        let (mut work, mut beside) = (pin!(work), pin!(beside));
        let mut keep = pin!(self.keep_up(key, held, control));
        let mut is_kept = true;
        std::future::poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            if is_kept && keep.as_mut().poll(cx).is_ready() {
                is_kept = false;
            }
            // It never ends.
            let _ = beside.as_mut().poll(cx);
            Poll::Pending
        })
        .await
    }

    /// Ends when the lease is lost.
    async fn keep_up(&self, key: &ThreadKey, held: &Held, control: &Control) {
        let ttl = self.settings().lease_ms;
        let clock = self.compactor().clock();
        loop {
            clock
                .sleep_until(clock.now().saturating_add((ttl / 3).max(1)))
                .await;
            let lease = self
                .store()
                .acquire(key, &held.holder, ttl, self.now())
                .await;
            match lease {
                Ok(Lease::Held { fence, .. }) if fence == held.fence => {}
                // It may be reachable again before the time is over; a commit compares the fence anyhow.
                Err(why) if why.is_retryable() => {}
                _ => {
                    control.cancel();
                    return;
                }
            }
        }
    }
}
