//! Plays a life step by step, and checks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use conspectus_core::attempt::Attempt;
use conspectus_core::count::{Bytes4, CounterId, Estimator, LangChain, TokenCounter, Weight};
use conspectus_core::effect::{Event, Failure, Input, Route};
use conspectus_core::id::{CallId, Ident, NodeId, RecordId};
use conspectus_core::outcome::{Outcome, Report};
use conspectus_core::patch::Patch;
use conspectus_core::projection::Projection;
use conspectus_core::thread::{Decision, Fixed, Manual, Recovery, Sources, Thread};
use conspectus_core::view::{MessageView, Role, Texts, Usage};
use conspectus_core::window::Branch;

use super::checks::{Last, Lenient};
use super::outside::{Outside, Running};
use super::reading::{Origins, Reading};
use super::reload;
use super::rendered::Rendered;
use super::{Fault, Life, Story, policy};
use crate::clock::FakeClock;
use crate::faults::FaultPlan;
use crate::model::ScriptedModel;
use crate::rng::Rng;
use crate::shape;
use crate::simulate::patches::Shortened;
use crate::simulate::{Agenda, Ended, Limits, Traced, digest, replay, run};

/// A life that is being played.
pub(super) struct Scene<'a> {
    pub(super) src: Sources<'a>,
    /// Every message of the conversation, by handle, and what it weighs.
    pub(super) all: Vec<MessageView>,
    pub(super) weights: Vec<Weight>,
    pub(super) rendered: Option<&'a Rendered>,
    pub(super) thread: Thread,
    rng: Rng,
    clock: FakeClock,
    faults: FaultPlan,
    model: ScriptedModel,
    routes: Vec<Route>,
    cache: BTreeMap<Ident, Arc<str>>,
    origins: Origins,
    upcoming: VecDeque<MessageView>,
    pub(super) pending: BTreeSet<String>,
    crashes: u8,
    replayed: bool,
    pub(super) story: Story,
    did: String,
    /// A compaction was committed and nothing happened since.
    settled: bool,
    /// Summaries that checks committed since something happened.
    automatic: usize,
    /// Something came while the last attempt ran.
    came_late: bool,
    /// Under which record a report of usage came.
    pub(super) reports: BTreeMap<NodeId, Option<RecordId>>,
    /// The record in force when the request was sent that is not answered yet.
    pub(super) sent_under: Option<Option<RecordId>>,
    pub(super) last: Option<Last>,
    pub(super) shortened: Shortened,
    /// Records whose facts were looked at.
    pub(super) looked_at: BTreeSet<RecordId>,
    /// A message was pinned after it was said.
    pub(super) pinned: bool,
    /// Dice of their own, so that a seed's other choices are those of before.
    apart: Rng,
    /// A report of the newest reply that comes after it.
    owed: Option<(NodeId, Usage)>,
}

pub(super) type Checked = Result<(), String>;

impl Scene<'_> {
    pub(super) fn play(life: &Life) -> Result<Story, Box<Fault>> {
        let (views, texts, _) = life.talk.views(life.format);
        match Rendered::of(life, &views) {
            Some((rendered, views)) => {
                let texts = rendered.texts();
                let mut story = Scene::played(life, views, texts, Some(&rendered))?;
                story.note("through the bytes of a format");
                Ok(story)
            }
            None => Scene::played(life, views, &texts, None),
        }
    }

    fn played(
        life: &Life,
        views: Vec<MessageView>,
        texts: &dyn Texts,
        rendered: Option<&Rendered>,
    ) -> Result<Story, Box<Fault>> {
        let mut rng = Rng::new(life.seed ^ 0x51_7e);
        let counter: &dyn TokenCounter = match rng.below(5) {
            0 => &Bytes4,
            1 => &LangChain::DEFAULT,
            2 => &LangChain::ANTHROPIC,
            _ => &Estimator,
        };
        let weights: Vec<Weight> = views.iter().map(|v| counter.message(v, texts)).collect();
        let known = Known {
            counter,
            weights: weights.clone(),
        };
        let src = Sources {
            texts,
            counter: &known,
        };
        let mut policy = policy::policy(&mut rng, counter.tokens(weights.iter().sum()));
        let views = policy::reported(views, &mut policy, life.seed);
        let mut scene: Scene<'_> = Scene {
            src,
            all: views.clone(),
            weights,
            rendered,
            thread: Thread::new(Arc::new(policy)),
            clock: FakeClock::at(1_000),
            faults: FaultPlan::new(rng.next_u64(), life.faults),
            model: ScriptedModel::new(policy::behaviour(&mut rng)),
            routes: policy::routes(&mut rng),
            cache: BTreeMap::new(),
            origins: Origins::default(),
            upcoming: views.into(),
            pending: life.talk.pending.iter().cloned().collect(),
            crashes: life.crashes,
            replayed: life.replayed,
            story: Story::default(),
            did: String::new(),
            settled: false,
            automatic: 0,
            came_late: false,
            reports: BTreeMap::new(),
            sent_under: None,
            last: None,
            shortened: Shortened::default(),
            looked_at: BTreeSet::new(),
            pinned: false,
            apart: Rng::new(life.seed ^ 0x0be1),
            owed: None,
            rng,
        };
        let pending = scene.pending.iter().map(|id| CallId::from(id.as_str()));
        scene.thread.set_pending(pending.collect(), src);
        for step in 1..=life.steps {
            let before = scene.thread.projection();
            let checked = scene.step().and_then(|()| scene.check());
            if let Err(what) = checked.and_then(|()| scene.reload(step)) {
                return Err(Box::new(scene.fault(step, what, &before)));
            }
        }
        if let Some(how) = scene.how_often_compacted() {
            scene.story.note(how);
        }
        scene.story.digest = digest(&(&scene.thread, scene.clock.now()));
        Ok(scene.story)
    }

    /// 39: now and then the thread is stored and opened again, and what goes on is the opened one.
    fn reload(&mut self, step: usize) -> Checked {
        if step.is_multiple_of(3) {
            self.thread = reload::reloaded(&self.thread, self.src)?;
        }
        Ok(())
    }

    fn how_often_compacted(&self) -> Option<&'static str> {
        match self.thread.active()?.summaries {
            0 => None,
            1 => Some("ends with one summary"),
            2 => Some("ends with a summary of a summary"),
            _ => Some("ends with three summaries or more, each of the one before"),
        }
    }

    fn fault(&self, step: usize, what: String, before: &Projection) -> Fault {
        let history = self.history();
        let shape = |p: &Projection| shape::of_projection(p, &history, self.src.texts);
        let (before, after) = (shape(before), shape(&self.thread.projection()));
        Fault {
            step,
            did: self.did.clone(),
            what,
            parity: self.thread.policy().follows_peer(),
            shape: format!("before:\n{before}after:\n{after}"),
        }
    }

    pub(super) fn history(&self) -> Vec<MessageView> {
        let views = self.thread.branch().views().iter();
        views.map(|v| v.as_ref().clone()).collect()
    }

    fn did(&mut self, what: &str) {
        what.clone_into(&mut self.did);
        self.story.note(what);
    }

    fn step(&mut self) -> Checked {
        self.report();
        match self.rng.below(100) {
            0..55 => {
                self.append()?;
                self.ask_before_call()
            }
            55..65 => self.ask_before_call(),
            65..75 => self.command(),
            75..80 => self.overflow(),
            80..95 => {
                self.head_or_facts();
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

    /// Something that is no message: people take back, rewind, branch, pin.
    fn head_or_facts(&mut self) {
        let path = self.thread.branch().path().to_vec();
        match self.rng.below(15) {
            0..4 => {
                let undone = self.thread.undo(self.src).is_some();
                self.did(if undone { "undo" } else { "nothing to undo" });
                self.moved();
            }
            4..7 => {
                let redone = self.thread.redo(self.src).is_some();
                self.did(if redone { "redo" } else { "nothing to redo" });
                self.moved();
            }
            7..10 => {
                self.did("pin");
                if !path.is_empty() {
                    let node = *self.rng.pick(&path);
                    // Pinning what was folded brings nothing back.
                    let at = self.thread.branch().position(node);
                    if at.is_some_and(|at| !self.thread.is_folded(at)) {
                        self.thread.pin(node);
                        self.pinned = true;
                    }
                }
            }
            10..12 => {
                self.did("rewind");
                if !path.is_empty() {
                    let head = *self.rng.pick(&path);
                    self.thread.move_head(Some(head), self.src);
                    self.moved();
                }
            }
            12 => {
                self.did("to another branch");
                let nodes = self.thread.history().len();
                if nodes > 0 {
                    let head = NodeId(self.rng.below(nodes) as u64);
                    self.thread.move_head(Some(head), self.src);
                    self.moved();
                }
            }
            _ => {
                self.did("other system text");
                let text = "Be brief. ".repeat(self.rng.below(8));
                let fixed = Fixed::of([text.as_str()], self.src.counter);
                self.thread.set_fixed(fixed);
            }
        }
        self.settled = false;
        self.automatic = 0;
    }

    /// The head or the record in force is another one: parts may be whole again.
    fn moved(&mut self) {
        self.last = None;
        self.shortened.forget();
    }

    fn append(&mut self) -> Checked {
        let count = self.rng.between(1, 4).min(self.upcoming.len());
        if count > 0 {
            let children = self.thread.history().len() > self.thread.branch().len();
            self.story.note(if children {
                "append to a branch"
            } else {
                "append"
            });
            let mut views: Vec<_> = self.upcoming.drain(..count).collect();
            let record = self.thread.active().map(|r| r.id);
            let report = self.holds_back(&mut views);
            let before = self.thread.clone();
            let nodes = self.thread.append(views.clone(), self.src);
            if reload::in_part(&before, &views, &self.thread, self.src)? {
                self.story.note("opened in part");
            }
            let branch = self.thread.branch();
            asked_under(
                &mut self.reports,
                &mut self.sent_under,
                branch,
                &nodes,
                record,
            );
            if let Some((at, usage)) = report {
                self.owed = Some((nodes[at], usage));
                if self.apart.percent(50) {
                    self.report();
                }
            }
            self.settled = false;
            self.automatic = 0;
        }
        Ok(())
    }

    /// Some servers report after the reply. Takes the newest report out of what is appended, with its place.
    fn holds_back(&mut self, views: &mut [MessageView]) -> Option<(usize, Usage)> {
        let newest = views.iter().rposition(|v| v.role == Role::Assistant)?;
        let is_late = self.apart.percent(30);
        let usage = views[newest].usage.take_if(|_| is_late)?;
        Some((newest, usage))
    }

    /// The report that is owed comes, if its reply is still the newest.
    fn report(&mut self) {
        let Some((node, usage)) = self.owed.take() else {
            return;
        };
        let branch = self.thread.branch();
        let is_reply = |at: &usize| branch.view(*at).role == Role::Assistant;
        let newest = (0..branch.len()).rev().find(is_reply);
        if newest.is_some_and(|at| branch.path()[at] == node) {
            self.story.note("report after the reply");
            self.thread.usage(usage);
            self.settled = false;
            self.automatic = 0;
        }
    }

    fn ask_before_call(&mut self) -> Checked {
        self.did("check");
        let routes = self.routes.clone();
        let size = self.thread.size(self.src);
        let now = self.clock.now();
        let decision = self.thread.before_call(now, &routes, self.src);
        if matches!(decision, Decision::Send(_)) {
            self.thread.sent(now);
            self.sent_under = Some(self.thread.active().map(|r| r.id));
        }
        if let Decision::Start(..) = &decision {
            self.may_start(&size)?;
        }
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
        self.decided(decision, true)
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
        if let Decision::Start(..) = &decision
            && self.settled
            && !request.below_keep
        {
            return Err("13: a command right after a compaction makes another attempt".to_owned());
        }
        self.decided(decision, false)
    }

    fn overflow(&mut self) -> Checked {
        self.did("overflow");
        let error = Failure::TOO_LARGE;
        let now = self.clock.now();
        match self
            .thread
            .provider_error(now, &error, &self.routes, self.src)
        {
            Recovery::Compact(attempt) => self.attempt(*attempt).map(|_| ()),
            Recovery::GiveUp(report) => self.reported(&report),
        }
    }

    fn decided(&mut self, decision: Decision, automatic: bool) -> Checked {
        match decision {
            Decision::Send(report) => self.reported(&report),
            Decision::Start(attempt, _) => {
                let outcome = self.attempt(*attempt)?;
                let is_one = automatic && outcome == Some(Outcome::Compacted);
                self.automatic += usize::from(is_one && !self.came_late);
                match self.automatic {
                    0 | 1 => Ok(()),
                    _ => Err("14: a second summary although nothing came".to_owned()),
                }
            }
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

    /// Runs an attempt; how it ended, or `None` when the process died in it.
    fn attempt(&mut self, attempt: Attempt) -> Result<Option<Outcome>, String> {
        let id = attempt.id();
        let before = self.thread.projection();
        let size = self.thread.size(self.src);
        let records = self.thread.records().len();
        let folds = attempt.plan().going().next().is_some();
        let crash_after = self.rng.percent(self.crashes).then(|| self.rng.below(14));
        let late = *self.rng.pick(&[0, 0, 4, 25]);
        let mut machine = Running {
            attempt,
            src: self.src,
        };
        let first = self.replayed.then(|| machine.clone());
        let mut outside = Outside {
            thread: &mut self.thread,
            src: self.src,
            rng: self.rng.fork(),
            faults: &mut self.faults,
            model: &mut self.model,
            cache: &mut self.cache,
            upcoming: &mut self.upcoming,
            late,
            sent: &before,
            reading: Reading::default(),
            origins: &mut self.origins,
            reports: &mut self.reports,
            sent_under: &mut self.sent_under,
            story: &mut self.story,
            events: Vec::new(),
            calls: 0,
            asked: BTreeMap::new(),
            appended: 0,
            late_answers: false,
            misled: false,
        };
        let limits = Limits {
            crash_after,
            traced: self.replayed,
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
        let reading = outside.reading;
        let asked = outside.asked;
        let lenient = Lenient {
            late_answers: outside.late_answers,
            misled: outside.misled,
        };
        self.clock.advance_to(run.now);
        self.did = format!("{} and an attempt of {calls} calls", self.did);
        if let Some(first) = first {
            let again =
                replay(first, &run.trace).map_err(|at| format!("48: replay differs at {at}"))?;
            if digest(&again) != digest(&machine) {
                return Err("48: replay ends in another state".to_owned());
            }
        }
        if let Some(first) = reading.broken.first() {
            return Err(first.clone());
        }
        if calls > 0 && !folds {
            return Err("25: a model is asked although nothing can go".to_owned());
        }
        let report = match run.ended {
            Ended::Done(report) => Some(report),
            Ended::Crashed => None,
            Ended::Stuck => return Err("35: the attempt waits for ever".to_owned()),
            Ended::Endless => {
                let steps = last_steps(&run.trace);
                return Err(format!("35: the attempt does not end: {steps}"));
            }
        };
        let outcome = report.as_ref().map(|r| r.outcome);
        self.thread
            .ended(id, outcome.unwrap_or(Outcome::Cancelled), run.now);
        let spent = report.as_ref().map_or(0, |r| r.measured.spent_micros);
        self.thread.spend(run.now, spent);
        self.story.note(outcome.map_or("crashed", Outcome::as_str));
        let how = outcome.map_or("a crash", Outcome::as_str);
        self.did = format!("{} that ended as {how}", self.did);
        self.all_or_nothing(&before, records, lenient, report.as_deref())?;
        let is_new = self.thread.records().len() > records;
        if !is_new && appended == 0 {
            self.unmoved(&size)?;
        }
        self.came_late = appended > 0;
        if self.came_late {
            self.automatic = 0;
        }
        // What came late may have reached the trigger again.
        self.settled = outcome == Some(Outcome::Compacted) && appended == 0;
        let Some(report) = report else {
            return Ok(None);
        };
        one_start_one_stop(&events, report.outcome)?;
        if self.replayed {
            self.paid(&run.trace, &asked, &report)?;
        }
        if self.thread.policy().redact.is_on() && super::outside::leaks(&format!("{report:?}")) {
            return Err("31: a secret in the report".to_owned());
        }
        let is_parity = self.thread.policy().follows_peer();
        if report.outcome == Outcome::Compacted {
            self.smaller(&before, &size, &report, appended > 0)?;
        }
        if report.outcome == Outcome::Compacted && !is_parity {
            self.covered(&before, records, calls, &reading)?;
        }
        if self.settled && !is_parity {
            self.idempotent()?;
        }
        if report.outcome == Outcome::Pruned
            && !self.prunes_as_nous()
            && self.thread.projection() == before
        {
            return Err("43: pruned, and nothing is shorter".to_owned());
        }
        Ok(Some(report.outcome))
    }

    /// 13: the same again at once asks nobody and changes nothing.
    fn idempotent(&self) -> Checked {
        let mut thread = self.thread.clone();
        let now = self.clock.now();
        let again = [
            thread.manual(now, &Manual::default(), self.src),
            thread.before_call(now, &self.routes, self.src),
        ];
        let starts = again.iter().any(|d| matches!(d, Decision::Start(..)));
        if starts || thread.projection() != self.thread.projection() {
            return Err("13: compacting again would do something".to_owned());
        }
        Ok(())
    }
}

/// A counter that knows what each message of the conversation weighs.
struct Known<'a> {
    counter: &'a dyn TokenCounter,
    weights: Vec<Weight>,
}

impl TokenCounter for Known<'_> {
    fn id(&self) -> CounterId {
        self.counter.id()
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        let known = self.weights.get(message.handle.0 as usize).copied();
        known.unwrap_or_else(|| self.counter.message(message, texts))
    }

    fn text(&self, text: &str) -> Weight {
        self.counter.text(text)
    }

    fn added_message(&self, text: &str) -> Weight {
        self.counter.added_message(text)
    }

    fn tokens(&self, weight: Weight) -> u64 {
        self.counter.tokens(weight)
    }

    fn patched(&self, message: &MessageView, texts: &dyn Texts, patches: &[Patch]) -> Weight {
        match patches.is_empty() {
            true => self.message(message, texts),
            false => self.counter.patched(message, texts, patches),
        }
    }
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

/// Under which record each of the appended messages was asked for: what was in force when its request was sent, and for
/// further pieces of a reply what holds for the first.
pub(super) fn asked_under(
    reports: &mut BTreeMap<NodeId, Option<RecordId>>,
    sent: &mut Option<Option<RecordId>>,
    branch: &Branch,
    nodes: &[NodeId],
    active: Option<RecordId>,
) {
    for node in nodes {
        let Some(at) = branch.position(*node) else {
            continue;
        };
        let view = branch.view(at);
        let before = at.checked_sub(1);
        let goes_on = view.reply.is_some()
            && before.is_some_and(|before| branch.view(before).reply == view.reply);
        let first = before
            .filter(|_| goes_on)
            .map(|before| branch.path()[before]);
        let is_reply = view.role == Role::Assistant || view.reply.is_some();
        let under = match first {
            Some(first) => reports.get(&first).copied().unwrap_or(active),
            None if is_reply => sent.take().unwrap_or(active),
            None => active,
        };
        reports.insert(*node, under);
    }
}
