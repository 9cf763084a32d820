//! The core's two machines in a life as it comes: a random conversation grows while models fail, the store
//! loses acknowledgements, people undo and rewind, and the process dies between any two effects.
//!
//! [`Life`] is what is played, [`play`] plays it and checks after every step what must hold.

mod checks;
mod kept;
mod outside;
mod paid;
mod policy;
mod reading;
mod reload;
mod rendered;
mod scene;

use std::collections::BTreeMap;
use std::fmt;

use crate::faults::FaultChances;
use crate::transcript::{Format, Knobs, Transcript};

pub use outside::Running;

/// One conversation's life. The same value plays the same way.
#[derive(Clone, Debug)]
pub struct Life {
    /// Decides everything but the conversation.
    pub seed: u64,
    /// The conversation.
    pub talk: Transcript,
    /// As which the core sees it.
    pub format: Format,
    /// How many things happen.
    pub steps: usize,
    /// What goes wrong in the store.
    pub faults: FaultChances,
    /// In how many of a hundred attempts the process dies.
    pub crashes: u8,
    /// Whether every attempt is replayed from its log (invariant 48).
    pub replayed: bool,
    /// Whether the conversation goes through the bytes of the format, and requests are judged as bytes.
    pub through_bytes: bool,
}

impl Life {
    /// The life of a seed.
    pub fn new(seed: u64, knobs: &Knobs) -> Self {
        let format = Format::ALL[usize::try_from(seed % 3).unwrap_or(0)];
        Self {
            seed,
            talk: Transcript::generate(seed, knobs),
            format,
            steps: 60,
            faults: FaultChances::some(),
            crashes: 15,
            replayed: true,
            through_bytes: seed.is_multiple_of(4),
        }
    }
}

/// What happened in a life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// How often what happened: outcomes, faults, actions.
    pub counts: BTreeMap<String, u64>,
    /// Digest of all that happened; equal for equal lives.
    pub digest: u64,
}

impl Story {
    pub(crate) fn note(&mut self, what: &str) {
        match self.counts.get_mut(what) {
            Some(n) => *n += 1,
            None => drop(self.counts.insert(what.to_owned(), 1)),
        }
    }

    /// Adds up the counts of another story.
    pub fn add(&mut self, other: &Self) {
        for (what, n) in &other.counts {
            *self.counts.entry(what.clone()).or_default() += n;
        }
    }

    /// How often it happened.
    pub fn count(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or(0)
    }
}

impl fmt::Display for Story {
    /// A table: one thing a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, n) in &self.counts {
            writeln!(f, "{n:>8}  {what}")?;
        }
        Ok(())
    }
}

/// Something that must hold did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The step, counted from 1.
    pub step: usize,
    /// What was done last.
    pub did: String,
    /// What is wrong, with the number of the invariant.
    pub what: String,
    /// Under `strict_parity`, which brings the peer's losses back.
    pub parity: bool,
    /// The request before and after, one line a message.
    pub shape: String,
}

impl Fault {
    /// The number of the invariant.
    pub fn number(&self) -> &str {
        self.what.split(':').next().unwrap_or_default()
    }

    /// A loss of the peer that `docs/presets.md` lists: its cut splits calls and answers (1, 2 and, where the
    /// provider asks for turns, 4) and protects neither system messages (5) nor the request (6) nor what is pinned or
    /// awaited (7), and may leave nothing (8); what it gives is one call, whatever it holds (23),
    /// if anything (25), and it takes any
    /// answer with a text (27).
    pub fn is_the_peers(&self) -> bool {
        let listed = match self.number() {
            "1" | "2" | "4" | "5" | "6" | "7" | "8" => true,
            "25" => self.what.contains("an empty transcript"),
            "23" => self.what.contains("a request of"),
            "27" => self.what.ends_with("was accepted"),
            _ => false,
        };
        self.parity && listed
    }

    /// What a host brings about itself, and the core tells rather than mends.
    pub fn is_the_hosts(&self) -> bool {
        // Compacted in the middle of a reply whose further pieces then come: they should be marked partial till
        // the last.
        (self.what.starts_with("2: ") && self.what.contains("pieces of the reply"))
            // An old summary that is appended after ours, until the next compaction replaces both.
            || (self.what.starts_with("28: ") && self.shape.contains("[old-summary]"))
            // Without ids order stands in for them, and the checker counts by id.
            || (self.what.starts_with("1: ") && self.shape.contains("(no id)"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "step {}, {}: {}", self.step, self.did, self.what)?;
        f.write_str(&self.shape)
    }
}

/// Plays a life.
///
/// # Errors
/// The first thing that must hold and did not.
pub fn play(life: &Life) -> Result<Story, Box<Fault>> {
    scene::Scene::play(life)
}

/// Makes a failing life small: fewest steps, then fewest messages. The failure may be another one, but of the
/// same invariant.
pub fn shrink(life: &Life) -> Life {
    let number = |fault: &Fault| fault.what.split(':').next().map(str::to_owned);
    let Err(first) = play(life) else {
        return life.clone();
    };
    let wanted = number(&first);
    let fails = |life: &Life| play(life).err().is_some_and(|f| number(&f) == wanted);
    let mut small = Life {
        steps: first.step,
        ..life.clone()
    };
    let mut len = small.talk.messages.len().div_ceil(2);
    while len > 0 {
        let mut at = 0;
        while at < small.talk.messages.len() {
            let talk = small.talk.retain(|p| p < at || p >= at + len);
            let candidate = Life {
                talk,
                ..small.clone()
            };
            if fails(&candidate) {
                small = candidate;
            } else {
                at += len;
            }
        }
        len /= 2;
    }
    small
}
