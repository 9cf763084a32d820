//! Scores of many cases, as means.

use std::collections::BTreeMap;

use crate::case::Score;
use crate::method::Method;

/// What was held beside each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Where the conversations come from, such as their format.
    pub source: String,
    /// The budget, in percent of what there was before the cut.
    pub percent: u32,
    /// How many compactions one after the other.
    pub rounds: usize,
    /// How.
    pub method: Method,
}

/// Means over cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    /// How many cases.
    pub cases: u32,
    /// Names needed later, of all that are.
    pub names: Option<f64>,
    /// Edited files.
    pub files: Option<f64>,
    /// The user's words.
    pub words: Option<f64>,
    /// What is left, in tokens.
    pub tokens: f64,
    /// Of how many.
    pub before: f64,
    /// How long one compaction took, in milliseconds.
    pub ms: f64,
}

/// One measured compaction.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// What survived.
    pub score: Score,
    /// Tokens that are left.
    pub tokens: usize,
    /// Tokens that there were.
    pub before: usize,
    /// How long it took, all rounds, in milliseconds.
    pub ms: f64,
}

/// Collects.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<Cell, Vec<Measured>>);

impl Tally {
    /// Takes one more case.
    pub fn add(&mut self, cell: Cell, measured: Measured) {
        self.0.entry(cell).or_default().push(measured);
    }

    /// The means, in the order of the cells.
    pub fn means(&self) -> impl Iterator<Item = (&Cell, Means)> {
        self.0
            .iter()
            .map(|(cell, all)| (cell, means(all, cell.rounds)))
    }

    /// The mean of each source's means, so that a source with many conversations does not drown the others; under the
    /// source "all".
    pub fn over_sources(&self) -> Vec<(Cell, Means)> {
        let mut by: BTreeMap<Cell, Vec<Means>> = BTreeMap::new();
        for (cell, means) in self.means() {
            let source = "all".to_owned();
            let cell = Cell {
                source,
                ..cell.clone()
            };
            by.entry(cell).or_default().push(means);
        }
        let sources = by.into_iter();
        let over = |all: &[Means], of: fn(&Means) -> Option<f64>| mean(all.iter().map(of));
        sources
            .map(|(cell, all)| {
                let means = Means {
                    cases: all.iter().map(|means| means.cases).sum(),
                    names: over(&all, |means| means.names),
                    files: over(&all, |means| means.files),
                    words: over(&all, |means| means.words),
                    tokens: over(&all, |means| Some(means.tokens)).unwrap_or(0.0),
                    before: over(&all, |means| Some(means.before)).unwrap_or(0.0),
                    ms: over(&all, |means| Some(means.ms)).unwrap_or(0.0),
                };
                (cell, means)
            })
            .collect()
    }
}

fn means(all: &[Measured], rounds: usize) -> Means {
    let over = |of: fn(&Measured) -> Option<f64>| mean(all.iter().map(of));
    Means {
        cases: u32::try_from(all.len()).unwrap_or(u32::MAX),
        names: over(|one| one.score.names),
        files: over(|one| one.score.files),
        words: over(|one| one.score.words),
        tokens: over(|one| Some(one.tokens as f64)).unwrap_or(0.0),
        before: over(|one| Some(one.before as f64)).unwrap_or(0.0),
        ms: over(|one| Some(one.ms)).unwrap_or(0.0) / rounds.max(1) as f64,
    }
}

/// The mean of those that are there.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0u32);
    for value in values.flatten() {
        sum += value;
        n += 1;
    }
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_of_many_cases_does_not_drown_the_others() {
        let mut tally = Tally::default();
        let cell = |source: &str| Cell {
            source: source.to_owned(),
            percent: 5,
            rounds: 1,
            method: Method::Digest,
        };
        let case = |names: Option<f64>| Measured {
            score: Score {
                names,
                ..Score::default()
            },
            tokens: 10,
            before: 100,
            ms: 1.0,
        };
        for _ in 0..9 {
            tally.add(cell("many"), case(Some(0.0)));
        }
        tally.add(cell("few"), case(Some(1.0)));
        tally.add(cell("few"), case(None));
        let all = tally.over_sources();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].1.cases, all[0].1.names), (11, Some(0.5)));
        assert_eq!(all[0].1.files, None);
    }
}
