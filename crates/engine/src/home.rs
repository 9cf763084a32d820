//! Where a thread lives while attempts run on it.

use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conspectus_core::count::TokenCounter;
use conspectus_core::effect::{CommitAck, Expect};
use conspectus_core::id::{AttemptId, Ident, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{Sources, Thread};
use conspectus_core::view::Texts;

use crate::model::Boxed;
use crate::telemetry::Event;

/// A thread with the texts of its messages, behind whatever guards them. The driver asks for both whenever the
/// machine has something to decide and holds them no longer, so the conversation goes on beside an attempt.
pub trait Home: Sync {
    /// Calls `f` with the thread, alone, and with texts that include every message of it.
    fn with<R>(&self, f: impl FnOnce(&mut Thread, Sources<'_>) -> R) -> R;

    /// Puts a record in force, here and wherever the thread is kept. In memory unless said otherwise.
    fn commit<'a>(&'a self, record: &'a Record, expect: Expect) -> Boxed<'a, CommitAck> {
        let ack = self.with(|thread, src| thread.commit(record, expect, src));
        debug_assert!(
            !matches!(ack, CommitAck::Unknown),
            "memory does not lose acknowledgements"
        );
        Box::pin(ready(ack))
    }

    /// Whether this record of the attempt was written, for acknowledgements that were lost.
    fn has_record(&self, attempt: AttemptId, record: RecordId) -> Boxed<'_, bool> {
        let found = self.with(|thread, _| thread.has_record(attempt, record));
        Box::pin(ready(found))
    }

    /// A partial result that was kept. `None`: this home keeps none, so the compactor does.
    fn cached(&self, part: Ident) -> Option<Boxed<'_, Option<Arc<str>>>> {
        let _ = part;
        None
    }

    /// Keeps a partial result. `None`: as with [`Self::cached`].
    fn cache(&self, part: Ident, text: Arc<str>) -> Option<Boxed<'_, ()>> {
        let _ = (part, text);
        None
    }

    /// Hears of the start of an attempt before anybody else does, and of its end. The attempt waits for it.
    fn told<'a>(&'a self, event: &'a Event) -> Boxed<'a, ()> {
        let _ = event;
        Box::pin(ready(()))
    }
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
