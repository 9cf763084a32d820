//! Who is behind goes first: a committer that others were faster than writes before they write again.
//!
//! A commit reads a thread and writes it, and a conversation that is written all the time would always be faster. So whoever
//! fell behind with a commit holds the turn until it is written, and messages that come meanwhile wait for that moment. It
//! holds among the threads of one process; across processes the next try is all there is.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::store::ThreadKey;

/// The turns of all threads.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<BTreeMap<ThreadKey, Held>>);

#[derive(Debug, Default)]
struct Held {
    holders: usize,
    waiting: Vec<Waker>,
}

/// The turn, until it is dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    key: &'a ThreadKey,
}

impl Turns {
    /// The committer's turn begins.
    pub(super) fn hold<'a>(&'a self, key: &'a ThreadKey) -> Turn<'a> {
        self.lock().entry(key.clone()).or_default().holders += 1;
        Turn { turns: self, key }
    }

    /// Waits until no committer is behind.
    pub(super) async fn wait(&self, key: &ThreadKey) {
        poll_fn(|cx| match self.lock().get_mut(key) {
            None => Poll::Ready(()),
            Some(held) => {
                if !held.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                    held.waiting.push(cx.waker().clone());
                }
                Poll::Pending
            }
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut all = self.turns.lock();
        let Some(held) = all.get_mut(self.key) else {
            return;
        };
        held.holders -= 1;
        if held.holders == 0 {
            let waiting = all.remove(self.key).map(|held| held.waiting);
            drop(all);
            waiting.into_iter().flatten().for_each(Waker::wake);
        }
    }
}
