//! Transcripts for proptest: made from a seed, shrunk by leaving out messages.

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::{Block, BlockKind, Format, Knobs, Strict, Transcript, violations};
use crate::rng::Rng;

/// Random conversations with `knobs`.
pub fn transcripts(knobs: Knobs) -> TranscriptStrategy {
    TranscriptStrategy { knobs }
}

/// A proptest strategy for conversations. Shrinking leaves out runs of messages, halving their length, then
/// single blocks, then shortens long texts; conversations that must be valid stay so.
#[derive(Clone, Debug)]
pub struct TranscriptStrategy {
    knobs: Knobs,
}

impl Strategy for TranscriptStrategy {
    type Tree = TranscriptTree;
    type Value = Transcript;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = proptest::num::u64::ANY.new_tree(runner)?.current();
        Ok(TranscriptTree::new(seed, &self.knobs))
    }
}

/// A conversation that can be made smaller.
#[derive(Clone, Debug)]
pub struct TranscriptTree {
    /// The smallest one known to fail.
    failing: Transcript,
    /// The one under test.
    current: Transcript,
    steps: Steps,
    valid: Option<(Format, Strict)>,
}

/// Which change comes next. What is gone through by position was not changed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    /// Leave out `len` messages from `at`.
    Drop { len: usize, at: usize },
    /// Leave out one block of message `at`; a call goes with its answers.
    Thin { at: usize, block: usize },
    /// Make the long texts of message `at` short.
    Shorten { at: usize },
    /// Nothing is left to try.
    Done,
}

/// Texts up to this length are left alone when shrinking.
const SHORT: usize = 80;

impl TranscriptTree {
    /// The conversation of a seed.
    pub fn new(seed: u64, knobs: &Knobs) -> Self {
        let first = Transcript::generate(Rng::new(seed).next_u64(), knobs);
        let strict = Strict {
            alternating: knobs.alternating,
            ..Strict::default()
        };
        Self {
            steps: Steps::Drop {
                len: first.messages.len().div_ceil(2),
                at: 0,
            },
            current: first.clone(),
            failing: first,
            valid: knobs.valid.map(|format| (format, strict)),
        }
    }

    /// Takes the next change that is possible. False when there is none.
    fn advance(&mut self) -> bool {
        loop {
            let count = self.failing.messages.len();
            let candidate = match self.steps {
                Steps::Done => {
                    self.current = self.failing.clone();
                    return false;
                }
                Steps::Drop { len: 0, .. } => {
                    self.steps = Steps::Thin { at: 0, block: 0 };
                    continue;
                }
                Steps::Drop { len, at } if at >= count => {
                    self.steps = Steps::Drop {
                        len: len / 2,
                        at: 0,
                    };
                    continue;
                }
                Steps::Drop { len, at } => {
                    let step = if len > 6 { len } else { 1 };
                    self.steps = Steps::Drop { len, at: at + step };
                    Some(self.failing.retain(|p| p < at || p >= at + len))
                }
                Steps::Thin { at, .. } if at >= count => {
                    self.steps = Steps::Shorten { at: 0 };
                    continue;
                }
                Steps::Thin { at, block } if block >= self.failing.messages[at].blocks.len() => {
                    let at = at + 1;
                    self.steps = Steps::Thin { at, block: 0 };
                    continue;
                }
                Steps::Thin { at, block } => {
                    self.steps = Steps::Thin {
                        at,
                        block: block + 1,
                    };
                    thinned(&self.failing, at, block)
                }
                Steps::Shorten { at } if at >= count => {
                    self.steps = Steps::Done;
                    continue;
                }
                Steps::Shorten { at } => {
                    self.steps = Steps::Shorten { at: at + 1 };
                    shortened(&self.failing, at)
                }
            };
            if let Some(candidate) = candidate
                && self.allows(&candidate)
            {
                self.current = candidate;
                return true;
            }
        }
    }

    fn allows(&self, candidate: &Transcript) -> bool {
        self.valid.is_none_or(|(format, strict)| {
            violations(format, &candidate.render(format).body(), strict).is_empty()
        })
    }
}

impl ValueTree for TranscriptTree {
    type Value = Transcript;

    fn current(&self) -> Transcript {
        self.current.clone()
    }

    /// The one under test failed: go on from it.
    fn simplify(&mut self) -> bool {
        self.failing = self.current.clone();
        match &mut self.steps {
            // What followed now stands where the run stood.
            Steps::Drop { at, len } => {
                let step = if *len > 6 { *len } else { 1 };
                *at = at.saturating_sub(step);
            }
            // The block's successor now stands in its place.
            Steps::Thin { block, .. } => *block = block.saturating_sub(1),
            Steps::Shorten { .. } | Steps::Done => {}
        }
        self.advance()
    }

    /// The one under test passed: take the change back and try another.
    fn complicate(&mut self) -> bool {
        self.advance()
    }
}

fn thinned(transcript: &Transcript, at: usize, block: usize) -> Option<Transcript> {
    let mut out = transcript.clone();
    let blocks = &mut out.messages[at].blocks;
    if blocks.len() < 2 {
        return None;
    }
    let gone = blocks.remove(block);
    if let BlockKind::Call { id: Some(id), .. } = &gone.kind {
        let is_answer = |m: &super::Message| m.result() == Some(Some(id.as_str()));
        out.messages.retain(|m| !is_answer(m));
    }
    out.settle();
    Some(out)
}

fn shortened(transcript: &Transcript, at: usize) -> Option<Transcript> {
    let mut out = transcript.clone();
    let mut changed = false;
    for block in &mut out.messages[at].blocks {
        changed |= shorten(block);
    }
    if !out.messages[at].extras.is_empty() {
        out.messages[at].extras.clear();
        changed = true;
    }
    out.settle();
    changed.then_some(out)
}

fn shorten(block: &mut Block) -> bool {
    let text = match &mut block.kind {
        BlockKind::Text(text) | BlockKind::Thinking { text, .. } => text,
        BlockKind::Result { answer, .. } => match answer {
            super::Answer::Text(text) => text,
            super::Answer::Blocks(blocks) => {
                return blocks.iter_mut().map(shorten).filter(|&did| did).count() > 0;
            }
        },
        BlockKind::Image(data) if data.len() > SHORT => {
            "iVBORw0KGgoA".clone_into(data);
            return true;
        }
        _ => return false,
    };
    if text.len() <= SHORT {
        return false;
    }
    let cut = (0..=SHORT).rfind(|&cut| text.is_char_boundary(cut));
    text.truncate(cut.unwrap_or(0));
    true
}
