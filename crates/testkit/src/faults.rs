//! What goes wrong in a store: a source of decisions from a seed, to wrap any store with.

use std::collections::BTreeSet;

use crate::rng::Rng;

/// What happens to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteFault {
    /// Nothing: it is written and acknowledged.
    None,
    /// Not written, and the writer is told.
    Failed,
    /// Written, but the acknowledgement is lost.
    AckLost,
    /// Not written, and no answer comes.
    WriteLost,
    /// Only a part of the batch arrives before the store fails. A store that is atomic must show none of it.
    Torn,
    /// Another holder took the lease meanwhile.
    FenceLost,
}

/// What happens to a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadFault {
    /// Nothing.
    None,
    /// It shows what was there before the newest write.
    Stale,
    /// It fails.
    Failed,
}

/// How often what goes wrong, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaultChances {
    /// Writes that fail.
    pub failed: u8,
    /// Acknowledgements that are lost after the write.
    pub ack_lost: u8,
    /// Writes that vanish.
    pub write_lost: u8,
    /// Batches that arrive in part.
    pub torn: u8,
    /// Leases that are taken over.
    pub fence_lost: u8,
    /// Reads of an older state.
    pub stale: u8,
    /// Reads that fail.
    pub read_failed: u8,
}

impl FaultChances {
    /// Everything now and then.
    pub fn some() -> Self {
        Self {
            failed: 8,
            ack_lost: 8,
            write_lost: 5,
            torn: 5,
            fence_lost: 5,
            stale: 8,
            read_failed: 5,
        }
    }
}

/// Decides what goes wrong. The same seed and the same order of questions give the same answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultPlan {
    rng: Rng,
    chances: FaultChances,
    writes: u64,
    failing: BTreeSet<u64>,
}

impl FaultPlan {
    /// A plan from a seed.
    pub fn new(seed: u64, chances: FaultChances) -> Self {
        Self {
            rng: Rng::new(seed),
            chances,
            writes: 0,
            failing: BTreeSet::new(),
        }
    }

    /// A plan in which nothing goes wrong.
    pub fn calm() -> Self {
        Self::new(0, FaultChances::default())
    }

    /// The `n`-th write, counted from 1, fails whatever the chances.
    pub fn fail_write(mut self, n: u64) -> Self {
        self.failing.insert(n);
        self
    }

    /// What happens to the next write.
    pub fn write(&mut self) -> WriteFault {
        self.writes += 1;
        let c = self.chances;
        let faults = [
            (c.failed, WriteFault::Failed),
            (c.ack_lost, WriteFault::AckLost),
            (c.write_lost, WriteFault::WriteLost),
            (c.torn, WriteFault::Torn),
            (c.fence_lost, WriteFault::FenceLost),
        ];
        let drawn = self.draw(&faults).unwrap_or(WriteFault::None);
        if self.failing.contains(&self.writes) {
            WriteFault::Failed
        } else {
            drawn
        }
    }

    /// What happens to the next read.
    pub fn read(&mut self) -> ReadFault {
        let c = self.chances;
        let faults = [
            (c.stale, ReadFault::Stale),
            (c.read_failed, ReadFault::Failed),
        ];
        self.draw(&faults).unwrap_or(ReadFault::None)
    }

    /// How many of `n` parts of a torn batch arrive: fewer than all.
    pub fn torn_after(&mut self, n: usize) -> usize {
        self.rng.below(n.max(1))
    }

    fn draw<T: Copy>(&mut self, faults: &[(u8, T)]) -> Option<T> {
        let mut roll = self.rng.below(100);
        for (chance, fault) in faults {
            let chance = usize::from(*chance);
            if roll < chance {
                return Some(*fault);
            }
            roll -= chance;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_and_everything_happens() {
        let mut plan = FaultPlan::new(3, FaultChances::some());
        let mut again = plan.clone();
        let mut seen = BTreeSet::new();
        let mut reads = BTreeSet::new();
        for _ in 0..500 {
            let fault = plan.write();
            assert_eq!(fault, again.write());
            seen.insert(fault);
            let fault = plan.read();
            assert_eq!(fault, again.read());
            reads.insert(fault);
            assert!(plan.torn_after(4) < 4);
            again.torn_after(4);
        }
        assert_eq!((seen.len(), reads.len()), (6, 3));
    }

    #[test]
    fn the_nth_write_fails() {
        let mut plan = FaultPlan::calm().fail_write(2);
        let writes: Vec<_> = (0..3).map(|_| plan.write()).collect();
        assert_eq!(
            writes,
            [WriteFault::None, WriteFault::Failed, WriteFault::None]
        );
    }
}
