//! A conversation that goes on: [`Thread`] and the attempt that it started, driven from Python by poll and feed.

use std::sync::Arc;

use conspectus::core::attempt::{Attempt, Poll};
use conspectus::core::count::counter_for;
use conspectus::core::effect::{
    CallNumber, Effect, Failure, Finish, Hook, Input, Reply, Route, SummaryInput,
};
use conspectus::core::id::{CallId, Handle, RecordId};
use conspectus::core::projection::{BlockKind, Piece};
use conspectus::core::ranges::NodeRanges;
use conspectus::core::record::Record;
use conspectus::core::thread::{BreakerState, Fixed, Learnt, Mode};
use conspectus::core::view::{Role, Texts, Usage};
use conspectus::{
    Decision, Manual, OpenThread, Partials, Performed, Report, Sources, Thread, TokenCounter,
    ended, open_thread, perform,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::document::{Document, request};
use crate::fail::{Class, json, of_json};
use crate::message::{Message, Shelf};
use crate::policy::Policy;

/// Where the messages lie.
enum Surface {
    Shelf(Shelf),
    Document(Document, usize),
}

impl Surface {
    fn texts(&self) -> &dyn Texts {
        match self {
            Self::Shelf(shelf) => shelf,
            // Its conversation was there when it was opened.
            Self::Document(document, at) => &document.0.conversations()[*at],
        }
    }
}

/// What outlives the process beside the messages.
#[derive(Serialize, Deserialize)]
struct Saved {
    record: Option<Record>,
    breaker: BreakerState,
    learnt: Learnt,
}

/// A conversation.
#[pyclass(module = "conspectus._native")]
pub(crate) struct Conversation {
    policy: Policy,
    counter: Arc<dyn TokenCounter>,
    surface: Surface,
    thread: Thread,
    attempt: Option<Box<Attempt>>,
    partials: Partials,
    wakes: Vec<u64>,
    /// The time that was told last.
    now: u64,
}

impl Conversation {
    fn src(&self) -> Sources<'_> {
        Sources {
            texts: self.surface.texts(),
            counter: self.counter.as_ref(),
        }
    }

    /// The thread with what it reads through.
    fn split(&mut self) -> (&mut Thread, Sources<'_>) {
        let src = Sources {
            texts: self.surface.texts(),
            counter: self.counter.as_ref(),
        };
        (&mut self.thread, src)
    }

    fn append_all(&mut self, messages: Vec<Message>) {
        let Surface::Shelf(shelf) = &mut self.surface else {
            return;
        };
        let from = shelf.0.len();
        shelf
            .0
            .extend(messages.into_iter().map(|message| message.0));
        let new = shelf.0[from..].iter().zip(from..);
        let views: Vec<_> = new.map(|(message, at)| message.view_at(at)).collect();
        let (thread, src) = self.split();
        thread.append(views, src);
        if let Some(mut attempt) = self.attempt.take() {
            let delta = self.thread.delta(from);
            attempt.feed(self.now, Input::Appended(delta), self.src());
            self.attempt = Some(attempt);
        }
    }

    fn decided(&mut self, decision: Decision) -> PyResult<String> {
        json(&match decision {
            Decision::Send(report) => json!({"kind": "send", "report": report}),
            Decision::Wait(_) => json!({"kind": "wait"}),
            Decision::Start(attempt, mode) => {
                self.attempt = Some(attempt);
                self.wakes.clear();
                let in_background = mode == Mode::Background;
                json!({"kind": "start", "background": in_background})
            }
        })
    }

    /// Goes on until something from outside is needed.
    fn step(&mut self, now: u64) -> serde_json::Value {
        self.now = now;
        loop {
            let Some(mut attempt) = self.attempt.take() else {
                return json!({"kind": "none"});
            };
            let polled = attempt.poll(now, self.src());
            let input = match polled {
                Poll::Done(report) => {
                    ended(&mut self.thread, attempt.id(), &report, now);
                    return json!({"kind": "done", "report": report});
                }
                Poll::Idle => {
                    self.attempt = Some(attempt);
                    self.wakes.retain(|at| *at > now);
                    return json!({"kind": "idle", "wake_at": self.wakes.iter().min()});
                }
                Poll::Do(effect) => {
                    let src = Sources {
                        texts: self.surface.texts(),
                        counter: self.counter.as_ref(),
                    };
                    match perform(effect, &mut self.thread, src, &mut self.partials) {
                        Performed::Answered(input) => input,
                        Performed::Done => {
                            self.attempt = Some(attempt);
                            continue;
                        }
                        Performed::Outside(Effect::WakeAt(at)) => {
                            self.wakes.push(at);
                            self.attempt = Some(attempt);
                            continue;
                        }
                        // The history is the archive.
                        Performed::Outside(Effect::Archive(_)) => Input::Archived(Ok(())),
                        Performed::Outside(effect) => {
                            self.attempt = Some(attempt);
                            return self.told(effect);
                        }
                    }
                }
            };
            attempt.feed(now, input, self.src());
            self.attempt = Some(attempt);
        }
    }

    /// An effect for Python.
    fn told(&self, effect: Effect) -> serde_json::Value {
        match effect {
            Effect::Call {
                call,
                request,
                route,
                deadline,
            } => {
                let (system, document) = match &request.input {
                    SummaryInput::Transcript { system, document } => (system, document),
                    SummaryInput::Replay { instruction, .. } => (instruction, instruction),
                };
                json!({
                    "kind": "call", "call": call.0, "model": route.model, "deadline": deadline,
                    "system": system, "document": document, "as_fields": request.as_fields,
                    "max_output_tokens": request.max_output_tokens, "input_tokens": request.input_tokens,
                })
            }
            Effect::Abort(call) => json!({"kind": "abort", "call": call.0}),
            Effect::Hook(_, removed) => {
                json!({"kind": "hook", "removed": self.positions(&removed)})
            }
            Effect::Emit(event) => json!({"kind": "event", "event": event}),
            other => json!({"kind": "other", "effect": other}),
        }
    }

    fn positions(&self, removed: &NodeRanges) -> Vec<usize> {
        let path = self.thread.branch().path().iter().enumerate();
        path.filter(|(_, node)| removed.contains(**node))
            .map(|(at, _)| at)
            .collect()
    }

    fn feed(&mut self, now: u64, input: Input) {
        self.now = now;
        if let Some(mut attempt) = self.attempt.take() {
            attempt.feed(now, input, self.src());
            self.attempt = Some(attempt);
        }
    }
}

#[pymethods]
impl Conversation {
    /// Messages, and what stands beside them in every request: system text and tool definitions.
    #[new]
    #[pyo3(signature = (policy, messages=Vec::new(), *, fixed=Vec::new(), counter=None))]
    fn new(
        py: Python<'_>,
        policy: &Policy,
        messages: Vec<PyRef<'_, Message>>,
        fixed: Vec<String>,
        counter: Option<&str>,
    ) -> PyResult<Self> {
        let counter = match counter {
            None => counter_for(policy.resolved.counter),
            Some(name) => crate::document::counter(name)?,
        };
        let mut made = Self {
            thread: Thread::new(policy.resolved.clone()),
            policy: policy.clone(),
            counter,
            surface: Surface::Shelf(Shelf::default()),
            attempt: None,
            partials: Partials::default(),
            wakes: Vec::new(),
            now: 0,
        };
        made.set_fixed(fixed);
        let messages = messages.iter().map(|message| (**message).clone()).collect();
        py.detach(|| made.append_all(messages));
        Ok(made)
    }

    /// The conversation of a document. It takes no further messages.
    #[staticmethod]
    #[pyo3(signature = (policy, document, at=0))]
    fn of_document(
        py: Python<'_>,
        policy: &Policy,
        document: &Document,
        at: usize,
    ) -> PyResult<Self> {
        let conversation = document.conversation(at)?;
        let opened = py.detach(|| open_thread(conversation, &request(policy)));
        let OpenThread {
            thread, counter, ..
        } = opened.map_err(|error| Class::Policy.error(error))?;
        Ok(Self {
            policy: policy.clone(),
            counter,
            surface: Surface::Document(document.clone(), at),
            thread,
            attempt: None,
            partials: Partials::default(),
            wakes: Vec::new(),
            now: 0,
        })
    }

    /// Messages again, with what [`Conversation::saved`] gave. What no longer fits the messages is left out: then nothing
    /// is folded.
    #[staticmethod]
    #[pyo3(signature = (policy, messages, saved, *, fixed=Vec::new(), counter=None))]
    fn restore(
        py: Python<'_>,
        policy: &Policy,
        messages: Vec<PyRef<'_, Message>>,
        saved: &str,
        fixed: Vec<String>,
        counter: Option<&str>,
    ) -> PyResult<Self> {
        let saved: Saved = of_json(saved, "what was saved")?;
        let mut made = Self::new(py, policy, Vec::new(), fixed, counter)?;
        let all: Vec<Message> = messages.iter().map(|message| (**message).clone()).collect();
        made.thread.set_breaker(saved.breaker);
        made.thread.set_learnt(saved.learnt);
        py.detach(|| {
            let known = saved.record.as_ref().map_or(0, |record| {
                usize::try_from(record.upto.0).map_or(usize::MAX, |upto| upto.saturating_add(1))
            });
            let (before, after) = all.split_at(known.min(all.len()));
            made.append_all(before.to_vec());
            if let Some(record) = saved.record {
                // The records before it are not kept: it says all that they said.
                let alone = Record {
                    id: RecordId(0),
                    parent: None,
                    ..record
                };
                let expect = made.thread.expect();
                let (thread, src) = made.split();
                thread.commit(&alone, expect, src);
            }
            made.append_all(after.to_vec());
        });
        Ok(made)
    }

    /// What outlives the process beside the messages, as JSON.
    fn saved(&self) -> PyResult<String> {
        json(&Saved {
            record: self.thread.active().map(|record| record.as_ref().clone()),
            breaker: self.thread.breaker(),
            learnt: self.thread.learnt(),
        })
    }

    /// The JSON of its messages.
    fn messages(&self) -> Vec<String> {
        match &self.surface {
            Surface::Shelf(shelf) => shelf.0.iter().map(|inner| inner.json.clone()).collect(),
            Surface::Document(document, at) => {
                let conversation = &document.0.conversations()[*at];
                let all = conversation.views().iter();
                all.map(|view| conversation.json_of(view.handle).to_owned())
                    .collect()
            }
        }
    }

    /// System text and tools as they are now.
    fn set_fixed(&mut self, texts: Vec<String>) {
        let fixed = Fixed::of(texts.iter().map(String::as_str), self.counter.as_ref());
        self.thread.set_fixed(fixed);
    }

    /// The numbers that decide from now on, as for another model.
    fn set_policy(&mut self, policy: &Policy) {
        self.thread.set_policy(policy.resolved.clone());
        self.policy = policy.clone();
    }

    /// Adds messages.
    fn append(&mut self, py: Python<'_>, messages: Vec<PyRef<'_, Message>>) -> PyResult<()> {
        if matches!(self.surface, Surface::Document(..)) {
            return Err(Class::State
                .error("a document's conversation takes no messages; open the longer document"));
        }
        let messages = messages.iter().map(|message| (**message).clone()).collect();
        py.detach(|| self.append_all(messages));
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.thread.branch().len()
    }

    /// How many of the messages of the list are here already, from the start, by what they say.
    fn common(&self, messages: Vec<PyRef<'_, Message>>) -> usize {
        let here = self.thread.branch().views().iter();
        here.zip(&messages)
            .take_while(|(here, there)| here.ident == there.0.view.ident)
            .count()
    }

    /// Calls that are waited for: they stay.
    fn set_pending(&mut self, ids: Vec<String>) {
        let pending = ids.iter().map(|id| CallId::from(id.as_str())).collect();
        let (thread, src) = self.split();
        thread.set_pending(pending, src);
    }

    /// Keeps a message for good.
    fn pin(&mut self, at: usize) {
        if let Some(node) = self.thread.branch().path().get(at).copied() {
            self.thread.pin(node);
        }
    }

    /// What the provider, or a counter of the host's own, said of the request that the newest reply answers.
    fn usage(&mut self, input: u64, output: u64) {
        self.thread.usage(Usage {
            input,
            output,
            ..Usage::default()
        });
    }

    /// A request is sent now.
    fn sent(&mut self, now: u64) {
        self.thread.sent(now);
    }

    /// The size, as JSON.
    fn size(&self) -> PyResult<String> {
        json(&self.thread.size(self.src()))
    }

    /// The check before a call of the model; an attempt that it starts is polled next. `routes`: models to ask, as JSON.
    fn before_call(&mut self, py: Python<'_>, now: u64, routes: &str) -> PyResult<String> {
        let routes: Vec<Route> = of_json(routes, "routes")?;
        let decision = py.detach(|| {
            let (thread, src) = self.split();
            thread.before_call(now, &routes, src)
        });
        self.decided(decision)
    }

    /// A command. `request`: what it adds, as JSON.
    fn manual(&mut self, py: Python<'_>, now: u64, request: &str) -> PyResult<String> {
        let request: Manual = of_json(request, "request")?;
        let decision = py.detach(|| {
            let (thread, src) = self.split();
            thread.manual(now, &request, src)
        });
        self.decided(decision)
    }

    /// The provider refused the request as too large: compacts once, where that may help.
    fn overflowed(
        &mut self,
        py: Python<'_>,
        now: u64,
        limit: Option<u64>,
        routes: &str,
    ) -> PyResult<String> {
        use conspectus::core::thread::Recovery;
        let routes: Vec<Route> = of_json(routes, "routes")?;
        let failure = Failure::ContextOverflow {
            limit,
            actual: None,
        };
        let recovery = py.detach(|| {
            let (thread, src) = self.split();
            thread.provider_error(now, &failure, &routes, src)
        });
        match recovery {
            Recovery::Compact(attempt) => self.decided(Decision::Start(attempt, Mode::Foreground)),
            _ => json(&json!({"kind": "send"})),
        }
    }

    /// What would go and stay, as JSON: one word a message.
    fn plan(&self, request: &str) -> PyResult<String> {
        let request: Manual = of_json(request, "request")?;
        json(&self.thread.preview(&request, self.src()).fates)
    }

    /// What the attempt wants now, as JSON.
    fn poll(&mut self, py: Python<'_>, now: u64) -> PyResult<String> {
        let wanted = py.detach(|| self.step(now));
        json(&wanted)
    }

    /// A call of a model ended with a reply.
    #[pyo3(signature = (now, call, text, finish="stop", usage=None))]
    fn replied(
        &mut self,
        py: Python<'_>,
        now: u64,
        call: u32,
        text: &str,
        finish: &str,
        usage: Option<(u64, u64)>,
    ) {
        let finish = match finish {
            "length" | "max_tokens" => Finish::Length,
            "tool_calls" | "tool_use" => Finish::ToolCalls,
            "content_filter" | "refusal" => Finish::Refused,
            _ => Finish::Stop,
        };
        let usage = usage.map(|(input, output)| Usage {
            input,
            output,
            ..Usage::default()
        });
        let reply = Reply {
            text: text.into(),
            finish,
            usage,
        };
        py.detach(|| self.feed(now, Input::Reply(CallNumber(call), reply)));
    }

    /// A call of a model failed: "overflow", "unavailable", "unusable", "timed_out".
    #[pyo3(signature = (now, call, kind, message, retry_after_ms=None))]
    fn failed(
        &mut self,
        now: u64,
        call: u32,
        kind: &str,
        message: &str,
        retry_after_ms: Option<u64>,
    ) {
        let message = message.into();
        let failure = match kind {
            "overflow" => Failure::TOO_LARGE,
            "unavailable" => Failure::Unavailable {
                message,
                retry_after_ms,
            },
            "timed_out" => Failure::TimedOut {
                after_ms: self.policy.resolved.summary.call_timeout_ms,
            },
            _ => Failure::Unusable { message },
        };
        self.feed(now, Input::Failed(CallNumber(call), failure));
    }

    /// The host's hooks ran.
    fn hooked(&mut self, now: u64) {
        self.feed(now, Input::HookDone(Hook::BeforeRemoval));
    }

    /// Stops the attempt; it is polled to its end all the same.
    fn cancel(&mut self, now: u64) {
        self.feed(now, Input::Cancel);
    }

    /// Whether an attempt is under way.
    #[getter]
    fn is_running(&self) -> bool {
        self.attempt.is_some()
    }

    /// The request that would be sent now: `("keep", at)`, `("edit", at, json)`,
    /// `("insert", kind, role, text, call_id, tool)`.
    fn projection<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let projection = self.thread.projection();
        let out = PyList::empty(py);
        for piece in projection.pieces() {
            let entry = match piece {
                Piece::Keep(Handle(at)) => ("keep", at).into_pyobject(py)?,
                Piece::Edit(Handle(at), patches) => {
                    let json = match &self.surface {
                        Surface::Shelf(shelf) => {
                            let inner = shelf.0.get(*at as usize);
                            inner.and_then(|inner| inner.patched(patches.clone()))
                        }
                        Surface::Document(..) => None,
                    };
                    ("edit", at, json).into_pyobject(py)?
                }
                Piece::Insert(block) => inserted(py, block)?,
            };
            out.append(entry)?;
        }
        Ok(out)
    }

    /// Whether every message is shown as it is and nothing is inserted.
    #[getter]
    fn is_untouched(&self) -> bool {
        self.thread.projection().is_untouched()
    }

    /// The document with this conversation as it would be sent.
    fn rendered<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Surface::Document(document, at) = &self.surface else {
            return Err(
                Class::State.error("these messages came one by one; ask for the projection")
            );
        };
        let projection = self.thread.projection();
        let bytes = match projection.is_untouched() {
            true => document.0.bytes().to_vec(),
            false => py.detach(|| document.rendered(*at, &projection))?,
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// The summary in force.
    #[getter]
    fn summary(&self) -> Option<String> {
        let summary = self.thread.active()?.summary.as_ref()?;
        Some(summary.text.to_string())
    }

    /// What code keeps beside the summary.
    #[getter]
    fn durable(&self) -> Option<String> {
        let record = self.thread.active()?;
        (!record.durable.is_empty()).then(|| record.durable.to_string())
    }

    /// The positions of the messages that are folded.
    #[getter]
    fn folded(&self) -> Vec<usize> {
        (0..self.thread.branch().len())
            .filter(|at| self.thread.is_folded(*at))
            .collect()
    }

    /// What the conversation's own structure tells: files, tests, todos, rules; as JSON.
    fn registries(&self) -> PyResult<String> {
        json(self.thread.ledger())
    }

    /// How messages and the record in force are sized, as JSON.
    fn report(&self) -> PyResult<Option<String>> {
        let report = self.thread.active().map(|record| Report {
            outcome: match record.summary {
                Some(_) => conspectus::Outcome::Compacted,
                None => conspectus::Outcome::Pruned,
            },
            record: Some(record.id),
            measured: record.measured,
            reasons: record.why.clone(),
            failure: None,
        });
        report.map(|report| json(&report)).transpose()
    }

    /// Takes the last compaction back.
    fn undo(&mut self) -> bool {
        let (thread, src) = self.split();
        thread.undo(src).is_some()
    }

    /// Puts it in force again.
    fn redo(&mut self) -> bool {
        let (thread, src) = self.split();
        thread.redo(src).is_some()
    }

    /// What was shortened, whole, by the reference in its marker: `(message, text)`.
    fn recall(&self, reference: &str) -> Vec<(u32, String)> {
        let found = self.thread.recall(reference, self.surface.texts());
        found
            .into_iter()
            .map(|found| (found.message.0, found.text))
            .collect()
    }

    /// Messages that hold most of the words of `query`, folded ones included, best first: `(at, words)`.
    fn search(&self, py: Python<'_>, query: &str, limit: usize) -> Vec<(usize, u64)> {
        py.detach(|| {
            let asked = conspectus::terms::Terms::asked(query);
            let texts = self.surface.texts();
            let views = self.thread.branch().views().iter().enumerate();
            let matched = views.map(|(at, view)| {
                let terms = conspectus::terms::Terms::of_message(view, texts);
                (at, terms.matched(&asked))
            });
            let mut found: Vec<(usize, u64)> = matched.filter(|(_, n)| *n > 0).collect();
            found.sort_by_key(|(at, n)| (std::cmp::Reverse(*n), std::cmp::Reverse(*at)));
            found.truncate(limit);
            found
        })
    }
}

fn inserted<'py>(
    py: Python<'py>,
    block: &conspectus::core::projection::Block,
) -> PyResult<Bound<'py, PyTuple>> {
    let (kind, id, tool) = match &block.kind {
        BlockKind::Rules => ("rules", "", ""),
        BlockKind::Summary => ("summary", "", ""),
        BlockKind::Reminder => ("reminder", "", ""),
        BlockKind::Acknowledgement => ("acknowledgement", "", ""),
        BlockKind::Answer { id, tool } => ("answer", id.as_str(), tool.as_ref()),
    };
    let role = match block.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    ("insert", kind, role, block.text.as_ref(), id, tool).into_pyobject(py)
}
