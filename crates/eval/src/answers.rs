//! Questions with evidence: whether their answers, and what they follow from, are still there.

use std::collections::{BTreeMap, BTreeSet};

use crate::words::{is_stop, normal};

/// Words in a window, and how far apart windows begin.
const WINDOW: usize = 80;
const STEP: usize = 40;
/// The share of the evidence's weight that a window must hold for an answer in it to count.
const LOCAL: f64 = 0.3;

/// A question: the answer that is looked for, and the messages that it follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The answer, as a text that can be found.
    pub answer: String,
    /// The messages that tell it.
    pub evidence: Vec<String>,
}

/// Shares of questions, each over those that the whole conversation answers (`EVW`: over all with evidence).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answers {
    /// ASR: the answer stands anywhere.
    pub anywhere: Option<f64>,
    /// LASR: it stands in a window of 80 words that also holds 30% of the weight of one message of evidence.
    pub local: Option<f64>,
    /// EVW: the best window's share of the evidence's weight.
    pub evidence: Option<f64>,
}

/// A conversation's questions, prepared once for any number of compacted texts.
#[derive(Clone, Debug)]
pub struct Questions {
    asked: Vec<(Question, bool, bool)>,
    weights: BTreeMap<String, f64>,
}

impl Questions {
    /// Of a conversation, given as the texts of its parts.
    pub fn new(texts: &[&str], asked: Vec<Question>) -> Questions {
        let mut frequency: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            let words: BTreeSet<String> = normal(text).into_iter().collect();
            words
                .into_iter()
                .for_each(|word| *frequency.entry(word).or_default() += 1);
        }
        let n = texts.len() as f64;
        let weight = |(word, count)| (word, (1.0 + n / count as f64).ln());
        let weights = frequency.into_iter().map(weight).collect();
        let full = Windows::new(normal(&texts.join("\n")));
        let asked = asked.into_iter().map(|question| {
            let there = full.holds(&normal(&question.answer));
            let scores = full.scores(&question, &weights);
            let local = scores.iter().any(|(_, local)| *local);
            (question, there, local)
        });
        let asked = asked.collect();
        Questions { asked, weights }
    }

    /// What `text` still answers.
    pub fn ask(&self, text: &str) -> Answers {
        let windows = Windows::new(normal(text));
        let (mut anywhere, mut local, mut evidence) =
            (Mean::default(), Mean::default(), Mean::default());
        for (question, there, locally) in &self.asked {
            let scores = windows.scores(question, &self.weights);
            if !scores.is_empty() {
                let sum: f64 = scores.iter().map(|(share, _)| share).sum();
                evidence.add(sum / scores.len() as f64);
            }
            if *there {
                anywhere.add(f64::from(u8::from(
                    windows.holds(&normal(&question.answer)),
                )));
            }
            if *locally {
                local.add(f64::from(u8::from(scores.iter().any(|(_, local)| *local))));
            }
        }
        Answers {
            anywhere: anywhere.value(),
            local: local.value(),
            evidence: evidence.value(),
        }
    }
}

#[derive(Default)]
struct Mean {
    sum: f64,
    n: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.n += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / f64::from(self.n))
    }
}

/// A text's words, and the windows in which each stands.
struct Windows {
    words: Vec<String>,
    windows: Vec<(usize, usize)>,
    places: BTreeMap<String, Vec<usize>>,
}

impl Windows {
    fn new(words: Vec<String>) -> Windows {
        let end = words.len().saturating_sub(STEP).max(1);
        let starts = (0..end).step_by(STEP);
        let windows: Vec<_> = starts
            .map(|start| (start, (start + WINDOW).min(words.len())))
            .collect();
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, (start, end)) in windows.iter().enumerate() {
            for word in &words[*start..*end] {
                let seen = places.entry(word.clone()).or_default();
                if seen.last() != Some(&at) {
                    seen.push(at);
                }
            }
        }
        Windows {
            words,
            windows,
            places,
        }
    }

    fn holds(&self, answer: &[String]) -> bool {
        stands_in(&self.words, answer)
    }

    /// For each message of evidence with content words: the best window's share, and whether the answer is local.
    fn scores(&self, question: &Question, weights: &BTreeMap<String, f64>) -> Vec<(f64, bool)> {
        let answer = normal(&question.answer);
        let scores = question.evidence.iter().filter_map(|message| {
            let mut words: BTreeSet<String> = normal(message).into_iter().collect();
            words.retain(|word| !is_stop(word));
            let weight = |word: &String| weights.get(word).copied().unwrap_or(1.0);
            let all: f64 = words.iter().map(weight).sum();
            if all == 0.0 {
                return None;
            }
            let mut held: BTreeMap<usize, f64> = BTreeMap::new();
            for word in &words {
                for at in self.places.get(word).into_iter().flatten() {
                    *held.entry(*at).or_default() += weight(word);
                }
            }
            let best = held.values().copied().fold(0.0, f64::max) / all;
            let local = held.iter().any(|(at, share)| {
                let (start, end) = self.windows[*at];
                share / all >= LOCAL && stands_in(&self.words[start..end], &answer)
            });
            Some((best, local))
        });
        scores.collect()
    }
}

fn stands_in(words: &[String], answer: &[String]) -> bool {
    !answer.is_empty() && words.windows(answer.len()).any(|window| window == answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_far_from_its_evidence_is_not_local() {
        let told = "My violin teacher Anna charges 45 euros every Tuesday evening";
        let question = Question {
            answer: "45".to_owned(),
            evidence: vec![told.to_owned()],
        };
        let questions = Questions::new(&[told, "fine weather today"], vec![question]);
        let whole = questions.ask(told);
        assert_eq!((whole.anywhere, whole.local), (Some(1.0), Some(1.0)));
        let chance = questions.ask("room 45 is free");
        assert_eq!((chance.anywhere, chance.local), (Some(1.0), Some(0.0)));
        let gone = questions.ask("");
        assert_eq!((gone.anywhere, gone.evidence), (Some(0.0), Some(0.0)));
    }
}
