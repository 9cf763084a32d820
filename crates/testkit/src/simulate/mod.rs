//! Runs a machine that performs nothing itself against a world that does, in virtual time: every effect, every
//! input and every crash comes from a seed, and the log of a run replays to the same state.
//!
//! [`run`] is generic over the [`Machine`] and the [`World`]. [`conversation`] connects it to the core's
//! `Thread` and `Attempt`; [`invariants`] says what must hold after every step.

pub mod conversation;
pub mod invariants;
pub mod patches;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use conspectus_core::effect::Millis;

/// A machine without I/O: it is polled for effects and fed with what happened.
pub trait Machine: Clone + Hash {
    /// What it asks for.
    type Effect: Hash + Debug;
    /// What it is told.
    type Input: Clone + Debug;
    /// How it ends.
    type End: Clone + Debug;

    /// The next thing to do.
    fn poll(&mut self, now: Millis) -> Step<Self::Effect, Self::End>;

    /// Tells it what happened.
    fn feed(&mut self, now: Millis, input: Self::Input);
}

/// What a poll says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step<E, O> {
    /// Perform this, then poll again.
    Do(E),
    /// Nothing until something is fed or a time comes.
    Idle,
    /// It ended.
    Done(O),
}

/// What performs effects.
pub trait World<M: Machine> {
    /// Performs an effect; what it leads to is put on the agenda.
    fn perform(&mut self, now: Millis, effect: M::Effect, agenda: &mut Agenda<M::Input>);
}

/// What will happen, by time; what happens at the same time, in the order it was put on.
#[derive(Clone, Debug)]
pub struct Agenda<I> {
    entries: BTreeMap<(Millis, u64), Option<I>>,
    next: u64,
}

impl<I> Default for Agenda<I> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            next: 0,
        }
    }
}

impl<I> Agenda<I> {
    /// At `time` the machine is told `input`.
    pub fn tell(&mut self, time: Millis, input: I) {
        self.put(time, Some(input));
    }

    /// At `time` the machine is polled.
    pub fn wake(&mut self, time: Millis) {
        self.put(time, None);
    }

    /// Nothing of what `gone` says will happen.
    pub fn cancel(&mut self, gone: impl Fn(&I) -> bool) {
        self.entries
            .retain(|_, entry| entry.as_ref().is_none_or(|input| !gone(input)));
    }

    fn put(&mut self, time: Millis, entry: Option<I>) {
        self.entries.insert((time, self.next), entry);
        self.next += 1;
    }

    fn pop(&mut self) -> Option<(Millis, Option<I>)> {
        let ((time, _), entry) = self.entries.pop_first()?;
        Some((time, entry))
    }
}

/// One step of a run, as it is replayed.
#[derive(Clone, Debug)]
pub enum Traced<I> {
    /// It was polled and said this (by digest).
    Polled(Millis, u64),
    /// It was told this.
    Fed(Millis, I),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended<O> {
    /// By itself.
    Done(O),
    /// The process died before it performed the next effect.
    Crashed,
    /// It waits and nothing will ever happen.
    Stuck,
    /// More steps than allowed.
    Endless,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Run<I, O> {
    /// How it ended.
    pub ended: Ended<O>,
    /// When.
    pub now: Millis,
    /// Every step.
    pub trace: Vec<Traced<I>>,
    /// How many effects were performed.
    pub effects: usize,
}

/// When a run is broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The process dies when this many effects have been performed.
    pub crash_after: Option<usize>,
    /// A machine that takes more polls than this does not end.
    pub max_polls: usize,
    /// Whether the steps are written down, for [`replay`].
    pub traced: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            crash_after: None,
            max_polls: 6_000,
            traced: true,
        }
    }
}

/// Runs `machine` from `now` on until it ends or is broken off.
pub fn run<M: Machine>(
    machine: &mut M,
    world: &mut impl World<M>,
    agenda: &mut Agenda<M::Input>,
    mut now: Millis,
    limits: Limits,
) -> Run<M::Input, M::End> {
    let (mut trace, mut effects) = (Vec::new(), 0);
    let mut ended = Ended::Endless;
    for _ in 0..limits.max_polls {
        let step = machine.poll(now);
        if limits.traced {
            trace.push(Traced::Polled(now, digest(&said(&step))));
        }
        match step {
            Step::Done(end) => {
                ended = Ended::Done(end);
                break;
            }
            Step::Do(_) if limits.crash_after == Some(effects) => {
                ended = Ended::Crashed;
                break;
            }
            Step::Do(effect) => {
                effects += 1;
                world.perform(now, effect, agenda);
            }
            Step::Idle => {
                let Some((time, entry)) = agenda.pop() else {
                    ended = Ended::Stuck;
                    break;
                };
                now = now.max(time);
                if let Some(input) = entry {
                    if limits.traced {
                        trace.push(Traced::Fed(now, input.clone()));
                    }
                    machine.feed(now, input);
                }
            }
        }
    }
    Run {
        ended,
        now,
        trace,
        effects,
    }
}

/// What a step says as far as a replay compares it: the effect, or that there is none.
fn said<E: Hash, O>(step: &Step<E, O>) -> Step<&E, ()> {
    match step {
        Step::Do(effect) => Step::Do(effect),
        Step::Idle => Step::Idle,
        Step::Done(_) => Step::Done(()),
    }
}

/// Replays a run on the machine as it was before: the same polls say the same.
///
/// # Errors
/// The position of the first step that says something else.
pub fn replay<M: Machine>(mut machine: M, trace: &[Traced<M::Input>]) -> Result<M, usize> {
    for (position, step) in trace.iter().enumerate() {
        match step {
            Traced::Fed(now, input) => machine.feed(*now, input.clone()),
            Traced::Polled(now, expect) => {
                if digest(&said(&machine.poll(*now))) != *expect {
                    return Err(position);
                }
            }
        }
    }
    Ok(machine)
}

/// A digest that is the same in every run of the same build.
pub fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The smallest number of steps in `1..=steps` at which `fails` holds, given that it holds for `steps` and that
/// a failing run also fails with more steps.
pub fn fewest_steps(steps: usize, fails: impl Fn(usize) -> bool) -> usize {
    let (mut passes, mut fail) = (0, steps);
    while passes + 1 < fail {
        let middle = passes + (fail - passes) / 2;
        if fails(middle) {
            fail = middle;
        } else {
            passes = middle;
        }
    }
    fail
}
