//! Runs attempts to their end without blocking: the async shell around the pure machine.
//!
//! Calls of one attempt run side by side, as many as the machine asks for. There is no runtime in here: time is
//! the [`Clock`] port, and whatever polls the future drives everything, so a run under a fake clock is the same
//! every time.

use std::collections::BTreeSet;
use std::future::{poll_fn, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use conspectus_core::attempt::{Attempt, Poll as Next};
use conspectus_core::effect::{
    CallNumber, Effect, Event, Failure, Hook, Input, Millis, Reply, Route, SummaryInput,
    SummaryRequest,
};
use conspectus_core::id::AttemptId;
use conspectus_core::outcome::{Measured, Outcome, Report};
use conspectus_core::projection::Piece;
use conspectus_core::ranges::NodeRanges;
use conspectus_core::summary::form::SCHEMA;
use conspectus_wire::{Conversation, Format};

use crate::clock::Clock;
use crate::compact::{CompactRequest, Compaction, Error, Opened, Prepared};
use crate::control::Control;
use crate::home::{Home, Shared};
use crate::jobs::{Job, Jobs};
use crate::model::{Boxed, Meter, ModelCall, Models, Prompt};
use crate::partials::Partials;
use crate::perform::ended as ended_as;
use crate::telemetry::{
    self, After, AttemptTrace, Caught, Labels, Span, Start, StartMeasurements, StartMetadata,
    Telemetry, failure,
};

/// What an attempt's effects need from outside beside models and time. Every method has a default that suits a
/// conversation in memory: no hooks, and the history itself is the archive.
pub trait Surroundings: Sync {
    /// Runs the host's hooks. What fails in there is the host's to log.
    fn hook<'a>(&'a self, hook: Hook, removed: &'a NodeRanges) -> Boxed<'a, ()> {
        let _ = (hook, removed);
        Box::pin(ready(()))
    }

    /// Makes messages retrievable before they go.
    ///
    /// # Errors
    /// When they could not be written; the attempt then ends without a change.
    fn archive<'a>(&'a self, removed: &'a NodeRanges) -> Boxed<'a, Result<(), Failure>> {
        let _ = removed;
        Box::pin(ready(Ok(())))
    }

    /// Whether [`replay`](Self::replay) can make a request for the route's model, which takes bodies of this format.
    /// Asked only for routes that their host lets replay; unless said otherwise it is taken at its word.
    fn can_replay(&self, route: &Route, takes: Option<Format>) -> bool {
        let _ = (route, takes);
        true
    }

    /// The conversation as a request in the format of the route's model, with the instruction as its last user
    /// turn. Asked only for routes that replay.
    ///
    /// # Errors
    /// When this host cannot make one.
    fn replay(
        &self,
        route: &Route,
        conversation: &[Piece],
        instruction: &str,
    ) -> Result<Prompt, Failure> {
        let _ = (route, conversation, instruction);
        Err(Failure::Unusable {
            message: "the conversation cannot be replayed here; use the transcript strategy".into(),
        })
    }

    /// Listens.
    fn emit(&self, event: &Event) {
        let _ = event;
    }

    /// Whose compaction it is, for [`Telemetry`].
    fn labels(&self) -> Labels {
        Labels::default()
    }
}

/// Surroundings with nothing in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Surroundings for Alone {
    fn can_replay(&self, _: &Route, _: Option<Format>) -> bool {
        false
    }
}

/// Runs attempts. Keeps the partial results of all of them, so one compactor for a process is enough; one for
/// each tenant where tenants must not even share the answer to the same question.
pub struct Compactor<C> {
    models: Models,
    clock: C,
    partials: Mutex<Partials>,
    telemetry: Telemetry,
}

impl<C: Clock> Compactor<C> {
    /// With these models.
    pub fn new(models: Models, clock: C) -> Self {
        Self {
            models,
            clock,
            partials: Mutex::default(),
            telemetry: Telemetry::new(),
        }
    }

    /// With somebody who listens.
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        self.telemetry = telemetry;
        self
    }

    /// The clock.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// Takes [`Route::replay`] from routes where it cannot be done: the conversation is no request, or its format is
    /// not the one that the model takes. Whether what is left is replayed is decided when a summary is asked for.
    /// Hosts that keep a thread call this before they hand it the routes.
    pub fn settle(&self, routes: &mut [Route], around: &dyn Surroundings) {
        for route in routes.iter_mut().filter(|route| route.replay) {
            let model = self.models.get(route.model.as_deref());
            let takes = model.ok().and_then(|model| model.takes());
            route.replay = around.can_replay(route, takes);
        }
    }

    /// Runs `attempt` to its end and commits into the thread at `home`. Dropping the future stops its calls and
    /// clears the way for the next attempt. A panic on the way is a failed attempt. Whoever listens is told of one
    /// start and one end.
    pub async fn run<H: Home>(
        &self,
        home: &H,
        attempt: Attempt,
        around: &dyn Surroundings,
        control: &Control,
    ) -> Report {
        let id = attempt.id();
        let spent = AtomicU64::new(0);
        let mut lease = Lease {
            home,
            clock: &self.clock,
            attempt: id,
            spent: &spent,
            is_held: true,
        };
        let policy = home.with(|thread, _| thread.policy().clone());
        let trace = AttemptTrace::new(id, &around.labels(), policy.provider.as_deref());
        let span = Span::new(&self.telemetry, &self.clock, policy, trace);
        let way = Way {
            home,
            around,
            control,
            span: &span,
            spent: &spent,
        };
        let work = span.trace().around(self.drive(way, attempt));
        let ended = Caught(pin!(work)).await;
        let event = home.with(|thread, src| match &ended {
            Ok(report) => {
                let record = report.record.and_then(|id| thread.record(id));
                let size = thread.size(src);
                let after = After {
                    bytes: size.bytes,
                    messages: size.messages,
                };
                span.end(report, record.map(AsRef::as_ref), after)
            }
            Err(panic) => span.broken("error", panic),
        });
        let report = ended.unwrap_or_else(|panic| {
            let measured = Measured {
                spent_micros: spent.load(Ordering::Relaxed),
                ..Measured::default()
            };
            Report {
                failure: Some(failure(&panic)),
                ..Report::without_attempt(Outcome::Failed, measured, Vec::new())
            }
        });
        lease.is_held = false;
        let now = self.clock.now();
        home.with(|thread, _| ended_as(thread, id, &report, now));
        if let Some(event) = &event {
            home.told(event).await;
        }
        span.close(event.as_ref());
        report
    }

    /// Polls and feeds the machine until it has ended.
    async fn drive<H: Home>(&self, way: Way<'_, C, H>, mut attempt: Attempt) -> Report {
        let home = way.home;
        let mut jobs = Jobs::default();
        let mut wakes = BTreeSet::new();
        loop {
            self.meter(&way, &mut attempt);
            let now = self.clock.now();
            let input = match home.with(|_, src| attempt.poll(now, src)) {
                Next::Done(report) => return *report,
                Next::Idle => {
                    wakes.retain(|at| *at > now);
                    match self.wait(&mut jobs, &wakes, way.control).await {
                        Some(input) => input,
                        None => continue,
                    }
                }
                Next::Do(Effect::CacheGet(part)) => {
                    let found = match home.cached(part) {
                        Some(kept) => kept.await,
                        None => self.partials().get(part),
                    };
                    Input::Cached(part, found)
                }
                Next::Do(Effect::CachePut(part, text)) => {
                    match home.cache(part, text.clone()) {
                        Some(kept) => kept.await,
                        None => self.partials().put(part, text),
                    }
                    continue;
                }
                Next::Do(Effect::Commit(record, expect)) => {
                    Input::Committed(home.commit(&record, expect).await)
                }
                Next::Do(Effect::LookUp(attempt, record)) => {
                    Input::Found(home.has_record(attempt, record).await)
                }
                Next::Do(Effect::Emit(event)) => {
                    if let Some(start) = self.start_of(&event, &way) {
                        home.told(&start).await;
                        way.span.started(&start);
                    }
                    way.around.emit(&event);
                    continue;
                }
                Next::Do(effect) => {
                    self.begin(effect, now, &mut jobs, &mut wakes, way);
                    continue;
                }
            };
            self.meter(&way, &mut attempt);
            let now = self.clock.now();
            home.with(|_, src| attempt.feed(now, input, src));
            way.spent.store(attempt.spent_micros(), Ordering::Relaxed);
        }
    }

    /// What calls were reported to cost stands before what becomes of them.
    fn meter<H: Home>(&self, way: &Way<'_, C, H>, attempt: &mut Attempt) {
        for (call, usage) in way.control.take_used() {
            way.span.used(call, &usage);
            let input = Input::Usage(call, usage);
            let now = self.clock.now();
            way.home.with(|_, src| attempt.feed(now, input, src));
            way.spent.store(attempt.spent_micros(), Ordering::Relaxed);
        }
    }

    /// What is told when the machine says that it begins.
    fn start_of<H: Home>(&self, event: &Event, way: &Way<'_, C, H>) -> Option<telemetry::Event> {
        let Event::Started {
            attempt,
            moment,
            messages,
            tokens,
        } = event
        else {
            return None;
        };
        let bytes = way.home.with(|thread, src| thread.size(src).bytes);
        Some(telemetry::Event::Start(Start {
            measurements: StartMeasurements {
                system_time: self.clock.now(),
                monotonic_time: self.clock.now(),
                tokens_before: *tokens,
                bytes_before: bytes,
            },
            metadata: StartMetadata {
                labels: way.around.labels(),
                messages_before: *messages,
                attempt: *attempt,
                moment: *moment,
            },
        }))
    }

    fn partials(&self) -> MutexGuard<'_, Partials> {
        self.partials.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compacts a conversation, as [`compact`](crate::compact()) does, with the models of this compactor for the
    /// routes of the request. Routes that let the conversation be replayed do so where `around` can
    /// ([`Replaying`](crate::Replaying)), and where that is the better way.
    ///
    /// # Errors
    /// When the options cannot work. Everything that happens later is an outcome in the report.
    pub async fn compact(
        &self,
        conversation: &Conversation,
        request: &CompactRequest,
        around: &dyn Surroundings,
        control: &Control,
    ) -> Result<Compaction, Error> {
        let prepared = self.prepare(conversation, request, around)?;
        Ok(self.finish(prepared, conversation, around, control).await)
    }

    /// The first half of [`compact`](Self::compact), which asks nobody: what would go, for whoever wants to say so before.
    ///
    /// # Errors
    /// When the options cannot work.
    pub fn prepare(
        &self,
        conversation: &Conversation,
        request: &CompactRequest,
        around: &dyn Surroundings,
    ) -> Result<Prepared, Error> {
        let mut settled = request.clone();
        self.settle(&mut settled.manual.routes, around);
        Opened::begin(conversation, &settled, self.clock.now())
    }

    /// The second half, for the same conversation.
    pub async fn finish(
        &self,
        prepared: Prepared,
        conversation: &Conversation,
        around: &dyn Surroundings,
        control: &Control,
    ) -> Compaction {
        let Prepared {
            thread,
            opened,
            begun,
        } = prepared;
        let counter = opened.counter.clone();
        let home = Shared::new(thread, conversation, counter.as_ref());
        let report = match begun {
            Ok(attempt) => self.run(&home, *attempt, around, control).await,
            Err(report) => report,
        };
        opened.end(home.into_thread(), report)
    }

    /// Sets an effect going.
    fn begin<'a, H: Home>(
        &'a self,
        effect: Effect,
        now: Millis,
        jobs: &mut Jobs<'a>,
        wakes: &mut BTreeSet<Millis>,
        way: Way<'a, C, H>,
    ) {
        let around = way.around;
        match effect {
            Effect::Call {
                call,
                request,
                route,
                deadline,
            } => {
                let timeout_ms = deadline.saturating_sub(now);
                let (control, span) = (way.control.clone(), way.span);
                span.call();
                jobs.start(
                    Job::Call(call),
                    Box::pin(async move {
                        match self
                            .call(call, &request, &route, timeout_ms, around, (&control, span))
                            .await
                        {
                            Ok(reply) => {
                                span.answered(call, &route, &reply);
                                Input::Reply(call, reply)
                            }
                            Err(failure) => Input::Failed(call, failure),
                        }
                    }),
                );
            }
            Effect::Hook(hook, removed) => jobs.start(
                Job::Hook(hook),
                Box::pin(async move {
                    around.hook(hook, &removed).await;
                    Input::HookDone(hook)
                }),
            ),
            Effect::Archive(removed) => jobs.start(
                Job::Archive,
                Box::pin(async move { Input::Archived(around.archive(&removed).await) }),
            ),
            Effect::Abort(call) => jobs.abort(call),
            Effect::WakeAt(at) => {
                wakes.insert(at);
            }
            Effect::Emit(_)
            | Effect::CacheGet(_)
            | Effect::CachePut(..)
            | Effect::Commit(..)
            | Effect::LookUp(..) => unreachable!("performed by the home"),
        }
    }

    async fn call(
        &self,
        call: CallNumber,
        request: &SummaryRequest,
        route: &Route,
        timeout_ms: u64,
        around: &dyn Surroundings,
        (control, span): (&Control, &Span<'_, C>),
    ) -> Result<Reply, Failure> {
        let model = self.models.get(route.model.as_deref())?;
        let prompt = match &request.input {
            SummaryInput::Transcript { system, document } => Prompt::Text {
                system: system.clone(),
                user: document.clone(),
            },
            SummaryInput::Replay {
                conversation,
                instruction,
            } => around.replay(route, conversation, instruction)?,
        };
        let mut ask = ModelCall {
            prompt,
            max_output_tokens: request.max_output_tokens,
            timeout_ms,
            schema: request.as_fields.then(|| SCHEMA.into()),
            meter: Meter::default(),
        };
        let trace = span.trace().call(call, route, &model.about(), &ask);
        let (reads, traced) = (control.clone(), trace.meter());
        ask.meter = Meter::new(move |usage| {
            traced(usage);
            reads.used(call, usage.clone());
        });
        let began = self.clock.now();
        let alive = || {
            trace.alive(|| self.clock.now().saturating_sub(began));
            control.alive(call);
        };
        let ended = trace.around(model.call(ask, &alive)).await;
        trace.ended(&ended);
        ended
    }

    /// Waits for the next input; `None`: a time has come. When nothing can come any more, the attempt is stopped.
    async fn wait(
        &self,
        jobs: &mut Jobs<'_>,
        wakes: &BTreeSet<Millis>,
        control: &Control,
    ) -> Option<Input> {
        let mut sleep = wakes.first().map(|at| self.clock.sleep_until(*at));
        if sleep.is_none() && jobs.is_empty() {
            return Some(Input::Cancel);
        }
        poll_fn(|cx: &mut Context<'_>| {
            // What was said stands before what ended, and that before the time: the order is the same each time.
            let input = control
                .next(cx.waker())
                .or_else(|| jobs.poll(cx))
                .or_else(|| control.next(cx.waker()));
            match (input, &mut sleep) {
                (Some(input), _) => Poll::Ready(Some(input)),
                (None, Some(sleep)) => sleep.as_mut().poll(cx).map(|()| None),
                (None, None) => Poll::Pending,
            }
        })
        .await
    }
}

/// Where an attempt runs and who hears of it.
struct Way<'a, C: Clock, H> {
    home: &'a H,
    around: &'a dyn Surroundings,
    control: &'a Control,
    span: &'a Span<'a, C>,
    /// What the attempt has cost so far.
    spent: &'a AtomicU64,
}

impl<C: Clock, H> Clone for Way<'_, C, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Clock, H> Copy for Way<'_, C, H> {}

/// The thread is told that the attempt ended, on every way out: this one is for a future that is dropped.
struct Lease<'a, H: Home, C: Clock> {
    home: &'a H,
    clock: &'a C,
    attempt: AttemptId,
    /// What it has cost so far.
    spent: &'a AtomicU64,
    is_held: bool,
}

impl<H: Home, C: Clock> Drop for Lease<'_, H, C> {
    fn drop(&mut self) {
        if self.is_held {
            let now = self.clock.now();
            let spent = self.spent.load(Ordering::Relaxed);
            self.home.with(|thread, _| {
                thread.ended(self.attempt, Outcome::Cancelled, now);
                thread.spend(now, spent);
            });
        }
    }
}
