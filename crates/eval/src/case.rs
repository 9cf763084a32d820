//! Where a conversation is cut to be measured, and what is asked of what was left.

use std::ops::Range;

use crate::entity::recall;
use crate::forward::{Later, later};
use crate::part::{PartKind, groups};
use crate::session::Session;
use crate::words::user_words;

/// Conversations of fewer groups say nothing.
pub const MIN_GROUPS: usize = 12;
/// Nor do cuts behind which less is needed.
pub const MIN_NEEDED: usize = 3;
/// Where they are cut: after these shares of the groups, in percent.
pub const CUTS: [usize; 2] = [50, 75];

/// A conversation cut in two.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the second half needs of the first.
    pub later: Later,
    /// What the user said in the first half. What a host wrote in the user's place is not among it.
    pub said: Vec<String>,
    /// The first half in groups, as indices of parts.
    groups: Vec<Vec<usize>>,
}

/// What of it survived; `None` where there was nothing to survive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Names needed later.
    pub names: Option<f64>,
    /// Edited files.
    pub files: Option<f64>,
    /// The user's words.
    pub words: Option<f64>,
}

impl Case {
    /// The cases of a conversation: one a cut, where enough is needed.
    pub fn of(session: &Session<'_>) -> Vec<Self> {
        let all = groups(&session.parts);
        if all.len() < MIN_GROUPS {
            return Vec::new();
        }
        let at = |percent: usize| {
            let cut = all.len() * percent / 100;
            let later = later(&session.parts, cut);
            let said = later.before.iter().map(|at| &session.parts[*at]);
            let said = said.filter(|part| {
                part.role == "user" && part.kind == PartKind::Text && !is_hosts(&part.text)
            });
            Self {
                said: said.map(|part| part.text.clone()).collect(),
                groups: all[..cut].to_vec(),
                later,
            }
        };
        let cases = CUTS.into_iter().map(at);
        cases
            .filter(|case| case.later.names.len() >= MIN_NEEDED)
            .collect()
    }

    /// How much of what is asked for stands in `text`.
    pub fn score(&self, text: &str) -> Score {
        Score {
            names: recall(text, self.later.names.keys().map(String::as_str)),
            files: recall(text, self.later.edited.iter().map(String::as_str)),
            words: user_words(text, self.said.iter().map(String::as_str)),
        }
    }

    /// Where each of `rounds` compactions happens, in groups. The last one is the cut.
    pub(crate) fn ends(&self, rounds: usize) -> impl Iterator<Item = usize> {
        let (all, rounds) = (self.groups.len(), rounds.max(1));
        (1..=rounds).map(move |round| all * round / rounds)
    }

    /// The parts of these groups.
    pub(crate) fn parts_of(&self, groups: Range<usize>) -> impl Iterator<Item = usize> {
        self.groups[groups].iter().flatten().copied()
    }

    /// The message that follows the first `groups` groups.
    pub(crate) fn message_at(&self, session: &Session<'_>, groups: usize) -> usize {
        let last = self.groups[..groups].last().and_then(|group| group.last());
        let message = last.map(|at| session.parts[*at].message + 1);
        message.map_or(0, |message| usize::try_from(message).unwrap_or(usize::MAX))
    }
}

/// Wrappers and notices that stand in the user's place but were not typed.
fn is_hosts(text: &str) -> bool {
    text.starts_with('<') || text.starts_with("Caveat: The messages below were generated")
}
