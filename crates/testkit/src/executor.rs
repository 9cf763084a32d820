//! Futures in virtual time, on one thread: the same run gives the same order, and no test waits for anything.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use conspectus::{Boxed, Clock};
use conspectus_core::effect::Millis;

/// Time that moves when nothing else can happen. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct VirtualTime(Arc<Mutex<Sleepers>>);

#[derive(Debug, Default)]
struct Sleepers {
    now: Millis,
    next: u64,
    waiting: BTreeMap<(Millis, u64), Waker>,
}

impl VirtualTime {
    /// It begins at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `future` to its end. The time moves on to the next sleeper whenever the future waits.
    ///
    /// # Panics
    /// When it waits for something that never comes.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(woken.clone());
        loop {
            while woken.0.swap(false, Ordering::SeqCst) {
                if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return out;
                }
            }
            assert!(
                self.advance(),
                "the future waits for something that never comes"
            );
        }
    }

    /// Goes to the next sleeper and wakes it. False: nobody sleeps.
    fn advance(&self) -> bool {
        let mut sleepers = self.lock();
        let Some(((until, _), waker)) = sleepers.waiting.pop_first() else {
            return false;
        };
        sleepers.now = sleepers.now.max(until);
        drop(sleepers);
        waker.wake();
        true
    }

    fn lock(&self) -> MutexGuard<'_, Sleepers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualTime {
    fn now(&self) -> Millis {
        self.lock().now
    }

    fn sleep_until(&self, until: Millis) -> Boxed<'_, ()> {
        Box::pin(Sleep {
            time: self,
            until,
            key: None,
        })
    }
}

struct Sleep<'a> {
    time: &'a VirtualTime,
    until: Millis,
    key: Option<(Millis, u64)>,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut sleepers = self.time.lock();
        if sleepers.now >= self.until {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or((self.until, sleepers.next));
        sleepers.next += 1;
        sleepers.waiting.insert(key, cx.waker().clone());
        drop(sleepers);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.time.lock().waiting.remove(&key);
        }
    }
}

/// Tasks that go on beside what is run, as a runtime's do. Dropping it kills them. Clones are the same.
#[derive(Clone, Default)]
pub struct Nursery(Arc<Mutex<Vec<Boxed<'static, ()>>>>);

impl Nursery {
    /// Without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a task.
    pub fn spawn(&self, task: Boxed<'static, ()>) {
        self.tasks().push(task);
    }

    /// `main` to its end, with the tasks beside it. Those that are not over go on the next time.
    pub async fn beside<T>(&self, main: impl Future<Output = T>) -> T {
        let mut main = pin!(main);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(out) = main.as_mut().poll(cx) {
                return Poll::Ready(out);
            }
            // A task may begin others, and what it did may be what the main one waits for.
            let mut polled = std::mem::take(&mut *self.tasks());
            let mut left = Vec::new();
            while !polled.is_empty() {
                for mut task in polled {
                    if task.as_mut().poll(cx).is_pending() {
                        left.push(task);
                    }
                }
                polled = std::mem::take(&mut *self.tasks());
            }
            *self.tasks() = left;
            main.as_mut().poll(cx)
        })
        .await
    }

    /// Kills all tasks.
    pub fn kill(&self) {
        let tasks = std::mem::take(&mut *self.tasks());
        drop(tasks);
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<Boxed<'static, ()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_only_when_nothing_else_can() {
        let time = VirtualTime::new();
        let after = time.run(async {
            let dropped = time.sleep_until(7);
            time.sleep_until(5).await;
            drop(dropped);
            let first = time.now();
            time.sleep_until(3).await;
            time.sleep_until(1_000_000).await;
            (first, time.now())
        });
        assert_eq!(after, (5, 1_000_000));
    }

    #[test]
    #[should_panic(expected = "never comes")]
    fn a_future_that_cannot_end_is_found_out() {
        VirtualTime::new().run(std::future::pending::<()>());
    }
}
