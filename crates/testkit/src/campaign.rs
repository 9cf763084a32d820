//! Many random lives, counted: what was covered, and what did not hold. `--bin campaign` runs it.
//!
//! A run is one conversation with all that happens to it ([`crate::simulate::conversation`]). The same seed is the
//! same life. Every fourth life goes through the bytes of a format, every second one is valid for its provider.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::faults::FaultChances;
use crate::simulate::conversation::{Fault, Life, Story, play, shrink};
use crate::transcript::{Coverage, Format, Knobs, Transcript};

/// The life of a seed: small, so that many fit into a minute.
pub fn life(seed: u64) -> Life {
    let digit = |of: u64, base: u64| seed / of % base;
    let format = Format::ALL[usize::try_from(digit(1, 3)).unwrap_or(0)];
    let knobs = match is_valid(seed) {
        true => Knobs::valid(format),
        false => Knobs::default(),
    };
    let knobs = Knobs {
        max_turns: 5,
        giant_bytes: 6_000,
        long_bytes: 2_500,
        ..knobs
    };
    Life {
        seed,
        talk: Transcript::generate(seed, &knobs),
        format,
        steps: 24,
        faults: FaultChances::some(),
        crashes: 15,
        replayed: digit(24, 8) == 0,
        through_bytes: digit(6, 4) == 0,
    }
}

/// Whether the seed's conversation is one that its provider takes.
fn is_valid(seed: u64) -> bool {
    (seed / 3).is_multiple_of(2)
}

/// What a campaign came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Lives played.
    pub runs: u64,
    /// What the conversations held.
    pub coverage: Coverage,
    /// In how many lives what happened at least once, and how often in all.
    pub happened: BTreeMap<String, (u64, u64)>,
    /// What did not hold, by kind.
    pub faults: BTreeMap<Kind, Found>,
}

/// A kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// Whether it counts: neither the host's own doing nor promised by a peer.
    pub counts: bool,
    /// The number of the invariant, `panic`, and who brought it about.
    pub name: String,
}

/// How often a kind of fault was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The seeds of the lives.
    pub seeds: BTreeSet<u64>,
}

impl Found {
    /// Lives.
    pub fn lives(&self) -> u64 {
        self.seeds.len() as u64
    }

    /// Of these: with a conversation that was valid.
    pub fn valid(&self) -> u64 {
        self.seeds.iter().filter(|seed| is_valid(**seed)).count() as u64
    }

    /// The first.
    pub fn seed(&self) -> u64 {
        self.seeds.first().copied().unwrap_or_default()
    }
}

impl Tally {
    /// Plays the life of a seed and counts it.
    pub fn add(&mut self, seed: u64) {
        let life = life(seed);
        self.runs += 1;
        self.coverage.add(&life.talk);
        match attempt(&life) {
            Ok(story) => self.tell(&story),
            Err(kind) => self.found(kind, seed),
        }
    }

    fn tell(&mut self, story: &Story) {
        for (what, n) in &story.counts {
            match self.happened.get_mut(what) {
                Some((lives, times)) => (*lives, *times) = (*lives + 1, *times + n),
                None => drop(self.happened.insert(what.clone(), (1, *n))),
            }
        }
    }

    fn found(&mut self, kind: Kind, seed: u64) {
        self.faults.entry(kind).or_default().seeds.insert(seed);
    }

    /// Adds up another tally.
    pub fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.coverage.merge(&other.coverage);
        for (what, (lives, times)) in &other.happened {
            let all = self.happened.entry(what.clone()).or_default();
            *all = (all.0 + lives, all.1 + times);
        }
        for (kind, other) in &other.faults {
            let found = self.faults.entry(kind.clone()).or_default();
            found.seeds.extend(&other.seeds);
        }
    }

    /// Lives in which something that counts did not hold.
    pub fn broken(&self) -> u64 {
        let counting = self.faults.iter().filter(|(kind, _)| kind.counts);
        counting.map(|(_, found)| found.lives()).sum()
    }

    /// Of these: with a conversation that was valid.
    pub fn broken_though_valid(&self) -> u64 {
        let counting = self.faults.iter().filter(|(kind, _)| kind.counts);
        counting.map(|(_, found)| found.valid()).sum()
    }

    /// In how many lives it happened.
    pub fn lives_with(&self, what: &str) -> u64 {
        self.happened.get(what).map_or(0, |(lives, _)| *lives)
    }
}

impl fmt::Display for Tally {
    /// The tables: what the conversations held, what happened to them, what did not hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.coverage)?;
        writeln!(f, "\nlives, and times in all:")?;
        for (what, (lives, times)) in &self.happened {
            writeln!(f, "{lives:>8} {times:>9}  {what}")?;
        }
        writeln!(
            f,
            "\nwhat did not hold (lives, of these valid, first seed):"
        )?;
        for (kind, found) in &self.faults {
            let (lives, valid, seed) = (found.lives(), found.valid(), found.seed());
            writeln!(f, "{lives:>8} {valid:>8} {seed:>9}  {}", kind.name)?;
        }
        if self.faults.is_empty() {
            writeln!(f, "nothing")?;
        }
        writeln!(
            f,
            "\n{} lives, {} with an invalid request or another broken promise, {} of these though the \
             conversation was valid",
            self.runs,
            self.broken(),
            self.broken_though_valid()
        )
    }
}

/// Plays a life; what did not hold, if something did not. A panic is a fault like another.
fn attempt(life: &Life) -> Result<Story, Kind> {
    match catch_unwind(AssertUnwindSafe(|| play(life))) {
        Ok(Ok(story)) => Ok(story),
        Ok(Err(fault)) => Err(Kind::of(&fault)),
        Err(_) => Err(Kind {
            counts: true,
            name: "panic".to_owned(),
        }),
    }
}

impl Kind {
    fn of(fault: &Fault) -> Self {
        let why = match (fault.is_the_peers(), fault.is_the_hosts()) {
            (true, _) => " (as the peer does, under strict_parity)",
            (_, true) => " (the host's own doing)",
            _ => "",
        };
        Self {
            counts: why.is_empty(),
            name: format!("invariant {}{why}", fault.number()),
        }
    }
}

/// The smallest life of a kind of fault, told.
pub fn smallest(seed: u64) -> String {
    let whole = life(seed);
    if catch_unwind(AssertUnwindSafe(|| play(&whole))).is_err() {
        return format!("seed {seed} panics\n");
    }
    let small = shrink(&whole);
    let (messages, format) = (small.talk.messages.len(), small.format.name());
    match play(&small) {
        Ok(_) => format!("seed {seed} holds\n"),
        Err(fault) => {
            let kind = Kind::of(&fault).name;
            format!("seed {seed}, {messages} messages, {format}, {kind}\n{fault}")
        }
    }
}

/// How many runs it takes to catch a planted bug, and as what it shows. `None`: more than `most`.
#[cfg(feature = "planted")]
pub fn caught(bug: conspectus_core::planted::Bug, from: u64, most: u64) -> Option<(u64, String)> {
    use conspectus_core::planted::plant;
    for seed in from..from + most {
        let life = life(seed);
        plant(Some(bug));
        let with = attempt(&life);
        plant(None);
        // What shows without the bug too does not catch it.
        if let Err(kind) = with
            && kind.counts
            && attempt(&life).is_ok()
        {
            return Some((seed - from + 1, kind.name));
        }
    }
    None
}
