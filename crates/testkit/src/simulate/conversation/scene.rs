//! Plays a life step by step, and checks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use conspectus_core::attempt::Attempt;
use conspectus_core::count::{Bytes4, Estimator, LangChain, TokenCounter};
use conspectus_core::effect::{Event, Failure, Input, Route};
use conspectus_core::id::{CallId, Ident};
use conspectus_core::outcome::{Outcome, Report};
use conspectus_core::policy::PruneWhen;
use conspectus_core::projection::{Piece, Projection};
use conspectus_core::thread::{Decision, Fixed, Manual, Recovery, Sources, Thread};
use conspectus_core::view::{MessageView, PartKind, PartRef, Role, Texts};

use super::outside::{Outside, Running};
use super::{Fault, Life, Story, policy};
use crate::clock::FakeClock;
use crate::faults::FaultPlan;
use crate::model::ScriptedModel;
use crate::rng::Rng;
use crate::shape;
use crate::simulate::invariants::{self, Given};
use crate::simulate::{Agenda, Ended, Limits, Traced, digest, replay, run};
use crate::transcript::MemoryTexts;

/// A life that is being played.
pub(super) struct Scene<'a> {
    src: Sources<'a>,
    texts: &'a MemoryTexts,
    thread: Thread,
    rng: Rng,
    clock: FakeClock,
    faults: FaultPlan,
    model: ScriptedModel,
    routes: Vec<Route>,
    cache: BTreeMap<Ident, Arc<str>>,
    upcoming: VecDeque<MessageView>,
    pending: BTreeSet<String>,
    asked: Vec<String>,
    crashes: u8,
    story: Story,
    did: String,
    /// A compaction was committed and nothing happened since.
    settled: bool,
}

/// What excuses an attempt.
#[derive(Clone, Copy)]
struct Lenient {
    /// An answer came late and takes its stand-in's place in the frozen part.
    late_answers: bool,
    /// The store denied a record that it had.
    misled: bool,
}

type Checked = Result<(), String>;

impl<'a> Scene<'a> {
    pub(super) fn play(life: &Life) -> Result<Story, Box<Fault>> {
        let (views, texts, _) = life.talk.views(life.format);
        let mut rng = Rng::new(life.seed ^ 0x51_7e);
        let counter: &dyn TokenCounter = match rng.below(4) {
            0 => &Bytes4,
            1 => &LangChain::DEFAULT,
            _ => &Estimator,
        };
        let src = Sources {
            texts: &texts,
            counter,
        };
        let weight = views.iter().map(|v| counter.message(v, &texts)).sum();
        let policy = policy::policy(&mut rng, counter.tokens(weight));
        let mut scene = Scene {
            src,
            texts: &texts,
            thread: Thread::new(Arc::new(policy)),
            clock: FakeClock::at(1_000),
            faults: FaultPlan::new(rng.next_u64(), life.faults),
            model: ScriptedModel::new(policy::behaviour(&mut rng)),
            routes: policy::routes(&mut rng),
            cache: BTreeMap::new(),
            upcoming: views.into(),
            pending: life.talk.pending.iter().cloned().collect(),
            asked: Vec::new(),
            crashes: life.crashes,
            story: Story::default(),
            did: String::new(),
            settled: false,
            rng,
        };
        let pending = scene.pending.iter().map(|id| CallId::from(id.as_str()));
        scene.thread.set_pending(pending.collect(), src);
        for step in 1..=life.steps {
            let before = scene.thread.projection();
            if let Err(what) = scene.step().and_then(|()| scene.check()) {
                return Err(Box::new(scene.fault(step, what, &before)));
            }
        }
        scene.story.digest = digest(&(&scene.thread, &scene.asked, scene.clock.now()));
        Ok(scene.story)
    }

    fn fault(&self, step: usize, what: String, before: &Projection) -> Fault {
        let history = self.history();
        let shape = |p: &Projection| shape::of_projection(p, &history, self.texts);
        let (before, after) = (shape(before), shape(&self.thread.projection()));
        Fault {
            step,
            did: self.did.clone(),
            what,
            shape: format!("before:\n{before}after:\n{after}"),
        }
    }

    fn history(&self) -> Vec<MessageView> {
        let views = self.thread.branch().views().iter();
        views.map(|v| v.as_ref().clone()).collect()
    }

    fn did(&mut self, what: &str) {
        what.clone_into(&mut self.did);
        self.story.note(what);
    }

    fn step(&mut self) -> Checked {
        match self.rng.below(100) {
            0..55 => {
                self.append();
                self.ask_before_call()
            }
            55..65 => self.ask_before_call(),
            65..75 => self.command(),
            75..80 => self.overflow(),
            80..84 => {
                self.did("undo");
                self.thread.undo(self.src);
                self.settled = false;
                Ok(())
            }
            84..87 => {
                self.did("redo");
                self.thread.redo(self.src);
                self.settled = false;
                Ok(())
            }
            87..90 => {
                self.did("pin");
                let path = self.thread.branch().path();
                if !path.is_empty() {
                    let node = *self.rng.pick(path);
                    // Pinning what was folded brings nothing back.
                    let at = self.thread.branch().position(node);
                    if at.is_some_and(|at| !self.thread.is_folded(at)) {
                        self.thread.pin(node);
                    }
                }
                self.settled = false;
                Ok(())
            }
            90..93 => {
                self.did("rewind");
                let path = self.thread.branch().path();
                if !path.is_empty() {
                    let head = *self.rng.pick(path);
                    self.thread.move_head(Some(head), self.src);
                }
                self.settled = false;
                Ok(())
            }
            93..95 => {
                self.did("other system text");
                let text = "Be brief. ".repeat(self.rng.below(8));
                let fixed = Fixed::of([text.as_str()], self.src.counter);
                self.thread.set_fixed(fixed);
                self.settled = false;
                Ok(())
            }
            _ => {
                self.did("time passes");
                let ms = *self.rng.pick(&[10, 5_000, 40_000]);
                self.clock.advance(ms);
                Ok(())
            }
        }
    }

    fn append(&mut self) {
        let count = self.rng.between(1, 4).min(self.upcoming.len());
        if count > 0 {
            self.story.note("append");
            let views: Vec<_> = self.upcoming.drain(..count).collect();
            self.thread.append(views, self.src);
            self.settled = false;
        }
    }

    fn ask_before_call(&mut self) -> Checked {
        self.did("check");
        let routes = self.routes.clone();
        let decision = self.thread.before_call(self.clock.now(), &routes, self.src);
        if self.settled
            && let Decision::Start(attempt, _) = &decision
        {
            let (goes, size) = (attempt.plan().going().count(), self.thread.size(self.src));
            let policy = self.thread.policy();
            return Err(format!(
                "13: another attempt right after a compaction, to fold {goes} messages of {} at {} tokens, triggers {:?}, keep {:?}",
                size.messages, size.tokens, policy.triggers, policy.keep
            ));
        }
        self.decided(decision)
    }

    fn command(&mut self) -> Checked {
        self.did("command");
        let routes = if self.rng.percent(70) {
            self.routes.clone()
        } else {
            Vec::new()
        };
        let request = Manual {
            force: self.rng.percent(80),
            below_keep: self.rng.percent(30),
            focus: self.rng.percent(20).then(|| "the tests".into()),
            routes,
            ..Manual::default()
        };
        let decision = self.thread.manual(self.clock.now(), &request, self.src);
        self.decided(decision)
    }

    fn overflow(&mut self) -> Checked {
        self.did("overflow");
        let error = Failure::ContextOverflow { limit: None };
        let now = self.clock.now();
        match self
            .thread
            .provider_error(now, &error, &self.routes, self.src)
        {
            Recovery::Compact(attempt) => self.attempt(*attempt),
            Recovery::GiveUp(report) => self.reported(&report),
        }
    }

    fn decided(&mut self, decision: Decision) -> Checked {
        match decision {
            Decision::Send(report) => self.reported(&report),
            Decision::Start(attempt, _) => self.attempt(*attempt),
            Decision::Wait(_) => Err("37: told to wait although nothing is under way".to_owned()),
        }
    }

    /// A check that made no attempt.
    fn reported(&mut self, report: &Report) -> Checked {
        self.story.note(report.outcome.as_str());
        match report.outcome {
            Outcome::Skipped
            | Outcome::NothingToCompact
            | Outcome::Disabled
            | Outcome::Deferred
            | Outcome::Conflict => Ok(()),
            other => Err(format!("46: {other} without an attempt")),
        }
    }

    fn attempt(&mut self, attempt: Attempt) -> Checked {
        let id = attempt.id();
        let before = self.thread.projection();
        let records = self.thread.records().len();
        let crash_after = self.rng.percent(self.crashes).then(|| self.rng.below(14));
        let late = *self.rng.pick(&[0, 0, 4, 25]);
        let mut machine = Running {
            attempt,
            src: self.src,
        };
        let first = machine.clone();
        let mut outside = Outside {
            thread: &mut self.thread,
            src: self.src,
            rng: self.rng.fork(),
            faults: &mut self.faults,
            model: &mut self.model,
            cache: &mut self.cache,
            upcoming: &mut self.upcoming,
            late,
            asked: &mut self.asked,
            story: &mut self.story,
            events: Vec::new(),
            calls: 0,
            appended: 0,
            late_answers: false,
            misled: false,
        };
        let limits = Limits {
            crash_after,
            ..Limits::default()
        };
        let now = self.clock.now();
        let run = run(
            &mut machine,
            &mut outside,
            &mut Agenda::default(),
            now,
            limits,
        );
        let (events, appended, calls) = (outside.events, outside.appended, outside.calls);
        let lenient = Lenient {
            late_answers: outside.late_answers,
            misled: outside.misled,
        };
        self.clock.advance_to(run.now);
        self.did = format!("{} and an attempt of {calls} calls", self.did);
        let again =
            replay(first, &run.trace).map_err(|at| format!("48: replay differs at {at}"))?;
        if digest(&again) != digest(&machine) {
            return Err("48: replay ends in another state".to_owned());
        }
        let report = match run.ended {
            Ended::Done(report) => report,
            Ended::Crashed => {
                self.story.note("crashed");
                self.thread.ended(id, Outcome::Cancelled, run.now);
                self.settled = false;
                return self.all_or_nothing(&before, records, lenient, None);
            }
            Ended::Stuck => return Err("35: the attempt waits for ever".to_owned()),
            Ended::Endless => {
                return Err(format!(
                    "35: the attempt does not end: {}",
                    last_steps(&run.trace)
                ));
            }
        };
        self.thread.ended(id, report.outcome, run.now);
        self.story.note(report.outcome.as_str());
        self.did = format!("{} that ended as {}", self.did, report.outcome);
        one_start_one_stop(&events, report.outcome)?;
        self.all_or_nothing(&before, records, lenient, Some(&report))?;
        if report.outcome == Outcome::Compacted {
            self.smaller(&before, &report)?;
            self.covered(records)?;
        }
        // What came late may have reached the trigger again.
        self.settled = report.outcome == Outcome::Compacted && appended == 0;
        Ok(())
    }

    /// 33 and 38: either nothing changed but what came late and was pruned, or there is a complete new record.
    fn all_or_nothing(
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

    /// 12: by the same counter over the same parts.
    fn smaller(&self, before: &Projection, report: &Report) -> Checked {
        let Some(after) = report.measured.tokens_after else {
            return Err("46: compacted without a size after".to_owned());
        };
        if self.thread.policy().strict_parity {
            return Ok(());
        }
        if after >= report.measured.tokens_before {
            return Err(format!(
                "12: {after} tokens after, {} before",
                report.measured.tokens_before
            ));
        }
        let Some(record) = self.thread.active() else {
            return Err("33: compacted, but no record is in force".to_owned());
        };
        let branch = self.thread.branch();
        let known = branch.position(record.upto).map_or(0, |at| at + 1);
        let history = branch.views();
        let old = |piece: &&Piece| match piece {
            Piece::Keep(h) | Piece::Edit(h, _) => history[..known].iter().any(|v| v.handle == *h),
            Piece::Insert(_) => true,
        };
        let weight = |p: &Projection| -> u64 {
            p.pieces().filter(old).map(|piece| self.weight(piece)).sum()
        };
        let (was, is) = (weight(before), weight(&self.thread.projection()));
        if is >= was {
            return Err(format!("12: weight {is} after, {was} before"));
        }
        Ok(())
    }

    fn weight(&self, piece: &Piece) -> u64 {
        let counter = self.src.counter;
        let views = self.thread.branch().views();
        let view = |handle| views.iter().find(|v| v.handle == handle);
        match piece {
            Piece::Insert(block) => counter.added_message(&block.text),
            Piece::Keep(handle) => view(*handle).map_or(0, |v| counter.message(v, self.texts)),
            Piece::Edit(handle, patches) => {
                view(*handle).map_or(0, |v| counter.patched(v, self.texts, patches))
            }
        }
    }

    /// 24: what a model's summary replaced was shown to a model.
    fn covered(&self, records: usize) -> Checked {
        let Some(record) = self.thread.active() else {
            return Ok(());
        };
        let by_model = record
            .summary
            .as_ref()
            .is_some_and(|s| matches!(s.author, conspectus_core::record::Author::Model(_)));
        let replays = self.routes.iter().any(|r| r.replay);
        if !by_model || replays {
            return Ok(());
        }
        let branch = self.thread.branch();
        let before = records
            .checked_sub(1)
            .map(|last| &self.thread.records()[last]);
        for (at, node) in branch.path().iter().enumerate() {
            let was = before.is_some_and(|r| r.removed.contains(*node));
            if !record.removed.contains(*node) || was {
                continue;
            }
            let view = branch.view(at);
            let beginning = beginning(view, self.texts);
            if !beginning.is_empty() && !self.asked.iter().any(|text| text.contains(&beginning)) {
                return Err(format!("24: message {at} went unread: {beginning:?}"));
            }
        }
        Ok(())
    }

    /// What must hold after every step.
    fn check(&mut self) -> Checked {
        let history = self.history();
        let given = Given {
            history: &history,
            pending: &self.pending,
        };
        let request = self.thread.projection();
        if let Some(first) = invariants::broken(given, &request).first() {
            return Err(format!("{}: {}", first.number, first.what));
        }
        if self.thread.active().is_none() && !request.is_untouched() {
            let always = self.thread.policy().prune.is_some();
            if !always {
                return Err("11: no record, and yet the request is changed".to_owned());
            }
        }
        Ok(())
    }
}

/// The first letters of what a person or the model said, as a transcript shows them.
fn beginning(view: &MessageView, texts: &dyn Texts) -> String {
    if view.role != Role::User && view.role != Role::Assistant {
        return String::new();
    }
    let first = view.parts.iter().position(|p| p.kind == PartKind::Text);
    let Some(part) = first.and_then(|at| u16::try_from(at).ok()) else {
        return String::new();
    };
    let message = view.handle;
    let text = texts.text(PartRef { message, part });
    let short: String = text.chars().take(16).collect();
    short
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The end of a trace, for people.
fn last_steps(trace: &[Traced<Input>]) -> String {
    let inputs = trace.iter().rev().filter_map(|step| match step {
        Traced::Fed(now, input) => Some(format!("{now}: {input:?}")),
        Traced::Polled(..) => None,
    });
    let mut last: Vec<_> = inputs.take(4).collect();
    last.reverse();
    last.join("; ")
}

/// 46: one start and exactly one stop.
fn one_start_one_stop(events: &[Event], outcome: Outcome) -> Checked {
    let starts = events
        .iter()
        .filter(|e| matches!(e, Event::Started { .. }))
        .count();
    let stops: Vec<_> = events
        .iter()
        .filter_map(|e| match e {
            Event::Stopped { outcome, .. } => Some(*outcome),
            _ => None,
        })
        .collect();
    if starts != 1 || stops != [outcome] {
        return Err(format!(
            "46: {starts} starts, stops {stops:?}, outcome {outcome}"
        ));
    }
    Ok(())
}
