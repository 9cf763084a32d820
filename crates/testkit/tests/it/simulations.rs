//! The simulator: on a toy machine, where everything can be foreseen, and on the core's own machines.

use std::collections::BTreeMap;

use conspectus_core::effect::Millis;
use conspectus_testkit::simulate::conversation::{Life, Story, play};
use conspectus_testkit::simulate::{
    Agenda, Ended, Limits, Machine, Run, Step, Traced, World, digest, fewest_steps, replay, run,
};
use conspectus_testkit::transcript::Knobs;

/// Writes three numbers, each until it is acknowledged; gives up after a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Toy {
    next: u32,
    waits: bool,
    asked_to_wake: bool,
    /// A bug to find: it forgets to write this number.
    forgets: Option<u32>,
}

const DEADLINE: Millis = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Do {
    Write(u32),
    WakeAt(Millis),
}

impl Machine for Toy {
    type Effect = Do;
    type Input = bool;
    type End = &'static str;

    fn poll(&mut self, now: Millis) -> Step<Do, &'static str> {
        if self.forgets == Some(self.next) {
            self.next += 1;
        }
        if now >= DEADLINE {
            return Step::Done("late");
        }
        if self.next > 3 {
            return Step::Done("written");
        }
        if !self.asked_to_wake {
            self.asked_to_wake = true;
            return Step::Do(Do::WakeAt(DEADLINE));
        }
        if self.waits {
            return Step::Idle;
        }
        self.waits = true;
        Step::Do(Do::Write(self.next))
    }

    fn feed(&mut self, _: Millis, acknowledged: bool) {
        self.waits = false;
        if acknowledged {
            self.next += 1;
        }
    }
}

fn toy() -> Toy {
    Toy {
        next: 1,
        waits: false,
        asked_to_wake: false,
        forgets: None,
    }
}

/// A store that survives, and answers the `deaf`-th write never and every other one first with a failure.
#[derive(Default)]
struct Disk {
    written: Vec<u32>,
    writes: usize,
    deaf: Option<usize>,
}

impl World<Toy> for Disk {
    fn perform(&mut self, now: Millis, effect: Do, agenda: &mut Agenda<bool>) {
        match effect {
            Do::WakeAt(time) => agenda.wake(time),
            Do::Write(n) => {
                self.writes += 1;
                let taken = self.writes.is_multiple_of(2);
                if taken && !self.written.contains(&n) {
                    self.written.push(n);
                }
                if self.deaf != Some(self.writes) {
                    agenda.tell(now + 10, taken);
                }
            }
        }
    }
}

fn start(toy: &mut Toy, disk: &mut Disk, crash_after: Option<usize>) -> Run<bool, &'static str> {
    let limits = Limits {
        crash_after,
        ..Limits::default()
    };
    run(toy, disk, &mut Agenda::default(), 0, limits)
}

#[test]
fn a_run_ends_and_replays() {
    let (mut machine, mut disk) = (toy(), Disk::default());
    let run = start(&mut machine, &mut disk, None);
    assert_eq!(run.ended, Ended::Done("written"));
    assert_eq!((run.now, run.effects), (60, 7));
    assert_eq!(disk.written, [1, 2, 3]);
    let again = replay(toy(), &run.trace).expect("the same");
    assert_eq!(digest(&again), digest(&machine));
    // Another machine says something else where it differs.
    let other = Toy {
        forgets: Some(2),
        ..toy()
    };
    let differs = replay(other, &run.trace).expect_err("another machine");
    assert!(matches!(run.trace[differs], Traced::Polled(20.., _)));
}

#[test]
fn silence_ends_at_the_deadline() {
    let mut disk = Disk {
        deaf: Some(3),
        ..Disk::default()
    };
    let run = start(&mut toy(), &mut disk, None);
    assert_eq!((run.ended, run.now), (Ended::Done("late"), DEADLINE));
}

#[test]
fn a_machine_without_a_deadline_is_stuck() {
    let mut machine = Toy {
        asked_to_wake: true,
        ..toy()
    };
    let mut disk = Disk {
        deaf: Some(1),
        ..Disk::default()
    };
    assert_eq!(start(&mut machine, &mut disk, None).ended, Ended::Stuck);
}

#[test]
fn a_crash_keeps_what_the_disk_has_and_nothing_else() {
    for crash in 0..7 {
        let mut disk = Disk::default();
        let first = start(&mut toy(), &mut disk, Some(crash));
        assert_eq!((first.ended, first.effects), (Ended::Crashed, crash));
        let run = start(&mut toy(), &mut disk, None);
        assert_eq!(run.ended, Ended::Done("written"));
        let mut written = disk.written.clone();
        written.sort_unstable();
        assert_eq!(written, [1, 2, 3], "crash after {crash} effects");
    }
}

#[test]
fn the_fewest_steps_that_fail_are_found() {
    for first_bad in 1..=40 {
        assert_eq!(fewest_steps(40, |steps| steps >= first_bad), first_bad);
    }
}

fn knobs() -> Knobs {
    Knobs {
        max_turns: 12,
        ..Knobs::default()
    }
}

#[test]
fn what_must_hold_holds_whatever_goes_wrong() {
    let mut story = Story::default();
    let mut found: BTreeMap<u64, String> = BTreeMap::new();
    for seed in 0..80 {
        match play(&Life::new(seed, &knobs())) {
            Ok(one) => story.add(&one),
            Err(fault) if fault.is_the_hosts() || fault.is_the_peers() => {
                println!("seed {seed}: {}", fault.what);
            }
            Err(fault) => {
                found.insert(seed, fault.to_string());
            }
        }
    }
    println!("{story}");
    assert!(found.is_empty(), "{found:#?}");
    for what in [
        "compacted",
        "rejected",
        "failed",
        "conflict",
        "crashed",
        "late messages",
        "commit: AckLost",
        "commit: WriteLost",
        "commit: Torn",
    ] {
        assert!(story.count(what) > 0, "{what} never happened:\n{story}");
    }
}

#[test]
fn the_same_life_is_lived_the_same_way() {
    for seed in 0..8 {
        let life = Life::new(seed, &knobs());
        assert_eq!(play(&life), play(&life), "seed {seed}");
    }
}
