//! What must hold after every attempt and every step of a life, by the numbers of the invariants.

use conspectus_core::count::{Scaling, Weight};
use conspectus_core::id::{Handle, RecordId};
use conspectus_core::outcome::{Outcome, Reason, Report};
use conspectus_core::patch::Patch;
use conspectus_core::policy::{Counted, Preset, PruneWhen, UsageRule};
use conspectus_core::projection::{BlockKind, Piece, Projection};
use conspectus_core::record::Author;
use conspectus_core::thread::Size;
use conspectus_core::view::{MessageView, PartKind, PartRef, Role, Texts};

use conspectus_core::redact::{Redactor, Shown};

use super::reading::Reading;
use super::scene::{Checked, Scene};
use crate::simulate::invariants::{self, Given};

/// What excuses an attempt.
#[derive(Clone, Copy)]
pub(super) struct Lenient {
    /// An answer came late and takes its stand-in's place in the frozen part.
    pub(super) late_answers: bool,
    /// The store denied a record that it had.
    pub(super) misled: bool,
}

/// What was sent after the step before.
pub(super) struct Last {
    record: Option<RecordId>,
    request: Projection,
    messages: usize,
}

/// What a request weighs, part by part.
#[derive(Clone, Copy, Default)]
struct Weighed {
    messages: Weight,
    blocks: Weight,
}

impl Scene<'_> {
    /// 33 and 38: either nothing changed but what came late and was pruned, or there is a complete new record.
    pub(super) fn all_or_nothing(
        &self,
        before: &Projection,
        records: usize,
        lenient: Lenient,
        report: Option<&Report>,
    ) -> Checked {
        let new = &self.thread.records()[records..];
        let summaries = |id| self.thread.record(id).map_or(0, |r| r.summaries);
        let summarised = new
            .iter()
            .any(|r| r.summaries > r.parent.map_or(0, summaries));
        let after = self.thread.projection();
        let kept: Vec<_> = after.pieces().collect();
        let were: Vec<_> = before.pieces().collect();
        // An answer that came late takes its stand-in's place.
        // Limits that are always in force decide an older result when a newer one comes.
        let prune = self.thread.policy().prune;
        let is_live = prune.is_some_and(|p| p.when == PruneWhen::Always);
        let is_same = kept.starts_with(&were) || is_live;
        if new.is_empty() && !lenient.late_answers && !is_same {
            return Err("33: the request changed without a record".to_owned());
        }
        let Some(report) = report else {
            return Ok(());
        };
        match report.outcome {
            Outcome::Compacted if !summarised => Err(format!(
                "33: compacted without a summary's record, {} of pruning",
                new.len()
            )),
            Outcome::Pruned if new.is_empty() => Err("33: pruned without a record".to_owned()),
            Outcome::Failed | Outcome::Rejected | Outcome::Cancelled
                if summarised && !lenient.misled =>
            {
                Err(format!(
                    "33: {} although a summary was committed",
                    report.outcome
                ))
            }
            _ => Ok(()),
        }
    }

    /// 12: by the same counter over the same parts, by at least the minimum gain. 17: what does not fit is told.
    pub(super) fn smaller(
        &self,
        before: &Projection,
        size: &Size,
        report: &Report,
        came_late: bool,
    ) -> Checked {
        let measured = &report.measured;
        let Some(after) = measured.tokens_after else {
            return Err("46: compacted without a size after".to_owned());
        };
        let Some(record) = self.thread.active() else {
            return Err("33: compacted, but no record is in force".to_owned());
        };
        let counter = self.src.counter;
        let known = self.thread.branch().position(record.upto);
        let known: Vec<Handle> = self.thread.branch().views()[..known.map_or(0, |at| at + 1)]
            .iter()
            .map(|v| v.handle)
            .collect();
        let fixed = self.thread.fixed().weight;
        let tokens = |request: &Projection, is_after: bool| {
            let weighed = self.weigh(request.pieces().filter(|piece| match piece {
                Piece::Keep(handle) | Piece::Edit(handle, _) => known.contains(handle),
                // What came late may be what a call was passed over by.
                Piece::Insert(block) => {
                    let is_stand_in = matches!(block.kind, BlockKind::Answer { .. });
                    !(came_late && is_after && is_stand_in)
                }
            }));
            counter.tokens(fixed + weighed.messages + weighed.blocks)
        };
        let (was, is) = (
            tokens(before, false),
            tokens(&self.thread.projection(), true),
        );
        let permille = u64::from(self.thread.policy().minimum_gain_permille);
        let gain = (size.request * permille / 1000).max(1);
        // The peers do not look at the size of what they take.
        let is_parity = self.thread.policy().follows_peer();
        if !is_parity && (is + gain > was || after >= measured.tokens_before) {
            let (told, then) = (after, measured.tokens_before);
            return Err(format!(
                "12: {is} tokens after, {was} before, least gain {gain} (told: {told}, {then})"
            ));
        }
        if !size.reported && !came_late && after != is {
            return Err(format!("46: {after} tokens after are told, {is} are sent"));
        }
        let policy = self.thread.policy();
        let told = report.reasons.contains(&Reason::OverLimit);
        let in_request_tokens = !size.reported && policy.counted == Counted::Request;
        // By what reports of usage taught about the counter.
        let corrected = is.saturating_add_signed(self.thread.size(self.src).offset);
        if in_request_tokens && !came_late && corrected > policy.input_limit() && !told {
            return Err(format!(
                "17: {corrected} tokens ({is} counted) do not fit, and nobody is told"
            ));
        }
        let cap = policy.summary.max_tokens;
        let summary = record.summary.as_ref().map_or("", |s| &s.text);
        let long = counter.tokens(counter.text(summary));
        if long > cap && !is_parity {
            return Err(format!("28: a summary of {long} tokens, cap {cap}"));
        }
        Ok(())
    }

    fn weigh<'p>(&self, pieces: impl Iterator<Item = &'p Piece>) -> Weighed {
        let counter = self.src.counter;
        let mut weighed = Weighed::default();
        for piece in pieces {
            match piece {
                Piece::Insert(block) => weighed.blocks += counter.added_message(&block.text),
                Piece::Keep(handle) => weighed.messages += self.weight(*handle),
                Piece::Edit(handle, patches) => {
                    let patched = |v| counter.patched(v, self.src.texts, patches);
                    weighed.messages += self.all.get(handle.0 as usize).map_or(0, patched);
                }
            }
        }
        weighed
    }

    fn weight(&self, handle: Handle) -> Weight {
        self.weights.get(handle.0 as usize).copied().unwrap_or(0)
    }

    /// 22: an attempt that came to nothing leaves the size, and reports of usage count as before.
    pub(super) fn unmoved(&self, before: &Size) -> Checked {
        let now = self.thread.size(self.src);
        if now != *before {
            return Err(format!("22: without a record, {now:?} after {before:?}"));
        }
        Ok(())
    }

    /// 11, 19: an attempt of its own begins only over a trigger, and not while a call is being answered.
    pub(super) fn may_start(&self, size: &Size) -> Checked {
        let policy = self.thread.policy();
        let soft = policy.soft_tokens.is_some_and(|soft| size.tokens >= soft);
        if !soft && !self.thread.is_triggered(size) {
            return Err("11: an attempt begins below every trigger".to_owned());
        }
        let branch = self.thread.branch();
        let newest = branch
            .views()
            .iter()
            .rposition(|v| v.role == Role::Assistant);
        let is_spoken_after = |at: usize| branch.views()[at..].iter().any(|v| v.is_user_request());
        let open = newest.filter(|at| !is_spoken_after(*at)).is_some_and(|at| {
            let calls = branch.units().calls().iter().filter(|c| c.at == at);
            calls
                .filter(|c| !self.pending.contains(c.id.as_str()))
                .any(|c| c.answers.is_empty())
        });
        if open
            && branch
                .views()
                .last()
                .is_some_and(|v| v.role != Role::System)
        {
            return Err("19: an attempt begins between a call and its answers".to_owned());
        }
        Ok(())
    }

    /// 24, 27 and 29: what a model's summary replaced was shown to a model, the summary before it included, and
    /// the summary is what the model said.
    pub(super) fn covered(
        &self,
        before: &Projection,
        records: usize,
        calls: usize,
        reading: &Reading,
    ) -> Checked {
        let Some(record) = self.thread.active() else {
            return Ok(());
        };
        let Some(summary) = record.summary.as_ref() else {
            return Err("33: compacted without a summary".to_owned());
        };
        if summary.author == Author::Digest {
            return Ok(());
        }
        let new = &self.thread.records()[records..];
        let parent = new.first().and_then(|r| r.parent);
        let parent = parent.and_then(|id| self.thread.record(id));
        let earlier = parent.and_then(|r| r.summary.as_ref());
        // Where what went says nothing the summary stays, and nobody is asked.
        let stayed = calls == 0 && earlier == Some(summary);
        let policy = &self.thread.policy().summary;
        if !stayed && !reading.made(&summary.text, policy, earlier.map(|e| e.text.as_ref())) {
            return Err(format!(
                "27: {:?} is not what the model said: {} behind {earlier:?}, {:?}",
                summary.text,
                reading.said(),
                policy.rolling
            ));
        }
        if let Some(earlier) = earlier.filter(|_| !stayed)
            && !reading.has_read(earlier.text.trim_end())
        {
            return Err("29: the summary so far went unread".to_owned());
        }
        let branch = self.thread.branch();
        for (at, node) in branch.path().iter().enumerate() {
            let was = parent.is_some_and(|r| r.removed.contains(*node));
            if !record.removed.contains(*node) || was {
                continue;
            }
            let view = branch.view(at);
            // Whole, as it was sent, or as a record shortened it.
            let all = self.thread.records().iter();
            let mut shapes: Vec<&[Patch]> = vec![&[]];
            shapes.extend(all.filter_map(|r| r.patches.get(node)).map(|p| &**p));
            shapes.extend(before.pieces().filter_map(|piece| match piece {
                Piece::Edit(handle, patches) if *handle == view.handle => Some(&**patches),
                _ => None,
            }));
            for part in 0..view.parts.len() {
                let is_read = shapes.iter().any(|patches| {
                    let redactor = &self.thread.policy().redact;
                    let text = spoken(view, part, patches, self.src.texts, redactor);
                    text.trim().is_empty() || reading.has_read(&text)
                });
                if !is_read {
                    return Err(format!("24: part {part} of message {at} went unread"));
                }
            }
        }
        Ok(())
    }

    /// Nous's pruning goes by its own sizes, and can make a result longer.
    pub(super) fn prunes_as_nous(&self) -> bool {
        let policy = self.thread.policy();
        policy.follows_peer() && policy.preset == Preset::Nous
    }

    /// What must hold after every step.
    pub(super) fn check(&mut self) -> Checked {
        let request = self.thread.projection();
        let record = self.thread.active().cloned();
        let messages = self.thread.branch().len();
        let id = record.as_ref().map(|r| r.id);
        let is_same = self
            .last
            .as_ref()
            .is_some_and(|l| l.record == id && l.messages == messages && l.request == request);
        self.sized(&request)?;
        if is_same {
            return Ok(());
        }
        let given = Given {
            branch: self.thread.branch(),
            pending: &self.pending,
            record: record.as_deref(),
        };
        let mut found = invariants::broken(given, &request);
        let prune = self.thread.policy().prune;
        if !self.prunes_as_nous() {
            let all = &self.all;
            let view = |handle: Handle| all.get(handle.0 as usize);
            let (texts, limits) = (self.src.texts, prune.as_ref());
            found.extend(self.shortened.broken(&request, &view, texts, limits));
        }
        if let Some(first) = found.first() {
            return Err(format!("{}: {}", first.number, first.what));
        }
        if let Some(record) = &record {
            self.kept(record, &request)?;
        }
        let always = prune.is_some_and(|p| p.when == PruneWhen::Always);
        if record.is_none() && !request.is_untouched() && !always {
            return Err("11: no record, and yet the request is changed".to_owned());
        }
        if let Some(last) = self.last.as_ref().filter(|l| l.record == id) {
            grown(&last.request, &request)?;
        }
        let is_new = self.last.as_ref().is_none_or(|l| l.record != id);
        if let Some(rendered) = self.rendered.filter(|_| is_new || record.is_none()) {
            let views = self.thread.branch().views();
            if rendered.check(views, &request)? {
                self.story.note("requests rendered and judged");
            }
        }
        self.last = Some(Last {
            record: id,
            request,
            messages,
        });
        Ok(())
    }

    /// 21: the size is what is sent, however it came about, and reports count only while what they measured is
    /// in force.
    fn sized(&self, request: &Projection) -> Checked {
        let (policy, counter) = (self.thread.policy(), self.src.counter);
        let size = self.thread.size(self.src);
        let weighed = self.weigh(request.pieces());
        let fixed = self.thread.fixed().weight;
        let all = counter.tokens(fixed + weighed.messages + weighed.blocks);
        // In the peers' lists the summary is a message.
        let is_listed = policy.counted == Counted::Messages && policy.follows_peer();
        let counted = match policy.counted {
            Counted::Request => all,
            Counted::Messages if !is_listed => counter.tokens(weighed.messages),
            _ => counter.tokens(weighed.messages + weighed.blocks),
        };
        if (size.request, size.estimated) != (all, counted) {
            let (told, estimated) = (size.request, size.estimated);
            return Err(format!(
                "21: a size of {told} ({estimated} counted), {all} ({counted} counted) are sent"
            ));
        }
        let branch = self.thread.branch();
        let record = self.thread.active();
        let from = record.map_or(0, |r| branch.position(r.upto).map_or(0, |at| at + 1));
        let id = record.map(|r| r.id);
        let is_valid = |at: &usize| {
            let usage = branch.view(*at).usage.as_ref();
            let under = self.reports.get(&branch.path()[*at]);
            usage.is_some_and(|u| u.input > 0) && under == Some(&id)
        };
        let anchor = (from..branch.len()).rev().find(is_valid);
        let anchor = anchor.filter(|_| policy.usage == UsageRule::Anchor);
        let scales = policy.usage == UsageRule::Scale;
        let unanchored = if scales {
            self.scaled(request)
        } else {
            // What earlier reports taught, and never without one; at most half of the count.
            let is_taught = policy.usage == UsageRule::Anchor && !self.reports.is_empty();
            let most = if is_taught { counted / 2 } else { 0 };
            if size.offset.unsigned_abs() > most {
                return Err(format!("21: {counted} corrected by {}", size.offset));
            }
            counted.saturating_add_signed(size.offset)
        };
        // The report of a request that was sent before a commit measures nothing that is shown now: an older one may.
        let expect = anchor.map_or(unanchored, |at| {
            let context = branch.view(at).usage.as_ref().map_or(0, |u| u.context());
            let behind = branch.views()[at + 1..].iter();
            let behind: Weight = behind.map(|v| self.weight(v.handle)).sum();
            context.saturating_add(counter.tokens(behind))
        });
        if size.tokens != expect || size.reported != anchor.is_some() {
            return Err(format!(
                "21: {} tokens ({}, reported: {}, unanchored {unanchored}), {expect} expected of {anchor:?}",
                size.tokens, size.offset, size.reported
            ));
        }
        Ok(())
    }
}

impl Scene<'_> {
    /// LangChain's scaling over the whole list that is sent.
    fn scaled(&self, request: &Projection) -> u64 {
        let policy = self.thread.policy();
        let branch = self.thread.branch();
        let record = self.thread.active();
        let from = record.map_or(0, |r| branch.position(r.upto).map_or(0, |at| at + 1));
        let is_peer = record.is_some_and(|r| r.peer.is_some());
        let mut messages = Vec::new();
        for piece in request.pieces() {
            let (handle, patches): (_, &[Patch]) = match piece {
                Piece::Insert(_) => continue,
                Piece::Keep(handle) => (*handle, &[]),
                Piece::Edit(handle, patches) => (*handle, patches),
            };
            let at = branch.views().iter().position(|v| v.handle == handle);
            let at = at.unwrap_or_default();
            let mut view = branch.view(at).as_ref().clone();
            let under = self.reports.get(&branch.path()[at]);
            let is_valid = at >= from && under == Some(&record.map(|r| r.id));
            if let Some(usage) = view.usage.as_mut().filter(|_| !is_valid && !is_peer) {
                usage.reported_total = None;
            }
            let weight = match patches {
                [] => self.weight(handle),
                patches => self.src.counter.patched(&view, self.src.texts, patches),
            };
            messages.push((view, weight));
        }
        let mut scaling = Scaling::default();
        for (at, (view, weight)) in messages.iter().enumerate() {
            scaling.add(at, view, *weight, true);
        }
        let shows = u64::from(record.is_some_and(|r| r.summary.is_some()));
        let blocks = (shows, self.weigh(request.pieces()).blocks);
        match policy.counted {
            Counted::Messages if !policy.follows_peer() => scaling.total((0, 0), (0, 0)),
            // The peers' summary is the first of the list, deer-flow's one more behind it.
            _ if policy.preset == Preset::Deerflow => scaling.total((0, 0), blocks),
            _ => scaling.total(blocks, (0, 0)),
        }
    }
}

/// 43: between two compactions a request only grows at its end, but for parts that are shortened for the first
/// time, stand-ins whose answer came after all, and those of calls that a person spoke over meanwhile.
fn grown(old: &Projection, new: &Projection) -> Checked {
    let stand_in = |piece: &Piece| match piece {
        Piece::Insert(block) => match &block.kind {
            BlockKind::Answer { id, .. } => Some(id.clone()),
            _ => None,
        },
        _ => None,
    };
    let stand_ins = |p: &Projection| -> Vec<_> { p.frozen.iter().filter_map(stand_in).collect() };
    if old.frozen != new.frozen {
        return match stand_ins(new) == stand_ins(old) {
            true => Err("43: the frozen part changed without a compaction".to_owned()),
            false => Ok(()),
        };
    }
    for (at, was) in old.tail.iter().enumerate() {
        let is = new.tail.get(at);
        let shortened = match (was, is) {
            (Piece::Keep(a), Some(Piece::Edit(b, _))) => a == b,
            (Piece::Edit(a, few), Some(Piece::Edit(b, more))) => a == b && more.len() > few.len(),
            _ => false,
        };
        if is != Some(was) && !shortened {
            return Err("43: what was sent changed without a compaction".to_owned());
        }
    }
    Ok(())
}

/// What a transcript says of a part; nothing of thoughts and media.
fn spoken(
    view: &MessageView,
    part: usize,
    patches: &[Patch],
    texts: &dyn Texts,
    redactor: &Redactor,
) -> String {
    let silent = match view.parts[part].kind {
        PartKind::Text | PartKind::Call { .. } | PartKind::Result { .. } => false,
        PartKind::Reasoning { .. } | PartKind::Media(_) | PartKind::Opaque { .. } => true,
    };
    let Ok(part) = u16::try_from(part) else {
        return String::new();
    };
    if silent {
        return String::new();
    }
    let message = view.handle;
    let shown = Shown::patched(texts, redactor, message, patches);
    shown.text(PartRef { message, part }).into_owned()
}
