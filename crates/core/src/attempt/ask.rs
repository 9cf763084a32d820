//! What one call of a model is given, and what its reply comes to.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Attempt;
use super::summarise::Work;
use crate::effect::{Refusal, Reply, Route, SummaryInput, SummaryRequest};
use crate::outcome::Reason;
use crate::parity::{self, Given, Trim};
use crate::planted::{Bug, planted};
use crate::policy::{AnswerForm, Preset, Rolling, ToolResults};
use crate::project;
use crate::projection::Piece;
use crate::record::{Author, Summary};
use crate::redact::{Redactor, Shown};
use crate::summary::{self, Ask, Passage};
use crate::thread::Sources;
use crate::unit::Pos;

impl Attempt {
    pub(super) fn request(&self, work: &Work, at: usize, src: Sources<'_>) -> SummaryRequest {
        let as_fields = self.asks_fields(&work.route);
        let instruction = self.instruction(work.repair(at), &work.route, work.level, src);
        let max_output_tokens = self.room_for_text(src).min(work.route.max_output);
        let (input, input_tokens) = if work.route.replay && work.level == 0 {
            let tokens = self.replay_tokens(&instruction, src);
            let conversation = self.conversation();
            (
                SummaryInput::Replay {
                    conversation,
                    instruction: instruction.into(),
                },
                tokens,
            )
        } else {
            let document = summary::document(&work.chunks[at]);
            let weight = src.counter.added_message(&document) + src.counter.text(&instruction);
            let input = SummaryInput::Transcript {
                system: instruction.into(),
                document: document.into(),
            };
            (input, src.counter.tokens(weight))
        };
        SummaryRequest {
            input,
            input_tokens,
            max_output_tokens,
            as_fields,
        }
    }

    /// What the conversation and the instruction behind it hold, whatever part of it the policy counts.
    pub(super) fn replay_tokens(&self, instruction: &str, src: Sources<'_>) -> u64 {
        let size = &self.s.size;
        size.tokens.max(size.request) + src.counter.tokens(src.counter.text(instruction))
    }

    /// The conversation as it was sent last, patches included.
    pub(super) fn conversation(&self) -> Arc<[Piece]> {
        let s = &self.s;
        let tail = (s.frozen_end..s.branch.len()).filter_map(|at| {
            project::tail_piece(&s.branch, at, &|at| s.is_left_behind(at), &s.live)
        });
        s.frozen.iter().cloned().chain(tail).collect()
    }

    pub(super) fn instruction(
        &self,
        repair: Option<Refusal>,
        route: &Route,
        level: u32,
        src: Sources<'_>,
    ) -> String {
        let text = summary::instruction(&Ask {
            custom: self.s.policy.summary.prompt.as_deref(),
            focus: self.s.focus.as_deref(),
            max_tokens: self.room_for_text(src),
            replays: route.replay && level == 0,
            as_fields: self.asks_fields(route),
            // Partial summaries of this time are merged; the segments that stay are not among them.
            continues: level == 0 && self.first_segments(src).is_some(),
            repair,
        });
        self.s.policy.redact.redact(&text).into_owned()
    }

    /// What takes secrets out of what a model is given.
    pub(super) fn redactor(&self) -> Redactor {
        if planted(Bug::SecretShown) {
            return Redactor::off();
        }
        self.s.policy.redact.clone()
    }

    /// The host's own prompt says itself how it wants the answer; a replayed request is not held to a schema, which would
    /// be another request.
    pub(super) fn asks_fields(&self, route: &Route) -> bool {
        let s = &self.s.policy.summary;
        route.takes_schema && !route.replay && s.form == AnswerForm::Fields && s.prompt.is_none()
    }

    /// The summary so far, where it stays and a segment is added: a model wrote it and it leaves room for as
    /// much again; with its size.
    fn first_segments(&self, src: Sources<'_>) -> Option<(&Summary, u64)> {
        let s = &self.s;
        let before = s.active.as_ref()?.summary.as_ref()?;
        let size = src.counter.tokens(src.counter.text(&before.text));
        let stays = s.policy.summary.rolling == Rolling::Segments
            && matches!(before.author, Author::Model(_))
            && size <= s.policy.summary.max_tokens / 2;
        stays.then_some((before, size))
    }

    /// Tokens that the model's own text may have.
    pub(super) fn room_for_text(&self, src: Sources<'_>) -> u64 {
        let kept = self.first_segments(src).map_or(0, |(_, size)| size);
        self.s.policy.summary.max_tokens.saturating_sub(kept)
    }

    /// What is committed of the model's `text`: behind the segments that stay, and checked against its source.
    pub(super) fn finished(&mut self, text: &str, src: Sources<'_>) -> String {
        let text = &self.s.policy.redact.redact(text);
        let source = self.passages(src);
        let source = source.iter().map(|passage| passage.0.as_ref());
        // What the log shows is quoted in the summary.
        let ledger = self.s.ledger.redacted(&self.s.policy.redact);
        let checked = summary::check(text, source, &ledger, self.s.policy.summary.fidelity);
        self.reasons
            .retain(|reason| !matches!(reason, Reason::Unfounded(_) | Reason::Overridden(_)));
        if checked.unfounded > 0 {
            self.reasons.push(Reason::Unfounded(checked.unfounded));
        }
        if checked.overridden > 0 {
            self.reasons.push(Reason::Overridden(checked.overridden));
        }
        match self.first_segments(src) {
            Some((before, _)) => behind(&before.text, &checked.text),
            None => checked.text,
        }
    }

    /// The summary so far and one passage for each unit that goes.
    pub(super) fn passages(&self, src: Sources<'_>) -> Vec<Passage> {
        let s = &self.s;
        if let Some(peer) = s.peer() {
            return self.passages_as(peer, src);
        }
        let summaries = s.summaries.iter();
        let mut passages: Vec<Passage> = summaries.map(|text| Passage::earlier(text)).collect();
        let going: Vec<_> = s.plan.going().collect();
        let redactor = self.redactor();
        let shown = |at: Pos| {
            let handle = s.branch.view(at).handle;
            Shown::patched(src.texts, &redactor, handle, self.patches_at(at))
        };
        let results = s.policy.summary.tool_results;
        passages.extend(summary::passages(&s.branch, &going, results, shown));
        if planted(Bug::CoverageHole) && passages.len() > 1 {
            passages.pop();
        }
        passages
    }

    /// What the preset's original gives its summariser.
    pub(super) fn passages_as(&self, peer: Preset, src: Sources<'_>) -> Vec<Passage> {
        let s = &self.s;
        let whole = || Given {
            messages: s.plan.going().collect(),
            earlier: s.summaries.last().map(|text| text.to_string()),
            partial: None,
        };
        let given = self.given(src).unwrap_or_else(whole);
        let redactor = self.redactor();
        let shown = |at: Pos| {
            let patches = match &given.partial {
                Some((partial, patches)) if *partial == at => patches.as_slice(),
                _ => self.patches_at(at),
            };
            Shown::patched(src.texts, &redactor, s.branch.view(at).handle, patches)
        };
        let new = summary::passages(&s.branch, &given.messages, ToolResults::Include, shown);
        let before = given.earlier.as_deref();
        match peer {
            Preset::Deerflow => {
                let new: String = new.iter().map(|passage| passage.0.as_ref()).collect();
                let trim = s.policy.summary.trim_tokens.tokens();
                let (before, new) = parity::halves(before, &new, trim, src.counter);
                let before = before.as_deref().map(Passage::earlier);
                before.into_iter().chain([Passage(new.into())]).collect()
            }
            // Nous's earlier summaries stay beside the new one, which does not take them in.
            Preset::Nous => new,
            Preset::Langchain | Preset::Default => before
                .map(Passage::earlier)
                .into_iter()
                .chain(new)
                .collect(),
        }
    }

    /// What the preset's original would give its summariser, where it is followed and gives less than all.
    pub(super) fn given(&self, src: Sources<'_>) -> Option<Given> {
        let s = &self.s;
        let trim = Trim {
            preset: s.peer()?,
            branch: &s.branch,
            texts: src.texts,
            counter: src.counter,
            patches_at: &|at| self.patches_at(at),
        };
        let going: Vec<_> = s.plan.going().collect();
        let earlier = s.summaries.last().map(|text| text.as_ref());
        trim.given(&going, earlier, s.policy.summary.trim_tokens.tokens())
    }

    /// The summary that LangChain's middleware takes without a call when its trimming leaves nothing.
    pub(super) fn canned(&self, src: Sources<'_>) -> Option<&'static str> {
        self.given(src)?.is_empty().then_some(parity::NOTHING_LEFT)
    }

    /// What a reply comes to.
    ///
    /// # Errors
    /// Why it is no summary.
    pub(super) fn read(
        &self,
        work: &Work,
        at: usize,
        reply: &Reply,
        src: Sources<'_>,
    ) -> Result<String, Refusal> {
        if let Some(peer) = self.s.peer() {
            return parity::accept(reply, peer).map(str::to_owned);
        }
        let chunk = work.chunks[at].text.as_ref();
        // A replayed conversation is not in the chunk.
        let replayed = match chunk.is_empty() {
            true => self.passages(src),
            false => Vec::new(),
        };
        let given = replayed
            .iter()
            .map(|passage| passage.0.as_ref())
            .chain([chunk]);
        summary::accept(reply, given, self.asks_fields(&work.route))
    }
}

/// A segment behind those that stay, without what they say already: weak models say the goal each time.
fn behind(before: &str, segment: &str) -> String {
    let said: BTreeSet<&str> = before.lines().map(str::trim).collect();
    let is_said = |line: &str| {
        !line.trim().is_empty() && !line.starts_with('#') && said.contains(line.trim())
    };
    match summary::without_lines(segment, is_said).as_ref() {
        "" => before.to_owned(),
        new => [before, "\n\n", new].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_says_only_what_is_new() {
        let before = "## Goal\nBook it\n## State\n- asked";
        let check = |segment, expect: &str| assert_eq!(behind(before, segment), expect);
        check("## Goal\nBook it", before);
        check(
            "## Goal\nBook it\n## State\n- asked\n- paid",
            &format!("{before}\n\n## State\n- paid"),
        );
        check("## State\n- paid", &format!("{before}\n\n## State\n- paid"));
    }
}
