//! Where a thread lives while attempts run on it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use conspectus_core::count::TokenCounter;
use conspectus_core::thread::{Sources, Thread};
use conspectus_core::view::Texts;

/// A thread with the texts of its messages, behind whatever guards them. The driver asks for both whenever the
/// machine has something to decide and holds them no longer, so the conversation goes on beside an attempt.
pub trait Home: Sync {
    /// Calls `f` with the thread, alone, and with texts that include every message of it.
    fn with<R>(&self, f: impl FnOnce(&mut Thread, Sources<'_>) -> R) -> R;
}

/// A thread over texts that do not change.
pub struct Shared<'a> {
    thread: Mutex<Thread>,
    texts: &'a (dyn Texts + Sync),
    counter: &'a dyn TokenCounter,
}

impl<'a> Shared<'a> {
    /// A home for `thread`.
    pub fn new(
        thread: Thread,
        texts: &'a (dyn Texts + Sync),
        counter: &'a dyn TokenCounter,
    ) -> Self {
        let thread = Mutex::new(thread);
        Self {
            thread,
            texts,
            counter,
        }
    }

    /// The thread again.
    pub fn into_thread(self) -> Thread {
        self.thread
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Thread> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Home for Shared<'_> {
    fn with<R>(&self, f: impl FnOnce(&mut Thread, Sources<'_>) -> R) -> R {
        let src = Sources {
            texts: self.texts,
            counter: self.counter,
        };
        f(&mut self.lock(), src)
    }
}
