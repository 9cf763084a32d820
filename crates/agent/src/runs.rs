//! Runs of agents: begun, watched, joined, stopped and taken up again. One run a thread, over all processes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

use conspectus::store::ThreadKey;
use conspectus::threads::{Held, RunMark, RunStatus};
use serde_json::Value;

use crate::agent::{Core, Profile, Setup};
use crate::cancel::{Cancel, Why};
use crate::context::{Role, RunContext, lock};
use crate::error::AgentError;
use crate::event::{EventLog, Events, RunEvent};
use crate::run::{Opening, run};

/// Ended runs whose events can still be read.
const MAX_ENDED: usize = 100;

/// A run to begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartRun {
    /// Its name: one that no run of the thread had before.
    pub run_id: Arc<str>,
    /// Messages that it begins with, as LangChain's JSON.
    pub input: Vec<Value>,
    /// The agent; `None`: the thread's own, else the lead.
    pub agent_name: Option<Arc<str>>,
    /// The model; `None`: the agent's, else the default.
    pub model_name: Option<Arc<str>>,
}

/// What takes a run up again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResumeRun {
    /// The answer to what it asked: one for all questions, or an object of answers by call id. `None` for one that was
    /// killed, failed or cancelled.
    pub answer: Option<Value>,
    /// Another model.
    pub model_name: Option<Arc<str>>,
}

/// Where a run stands, as far as this process and the store know.
#[derive(Clone, Debug, PartialEq)]
pub struct RunState {
    /// What is stored of it.
    pub mark: RunMark,
    /// It says that it runs, and nobody runs it: its process died. [`Runs::resume`] takes it up.
    pub is_orphan: bool,
}

/// How a run that was joined ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// How.
    pub status: RunStatus,
    /// What went wrong.
    pub error: Option<Arc<str>>,
    /// A limit ended it.
    pub stop_reason: Option<crate::channel::delegation::StopReason>,
}

/// Agents and their runs.
pub struct Runs {
    core: Arc<Core>,
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    runs: BTreeMap<(ThreadKey, Arc<str>), Known>,
    ended: VecDeque<(ThreadKey, Arc<str>)>,
}

#[derive(Clone)]
struct Known {
    events: Arc<EventLog>,
    cancel: Cancel,
}

impl Runs {
    /// Runs of these agents.
    pub fn new(setup: Setup) -> Self {
        Self {
            core: Arc::new(Core::new(setup)),
            live: Mutex::default(),
        }
    }

    /// The threads that they run on.
    pub fn threads(&self) -> &Arc<crate::context::Store> {
        &self.core.threads
    }

    /// Begins a run in a task of its own: it goes on whoever watches. The events begin with the first.
    ///
    /// # Errors
    /// [`AgentError::Busy`] when another run or a compaction has the thread; when there is no such thread or agent.
    pub async fn start(&self, key: &ThreadKey, start: StartRun) -> Result<Events, AgentError> {
        let known = (key.clone(), start.run_id.clone());
        if lock(&self.live).runs.contains_key(&known) {
            return Err(AgentError::Exists(start.run_id));
        }
        let thread = self.core.threads.get(key).await?;
        if thread.run.is_some_and(|run| run.run_id == start.run_id) {
            return Err(AgentError::Exists(start.run_id));
        }
        let agent = start.agent_name.or(thread.agent_name);
        let profile = self.core.profile(agent.as_deref())?;
        let model = self.core.model(start.model_name.as_deref(), &profile);
        let held = self.hold(key).await?;
        let opening = Opening::Input(start.input);
        Ok(self.begin(key, start.run_id, profile, model, held, opening))
    }

    /// Takes the last run of a thread up: with the answer that it waits for, or where it was killed, failed or cancelled.
    ///
    /// # Errors
    /// [`AgentError::Busy`] while it runs; when there is nothing to take up, or an answer is missing.
    pub async fn resume(&self, key: &ThreadKey, resume: ResumeRun) -> Result<Events, AgentError> {
        let mark = self.core.threads.note(key).await?.run;
        let mark = mark.ok_or(AgentError::NothingToResume)?;
        let opening = match (mark.status, resume.answer) {
            (RunStatus::Success, _) => return Err(AgentError::NothingToResume),
            (RunStatus::Interrupted, Some(answer)) => Opening::Answer(answer),
            (RunStatus::Interrupted, None) => return Err(AgentError::AnswerMissing),
            _ => Opening::Again,
        };
        let held = self.hold(key).await?;
        let profile = self.core.profile(mark.details["agent"].as_str())?;
        let said = resume
            .model_name
            .as_deref()
            .or(mark.details["model"].as_str());
        let model = self.core.model(said, &profile);
        Ok(self.begin(key, mark.run_id, profile, model, held, opening))
    }

    /// The events of a run of this process behind number `after`: those that were, and those that come.
    ///
    /// # Errors
    /// When this process knows no such run.
    pub fn stream(&self, key: &ThreadKey, run_id: &str, after: u64) -> Result<Events, AgentError> {
        Ok(Events::new(self.known(key, run_id)?.events, after))
    }

    /// Waits for the end of a run of this process.
    ///
    /// # Errors
    /// When this process knows no such run.
    pub async fn join(&self, key: &ThreadKey, run_id: &str) -> Result<RunEnd, AgentError> {
        let mut events = self.stream(key, run_id, 0)?;
        let mut last = None;
        while let Some(told) = events.next().await {
            last = Some(told);
        }
        match last.as_deref().map(|told| &told.event) {
            Some(RunEvent::Ended {
                status,
                error,
                stop_reason,
            }) => Ok(RunEnd {
                status: *status,
                error: error.clone(),
                stop_reason: *stop_reason,
            }),
            _ => Err(AgentError::NoRun(run_id.into())),
        }
    }

    /// Stops a run of this process: what its tools did so far stays, and its open calls are answered. It is over when
    /// [`join`](Self::join) says so.
    ///
    /// # Errors
    /// When this process knows no such run.
    pub fn cancel(&self, key: &ThreadKey, run_id: &str) -> Result<(), AgentError> {
        self.known(key, run_id)?.cancel.cancel(Why::Asked);
        Ok(())
    }

    /// Removes the files of a thread that was deleted, those of its subagents among them.
    ///
    /// # Errors
    /// When they cannot be removed.
    pub fn forget(&self, key: &ThreadKey) -> std::io::Result<()> {
        let Some(folder) = self.core.workspace(key) else {
            return Ok(());
        };
        match std::fs::remove_dir_all(folder) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(why),
            _ => Ok(()),
        }
    }

    /// Stops all runs of this process, as one that ends does. They can be taken up again.
    pub fn cancel_all(&self) {
        let all: Vec<Known> = lock(&self.live).runs.values().cloned().collect();
        all.iter().for_each(|known| known.cancel.cancel(Why::Asked));
    }

    /// The last run of a thread; `None`: there was none. Whether one that says it runs is an orphan is found out by
    /// asking for its thread.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn state(&self, key: &ThreadKey) -> Result<Option<RunState>, AgentError> {
        let Some(mark) = self.core.threads.note(key).await?.run else {
            return Ok(None);
        };
        let known = self.known(key, &mark.run_id).ok();
        let is_live = known.is_some_and(|known| known.events.end().is_none());
        let mut is_orphan = false;
        if !mark.status.is_over()
            && !is_live
            && let Some(held) = self.core.threads.hold(key).await?
        {
            is_orphan = true;
            self.core.threads.let_go(key, &held).await;
        }
        Ok(Some(RunState { mark, is_orphan }))
    }

    fn known(&self, key: &ThreadKey, run_id: &str) -> Result<Known, AgentError> {
        let known = (key.clone(), Arc::from(run_id));
        let found = lock(&self.live).runs.get(&known).cloned();
        found.ok_or_else(|| AgentError::NoRun(run_id.into()))
    }

    async fn hold(&self, key: &ThreadKey) -> Result<Held, AgentError> {
        self.core.threads.hold(key).await?.ok_or(AgentError::Busy)
    }

    fn begin(
        &self,
        key: &ThreadKey,
        run_id: Arc<str>,
        profile: Arc<Profile>,
        model: Arc<str>,
        held: Held,
        opening: Opening,
    ) -> Events {
        let cx = RunContext::new(Place {
            core: self.core.clone(),
            key: key.clone(),
            run_id: run_id.clone(),
            profile,
            model,
            held,
            role: Role::Lead,
            cancel: Cancel::new(),
        });
        let events = cx.events.clone();
        let known = Known {
            events: events.clone(),
            cancel: cx.cancel.clone(),
        };
        lock(&self.live).add((key.clone(), run_id), known);
        let ender = Ender(events.clone());
        (self.core.spawn)(Box::pin(async move {
            run(cx, opening).await;
            drop(ender);
        }));
        Events::new(events, 0)
    }
}

/// Whoever waits hears of the end, also where the task is dropped before it came to one.
struct Ender(Arc<EventLog>);

impl Drop for Ender {
    fn drop(&mut self) {
        // Nothing is told behind the end.
        self.0.tell(RunEvent::Ended {
            status: RunStatus::Error,
            error: Some("the run was dropped; it can be resumed".into()),
            stop_reason: None,
        });
    }
}

impl Live {
    fn add(&mut self, name: (ThreadKey, Arc<str>), known: Known) {
        self.ended.retain(|other| *other != name);
        self.ended.push_back(name.clone());
        self.runs.insert(name, known);
        let mut over = self.ended.len().saturating_sub(MAX_ENDED);
        let mut kept = VecDeque::new();
        while let Some(name) = self.ended.pop_front() {
            let is_over = self
                .runs
                .get(&name)
                .is_none_or(|known| known.events.end().is_some());
            if over > 0 && is_over {
                self.runs.remove(&name);
                over -= 1;
            } else {
                kept.push_back(name);
            }
        }
        self.ended = kept;
    }
}

/// Where a run is to take place.
pub(crate) struct Place {
    pub(crate) core: Arc<Core>,
    pub(crate) key: ThreadKey,
    pub(crate) run_id: Arc<str>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) model: Arc<str>,
    pub(crate) held: Held,
    pub(crate) role: Role,
    pub(crate) cancel: Cancel,
}

impl RunContext {
    pub(crate) fn new(place: Place) -> Arc<Self> {
        let mut tools = place.profile.tools.clone();
        let added = place.profile.stack.all().iter().flat_map(|m| m.tools());
        added.for_each(|tool| tools.add(tool));
        if place.role != Role::Lead || place.core.subagents.is_empty() {
            tools = tools.without(crate::channel::delegation::TASK);
        }
        if let Some(task) = tools.get(crate::channel::delegation::TASK).cloned() {
            // It names the subagents that there are.
            tools.add(Arc::new(crate::tools::Named::new(task, &place.core)));
        }
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            key: place.key,
            run_id: place.run_id,
            agent: place.profile.name.clone(),
            model: place.model,
            role: place.role,
            cancel: place.cancel,
            events: Arc::default(),
            core: place.core,
            profile: place.profile,
            held: place.held,
            tools,
            system: OnceLock::new(),
            workspace: OnceLock::new(),
            writing: Mutex::new("".into()),
            folded: AtomicBool::new(false),
            background: Mutex::default(),
            queue: Mutex::default(),
            tokens: AtomicU64::new(0),
        })
    }
}
