//! Which runs were begun or taken up in this process, and how often: a reader who comes back with the number of an event
//! must not be given the events of another attempt.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use conspectus::store::ThreadKey;

/// Attempts of so many runs are remembered; readers of older ones hear all of it again.
const MOST: usize = 1_000;

/// The newest attempt of each run.
#[derive(Debug, Default)]
pub(crate) struct Begun(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    all: BTreeMap<(ThreadKey, String), Attempt>,
}

/// One time that a run was begun or taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    number: u64,
    /// When.
    pub(crate) at_ms: u64,
}

impl Begun {
    /// A run begins here, now.
    pub(crate) fn add(&self, key: &ThreadKey, run: &str, at_ms: u64) {
        let mut inner = self.lock();
        let number = inner.next;
        inner.next += 1;
        let attempt = Attempt { number, at_ms };
        inner.all.insert((key.clone(), run.to_owned()), attempt);
        if inner.all.len() > MOST {
            let oldest = inner.all.iter().min_by_key(|(_, attempt)| attempt.number);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                inner.all.remove(&oldest);
            }
        }
    }

    /// The newest attempt of a run; `None`: this process did not begin it.
    pub(crate) fn attempt(&self, key: &ThreadKey, run: &str) -> Option<Attempt> {
        self.lock().all.get(&(key.clone(), run.to_owned())).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt {
    /// The name of its event with this number. No other process and no other attempt has the same.
    pub(crate) fn event_id(self, seq: u64) -> String {
        format!("{}-{}-{seq}", self.at_ms, self.number)
    }

    /// How far a reader is who heard the event of this name last; 0 where it is another attempt's.
    pub(crate) fn heard(self, last: &str) -> u64 {
        let own = format!("{}-{}-", self.at_ms, self.number);
        let seq = last.trim().strip_prefix(&own);
        seq.and_then(|seq| seq.parse().ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_of_another_attempt_hears_all_again() {
        let begun = Begun::default();
        let key = ThreadKey::new("t", "tea");
        assert_eq!(begun.attempt(&key, "a"), None);
        begun.add(&key, "a", 5);
        let first = begun.attempt(&key, "a").expect("it was begun");
        let id = first.event_id(7);
        assert_eq!((id.as_str(), first.heard(&id)), ("5-0-7", 7));
        begun.add(&key, "a", 5);
        let second = begun.attempt(&key, "a").expect("it was begun");
        assert_eq!(second.heard(&id), 0);
        for odd in ["", "7", "5-1-", "5-1-x", "é"] {
            assert_eq!(second.heard(odd), 0);
        }
        for n in 0..MOST {
            begun.add(&key, &n.to_string(), 5);
        }
        assert_eq!(begun.attempt(&key, "a"), None);
        assert!(begun.attempt(&key, "0").is_some());
    }
}
