//! How an attempt under way is told something from outside its task.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use conspectus_core::effect::{CallNumber, Delta, Input};
use conspectus_core::view::Usage;

/// A handle on an attempt under way. Clones are the same handle; make a new one for each attempt.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    inputs: VecDeque<Input>,
    /// Calls that gave a sign of life.
    alive: BTreeSet<CallNumber>,
    /// What calls were reported to cost.
    used: BTreeMap<CallNumber, Usage>,
    waker: Option<Waker>,
}

impl Control {
    /// For one attempt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the attempt, unless its commit is already on its way: the report then says how that ended.
    pub fn cancel(&self) {
        self.tell(|told| told.inputs.push_back(Input::Cancel));
    }

    /// Something happened in the thread, see [`Thread::delta`](conspectus_core::thread::Thread::delta). Saying it
    /// spares calls whose result could not be committed; not saying it harms nothing.
    pub fn appended(&self, delta: Delta) {
        self.tell(|told| told.inputs.push_back(Input::Appended(delta)));
    }

    /// A call is alive.
    pub(crate) fn alive(&self, call: CallNumber) {
        self.tell(|told| {
            told.alive.insert(call);
        });
    }

    /// A call has cost so much so far. It wakes nobody: it is read with whatever comes next.
    pub(crate) fn used(&self, call: CallNumber, usage: Usage) {
        self.lock().used.insert(call, usage);
    }

    /// What calls were reported to cost since this was asked last.
    pub(crate) fn take_used(&self) -> BTreeMap<CallNumber, Usage> {
        std::mem::take(&mut self.lock().used)
    }

    /// What was said, or `None` when `waker` will be woken.
    pub(crate) fn next(&self, waker: &Waker) -> Option<Input> {
        let mut told = self.lock();
        let input = told.inputs.pop_front();
        let input = input.or_else(|| told.alive.pop_first().map(Input::Progress));
        if input.is_none() {
            told.waker = Some(waker.clone());
        }
        input
    }

    fn tell(&self, what: impl FnOnce(&mut Told)) {
        let waker = {
            let mut told = self.lock();
            what(&mut told);
            told.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_comes_before_signs_of_life_and_those_count_once() {
        let control = Control::new();
        let other = control.clone();
        for call in [4, 2, 4] {
            other.alive(CallNumber(call));
        }
        other.cancel();
        let next = || control.next(Waker::noop());
        assert_eq!(next(), Some(Input::Cancel));
        assert_eq!(next(), Some(Input::Progress(CallNumber(2))));
        assert_eq!(next(), Some(Input::Progress(CallNumber(4))));
        assert_eq!(next(), None);
    }
}
