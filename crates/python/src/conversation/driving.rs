//! The attempt that a conversation started, by poll and feed: what it wants is JSON, what happened is told to it.

use conspectus::core::attempt::Poll;
use conspectus::core::effect::{
    CallNumber, Effect, Failure, Finish, Hook, Input, Reply, Route, SummaryInput,
};
use conspectus::core::ranges::NodeRanges;
use conspectus::core::thread::{Mode, Recovery};
use conspectus::core::view::Usage;
use conspectus::{Decision, Manual, Performed, Sources, ended, perform};
use pyo3::prelude::*;
use serde_json::json;

use super::Conversation;
use crate::fail::{json, of_json};

impl Conversation {
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
                let (system, document, replay) = match &request.input {
                    SummaryInput::Transcript { system, document } => (system, document, None),
                    SummaryInput::Replay {
                        conversation,
                        instruction,
                    } => {
                        let pieces = conversation.iter();
                        let entries: Vec<_> = pieces.map(|p| self.surface.entry(p)).collect();
                        (instruction, instruction, Some(entries))
                    }
                };
                json!({
                    "kind": "call", "call": call.0, "model": route.model, "deadline": deadline,
                    "system": system, "document": document, "replay": replay,
                    "as_fields": request.as_fields,
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
}
