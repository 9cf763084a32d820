//! A conversation in the making, and where in it something can be done.

use super::nasty::Knobs;
use super::words::{self, Work};
use super::{Answer, Block, BlockKind, Message, Speaker, Spelling, Transcript};
use crate::rng::Rng;

/// A conversation in the making.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) messages: Vec<Message>,
    pub(super) pending: Vec<String>,
    pub(super) secrets: Vec<String>,
    pub(super) spelling: Spelling,
    pub(super) knobs: Knobs,
    pub(super) ids: Ids,
}

impl Draft {
    /// Numbers the labels and leaves the knobs behind.
    pub(super) fn finish(self, seed: u64) -> Transcript {
        let mut out = Transcript {
            seed,
            messages: self.messages,
            pending: self.pending,
            secrets: self.secrets,
            spelling: self.spelling,
        };
        for (index, message) in out.messages.iter_mut().enumerate() {
            message.label = format!("m{index}").into();
        }
        out.settle();
        out
    }

    /// How many system messages stand at the start.
    pub(super) fn front(&self) -> usize {
        let mut run = self.messages.iter();
        run.position(|m| m.speaker != Speaker::System)
            .unwrap_or(self.messages.len())
    }

    /// A position at which a message can be put, behind the leading system messages.
    pub(super) fn gap(&self, rng: &mut Rng) -> usize {
        rng.between(self.front(), self.messages.len())
    }

    /// One of the messages that pass `test`.
    pub(super) fn some(&self, rng: &mut Rng, test: impl Fn(&Message) -> bool) -> Option<usize> {
        let hits: Vec<_> = (0..self.messages.len())
            .filter(|&at| test(&self.messages[at]))
            .collect();
        (!hits.is_empty()).then(|| *rng.pick(&hits))
    }

    /// One of the rounds that pass `test`.
    pub(super) fn some_round(
        &self,
        rng: &mut Rng,
        test: impl Fn(&[Message], &Round) -> bool,
    ) -> Option<Round> {
        let mut hits = rounds(&self.messages);
        hits.retain(|round| test(&self.messages, round));
        (!hits.is_empty()).then(|| rng.pick(&hits).clone())
    }

    /// The start of a turn of a person that stands by itself: what is before it is finished.
    pub(super) fn some_order(&self, rng: &mut Rng) -> Option<usize> {
        let clean = |at: usize| {
            let open = at
                .checked_sub(1)
                .is_some_and(|before| self.messages[before].calls().next().is_some());
            self.messages[at].speaker == Speaker::User && !self.messages[at].joined && !open
        };
        let hits: Vec<_> = (0..self.messages.len()).filter(|&at| clean(at)).collect();
        (!hits.is_empty()).then(|| *rng.pick(&hits))
    }

    /// Puts a round of its own behind some message of a person, where it is valid in every format.
    pub(super) fn add_round(&mut self, rng: &mut Rng, calls: usize) -> Option<Round> {
        let order = self.some(rng, |m| m.speaker == Speaker::User)?;
        let at = order + 1;
        let round = self.new_round(rng, calls);
        let results = (at + 1..at + round.len()).collect();
        self.messages.splice(at..at, round);
        Some(Round { ai: at, results })
    }

    /// An assistant message with calls, and the answers.
    pub(super) fn new_round(&mut self, rng: &mut Rng, calls: usize) -> Vec<Message> {
        let mut blocks = Vec::new();
        if rng.percent(70) {
            blocks.push(Block::text(words::remark(rng)));
        }
        let mut results = Vec::new();
        for _ in 0..calls {
            let work = words::work(rng);
            let id = self.ids.next(rng);
            blocks.push(call(&id, &work).into());
            results.push(answer(&id, &work));
        }
        let mut out = vec![Message::new(Speaker::Assistant, blocks)];
        out.append(&mut results);
        out
    }
}

/// A call block.
pub(super) fn call(id: &str, work: &Work) -> BlockKind {
    BlockKind::Call {
        id: Some(id.to_owned()),
        tool: work.tool.to_owned(),
        args: work.args.clone(),
    }
}

/// A tool message.
pub(super) fn answer(id: &str, work: &Work) -> Message {
    let result = BlockKind::Result {
        id: Some(id.to_owned()),
        tool: work.tool.to_owned(),
        answer: Answer::Text(work.answer.clone()),
        error: false,
    };
    Message::new(Speaker::Tool, vec![result.into()])
}

/// An assistant message with calls and the tool messages right behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Position of the assistant message.
    pub(super) ai: usize,
    /// Positions of the answers.
    pub(super) results: Vec<usize>,
}

impl Round {
    /// Position behind it.
    pub(super) fn end(&self) -> usize {
        self.ai + 1 + self.results.len()
    }
}

/// All rounds in order.
pub(super) fn rounds(messages: &[Message]) -> Vec<Round> {
    let mut out = Vec::new();
    for (ai, message) in messages.iter().enumerate() {
        if message.calls().next().is_none() {
            continue;
        }
        let results = (ai + 1..messages.len())
            .take_while(|&at| messages[at].speaker == Speaker::Tool)
            .collect();
        out.push(Round { ai, results });
    }
    out
}

/// Call ids of one server.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    style: usize,
    next: u64,
}

impl Ids {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self {
            style: rng.below(4),
            next: 0,
        }
    }

    /// An id that was not given before.
    pub(super) fn next(&mut self, rng: &mut Rng) -> String {
        self.next += 1;
        let n = self.next;
        match self.style {
            0 => format!("call_{}{n}", rng.alnum(20)),
            1 => format!("toolu_01{}{n}", rng.alnum(12)),
            2 => format!("{n:03}{}", rng.alnum(6)),
            _ => format!("call_x{n}"),
        }
    }
}
