//! An attempt goes on though its thread was read from a store again.

use super::{State, Thread};

impl State {
    /// The same while only so many of its records are stored: a store that is filled takes them one by one.
    pub fn with_records(&self, records: u64) -> Self {
        let mut state = self.clone();
        state.records = records;
        state
    }
}

impl Thread {
    /// The attempt that is under way on `before`, an earlier reading of the same thread, goes on on this one.
    pub fn goes_on(&mut self, before: &Self) {
        self.running.clone_from(&before.running);
        self.next_attempt = self.next_attempt.max(before.next_attempt);
    }

    /// What the end of an attempt changed on `before`, an earlier reading of the same thread: the breaker, what was paid,
    /// what was learnt. What it committed is not part of it.
    pub fn takes_end_of(&mut self, before: &Self) {
        self.breaker = before.breaker;
        self.spent = before.spent;
        self.learnt = self.learnt.and(before.learnt);
        self.next_attempt = self.next_attempt.max(before.next_attempt);
        self.running = None;
    }
}
