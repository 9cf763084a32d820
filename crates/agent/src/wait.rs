//! Waiting without a runtime: several futures side by side, the first of two, one of a few places.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// All of them side by side; the results in their order.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|cx: &mut Context<'_>| {
        for (future, done) in running.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(out) = future.as_mut().poll(cx)
            {
                *done = Some(out);
            }
        }
        match done.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Whichever ends first; the other is dropped. Of two that are ready, the first.
pub(crate) enum Either<A, B> {
    First(A),
    Second(B),
}

pub(crate) async fn race<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> Either<A, B> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|cx| {
        if let Poll::Ready(out) = first.as_mut().poll(cx) {
            return Poll::Ready(Either::First(out));
        }
        second.as_mut().poll(cx).map(Either::Second)
    })
    .await
}

/// `main` to its end, with `side` polled beside it as long as both go on.
pub(crate) async fn beside<T>(main: impl Future<Output = T>, side: impl Future<Output = ()>) -> T {
    let (mut main, mut side) = (pin!(main), pin!(side));
    let mut is_over = false;
    poll_fn(|cx| {
        if let Poll::Ready(out) = main.as_mut().poll(cx) {
            return Poll::Ready(out);
        }
        if !is_over && side.as_mut().poll(cx).is_ready() {
            is_over = true;
        }
        Poll::Pending
    })
    .await
}

/// What a future comes to, or what it said when it broke.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        // A broken future is not polled again.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().copied();
                let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                Poll::Ready(Err(text.unwrap_or("without a word").to_owned()))
            }
        }
    })
    .await
}

/// A value that comes later, from another task.
#[derive(Debug)]
pub(crate) struct Promise<T>(Mutex<(Option<T>, Option<Waker>)>);

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self(Mutex::new((None, None)))
    }
}

impl<T> Promise<T> {
    pub(crate) fn keep(&self, value: T) {
        let waker = {
            let mut inner = self.lock();
            inner.0 = Some(value);
            inner.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// What came, if it came already.
    pub(crate) fn take(&self) -> Option<T> {
        self.lock().0.take()
    }

    /// One waiter at a time.
    pub(crate) async fn wait(&self) -> T {
        poll_fn(|cx| {
            let mut inner = self.lock();
            match inner.0.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    inner.1 = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, (Option<T>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So many may go on at once; the others wait.
#[derive(Debug)]
pub(crate) struct Gate(Mutex<Inside>);

#[derive(Debug)]
struct Inside {
    free: usize,
    waiting: Vec<Waker>,
}

impl Gate {
    pub(crate) fn new(places: usize) -> Self {
        Self(Mutex::new(Inside {
            free: places.max(1),
            waiting: Vec::new(),
        }))
    }

    /// Waits for a place; it is free again when what is given is dropped.
    pub(crate) async fn enter(&self) -> Place<'_> {
        poll_fn(|cx| {
            let mut inside = self.lock();
            match inside.free.checked_sub(1) {
                Some(free) => {
                    inside.free = free;
                    Poll::Ready(Place(self))
                }
                None => {
                    if !inside.waiting.iter().any(|w| w.will_wake(cx.waker())) {
                        inside.waiting.push(cx.waker().clone());
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place behind a gate.
pub(crate) struct Place<'a>(&'a Gate);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut inside = self.0.lock();
            inside.free += 1;
            std::mem::take(&mut inside.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}
