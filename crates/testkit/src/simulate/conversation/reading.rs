//! What the models of one attempt were given, and whether it is all that went (invariants 23 to 27).

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::{CallNumber, Finish, Route, SummaryInput, SummaryRequest};
use conspectus_core::id::Ident;
use conspectus_core::policy::{Fidelity, Rolling, SummaryPolicy};
use conspectus_core::projection::Projection;
use conspectus_core::summary::{ASK, CLOSE, OPEN};
use conspectus_core::thread::Sources;

/// What one call was given.
#[derive(Clone, Debug)]
enum Given {
    /// A piece of the transcript, without its frame.
    Document(Arc<str>),
    /// The conversation itself.
    Replay,
}

/// What a partial result that the cache holds was made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(BTreeMap<Ident, Vec<Given>>);

/// One attempt's reading.
#[derive(Debug, Default)]
pub(super) struct Reading {
    calls: Vec<(CallNumber, Given)>,
    replies: Vec<(Arc<str>, Finish, CallNumber)>,
    /// What accepted partial results were made of.
    read: Vec<Given>,
    /// Accepted partial results.
    accepted: Vec<Arc<str>>,
    /// What is wrong.
    pub(super) broken: Vec<String>,
}

impl Reading {
    /// A call goes out. `sent` is the request that was sent last.
    pub(super) fn called(
        &mut self,
        call: CallNumber,
        request: &SummaryRequest,
        route: &Route,
        sent: &Projection,
        src: Sources<'_>,
    ) {
        if request.max_output_tokens > route.max_output {
            self.broken
                .push("23: asked for more than the model writes".to_owned());
        }
        let size = match &request.input {
            SummaryInput::Transcript { system, document } => {
                let weight = src.counter.added_message(document) + src.counter.text(system);
                src.counter.tokens(weight)
            }
            SummaryInput::Replay { .. } => request.input_tokens,
        };
        if size > route.max_input || request.input_tokens > route.max_input {
            let (told, most) = (request.input_tokens, route.max_input);
            self.broken.push(format!(
                "23: a request of {size} tokens (told: {told}), limit {most}"
            ));
        }
        let given = match &request.input {
            SummaryInput::Transcript { system, document } => self.document(system, document),
            SummaryInput::Replay {
                conversation,
                instruction,
            } => {
                if !sent.pieces().eq(conversation.iter()) {
                    self.broken
                        .push("24: a replay that is not the request".to_owned());
                }
                if instruction.trim().is_empty() {
                    self.broken.push("26: no instruction".to_owned());
                }
                Given::Replay
            }
        };
        self.calls.push((call, given));
    }

    fn document(&mut self, system: &str, document: &str) -> Given {
        let inside = document
            .strip_prefix(OPEN)
            .and_then(|d| d.strip_suffix(ASK)?.strip_suffix(CLOSE));
        let inside = inside.unwrap_or_else(|| {
            self.broken
                .push("26: the transcript has no frame".to_owned());
            document
        });
        if inside.contains(['<', '>']) {
            self.broken
                .push("26: the transcript can close its frame".to_owned());
        }
        if system.trim().is_empty() || system.contains(OPEN) {
            self.broken
                .push("26: instruction and transcript are not apart".to_owned());
        }
        let inside = inside.strip_prefix('\n').unwrap_or(inside);
        if inside.trim().is_empty() {
            self.broken.push("25: an empty transcript".to_owned());
        }
        Given::Document(inside.into())
    }

    /// A call was answered; `text` is without secrets.
    pub(super) fn replied(&mut self, call: CallNumber, text: &str, finish: Finish) {
        self.replies.push((text.trim().into(), finish, call));
    }

    /// A partial result was accepted.
    pub(super) fn accepted(&mut self, key: Ident, text: &Arc<str>, origins: &mut Origins) {
        // Lines that only say the instruction again are left out of what is accepted.
        let same = |reply: &&(Arc<str>, Finish, CallNumber)| {
            let mut said = reply.0.lines();
            reply.0 == *text
                || text
                    .lines()
                    .all(|line| said.any(|l| l.trim() == line.trim()))
        };
        let good = |finish| matches!(finish, Finish::Stop | Finish::ToolCalls);
        let made = self.replies.iter().filter(same).filter(|r| good(r.1));
        let calls: Vec<CallNumber> = made.map(|r| r.2).collect();
        if calls.is_empty() || text.trim().is_empty() {
            self.broken.push(format!("27: {text:?} was accepted"));
        }
        let of_call =
            |(call, given): &(CallNumber, Given)| calls.contains(call).then(|| given.clone());
        let given: Vec<Given> = self.calls.iter().filter_map(of_call).collect();
        self.read.extend(given.iter().cloned());
        self.accepted.push(text.clone());
        origins.0.insert(key, given);
    }

    /// The cache was asked.
    pub(super) fn cached(&mut self, key: Ident, found: Option<&Arc<str>>, origins: &Origins) {
        if let Some(text) = found {
            self.accepted.push(text.clone());
            let given = origins.0.get(&key).into_iter().flatten();
            self.read.extend(given.cloned());
        }
    }

    /// 24: whether a model read this text, as a transcript spells it, wherever chunks were cut.
    pub(super) fn has_read(&self, text: &str) -> bool {
        let documents: Vec<&str> = self
            .read
            .iter()
            .filter_map(|given| match given {
                Given::Document(document) => Some(document.as_ref()),
                Given::Replay => None,
            })
            .collect();
        if documents.len() < self.read.len() {
            return true;
        }
        samples(text).iter().all(|sample| {
            // A piece of nothing but blanks is not sent.
            let is_blank = |text: &str| text.trim().is_empty();
            let is_across = |cut: usize| {
                let Some((end, start)) = sample.split_at_checked(cut) else {
                    return false;
                };
                (is_blank(end) || documents.iter().any(|d| d.ends_with(end)))
                    && (is_blank(start) || documents.iter().any(|d| d.starts_with(start)))
            };
            is_blank(sample)
                || documents.iter().any(|d| d.contains(sample.as_str()))
                || (1..sample.len()).any(is_across)
        })
    }

    /// 27: whether a summary is made of nothing but accepted partial results, behind the `earlier` one where
    /// that stays. Notes of the check against the source are no part of it.
    pub(super) fn made(
        &self,
        summary: &str,
        policy: &SummaryPolicy,
        earlier: Option<&str>,
    ) -> bool {
        let (mut summary, mut is_segment) = (summary, false);
        let stays = policy.rolling == Rolling::Segments;
        if let Some(rest) = earlier
            .filter(|_| stays)
            .and_then(|e| summary.strip_prefix(e.trim_end()))
        {
            // A segment that says nothing new is none.
            if rest.trim().is_empty() {
                return true;
            }
            if let Some(rest) = rest.strip_prefix("\n\n") {
                summary = rest;
                is_segment = true;
            }
        }
        // Lines are left out: what the summary so far says is not said again.
        if is_segment && self.says_lines(summary) {
            return true;
        }
        match policy.fidelity {
            Fidelity::Off => is_made(summary, &self.accepted),
            Fidelity::Flag => {
                // A model may repeat a note that it read in the summary so far.
                let accepted: Vec<String> = self.accepted.iter().map(|p| plain(p)).collect();
                is_made(&plain(summary), &accepted) || is_made(summary, &self.accepted)
            }
            // Lines are left out, and what the log shows takes the place of others.
            Fidelity::Cut => self.says_lines(summary),
        }
    }

    /// The accepted texts, for a message.
    pub(super) fn said(&self) -> String {
        format!("{:?}", self.accepted)
    }

    /// Each line stands in an accepted text, or is what the log shows in place of one.
    fn says_lines(&self, summary: &str) -> bool {
        summary.lines().all(|line| {
            let line = without_notes(line);
            line.starts_with("- ") || self.accepted.iter().any(|part| part.contains(line))
        })
    }
}

/// A line without the notes behind it.
fn without_notes(line: &str) -> &str {
    let marks = [
        " [not found in the messages: ",
        " [the log shows otherwise: ",
        " [the log does not show this]",
    ];
    let first = marks.iter().filter_map(|mark| line.find(mark)).min();
    &line[..first.unwrap_or(line.len())]
}

/// Letters of a sample.
const SAMPLE: usize = 24;

/// The beginning, the middle and the end of a text, as a transcript spells them.
fn samples(text: &str) -> Vec<String> {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let piece = |from: usize| {
        let from = boundary(from.min(text.len()));
        let raw = &text[from..boundary((from + SAMPLE).min(text.len()))];
        raw.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let mut out = vec![piece(0)];
    if text.len() > SAMPLE {
        out.push(piece(text.len() / 2));
        out.push(piece(text.len() - SAMPLE));
    }
    out
}

/// A text without the notes of the check against the source.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(without_notes).collect();
    lines.join("\n")
}

/// Whether `summary` is some of `accepted`, one behind the other.
fn is_made(summary: &str, accepted: &[impl AsRef<str>]) -> bool {
    let mut rest = summary;
    while !rest.is_empty() {
        let fits = accepted
            .iter()
            .map(AsRef::as_ref)
            .filter(|part| rest.starts_with(part));
        let Some(part) = fits.max_by_key(|part| part.len()).filter(|p| !p.is_empty()) else {
            return false;
        };
        rest = &rest[part.len()..];
        rest = rest.strip_prefix("\n\n").unwrap_or(rest);
    }
    !summary.trim().is_empty()
}
