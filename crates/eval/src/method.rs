//! The ways to compact that are held beside each other.

use crate::baseline::{keep_last, mask_results};
use crate::bounds::{oracle, random_lines};
use crate::case::Case;
use crate::digested::Digested;
use crate::part::{Part, PartKind, render, tokens};
use crate::session::Session;

/// A way to compact, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// The newest whole groups.
    KeepLast,
    /// Old results cut to a line, then the newest whole groups.
    Masking,
    /// Our digest over the newest whole groups.
    Digest,
    /// The same where what was folded is forgotten, so that each digest reads the one before it.
    DigestOfDigests,
    /// Lines by chance: what needs no thought.
    Random,
    /// Lines that hold what will be needed: what nobody can know.
    Oracle,
}

impl Method {
    /// All of them, bounds last.
    pub const ALL: [Self; 6] = [
        Self::KeepLast,
        Self::Masking,
        Self::Digest,
        Self::DigestOfDigests,
        Self::Random,
        Self::Oracle,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeepLast => "keep-last",
            Self::Masking => "masking",
            Self::Digest => "digest",
            Self::DigestOfDigests => "digest of digests",
            Self::Random => "random lines",
            Self::Oracle => "oracle",
        }
    }

    /// Whether there is anything to say of so many compactions.
    pub const fn is_for(self, rounds: usize) -> bool {
        rounds > 1 || !matches!(self, Self::DigestOfDigests)
    }

    /// Whether it is only there to bound the scale.
    pub const fn is_bound(self) -> bool {
        matches!(self, Self::Random | Self::Oracle)
    }

    /// What the model would still see of the case's first part, in at most `budget` tokens, after `rounds` compactions
    /// at equal distances, each of which sees only what the one before it left and what came since. `draw` is the
    /// seed of what is left to chance.
    pub fn compact(
        self,
        session: &Session<'_>,
        case: &Case,
        budget: usize,
        rounds: usize,
        draw: u64,
    ) -> String {
        let needed = || case.later.names.keys().map(String::as_str);
        match self {
            Self::Digest | Self::DigestOfDigests => {
                let mut digested = Digested::forgetting(self == Self::DigestOfDigests);
                let ends = case.ends(rounds);
                let texts = ends
                    .map(|end| digested.compact(session, case.message_at(session, end), budget));
                texts.last().unwrap_or_default()
            }
            Self::KeepLast => chained(session, case, rounds, |parts| keep_last(parts, budget)),
            Self::Masking => chained(session, case, rounds, |parts| mask_results(parts, budget)),
            Self::Random => chained(session, case, rounds, |parts| {
                random_lines(parts, budget, draw)
            }),
            Self::Oracle => chained(session, case, rounds, |parts| {
                oracle(parts, budget, needed())
            }),
        }
    }
}

/// Compacts what the compaction before left and what came since, again and again.
fn chained(
    session: &Session<'_>,
    case: &Case,
    rounds: usize,
    once: impl Fn(&[Part]) -> String,
) -> String {
    let (mut from, mut text) = (0, String::new());
    for end in case.ends(rounds) {
        let mut parts: Vec<Part> = Vec::new();
        if !text.is_empty() {
            parts.push(summary(text));
        }
        let new = case.parts_of(from..end);
        parts.extend(new.map(|at| session.parts[at].clone()));
        text = once(&parts);
        from = end;
    }
    text
}

/// What an earlier compaction left, as the first message of what follows.
fn summary(text: String) -> Part {
    Part {
        role: "user".to_owned(),
        kind: PartKind::Summary,
        text,
        name: String::new(),
        message: u64::MAX,
    }
}

/// How large a conversation is before it is compacted.
pub fn size(session: &Session<'_>, case: &Case) -> usize {
    let lines: Vec<String> = case
        .later
        .before
        .iter()
        .map(|at| render(&session.parts[*at]))
        .collect();
    tokens(&lines.join("\n"))
}
