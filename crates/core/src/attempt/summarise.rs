//! A model at work: chunks in parallel within a limit, partial results cached, failures retried or passed on.

use std::sync::Arc;

use super::cost::Asked;
use super::{Attempt, Phase};
use crate::effect::{
    CallNumber, Effect, Event, Failure, Finish, Input, Millis, Refusal, Reply, Route,
};
use crate::id::Ident;
use crate::outcome::Reason;
use crate::parity;
use crate::planted::{Bug, planted};
use crate::policy::{Preset, Strategy};
use crate::record::{Author, Summary};
use crate::summary::{self, Chunk, Passage};
use crate::thread::Sources;
use crate::way::{OVERHEAD_TOKENS, Why};

/// Summaries of summaries; each level is smaller than the one below.
const MAX_LEVELS: u32 = 8;
/// The first wait before a call is tried again; it doubles.
const FIRST_WAIT_MS: Millis = 1_000;
/// This part of the model's window is kept free: counts are estimates, and a request over it is lost.
const SPARE: u64 = 5;
/// No server's context is smaller: a report of less is none.
const LEAST_CONTEXT_TOKENS: u64 = 512;
/// No chunk is made smaller than this.
const LEAST_CHUNK_TOKENS: u64 = 256;

/// One candidate at work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Work {
    candidate: usize,
    pub(super) route: Route,
    pub(super) chunks: Vec<Chunk>,
    states: Vec<State>,
    pub(super) level: u32,
    tries_left: u32,
    tries_made: u32,
    /// Tokens of transcript a call is given.
    chunk_tokens: u64,
    /// Tokens that stand beside it.
    overhead: u64,
    /// What was wrong with the last reply for a chunk. A second one is not asked to be repaired.
    repairs: Vec<Option<Refusal>>,
    /// The model asked for rest, or is not there: none of its calls starts before.
    paused_until: Millis,
    /// Calls with smaller numbers had started before that.
    paused_from: CallNumber,
    /// The middle was cut out of what it is given, as LangChain does; only under `strict_parity`.
    pub(super) is_shortened: bool,
    /// The model is given up for this; calls on their way may still end, for the next attempt's sake.
    given_up: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    /// The cache is asked.
    Asked,
    Ready,
    /// Not before this time.
    Waiting(Millis),
    Called {
        call: CallNumber,
        deadline: Millis,
        /// Tokens of the request, by the counter.
        tokens: u64,
    },
    Done(Arc<str>),
    /// Given up.
    Failed,
}

impl Work {
    /// The work of the candidate with this index.
    pub(super) fn new(candidate: usize, attempt: &mut Attempt, src: Sources<'_>) -> Self {
        let mut route = attempt.s.routes[candidate].clone();
        let (replays, why) = attempt.replays(&route, src);
        route.replay = replays;
        attempt.went(replays, why);
        let summary = &attempt.s.policy.summary;
        let instruction = attempt.instruction(None, &route, 0, src);
        let overhead = src.counter.tokens(src.counter.text(&instruction)) + OVERHEAD_TOKENS;
        let estimated = route.max_input - route.max_input / SPARE;
        let most = estimated.min(attempt.s.policy.call_cap().unwrap_or(u64::MAX));
        // A peer makes one call of what is left, whatever it holds.
        let most = attempt.s.peer().map_or(most, |_| u64::MAX / 4);
        let most = most << (2 * u32::from(planted(Bug::ChunkTooLarge)));
        let mut work = Self {
            candidate,
            chunk_tokens: most.saturating_sub(overhead).max(LEAST_CHUNK_TOKENS),
            overhead,
            route,
            chunks: Vec::new(),
            states: Vec::new(),
            level: 0,
            tries_left: summary.max_retries,
            tries_made: 0,
            repairs: Vec::new(),
            paused_until: 0,
            paused_from: CallNumber(0),
            is_shortened: false,
            given_up: None,
        };
        work.plan(&attempt.passages(src), attempt, src);
        work
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = CallNumber> + '_ {
        self.states.iter().filter_map(|state| match state {
            State::Called { call, .. } => Some(*call),
            _ => None,
        })
    }

    fn plan(&mut self, passages: &[Passage], attempt: &mut Attempt, src: Sources<'_>) {
        if self.route.replay && self.level == 0 {
            let instruction = attempt.instruction(None, &self.route, self.level, src);
            let key = Ident::of(&instruction).then(attempt.s.branch.prefix());
            self.chunks = vec![Chunk {
                text: "".into(),
                key,
            }];
        } else {
            let salt = Ident::of(self.route.model.as_deref().unwrap_or("")).then(Ident::of(
                &attempt.instruction(None, &self.route, self.level, src),
            ));
            self.chunks = summary::chunks(
                passages,
                self.chunk_tokens,
                src.counter,
                salt,
                &attempt.redactor(),
            );
        }
        self.states = vec![State::Asked; self.chunks.len()];
        self.repairs = vec![None; self.chunks.len()];
        attempt
            .outbox
            .extend(self.chunks.iter().map(|c| Effect::CacheGet(c.key)));
    }
}

impl Attempt {
    /// Starts what can be started and looks at the time. False: it waits.
    pub(super) fn work(&mut self, mut work: Work, now: Millis, src: Sources<'_>) -> bool {
        let late = work
            .states
            .iter()
            .enumerate()
            .find_map(|(at, state)| match state {
                State::Called { call, deadline, .. } if now >= *deadline => Some((at, *call)),
                _ => None,
            });
        if let Some((at, call)) = late {
            self.outbox.push_back(Effect::Abort(call));
            let after_ms = self.s.policy.summary.call_timeout_ms;
            self.call_failed(work, at, now, Failure::TimedOut { after_ms }, src);
            return true;
        }
        let max = (self.s.policy.summary.max_parallel as usize).max(1);
        let is_paused = work.given_up.is_some() || now < work.paused_until;
        let max = if is_paused { 0 } else { max };
        let mut free = max.saturating_sub(work.in_flight().count());
        let mut started = false;
        for at in 0..work.states.len() {
            let ready = match work.states[at] {
                State::Ready => true,
                State::Waiting(until) => now >= until,
                _ => false,
            };
            if ready && free > 0 {
                let request = Box::new(self.request(&work, at, src));
                if self.is_over_budget(&work.route, &request) {
                    if !self.reasons.contains(&Reason::SpendCap) {
                        self.reasons.push(Reason::SpendCap);
                    }
                    work.states[at] = State::Failed;
                    work.given_up = Some(Failure::SpendCap);
                    self.pass_on(work, src);
                    return true;
                }
                free -= 1;
                started = true;
                let call = CallNumber(self.next_call);
                self.next_call += 1;
                self.model_called = true;
                let deadline = now.saturating_add(self.s.policy.summary.call_timeout_ms);
                let tokens = request.input_tokens;
                let model = work.route.model.clone();
                self.asked.insert(call, Asked { model, micros: 0 });
                self.outbox.push_back(Effect::Call {
                    call,
                    request,
                    route: work.route.clone(),
                    deadline,
                });
                self.outbox.push_back(Effect::WakeAt(deadline));
                work.states[at] = State::Called {
                    call,
                    deadline,
                    tokens,
                };
            }
        }
        self.phase = Phase::Working(Box::new(work));
        started
    }

    /// What a peer does after the provider said that it was too much: LangChain cuts the middle out, once.
    fn shrink_as(&self, peer: Preset, work: &mut Work, src: Sources<'_>) -> bool {
        let [chunk] = work.chunks.as_mut_slice() else {
            return false;
        };
        if peer != Preset::Langchain || work.is_shortened || work.route.replay {
            return false;
        }
        work.is_shortened = true;
        let Some(text) = parity::shortened(&chunk.text, work.route.max_input, src.counter) else {
            return false;
        };
        let key = chunk.key.then(Ident::of(&text));
        let text = text.into();
        *chunk = Chunk { text, key };
        work.states = vec![State::Ready];
        true
    }

    /// Something happened to a call or the cache.
    pub(super) fn answered(&mut self, mut work: Work, now: Millis, input: Input, src: Sources<'_>) {
        match input {
            Input::Cached(key, found) => {
                for (chunk, state) in work.chunks.iter().zip(&mut work.states) {
                    if chunk.key == key && *state == State::Asked {
                        *state = found.clone().map_or(State::Ready, State::Done);
                    }
                }
                self.after_chunk(work, now, src);
            }
            Input::Reply(call, reply) => match work.called(call) {
                Some(at) => match work.cut_to(at, &reply).filter(|_| self.s.peer().is_none()) {
                    Some(limit) => {
                        self.call_failed(work, at, now, Failure::over(limit), src);
                    }
                    None => self.replied(work, at, now, &reply, src),
                },
                None => self.phase = Phase::Working(Box::new(work)),
            },
            Input::Failed(call, failure) => match work.called(call) {
                Some(at) => self.call_failed(work, at, now, failure, src),
                None => self.phase = Phase::Working(Box::new(work)),
            },
            _ => self.phase = Phase::Working(Box::new(work)),
        }
    }

    fn replied(&mut self, mut work: Work, at: usize, now: Millis, reply: &Reply, src: Sources<'_>) {
        match self.read(&work, at, reply, src) {
            Ok(text) => {
                let text: Arc<str> = text.into();
                self.outbox
                    .push_back(Effect::CachePut(work.chunks[at].key, text.clone()));
                work.states[at] = State::Done(text);
                let done = work
                    .states
                    .iter()
                    .filter(|s| matches!(s, State::Done(_)))
                    .count();
                let (done, of) = (count(done), count(work.states.len()));
                self.emit(Event::Progress {
                    attempt: self.s.attempt,
                    done,
                    of,
                });
                match work.given_up {
                    Some(_) => self.pass_on(work, src),
                    None => self.after_chunk(work, now, src),
                }
            }
            Err(refusal) => {
                // What is wrong and too long is first of all too long, unless it never came to its end.
                let failure = match refusal {
                    _ if reply.finish == Finish::Length => None,
                    Refusal::Echo | Refusal::Unrelated => self.judge(&reply.text, src).err(),
                    _ => None,
                };
                let failure = failure.unwrap_or(Failure::NotASummary(refusal));
                self.call_failed(work, at, now, failure, src);
            }
        }
    }

    /// When all chunks are done: the summary, or the next level.
    fn after_chunk(&mut self, mut work: Work, now: Millis, src: Sources<'_>) {
        let mut parts = Vec::new();
        for state in &work.states {
            match state {
                State::Done(text) => parts.push(text.clone()),
                _ => {
                    self.phase = Phase::Working(Box::new(work));
                    return;
                }
            }
        }
        let joined = parts.join("\n\n");
        let finished = self.finished(&joined, src);
        match self.judge(&finished, src) {
            Ok(()) => {
                let author = Author::Model(work.route.model.clone());
                self.summarised(
                    Summary {
                        text: finished.into(),
                        author,
                    },
                    src,
                );
            }
            Err(_)
                if parts.len() > 1 && work.level < MAX_LEVELS && work.condenses(&joined, src) =>
            {
                work.level += 1;
                let passages: Vec<_> = parts.into_iter().map(|p| Passage::earlier(&p)).collect();
                work.plan(&passages, self, src);
                self.phase = Phase::Working(Box::new(work));
            }
            Err(failure) => self.call_failed(work, 0, now, failure, src),
        }
    }

    /// Smaller pieces, once more, the next model, or what the policy says after the last.
    fn call_failed(
        &mut self,
        mut work: Work,
        at: usize,
        now: Millis,
        failure: Failure,
        src: Sources<'_>,
    ) {
        if work.given_up.is_some() {
            work.states[at] = State::Failed;
            return self.pass_on(work, src);
        }
        if failure.is_context_overflow()
            && let Some(peer) = self.s.peer()
            && self.shrink_as(peer, &mut work, src)
        {
            self.phase = Phase::Working(Box::new(work));
            return;
        }
        let is_replay = work.route.replay;
        let is_refused = is_replay && self.refuses_replay(&work, &failure);
        let is_smaller =
            failure.is_context_overflow() && self.s.peer().is_none() && work.shrink(&failure);
        if is_refused || is_smaller {
            if is_replay {
                let why = if is_smaller {
                    Why::TooLarge
                } else {
                    Why::Refused
                };
                self.went(false, why);
                work.route.replay = false;
            }
            self.outbox
                .extend(work.in_flight().map(Effect::Abort).collect::<Vec<_>>());
            work.level = 0;
            let passages = self.passages(src);
            work.plan(&passages, self, src);
            self.phase = Phase::Working(Box::new(work));
            return;
        }
        // No answer would come in time: another model, or the digest, need not wait for that.
        let in_time = |until: &Millis| self.deadline.is_none_or(|deadline| *until < deadline);
        let next_call = CallNumber(self.next_call);
        if let Some(until) = work.again(at, now, &failure, next_call).filter(in_time) {
            work.states[at] = State::Waiting(until);
            self.outbox.push_back(Effect::WakeAt(until));
            self.phase = Phase::Working(Box::new(work));
            return;
        }
        work.states[at] = State::Failed;
        work.given_up = Some(failure);
        self.pass_on(work, src);
    }

    /// Whether a transcript may do where the conversation itself was no good: a server that wants the request otherwise, a
    /// model that goes on calling tools.
    fn refuses_replay(&self, work: &Work, failure: &Failure) -> bool {
        self.s.policy.summary.strategy == Strategy::Auto
            && match failure {
                Failure::Unusable { .. } => true,
                Failure::NotASummary(Refusal::ToolCall | Refusal::Markup) => work.tries_left == 0,
                _ => false,
            }
    }

    /// The next model, or what the policy says after the last; once what is on its way has ended, since what
    /// it ends with is paid for and kept.
    fn pass_on(&mut self, mut work: Work, src: Sources<'_>) {
        let failure = match work.given_up.take() {
            Some(failure) if work.in_flight().next().is_none() => failure,
            failure => {
                work.given_up = failure;
                self.phase = Phase::Working(Box::new(work));
                return;
            }
        };
        let (attempt, model) = (self.s.attempt, work.route.model.clone());
        self.emit(Event::ModelFailed {
            attempt,
            model,
            failure: failure.clone(),
        });
        let next = work.candidate + 1;
        if next < self.s.routes.len() {
            self.phase = Phase::Working(Box::new(Work::new(next, self, src)));
        } else {
            self.no_model_left(failure, src);
        }
    }
}

impl Work {
    /// Whether the partial summaries are so much smaller than what they were made of that another level leads
    /// somewhere.
    fn condenses(&self, joined: &str, src: Sources<'_>) -> bool {
        let weight = |text: &str| src.counter.text(text);
        let given: u64 = self.chunks.iter().map(|c| weight(&c.text)).sum();
        weight(joined) <= given / 4 * 3
    }

    /// What was wrong with the last reply for the chunk at `at`.
    pub(super) fn repair(&self, at: usize) -> Option<Refusal> {
        self.repairs.get(at).copied().flatten()
    }

    fn called(&self, wanted: CallNumber) -> Option<usize> {
        self.states
            .iter()
            .position(|s| matches!(s, State::Called { call, .. } if *call == wanted))
    }

    /// When the call for the chunk at `at` is made again after this failure; `None`: it is not.
    ///
    /// A model that is not there, or asked for rest, is left alone by all calls. Those that had started before and
    /// are sent away as well belong to the same refusal and use up no further try: each chunk is asked for at most
    /// once more than there are tries.
    fn again(
        &mut self,
        at: usize,
        now: Millis,
        failure: &Failure,
        next_call: CallNumber,
    ) -> Option<Millis> {
        let backoff = FIRST_WAIT_MS.saturating_mul(1 << self.tries_made.min(6));
        let wait = match failure {
            Failure::NotASummary(refusal) => {
                let is_first = self.repairs.get(at)?.is_none();
                self.repairs[at] = Some(*refusal);
                if !is_first {
                    return None;
                }
                0
            }
            Failure::Unavailable { retry_after_ms, .. } => {
                let is_same = matches!(
                    self.states.get(at),
                    Some(State::Called { call, .. }) if *call < self.paused_from
                );
                let wait = retry_after_ms.unwrap_or(if is_same { 0 } else { backoff });
                self.paused_until = self.paused_until.max(now.saturating_add(wait));
                if is_same {
                    return Some(self.paused_until);
                }
                self.paused_from = next_call;
                wait
            }
            failure if failure.is_retryable() => backoff,
            _ => return None,
        };
        self.tries_left = self.tries_left.checked_sub(1)?;
        self.tries_made += 1;
        Some(now.saturating_add(wait).max(self.paused_until))
    }

    /// Where the model read so much less than it was given that something was cut off without a word: what it read.
    /// Some servers do so with what is longer than their context. Counts are at most twice too high (invariant 20).
    fn cut_to(&self, at: usize, reply: &Reply) -> Option<u64> {
        let State::Called { tokens, .. } = self.states[at] else {
            return None;
        };
        let read = reply.usage.as_ref()?.input;
        let is_cut = read >= LEAST_CONTEXT_TOKENS && read < tokens / 2;
        is_cut.then_some(read)
    }

    /// Makes chunks smaller after an overflow. False: they cannot be.
    fn shrink(&mut self, failure: &Failure) -> bool {
        let limit = match failure {
            Failure::ContextOverflow {
                limit: Some(limit), ..
            } => {
                self.route.max_input = self.route.max_input.min(*limit);
                (limit.saturating_mul(3) / 4).saturating_sub(self.overhead)
            }
            _ => u64::MAX,
        };
        if self.route.replay {
            self.route.replay = false;
            self.chunk_tokens = self.chunk_tokens.min(limit).max(LEAST_CHUNK_TOKENS);
            return true;
        }
        let smaller = (self.chunk_tokens / 2).min(limit).max(LEAST_CHUNK_TOKENS);
        std::mem::replace(&mut self.chunk_tokens, smaller) > smaller
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
