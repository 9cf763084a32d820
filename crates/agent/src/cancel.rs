//! How a run is told to stop: once, for good, with its reason, and everything that it began with it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

/// A word to stop. Clones are the same word.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Mutex<Inner>>);

/// Why something was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// Somebody asked for it.
    Asked,
    /// Its time was over.
    TimedOut,
    /// Another process has the thread.
    LeaseLost,
}

#[derive(Debug, Default)]
struct Inner {
    why: Option<Why>,
    waiting: Vec<Waker>,
    children: Vec<Weak<Mutex<Inner>>>,
}

impl Cancel {
    /// Nobody said it yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that is stopped with this one, and can be stopped alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        let why = {
            let mut inner = self.lock();
            inner.children.retain(|child| child.strong_count() > 0);
            inner.children.push(Arc::downgrade(&child.0));
            inner.why
        };
        if let Some(why) = why {
            child.cancel(why);
        }
        child
    }

    /// Says it. The first reason counts.
    pub fn cancel(&self, why: Why) {
        let (waiting, children) = {
            let mut inner = self.lock();
            if inner.why.is_some() {
                return;
            }
            inner.why = Some(why);
            (
                std::mem::take(&mut inner.waiting),
                std::mem::take(&mut inner.children),
            )
        };
        waiting.into_iter().for_each(Waker::wake);
        for child in children.iter().filter_map(Weak::upgrade) {
            Self(child).cancel(why);
        }
    }

    /// Whether it was said, and why.
    pub fn why(&self) -> Option<Why> {
        self.lock().why
    }

    /// Ends when it is said.
    pub async fn wait(&self) -> Why {
        poll_fn(|cx| {
            let mut inner = self.lock();
            if let Some(why) = inner.why {
                return Poll::Ready(why);
            }
            if !inner.waiting.iter().any(|w| w.will_wake(cx.waker())) {
                inner.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_stop_with_their_parent_and_alone() {
        let parent = Cancel::new();
        let (one, other) = (parent.child(), parent.child());
        one.cancel(Why::TimedOut);
        assert_eq!((parent.why(), other.why()), (None, None));
        parent.cancel(Why::Asked);
        assert_eq!(
            (one.why(), other.why()),
            (Some(Why::TimedOut), Some(Why::Asked))
        );
        assert_eq!(
            parent.child().why(),
            Some(Why::Asked),
            "also one that comes late"
        );
    }
}
