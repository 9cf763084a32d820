//! Everything outside the engine, on a clock of its own: the summariser, the store, and what happens meanwhile.
//! Nothing waits: the clock jumps to what comes next.

use std::borrow::Cow;
use std::collections::BTreeMap;

use conspectus_core::attempt::{Attempt, Poll};
use conspectus_core::effect::{
    CallNumber, Effect, Event, Input, Millis, SummaryInput, SummaryRequest,
};
use conspectus_core::id::NodeId;
use conspectus_core::outcome::{Outcome, Report};
use conspectus_core::summary;
use conspectus_testkit::model::{Answer, Ask, Said, ScriptedModel};
use serde_json::Value;

use super::crash::{self, Done};
use super::json::Json;
use super::session::Session;

/// Something that happens at a time.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// The clock reaches a time that the engine asked for.
    Wake,
    /// A call goes on.
    Progress(CallNumber),
    /// A call ends like this.
    Said(CallNumber, Said),
    /// The host appends messages.
    Append(Vec<Json>),
    /// Another writer appends messages to the stored thread; nobody tells the attempt.
    Elsewhere(Vec<Json>),
    /// Somebody cancels.
    Cancel,
}

/// The outside.
pub(super) struct World {
    /// The clock.
    pub(super) now: Millis,
    /// The summariser.
    pub(super) model: ScriptedModel,
    /// Its calls since [`World::take_calls`].
    calls: Vec<Call>,
    /// Names of events.
    pub(super) events: Vec<Cow<'static, str>>,
    /// What the summariser was asked, ever.
    pub(super) asked: Vec<SummaryRequest>,
    /// What the summariser reported as its input.
    pub(super) reported_input: Option<u64>,
    /// Writes of a summary fail.
    pub(super) refuses_summaries: bool,
    /// What was archived, and when.
    pub(super) archived: Option<(Vec<NodeId>, u64)>,
    /// When a record was committed last.
    pub(super) committed_at: Option<u64>,
    sequence: u64,
    to_come: BTreeMap<(Millis, u64), Happening>,
}

/// A call of the summariser.
struct Call {
    request: Json,
    input_tokens: u64,
    reply: Json,
    number: Option<CallNumber>,
}

impl World {
    /// A world with this summariser.
    pub(super) fn new(model: ScriptedModel) -> Self {
        Self {
            now: 0,
            model,
            calls: Vec::new(),
            events: Vec::new(),
            asked: Vec::new(),
            reported_input: None,
            refuses_summaries: false,
            archived: None,
            committed_at: None,
            sequence: 0,
            to_come: BTreeMap::new(),
        }
    }

    /// The calls since the last time.
    pub(super) fn take_calls(&mut self) -> Vec<Json> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        let object = |call: Call| {
            Json::Object(vec![
                ("request".to_owned(), call.request),
                ("reply".to_owned(), call.reply),
                ("input_tokens".to_owned(), Json::from(call.input_tokens)),
            ])
        };
        calls.map(object).collect()
    }

    fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Something will happen.
    pub(super) fn at(&mut self, time: Millis, happening: Happening) {
        let place = (time, self.next());
        self.to_come.insert(place, happening);
    }

    /// Runs an attempt to its end.
    ///
    /// # Errors
    /// When messages that arrive cannot be read.
    pub(super) fn drive(
        &mut self,
        session: &mut Session,
        mut attempt: Attempt,
    ) -> anyhow::Result<Report> {
        let seen = session.thread.branch().len();
        session.begins(attempt.id(), self.now)?;
        loop {
            let input = match attempt.poll(self.now, session.sources()) {
                Poll::Done(report) => {
                    let now = self.now;
                    session.ended(attempt.id(), report.outcome, now)?;
                    self.to_come
                        .retain(|_, h| !matches!(h, Happening::Wake | Happening::Cancel));
                    // Whatever else was on its way still arrives.
                    for (_, happening) in std::mem::take(&mut self.to_come) {
                        if let Happening::Append(m) | Happening::Elsewhere(m) = happening {
                            session.append(&m)?;
                        }
                    }
                    return Ok(*report);
                }
                Poll::Do(effect) => self.perform(session, &effect)?,
                Poll::Idle => {
                    let Some(((time, _), happening)) = self.to_come.pop_first() else {
                        anyhow::bail!("the attempt waits for nothing");
                    };
                    self.now = self.now.max(time);
                    self.happen(session, happening, seen)?
                }
            };
            if let Some(input) = input {
                attempt.feed(self.now, input, session.sources());
            }
        }
    }

    fn happen(
        &mut self,
        session: &mut Session,
        happening: Happening,
        seen: usize,
    ) -> anyhow::Result<Option<Input>> {
        Ok(match happening {
            Happening::Wake => None,
            Happening::Progress(call) => Some(Input::Progress(call)),
            Happening::Cancel => Some(Input::Cancel),
            Happening::Append(messages) => {
                session.append(&messages)?;
                Some(Input::Appended(session.thread.delta(seen)))
            }
            Happening::Elsewhere(messages) => {
                session.append(&messages)?;
                None
            }
            Happening::Said(number, said) => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.number == Some(number)) {
                    call.reply = reply(&said);
                    call.number = None;
                }
                Some(match said.outcome() {
                    None => return Ok(None),
                    Some(Ok(reply)) => {
                        let input = reply.usage.as_ref().map(|usage| usage.input);
                        if let Some(input) = input {
                            *self.reported_input.get_or_insert(0) += input;
                        }
                        Input::Reply(number, reply)
                    }
                    Some(Err(failure)) => Input::Failed(number, failure),
                })
            }
        })
    }

    fn perform(&mut self, session: &mut Session, effect: &Effect) -> anyhow::Result<Option<Input>> {
        Ok(Some(match effect {
            Effect::Call { call, request, .. } => {
                self.call(*call, request);
                return Ok(None);
            }
            Effect::Abort(number) => {
                self.abort(*number);
                return Ok(None);
            }
            Effect::CacheGet(key) => Input::Cached(*key, session.cached(*key)?),
            Effect::CachePut(key, text) => {
                session.cache(*key, text, self.now)?;
                return Ok(None);
            }
            Effect::WakeAt(time) => {
                self.at(*time, Happening::Wake);
                return Ok(None);
            }
            Effect::Hook(hook, _) => Input::HookDone(*hook),
            Effect::Archive(removed) => {
                let path = session.thread.branch().path().iter();
                let nodes = path.copied().filter(|n| removed.contains(*n)).collect();
                self.archived = Some((nodes, self.next()));
                Input::Archived(Ok(()))
            }
            Effect::Commit(record, expect) => {
                let before = session.thread.active().and_then(|r| r.summary.clone());
                let is_new_summary = record.summary != before;
                let refuse = self.refuses_summaries && is_new_summary;
                if session.may_die() && is_new_summary {
                    crash::tell(&self.take_done())?;
                }
                let ack = session.commit(record, *expect, refuse, is_new_summary);
                self.committed_at = Some(self.next());
                Input::Committed(ack)
            }
            Effect::LookUp(attempt, record) => {
                Input::Found(session.thread.has_record(*attempt, *record))
            }
            Effect::Emit(event) => {
                self.events.extend(name(event).map(Cow::Borrowed));
                return Ok(None);
            }
        }))
    }

    fn call(&mut self, number: CallNumber, request: &SummaryRequest) {
        let answer = self.ask(request);
        self.calls.push(Call {
            request: as_sent(request),
            input_tokens: request.input_tokens,
            reply: kind("none", Vec::new()),
            number: Some(number),
        });
        for _ in &answer.chunks {
            self.at(self.now + answer.after_ms, Happening::Progress(number));
        }
        if answer.said != Said::Nothing {
            let said = Happening::Said(number, answer.said);
            self.at(self.now + answer.after_ms, said);
        }
    }

    /// Asks the summariser, which counts its calls.
    fn ask(&mut self, request: &SummaryRequest) -> Answer {
        self.asked.push(request.clone());
        self.model.answer(&Ask::from(request))
    }

    /// Another process asked this.
    pub(super) fn was_asked(&mut self, requests: &[SummaryRequest]) {
        for request in requests {
            self.ask(request);
        }
    }

    /// What was done since the last time, for another process to hear of.
    pub(super) fn take_done(&mut self) -> Done {
        let calls = self.take_calls();
        let events = std::mem::take(&mut self.events).into_iter();
        Done {
            calls: calls.iter().map(ToString::to_string).collect(),
            asked: std::mem::take(&mut self.asked),
            events: events.map(Cow::into_owned).collect(),
            now: self.now,
        }
    }

    /// Nobody listens to a call any more. An answer that has come by now has come all the same.
    fn abort(&mut self, number: CallNumber) {
        let now = self.now;
        let is_its = |h: &Happening| matches!(h, Happening::Said(n, _) | Happening::Progress(n) if *n == number);
        let mut here = None;
        self.to_come.retain(|(time, _), happening| {
            if let Happening::Said(n, said) = happening
                && *n == number
                && *time <= now
            {
                here = Some(reply(said));
            }
            !is_its(happening)
        });
        let call = self.calls.iter_mut().find(|c| c.number == Some(number));
        if let Some((call, reply)) = call.zip(here) {
            call.reply = reply;
        }
    }

    /// No call has a number any more: those of the next attempt begin anew.
    pub(super) fn forget_numbers(&mut self) {
        for call in &mut self.calls {
            call.number = None;
        }
    }
}

/// The request as it goes over the wire.
fn as_sent(request: &SummaryRequest) -> Json {
    let message = |text: &str| {
        Json::Object(vec![
            ("role".to_owned(), Json::from("user")),
            ("content".to_owned(), Json::from(text)),
        ])
    };
    let (system, document) = match &request.input {
        SummaryInput::Transcript { system, document } => (system, document),
        SummaryInput::Replay { instruction, .. } => (instruction, instruction),
    };
    let frame = vec![
        ("open".to_owned(), Json::from(summary::OPEN)),
        ("close".to_owned(), Json::from(summary::CLOSE)),
    ];
    Json::Object(vec![
        ("system".to_owned(), Json::from(system.as_ref())),
        (
            "messages".to_owned(),
            Json::List(vec![message(document.as_ref())]),
        ),
        ("tools".to_owned(), Json::List(Vec::new())),
        (
            "max_output_tokens".to_owned(),
            Json::from(request.max_output_tokens),
        ),
        ("frame".to_owned(), Json::Object(frame)),
    ])
}

fn kind(kind: &str, mut more: Vec<(String, Json)>) -> Json {
    more.insert(0, ("kind".to_owned(), Json::from(kind)));
    Json::Object(more)
}

fn reply(said: &Said) -> Json {
    let as_json = |value: &Value| Json::parse(&value.to_string()).unwrap_or(Json::from(""));
    let one = |name: &str, key: &str, value: Json| kind(name, vec![(key.to_owned(), value)]);
    match said {
        Said::Text { text, .. } => one("text", "text", Json::from(text.as_str())),
        Said::Error { status, .. } => {
            let status = status.map_or_else(
                || Json::Plain("null".to_owned()),
                |s| Json::from(u64::from(s)),
            );
            one("error", "status", status)
        }
        Said::Nothing => kind("none", Vec::new()),
        Said::Panic => kind("panic", Vec::new()),
        Said::ToolCalls(calls) => one("tool_calls", "calls", as_json(calls)),
        Said::Blocks(blocks) => one("blocks", "blocks", as_json(blocks)),
        Said::Choices(choices) => one("choices", "choices", as_json(choices)),
    }
}

/// The judge's name of an event.
fn name(event: &Event) -> Option<&'static str> {
    Some(match event {
        Event::Started { .. } => "compaction_started",
        Event::Stopped { outcome, .. } => match outcome {
            // Shortening is committed as a record of its own.
            Outcome::Compacted | Outcome::Pruned => "compaction_committed",
            Outcome::Rejected => "compaction_rejected",
            Outcome::Cancelled => "compaction_cancelled",
            Outcome::Conflict => "compaction_conflict",
            _ => "compaction_failed",
        },
        Event::Progress { .. } | Event::ModelFailed { .. } => return None,
    })
}
