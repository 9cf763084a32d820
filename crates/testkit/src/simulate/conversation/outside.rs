//! What an attempt's effects meet: a scripted model, a store with faults, people who go on talking.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use conspectus_core::attempt::{Attempt, Poll};
use conspectus_core::effect::{
    CallNumber, CommitAck, Effect, Event, Failure, Input, Millis, SummaryInput,
};
use conspectus_core::id::{Ident, NodeId, RecordId};
use conspectus_core::outcome::Report;
use conspectus_core::projection::Projection;
use conspectus_core::thread::{Sources, Thread};
use conspectus_core::view::{MessageView, Usage};

use super::Story;
use super::policy;
use super::reading::{Origins, Reading};
use crate::faults::{FaultPlan, ReadFault, WriteFault};
use crate::model::{Ask, ScriptedModel};
use crate::rng::Rng;
use crate::simulate::{Agenda, Machine, Step, World};
use crate::transcript::{SECRET_END, SECRET_START};

/// An attempt with what it reads.
#[derive(Clone)]
pub struct Running<'a> {
    /// The attempt.
    pub attempt: Attempt,
    /// Its sources.
    pub src: Sources<'a>,
}

impl Hash for Running<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.attempt.hash(state);
    }
}

impl Machine for Running<'_> {
    type Effect = Effect;
    type Input = Input;
    type End = Box<Report>;

    fn poll(&mut self, now: Millis) -> Step<Effect, Box<Report>> {
        match self.attempt.poll(now, self.src) {
            Poll::Do(effect) => Step::Do(effect),
            Poll::Idle => Step::Idle,
            Poll::Done(report) => Step::Done(report),
        }
    }

    fn feed(&mut self, now: Millis, input: Input) {
        self.attempt.feed(now, input, self.src);
    }
}

/// What the effects of one attempt meet.
pub(super) struct Outside<'a, 's> {
    pub(super) thread: &'s mut Thread,
    pub(super) src: Sources<'a>,
    pub(super) rng: Rng,
    pub(super) faults: &'s mut FaultPlan,
    pub(super) model: &'s mut ScriptedModel,
    pub(super) cache: &'s mut BTreeMap<Ident, Arc<str>>,
    /// Messages that are still to come; some come while the attempt runs.
    pub(super) upcoming: &'s mut VecDeque<MessageView>,
    /// In how many of a hundred effects some do.
    pub(super) late: u8,
    /// The request that was sent last.
    pub(super) sent: &'s Projection,
    /// What models were given.
    pub(super) reading: Reading,
    pub(super) origins: &'s mut Origins,
    /// Under which record a report of usage came.
    pub(super) reports: &'s mut BTreeMap<NodeId, Option<RecordId>>,
    pub(super) sent_under: &'s mut Option<Option<RecordId>>,
    pub(super) story: &'s mut Story,
    pub(super) events: Vec<Event>,
    pub(super) calls: usize,
    /// Whom each call asked.
    pub(super) asked: BTreeMap<CallNumber, Option<Arc<str>>>,
    pub(super) appended: usize,
    pub(super) late_answers: bool,
    /// The store denied a record that it had.
    pub(super) misled: bool,
}

impl World<Running<'_>> for Outside<'_, '_> {
    fn perform(&mut self, now: Millis, effect: Effect, agenda: &mut Agenda<Input>) {
        if self.rng.percent(self.late) && !matches!(effect, Effect::Emit(_)) {
            self.go_on_talking(now, agenda);
        }
        if self.rng.percent(1) {
            self.story.note("cancelled from outside");
            agenda.tell(now + self.rng.below(3_000) as u64, Input::Cancel);
        }
        let soon = now + self.rng.below(40) as u64;
        match effect {
            Effect::Call { call, request, route, .. } => {
                self.calls += 1;
                self.story.note("model calls");
                self.reading.called(call, &request, &route, self.sent, self.src);
                match &request.input {
                    SummaryInput::Transcript { system, document } => {
                        self.leaks("an instruction", system);
                        self.leaks("a transcript", document);
                    }
                    // Goes to the provider that the conversation goes to.
                    SummaryInput::Replay { instruction, .. } => self.leaks("an instruction", instruction),
                }
                self.asked.insert(call, route.model.clone());
                // No dice: a seed's other choices are those of before.
                if call.0 % 3 == 1 {
                    let input = request.input_tokens;
                    let usage = Usage { input, ..Usage::default() };
                    agenda.tell(soon, Input::Usage(call, usage));
                }
                let answer = self.model.answer(&Ask::from(request.as_ref()));
                for n in 0..answer.chunks.len() as u64 {
                    agenda.tell(soon + n, Input::Progress(call));
                }
                let when = soon + answer.chunks.len() as u64 + answer.after_ms;
                match answer.said.outcome() {
                    Some(Ok(reply)) => {
                        self.reading.replied(call, &self.redacted(&reply.text), reply.finish);
                        agenda.tell(when, Input::Reply(call, reply));
                    }
                    Some(Err(failure)) => agenda.tell(when, Input::Failed(call, failure)),
                    None => {}
                }
            }
            // Half of the hosts cannot stop what is on its way.
            Effect::Abort(call) if self.rng.percent(50) => agenda.cancel(|input| {
                matches!(input, Input::Reply(c, _) | Input::Failed(c, _) | Input::Usage(c, _) | Input::Progress(c) if *c == call)
            }),
            Effect::Abort(_) => {}
            Effect::CacheGet(key) => {
                let found = self.cache.get(&key);
                self.reading.cached(key, found, self.origins);
                agenda.tell(soon, Input::Cached(key, found.cloned()));
            }
            Effect::CachePut(key, text) => {
                self.leaks("a partial summary", &text);
                self.reading.accepted(key, &text, self.origins);
                self.cache.insert(key, text);
            }
            Effect::WakeAt(time) => agenda.wake(time),
            Effect::Hook(hook, _) => agenda.tell(soon, Input::HookDone(hook)),
            Effect::Archive(_) => {
                let failed = self.faults.write() == WriteFault::Failed;
                let result = if failed { Err(store_failure("archive")) } else { Ok(()) };
                agenda.tell(soon, Input::Archived(result));
            }
            Effect::Commit(record, expect) => {
                self.leaks("a record", &format!("{record:?}"));
                let fault = self.faults.write();
                self.story.note(match fault {
                    WriteFault::None => "commit: None",
                    WriteFault::AckLost => "commit: AckLost",
                    WriteFault::WriteLost => "commit: WriteLost",
                    WriteFault::Failed => "commit: Failed",
                    WriteFault::Torn => "commit: Torn",
                    WriteFault::FenceLost => "commit: FenceLost",
                });
                let ack = match fault {
                    WriteFault::None => self.thread.commit(&record, expect, self.src),
                    WriteFault::AckLost => {
                        self.thread.commit(&record, expect, self.src);
                        CommitAck::Unknown
                    }
                    WriteFault::WriteLost => CommitAck::Unknown,
                    WriteFault::Failed | WriteFault::Torn => CommitAck::Failed(store_failure("disk full")),
                    WriteFault::FenceLost => CommitAck::Conflict,
                };
                agenda.tell(soon, Input::Committed(ack));
            }
            Effect::LookUp(attempt, record) => {
                let there = self.thread.has_record(attempt, record);
                let seen = match self.faults.read() {
                    ReadFault::None | ReadFault::Failed => there,
                    ReadFault::Stale => {
                        self.misled |= there;
                        false
                    }
                };
                agenda.tell(soon, Input::Found(seen));
            }
            Effect::Emit(event) => {
                self.leaks("an event", &format!("{event:?}"));
                self.events.push(event);
            }
        }
    }
}

impl Outside<'_, '_> {
    fn redacted(&self, text: &Arc<str>) -> Arc<str> {
        self.thread.policy().redact.redact_arc(text)
    }

    /// 31: whether anything of a secret stands in what is written or told.
    fn leaks(&mut self, what: &str, text: &str) {
        if self.thread.policy().redact.is_on() && leaks(text) {
            let seen = around(text);
            self.reading
                .broken
                .push(format!("31: a secret in {what}: {seen}"));
        }
    }

    fn go_on_talking(&mut self, now: Millis, agenda: &mut Agenda<Input>) {
        let count = self.rng.between(1, 3).min(self.upcoming.len());
        if count == 0 {
            return;
        }
        self.story.note("late messages");
        let views: Vec<_> = self.upcoming.drain(..count).collect();
        self.appended += count;
        let seen = self.thread.branch().len();
        let record = self.thread.active().map(|r| r.id);
        let nodes = self.thread.append(views, self.src);
        let branch = self.thread.branch();
        super::scene::asked_under(self.reports, self.sent_under, branch, &nodes, record);
        let delta = self.thread.delta(seen);
        self.late_answers |= !delta.answered.is_empty();
        agenda.tell(now + self.rng.below(30) as u64, Input::Appended(delta));
    }
}

/// Whether a piece of a planted secret stands in a text.
pub(super) fn leaks(text: &str) -> bool {
    text.contains(SECRET_START) || text.contains(SECRET_END)
}

/// The first piece of a secret with what stands around it.
fn around(text: &str) -> &str {
    let pieces = [SECRET_START, SECRET_END];
    let at = pieces.iter().filter_map(|piece| text.find(piece)).min();
    let at = at.unwrap_or_default();
    let from = text.floor_char_boundary(at.saturating_sub(200));
    &text[from..text.ceil_char_boundary(at + 60)]
}

fn store_failure(message: &str) -> Failure {
    let message = format!("{message} of {}", policy::secret(3));
    Failure::Store {
        message: message.into(),
    }
}
