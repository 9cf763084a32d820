//! One compaction, as a machine: it decides everything and performs nothing.
//!
//! A driver calls [`Attempt::poll`] until it is told [`Poll::Idle`] (wait for something to feed) or
//! [`Poll::Done`], performs each effect, and feeds what happened with [`Attempt::feed`], in any order. The
//! machine is a value: it can be cloned, hashed and replayed from a log of its inputs.
//!
//! The steps: prune; if that is not enough, summarise (a model by chunks, or the digest); accept; run the
//! host's hooks; archive; commit. Each file beside this one is one of them.

mod ask;
mod build;
mod cost;
mod finish;
mod lost;
mod prune;
mod reasoning;
mod summarise;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cost::Warmth;
use crate::count::CounterId;
use crate::durable::Beside;
use crate::effect::{
    CallNumber, CommitAck, Delta, Effect, Event, Expect, Failure, Hook, Input, Millis, Route,
};
use crate::id::{AttemptId, CallId, RecordId};
use crate::ledger::Ledger;
use crate::outcome::{Measured, Moment, Outcome, Reason, Report};
use crate::plan::Plan;
use crate::planted::{Bug, planted};
use crate::policy::{OnFailure, Policy, Strategy};
use crate::projection::Piece;
use crate::record::{Author, Patches, Record, Summary, Weights};
use crate::thread::{Fixed, Size, Sources};
use crate::unit::Pos;
use crate::window::Branch;
use cost::Asked;
use summarise::Work;

/// What an attempt aims at, in tokens of the thread's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Goal {
    /// The size to reach.
    pub target: u64,
    /// Pruning alone is enough at this size; `None`: a number of messages triggered, which pruning cannot lower.
    pub pruned_enough: Option<u64>,
    /// The most that a request may hold.
    pub limit: u64,
    /// A committed compaction saves at least this.
    pub minimum_gain: u64,
}

/// The thread as the attempt saw it when it began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The attempt's id.
    pub attempt: AttemptId,
    /// The id that its first record gets.
    pub record: RecordId,
    /// The conversation.
    pub branch: Arc<Branch>,
    /// The record in force.
    pub active: Option<Arc<Record>>,
    /// Parts shortened since.
    pub live: Patches,
    /// What the patched messages weigh.
    pub weights: Weights,
    /// The frozen part of the request as it was sent last.
    pub frozen: Arc<[Piece]>,
    /// Where the messages after it begin.
    pub frozen_end: Pos,
    /// The summaries in force, oldest first.
    pub summaries: Vec<Arc<str>>,
    /// What the conversation's structure tells.
    pub ledger: Ledger,
    /// What the host keeps beside the summary.
    pub beside: Option<Arc<Beside>>,
    /// Calls that the host still waits for.
    pub pending: Arc<BTreeSet<CallId>>,
    /// The policy.
    pub policy: Arc<Policy>,
    /// What stands outside the messages.
    pub fixed: Fixed,
    /// What a commit compares.
    pub expect: Expect,
    /// The counter of all figures.
    pub counter: CounterId,
    /// The size.
    pub size: Size,
    /// The aim.
    pub goal: Goal,
    /// What goes and stays.
    pub plan: Plan,
    /// When it happens.
    pub moment: Moment,
    /// What the summary should pay attention to.
    pub focus: Option<Arc<str>>,
    /// The models to ask, in order; empty: the digest.
    pub routes: Vec<Route>,
    /// Whether the provider's cache holds the request.
    pub warmth: Warmth,
    /// What models may be paid, in micro-dollars. `None`: without a cap; 0 and no routes: the cap is used up.
    pub budget: Option<u64>,
}

/// What [`Attempt::poll`] says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Poll {
    /// Perform this, then poll again.
    Do(Effect),
    /// Nothing to do until something is fed or a time comes.
    Idle,
    /// It ended. Polling again says the same.
    Done(Box<Report>),
}

/// Where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Begin,
    /// The pruning record is on its way.
    Pruned(Box<Record>),
    Summarise,
    /// A model works.
    Working(Box<Work>),
    /// Hooks run; the record is ready.
    Hooked(Box<Record>),
    Archiving(Box<Record>),
    Committing(Box<Record>),
    Ended(Box<Report>),
}

/// One compaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    s: Arc<Snapshot>,
    phase: Phase,
    outbox: VecDeque<Effect>,
    /// The patches of the snapshot and those of pruning.
    shortened: Patches,
    /// All patches of a compaction: these, and what those that stay lose behind the summary.
    patches: Patches,
    /// What the patched messages weigh with them.
    weights: Weights,
    /// What pruning came to.
    pruned: prune::Pruned,
    /// Whether folding what can go would pay.
    folds: bool,
    /// What the next commit compares, and the record it builds on.
    expect: Expect,
    parent: Option<RecordId>,
    next_record: RecordId,
    deadline: Option<Millis>,
    next_call: u32,
    model_called: bool,
    /// The calls that were made, and what each is known to have cost.
    asked: BTreeMap<CallNumber, Asked>,
    /// What models were paid, in micro-dollars.
    spent_micros: u64,
    reasons: Vec<Reason>,
    failure: Option<Failure>,
    /// What code keeps beside the summary.
    durable: Arc<str>,
    /// Whether the model that was asked last was given the conversation itself.
    replayed: Option<bool>,
}

impl Attempt {
    /// An attempt on a snapshot; `None` when nothing could be shortened or folded, so none should begin.
    pub fn new(snapshot: Snapshot, src: Sources<'_>) -> Option<Self> {
        let s = Arc::new(snapshot);
        let mut pruned = prune::Pruned::of(&s, src);
        let folds = s.plan.going().any(|at| !s.branch.view(at).flags.summary);
        if pruned.is_empty() && !folds {
            return None;
        }
        pruned.strip(&s, src);
        let mut patches = s.patches_before();
        patches.extend(pruned.patches.iter().map(|(node, p)| (*node, p.clone())));
        let shortened = patches.clone();
        let mut weights = s.weights.clone();
        weights.extend(&pruned.weights);
        let staying = s.plan.staying().map(|(at, _)| at);
        let (stripped, lighter) = reasoning::stripped(&s, staying, &patches, src);
        patches.extend(stripped);
        weights.extend(lighter);
        let mut attempt = Self {
            weights,
            phase: Phase::Begin,
            outbox: VecDeque::new(),
            shortened,
            patches,
            pruned,
            folds: true,
            expect: s.expect,
            parent: s.active.as_ref().map(|r| r.id),
            next_record: s.record,
            deadline: None,
            next_call: 0,
            model_called: false,
            asked: BTreeMap::new(),
            spent_micros: 0,
            reasons: Vec::new(),
            failure: None,
            durable: "".into(),
            replayed: None,
            s,
        };
        attempt.durable = attempt.kept(src);
        attempt.folds = attempt.would_pay(src);
        if attempt.s.budget == Some(0) && attempt.s.routes.is_empty() {
            attempt.reasons.push(Reason::SpendCap);
        }
        (attempt.folds || !attempt.pruned.is_empty()).then_some(attempt)
    }

    /// Its id.
    pub fn id(&self) -> AttemptId {
        self.s.attempt
    }

    /// What goes and stays.
    pub fn plan(&self) -> &Plan {
        &self.s.plan
    }

    /// The next thing to do at `now`.
    pub fn poll(&mut self, now: Millis, src: Sources<'_>) -> Poll {
        loop {
            if let Some(effect) = self.outbox.pop_front() {
                return Poll::Do(effect);
            }
            if let Phase::Ended(report) = &self.phase {
                return Poll::Done(report.clone());
            }
            self.check_time(now, src);
            if !self.step(now, src)
                && self.outbox.is_empty()
                && !matches!(self.phase, Phase::Ended(_))
            {
                return Poll::Idle;
            }
        }
    }

    /// Goes on as far as it can without anything from outside. False: it waits.
    fn step(&mut self, now: Millis, src: Sources<'_>) -> bool {
        match std::mem::replace(&mut self.phase, Phase::Summarise) {
            Phase::Begin => self.begin(now, src),
            Phase::Summarise => {
                if let Some(summary) = self.unchanged_summary(src) {
                    self.summarised(summary, src);
                } else if self.s.routes.is_empty()
                    || self.s.policy.summary.strategy == Strategy::Digest
                {
                    self.digest(src);
                } else if let Some(text) = self.canned(src) {
                    let author = Author::Digest;
                    let text = text.into();
                    self.summarised(Summary { text, author }, src);
                } else {
                    self.phase = Phase::Working(Box::new(Work::new(0, self, src)));
                }
            }
            Phase::Working(work) => return self.work(*work, now, src),
            waiting => {
                self.phase = waiting;
                return false;
            }
        }
        true
    }

    fn begin(&mut self, now: Millis, src: Sources<'_>) {
        let deadline = now.saturating_add(self.s.policy.summary.deadline_ms);
        self.deadline = Some(deadline);
        self.emit(Event::Started {
            attempt: self.s.attempt,
            moment: self.s.moment,
            messages: self.s.size.messages,
            tokens: self.s.size.tokens,
        });
        self.outbox.push_back(Effect::WakeAt(deadline));
        if !self.pruned.is_empty() {
            let record = self.pruning_record(src);
            self.commit(Phase::Pruned(Box::new(record)));
        }
    }

    /// Tells it what happened.
    pub fn feed(&mut self, now: Millis, input: Input, src: Sources<'_>) {
        let input = self.s.policy.redact.input(input);
        if !matches!(self.phase, Phase::Ended(_)) {
            self.paid(&input);
        }
        match (std::mem::replace(&mut self.phase, Phase::Summarise), input) {
            (Phase::Ended(report), _) => self.phase = Phase::Ended(report),
            (phase, Input::Appended(delta)) => {
                self.phase = phase;
                self.appended(&delta);
            }
            (phase, Input::Cancel) => self.cancel(phase),
            (Phase::Working(work), input) => self.answered(*work, now, input, src),
            (Phase::Pruned(record), Input::Committed(ack)) => self.pruning_committed(record, ack),
            (Phase::Pruned(record), Input::Found(found)) => self.pruning_found(record, found),
            (Phase::Hooked(record), Input::HookDone(_)) => {
                self.outbox
                    .push_back(Effect::Archive(record.removed.clone()));
                self.phase = Phase::Archiving(record);
            }
            (Phase::Archiving(record), Input::Archived(Ok(()))) => {
                self.commit(Phase::Committing(record))
            }
            (Phase::Archiving(_), Input::Archived(Err(failure))) => {
                self.fail(Outcome::Failed, Some(failure))
            }
            (Phase::Committing(record), Input::Committed(ack)) => self.committed(record, ack),
            (Phase::Committing(record), Input::Found(true)) => self.succeed(&record),
            (Phase::Committing(record), Input::Found(false)) => {
                self.commit(Phase::Committing(record));
            }
            // Late answers of calls that were given up.
            (phase, _) => self.phase = phase,
        }
    }

    /// Asks for a commit and waits in `phase`, which holds the record.
    fn commit(&mut self, phase: Phase) {
        if let Phase::Pruned(record) | Phase::Committing(record) = &phase {
            self.outbox
                .push_back(Effect::Commit(record.clone(), self.expect));
        }
        self.phase = phase;
    }

    fn committed(&mut self, record: Box<Record>, ack: CommitAck) {
        match ack {
            CommitAck::Ok(_) => self.succeed(&record),
            CommitAck::Conflict => self.fail(Outcome::Conflict, None),
            CommitAck::Failed(failure) => self.fail(Outcome::Failed, Some(failure)),
            CommitAck::Unknown => {
                if planted(Bug::AckForgotten) {
                    return self.fail(Outcome::Failed, None);
                }
                self.outbox
                    .push_back(Effect::LookUp(self.s.attempt, record.id));
                self.phase = Phase::Committing(record);
            }
        }
    }

    fn pruning_committed(&mut self, record: Box<Record>, ack: CommitAck) {
        match ack {
            CommitAck::Ok(version) => {
                self.expect.version = version;
                self.after_pruning(&record);
            }
            CommitAck::Conflict => self.fail(Outcome::Conflict, None),
            CommitAck::Failed(failure) => self.fail(Outcome::Failed, Some(failure)),
            CommitAck::Unknown => {
                self.outbox
                    .push_back(Effect::LookUp(self.s.attempt, record.id));
                self.phase = Phase::Pruned(record);
            }
        }
    }

    /// A lost acknowledgement was looked up. When the record is there its commit changed the version by one.
    fn pruning_found(&mut self, record: Box<Record>, found: bool) {
        match found {
            true => {
                self.expect.version.0 += 1;
                self.after_pruning(&record);
            }
            false => self.commit(Phase::Pruned(record)),
        }
    }

    fn after_pruning(&mut self, record: &Record) {
        self.parent = Some(record.id);
        self.next_record = RecordId(record.id.0 + 1);
        if self.pruned.is_enough || !self.folds {
            self.succeed(record);
        } else {
            self.phase = Phase::Summarise;
        }
    }

    fn appended(&mut self, delta: &Delta) {
        let path = self.s.branch.path();
        let goes = |node| {
            self.s
                .branch
                .position(node)
                .is_some_and(|at| self.s.plan.fates[at] == crate::plan::Fate::Goes)
        };
        let is_pending = |id: &CallId| {
            self.s
                .branch
                .units()
                .calls()
                .iter()
                .any(|c| c.id == *id && goes(path[c.at]))
        };
        let touched = delta.frame_changed
            || delta
                .answered
                .iter()
                .chain(&delta.pinned)
                .any(|node| goes(*node))
            || delta.pending.iter().any(is_pending);
        // Once the commit is on its way the store decides.
        if touched && !matches!(self.phase, Phase::Committing(_)) {
            self.abort_calls();
            self.fail(Outcome::Conflict, None);
        }
    }

    fn cancel(&mut self, phase: Phase) {
        match phase {
            Phase::Committing(_) | Phase::Ended(_) => self.phase = phase,
            other => {
                self.phase = other;
                self.abort_calls();
                self.fail(Outcome::Cancelled, None);
            }
        }
    }

    /// The attempt's own deadline. A digest is made at once, so a late model need not mean failure.
    fn check_time(&mut self, now: Millis, src: Sources<'_>) {
        let Some(deadline) = self.deadline.filter(|d| now >= *d) else {
            return;
        };
        if matches!(
            self.phase,
            Phase::Working(_) | Phase::Hooked(_) | Phase::Archiving(_)
        ) {
            let in_work = matches!(self.phase, Phase::Working(_));
            self.abort_calls();
            let next = deadline.saturating_add(self.s.policy.summary.deadline_ms);
            self.deadline = Some(next);
            self.outbox.push_back(Effect::WakeAt(next));
            let failure = Failure::TimedOut {
                after_ms: self.s.policy.summary.deadline_ms,
            };
            if in_work {
                self.no_model_left(failure, src);
            } else {
                self.fail(Outcome::Failed, Some(failure));
            }
        }
    }

    fn abort_calls(&mut self) {
        if let Phase::Working(work) = &self.phase {
            let calls: Vec<CallNumber> = work.in_flight().collect();
            self.outbox.extend(calls.into_iter().map(Effect::Abort));
        }
    }

    /// Every model was tried.
    fn no_model_left(&mut self, failure: Failure, src: Sources<'_>) {
        match self.s.policy.summary.on_failure {
            OnFailure::Digest => {
                self.reasons.push(Reason::DigestAfterFailure);
                self.failure = Some(failure);
                self.digest(src);
            }
            OnFailure::Unchanged | OnFailure::Error => {
                let outcome = match failure {
                    Failure::NotASummary(refusal) if refusal.is_about_size() => Outcome::Rejected,
                    Failure::SpendCap => Outcome::Deferred,
                    _ => Outcome::Failed,
                };
                self.fail(outcome, Some(failure));
            }
        }
    }

    fn emit(&mut self, event: Event) {
        self.outbox.push_back(Effect::Emit(event));
    }

    /// A summary was accepted: hooks, archive, commit.
    fn summarised(&mut self, summary: Summary, src: Sources<'_>) {
        self.keep_what_is_lost(&summary, src);
        let record = self.compaction_record(summary, src);
        self.outbox
            .push_back(Effect::Hook(Hook::BeforeRemoval, record.removed.clone()));
        self.phase = Phase::Hooked(Box::new(record));
    }

    fn succeed(&mut self, record: &Record) {
        let outcome = if record.id == self.s.record && !self.pruned.is_empty() {
            Outcome::Pruned
        } else {
            Outcome::Compacted
        };
        let measured = Measured {
            // A call may tell what it cost after the record was made.
            spent_micros: self.spent_micros,
            ..record.measured
        };
        let (record, why) = (Some(record.id), record.why.clone());
        self.end(Report {
            outcome,
            record,
            measured,
            reasons: why,
            failure: self.failure.clone(),
        });
    }

    fn fail(&mut self, outcome: Outcome, failure: Option<Failure>) {
        let measured = Measured {
            tokens_after: None,
            ..self.measured_before()
        };
        let mut reasons = std::mem::take(&mut self.reasons);
        if outcome == Outcome::Rejected {
            reasons.push(Reason::NotSmaller);
        }
        let record = self.parent.filter(|p| *p >= self.s.record);
        self.end(Report {
            outcome,
            record,
            measured,
            reasons,
            failure,
        });
    }

    fn end(&mut self, report: Report) {
        self.emit(Event::Stopped {
            attempt: self.s.attempt,
            outcome: report.outcome,
            model_called: self.model_called,
            summarized: report.outcome == Outcome::Compacted,
            measured: report.measured,
        });
        self.phase = Phase::Ended(Box::new(report));
    }

    fn measured_before(&self) -> Measured {
        Measured {
            counter: Some(self.s.counter),
            tokens_before: self.s.size.told(self.s.size.request),
            messages_before: self.s.size.messages,
            messages_pruned: self.pruned.patches.len() as u64,
            spent_micros: self.spent_micros,
            ..Measured::default()
        }
    }
}
