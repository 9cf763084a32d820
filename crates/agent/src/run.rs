//! One run: the loop of an agent over a stored thread.
//!
//! All that was said is stored before the model is asked again, so whatever kills the process, the run is taken up where
//! the model was asked last. The thread is held for as long as it goes on.

mod calls;
mod opening;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use conspectus::core::durable::Beside;
use conspectus::core::effect::Failure;
use conspectus::core::id::CallId;
use conspectus::core::policy::Placement;
use conspectus::threads::{Append, BeforeCall, Note, PatchThread, RunMark, RunStatus};
use conspectus::{Control, Moment, Turn, TurnCall};
use serde_json::{Value, json};

use crate::channel::delegation::StopReason;
use crate::channel::render;
use crate::context::{RunContext, lock};
use crate::error::AgentError;
use crate::event::{Question, RunEvent};
use crate::limits::Loops;
use crate::message::{Kind, Message};
use crate::middleware::summarization::settle;
use crate::middleware::{ModelRequest, NextModel, Shown};
use crate::state::{State, Update};
use crate::tools::subagent_key;
use crate::wait::{Either, beside, caught, race};

pub(crate) use opening::Opening;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct End {
    /// How.
    pub(crate) status: RunStatus,
    /// What went wrong.
    pub(crate) error: Option<AgentError>,
    /// A limit ended it.
    pub(crate) stop_reason: Option<StopReason>,
    /// What it asks.
    pub(crate) questions: Vec<Question>,
    /// The text of its last reply.
    pub(crate) text: Arc<str>,
    /// Tokens of its model calls.
    pub(crate) tokens: u64,
}

/// A run under way.
pub(crate) struct Run {
    cx: Arc<RunContext>,
    state: State,
    /// Messages of the window that are stored.
    stored: usize,
    /// What was stored beside them last.
    noted: Note,
    /// Calls that wait for an answer of a person.
    asked: BTreeSet<CallId>,
    loops: Loops,
    since_ms: u64,
    /// How the thread's policy shows summaries.
    placement: Placement,
    /// The title as it is stored.
    titled: Option<Arc<str>>,
}

/// Why the loop ended.
enum Over {
    Done,
    Capped(StopReason),
    Asks(Vec<Question>),
    Stopped,
}

/// Runs to the end, keeps the thread held meanwhile, and gives it back. The end is told last.
pub(crate) async fn run(cx: Arc<RunContext>, opening: Opening) -> End {
    let control = Control::new();
    let keeping = async {
        cx.threads().keep_held(&cx.key, &cx.held, &control).await;
        cx.cancel.cancel(crate::cancel::Why::LeaseLost);
    };
    let end = beside(begin_and_drive(&cx, opening), keeping).await;
    cx.threads().let_go(&cx.key, &cx.held).await;
    cx.tell(RunEvent::Ended {
        status: end.status,
        error: end.error.as_ref().map(|error| error.to_string().into()),
        stop_reason: end.stop_reason,
    });
    end
}

async fn begin_and_drive(cx: &Arc<RunContext>, opening: Opening) -> End {
    let mut run = match Run::open(cx.clone(), opening).await {
        Ok(run) => run,
        Err(error) => return End::failed(error),
    };
    let over = caught(run.drive()).await.unwrap_or_else(|why| {
        Err(AgentError::Middleware {
            who: "the run".into(),
            what: format!("broke: {why}").into(),
        })
    });
    let mut end = run.end(over).await;
    settle(cx, true).await;
    run.note_end();
    if let Err(error) = run.store(end.status).await {
        end = End {
            error: end.error.or(Some(error)),
            status: RunStatus::Error,
            ..end
        };
    }
    end
}

impl Run {
    /// The loop.
    async fn drive(&mut self) -> Result<Over, AgentError> {
        let stack = self.cx.profile.stack.clone();
        // Calls that a killed run left.
        let left = self.unanswered();
        if !left.is_empty()
            && let Some(over) = self.perform(&left, true).await?
        {
            return Ok(over);
        }
        loop {
            if self.cx.cancel.why().is_some() {
                return Ok(Over::Stopped);
            }
            if let Some(reason) = self.over_limit() {
                return Ok(Over::Capped(reason));
            }
            let mut prepared = None;
            for middleware in stack.all() {
                if middleware.reads_store() {
                    self.store(RunStatus::Running).await?;
                }
                let update = middleware.before_model(&self.cx, &self.state).await?;
                prepared = update.prepared.clone().or(prepared);
                if self.take(&update) {
                    prepared = None;
                }
                if update.is_folded || self.cx.folded.swap(false, Ordering::SeqCst) {
                    self.read_window().await?;
                }
                if update.end {
                    return Ok(Over::Done);
                }
            }
            if self.is_dirty() {
                self.store(RunStatus::Running).await?;
                prepared = None;
            }
            let request = self.request(prepared).await?;
            let id = self.reply_id();
            *lock(&self.cx.writing) = id.clone();
            let Some(mut turn) = self.ask(&id, request).await? else {
                return Ok(Over::Stopped);
            };
            self.name_apart(&mut turn.calls);
            if self.cx.folded.swap(false, Ordering::SeqCst) {
                self.read_window().await?;
            }
            self.state.step += 1;
            let used = turn.usage.as_ref().map_or(0, |usage| usage.context());
            self.cx.tokens.fetch_add(used, Ordering::SeqCst);
            let message = Message::new(turn.to_message(&id));
            self.state.messages.push(message);
            for middleware in stack.all().iter().rev() {
                let update = middleware.after_model(&self.cx, &self.state).await?;
                self.take(&update);
                if update.end {
                    return Ok(Over::Done);
                }
            }
            // What is begun now is known before it is begun.
            self.store(RunStatus::Running).await?;
            if turn.calls.is_empty() {
                return Ok(Over::Done);
            }
            let circles = self.loops.seen(&turn.calls);
            let limits = &self.cx.profile.limits;
            if circles >= limits.loop_stop {
                return Ok(Over::Capped(StopReason::LoopCapped));
            }
            let warn = circles >= limits.loop_warn;
            if let Some(over) = self.perform(&turn.calls, false).await? {
                return Ok(over);
            }
            if warn {
                self.say_hidden(&format!(
                    "The same calls were made {circles} times. Their results do not change: do something else, or say what you know."
                ));
            }
        }
    }

    /// Which limit is reached.
    fn over_limit(&self) -> Option<StopReason> {
        let limits = &self.cx.profile.limits;
        if self.state.step >= limits.max_model_calls {
            return Some(StopReason::TurnCapped);
        }
        let tokens = self.cx.tokens.load(Ordering::SeqCst);
        let is_over = limits.max_tokens.is_some_and(|most| tokens >= most);
        is_over.then_some(StopReason::TokenCapped)
    }

    /// The request; `prepared`: what was looked at last, if nothing was written since.
    async fn request(&self, prepared: Option<Box<BeforeCall>>) -> Result<ModelRequest, AgentError> {
        let cx = &self.cx;
        let ready = match prepared {
            Some(ready) => *ready,
            None => {
                let ask = cx.compaction(Moment::PreTurn);
                cx.threads().before_call(&cx.key, &ask).await?
            }
        };
        let limits = &cx.profile.limits;
        Ok(ModelRequest {
            system: cx.system.get().cloned().unwrap_or_else(|| "".into()),
            messages: ready.request.messages,
            blocks: ready.request.blocks,
            summary: ready.summary,
            placement: ready.placement,
            tools: cx.tools.specs(),
            max_output_tokens: limits.max_output_tokens,
            timeout_ms: limits.model_timeout_ms,
            shown: self.shown(),
        })
    }

    /// Asks the model, again where it is not available. `None`: the run was stopped.
    async fn ask(&self, id: &Arc<str>, request: ModelRequest) -> Result<Option<Turn>, AgentError> {
        let cx = &self.cx;
        let next = NextModel {
            rest: cx.profile.stack.all(),
            cx,
        };
        let mut tried = 0;
        loop {
            let turn = race(cx.cancel.wait(), next.run(request.clone())).await;
            let failure = match turn {
                Either::First(_) => return Ok(None),
                Either::Second(Ok(turn)) => return Ok(Some(turn)),
                Either::Second(Err(failure)) => failure,
            };
            if !failure.is_retryable() || tried >= cx.profile.limits.model_retries {
                return Err(failure.into());
            }
            tried += 1;
            cx.tell(RunEvent::Retry {
                id: id.clone(),
                failure: failure.to_string().into(),
            });
            let wait = match failure {
                Failure::Unavailable {
                    retry_after_ms: Some(ms),
                    ..
                } => ms.min(60_000),
                _ => 1_000_u64 << tried.min(5),
            };
            if let Either::First(_) = race(cx.cancel.wait(), cx.sleep(wait)).await {
                return Ok(None);
            }
        }
    }

    /// Takes an update in. Whether there is something to store now.
    fn take(&mut self, update: &Update) -> bool {
        for warning in &update.warnings {
            self.cx.warn(warning.as_str());
        }
        self.state.merge(update)
    }

    /// A message of the host's that people are not shown.
    fn say_hidden(&mut self, text: &str) {
        let id = format!("{}-host-{}", self.cx.run_id, self.state.step);
        self.state.messages.push(Message::new(json!({
            "type": "human", "id": id, "content": text,
            "additional_kwargs": {"hide_from_ui": true, "run_id": self.cx.run_id},
        })));
    }

    fn reply_id(&self) -> Arc<str> {
        format!("{}-{}", self.cx.run_id, self.state.step).into()
    }

    fn shown(&self) -> Shown {
        Shown {
            delegations: render::delegations(&self.state.delegations).into(),
            skills: render::skills(&self.state.skills).into(),
        }
    }

    fn is_dirty(&self) -> bool {
        self.stored < self.state.messages.len()
            || self.state.title != self.titled
            || self.note(RunStatus::Running) != self.noted
    }

    /// What is stored beside the messages.
    fn note(&self, status: RunStatus) -> Note {
        let shown = self.shown();
        let text = render::sections(&[&shown.delegations, &shown.skills]);
        // In front, they are shown anew for each call.
        let is_in_front = self.placement == Placement::Front;
        let beside = (!text.is_empty()).then(|| Beside {
            text: if is_in_front { "" } else { &text }.into(),
            tells_delegations: !shown.delegations.is_empty(),
        });
        let mut children = self.noted.children.clone();
        for entry in &self.state.delegations {
            let child = subagent_key(&self.cx.key, &entry.id).thread;
            if !children.contains(&child) {
                children.push(child);
            }
        }
        Note {
            channels: self.state.to_channels(),
            beside,
            children,
            run: Some(RunMark {
                run_id: self.cx.run_id.clone(),
                status,
                fence: self.cx.held.fence(),
                since_ms: self.since_ms,
                details: json!({
                    "agent": self.cx.agent,
                    "model": self.cx.model,
                    "step": self.state.step,
                    "tokens": self.cx.tokens.load(Ordering::SeqCst),
                    "asked": self.asked.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
                }),
            }),
        }
    }

    /// Stores what is new: a checkpoint.
    async fn store(&mut self, status: RunStatus) -> Result<(), AgentError> {
        self.take_queue();
        let note = self.note(status);
        let new = &self.state.messages[self.stored..];
        if new.is_empty() && note == self.noted && self.state.title == self.titled {
            return Ok(());
        }
        let append = Append {
            messages: new.iter().map(Message::to_json).collect(),
            note: Some(note.clone()),
            pending: Some(self.asked.clone()),
            under: Some(self.cx.held.fence()),
            ..Append::default()
        };
        let appended = self.cx.threads().append(&self.cx.key, &append).await?;
        for message in append.messages {
            self.cx.tell(RunEvent::Message { message });
        }
        self.cx.tell(RunEvent::Checkpoint {
            checkpoint_id: appended.checkpoint_id,
        });
        self.stored = self.state.messages.len();
        self.noted = note;
        if self.state.title != self.titled {
            self.titled.clone_from(&self.state.title);
            let patch = PatchThread {
                title: self.titled.clone(),
                ..PatchThread::default()
            };
            self.cx.threads().patch(&self.cx.key, patch).await?;
        }
        Ok(())
    }

    /// Messages that hooks want to be remembered from, which the thread keeps until that is done.
    fn take_queue(&mut self) {
        let queue = std::mem::take(&mut *lock(&self.cx.queue));
        if queue.is_empty() {
            return;
        }
        let entry = self
            .state
            .channels
            .entry(QUEUE)
            .or_insert_with(|| json!([]));
        if let Value::Array(waiting) = entry {
            for id in queue {
                if !waiting.iter().any(|known| known.as_str() == Some(&id)) {
                    waiting.push(json!(id));
                }
            }
            let over = waiting.len().saturating_sub(MAX_QUEUE);
            waiting.drain(..over);
        }
    }

    /// What follows from how the loop ended.
    async fn end(&mut self, over: Result<Over, AgentError>) -> End {
        let mut end = End {
            tokens: self.cx.tokens.load(Ordering::SeqCst),
            text: self.last_text(),
            ..End::of(RunStatus::Success)
        };
        match over {
            Ok(Over::Done) => {}
            Ok(Over::Capped(reason)) => {
                end.stop_reason = Some(reason);
                self.close(&format!(
                    "not run: the run ended at a limit ({})",
                    reason.name()
                ));
            }
            Ok(Over::Asks(questions)) => {
                self.cx.tell(RunEvent::Interrupted {
                    questions: questions.clone(),
                });
                end.questions = questions;
                end.status = RunStatus::Interrupted;
                return end;
            }
            Ok(Over::Stopped) => {
                end.status = RunStatus::Cancelled;
                self.close("not run: the run was cancelled");
                return end;
            }
            Err(error) => {
                end.status = RunStatus::Error;
                end.error = Some(error);
                return end;
            }
        }
        let stack = self.cx.profile.stack.clone();
        for middleware in stack.all().iter().rev() {
            self.take_queue();
            match middleware.after_agent(&self.cx, &self.state).await {
                Ok(update) => drop(self.take(&update)),
                // The answer is there: what comes after it cannot take it back.
                Err(error) => self.cx.warn(format!("{}: {error}", middleware.name())),
            }
        }
        end
    }

    /// Answers calls that nobody answers any more.
    fn close(&mut self, why: &str) {
        for call in self.unanswered() {
            let result = crate::tool::ToolResult::error(why);
            self.answer(&call, &result);
        }
    }

    fn last_text(&self) -> Arc<str> {
        let replies = self.state.messages.iter().rev();
        let mut replies = replies.filter(|message| message.kind() == Kind::Ai);
        let text = replies.find(|reply| !reply.text().trim().is_empty());
        text.map_or_else(|| "".into(), |reply| reply.text().into())
    }

    /// Calls of the last reply that have no answer and wait for nobody.
    fn unanswered(&self) -> Vec<TurnCall> {
        let messages = &self.state.messages;
        let Some(at) = messages
            .iter()
            .rposition(|message| !message.calls().is_empty())
        else {
            return Vec::new();
        };
        let answered: BTreeSet<&str> = messages[at..].iter().filter_map(Message::answers).collect();
        let calls = messages[at].calls();
        let open = calls.into_iter().filter(|call| {
            let is_asked = self.asked.iter().any(|id| id.as_str() == &*call.id);
            !answered.contains(&*call.id) && !is_asked
        });
        open.map(|call| TurnCall {
            id: call.id,
            name: call.name,
            arguments: call.args.to_string().into(),
        })
        .collect()
    }

    /// What the last messages come to, however the run ended.
    fn note_end(&mut self) {
        let stack = self.cx.profile.stack.clone();
        for middleware in stack.all() {
            let update = middleware.at_end(&self.cx, &self.state);
            self.take(&update);
        }
    }
}

impl End {
    fn of(status: RunStatus) -> Self {
        Self {
            status,
            error: None,
            stop_reason: None,
            questions: Vec::new(),
            text: "".into(),
            tokens: 0,
        }
    }

    pub(crate) fn failed(error: AgentError) -> Self {
        Self {
            error: Some(error),
            ..Self::of(RunStatus::Error)
        }
    }
}

/// The channel of messages that are to be remembered from.
pub(crate) const QUEUE: &str = "memory_queue";
/// Messages that wait there.
const MAX_QUEUE: usize = 2_000;
