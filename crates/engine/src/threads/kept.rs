//! Threads that stay open between two requests, so that each costs what is new.
//!
//! What is kept is a copy of what is stored, and holds for the revision at which it was stored: whoever takes it compares,
//! and reads the thread anew where another process wrote meanwhile. Bounded by bytes; what was used longest ago goes first.
//! Whoever shares it also shares the [turns](super::turns) of writing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::open::Opened;
use super::turns::Turns;
use crate::store::ThreadKey;

/// What a message takes beside its bytes, about.
const BESIDE_BYTES: usize = 600;
/// What the bytes of messages take that were read.
const READ_TIMES: usize = 3;
/// What the rest of a thread takes, about.
const THREAD_BYTES: usize = 4 << 10;

/// Threads that stay open. Share one among all [`Threads`](super::Threads) on one store.
pub struct KeptOpen {
    room_bytes: usize,
    pub(super) turns: Turns,
    shelf: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    threads: BTreeMap<ThreadKey, One>,
    /// By when they were used last.
    order: BTreeMap<u64, ThreadKey>,
    next: u64,
    bytes: usize,
}

struct One {
    opened: Box<Opened>,
    bytes: usize,
    used: u64,
}

impl KeptOpen {
    /// What they take at most unless somebody says otherwise: 64 MB.
    pub const ROOM_BYTES: usize = 64 << 20;

    /// Keeps threads of about so many bytes in all; 0: none.
    pub fn new(room_bytes: usize) -> Self {
        Self {
            room_bytes,
            turns: Turns::default(),
            shelf: Mutex::default(),
        }
    }

    /// How many threads are open, and about how many bytes they take.
    pub fn size(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.threads.len(), kept.bytes)
    }

    /// Takes a thread out, to be changed; if that succeeds, it is [put](Self::put) back.
    pub(super) fn take(&self, key: &ThreadKey) -> Option<Opened> {
        self.lock().take(key).map(|opened| *opened)
    }

    /// Keeps a thread as it is stored.
    pub(super) fn put(&self, key: &ThreadKey, opened: Opened) {
        let messages = opened.thread.branch().len();
        let bytes = THREAD_BYTES + messages * BESIDE_BYTES + READ_TIMES * opened.shelf.bytes();
        if bytes > self.room_bytes {
            return;
        }
        let mut kept = self.lock();
        kept.take(key);
        kept.next += 1;
        let used = kept.next;
        kept.order.insert(used, key.clone());
        kept.bytes += bytes;
        let one = One {
            opened: Box::new(opened),
            bytes,
            used,
        };
        kept.threads.insert(key.clone(), one);
        while kept.bytes > self.room_bytes
            && let Some((_, oldest)) = kept.order.pop_first()
        {
            kept.take(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn take(&mut self, key: &ThreadKey) -> Option<Box<Opened>> {
        let one = self.threads.remove(key)?;
        self.order.remove(&one.used);
        self.bytes -= one.bytes;
        Some(one.opened)
    }
}

impl fmt::Debug for KeptOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (threads, bytes) = self.size();
        let mut out = f.debug_struct("KeptOpen");
        out.field("threads", &threads)
            .field("bytes", &bytes)
            .finish()
    }
}
