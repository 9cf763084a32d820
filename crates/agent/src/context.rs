//! Where a run runs: its thread, its model, whom it tells, and what stops it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use conspectus::core::effect::{Failure, Millis};
use conspectus::store::ThreadKey;
use conspectus::threads::{BeforeFold, CompactThread, Compacted, Folding, Held, Threads};
use conspectus::{Boxed, Clock, Control, Moment, Turn};

use crate::agent::{Core, Profile};
use crate::cancel::Cancel;
use crate::event::{EventLog, RunEvent};
use crate::middleware::ModelRequest;
use crate::tool::Tools;
use crate::wait::Promise;
use crate::workspace::Workspace;

/// The threads that agents run on.
pub type Store = Threads<Arc<dyn Clock>>;

/// Who runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The agent that people talk to.
    Lead,
    /// One that works for another.
    Subagent {
        /// The thread of the one it works for.
        parent: ThreadKey,
        /// The call that began it.
        call: Arc<str>,
    },
}

/// The surroundings of one run.
pub struct RunContext {
    /// The thread.
    pub key: ThreadKey,
    /// The run.
    pub run_id: Arc<str>,
    /// The agent.
    pub agent: Arc<str>,
    /// The model that it executes with.
    pub model: Arc<str>,
    /// Who runs.
    pub role: Role,
    /// Stops it.
    pub cancel: Cancel,
    pub(crate) events: Arc<EventLog>,
    pub(crate) core: Arc<Core>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) held: Held,
    pub(crate) tools: Tools,
    pub(crate) system: OnceLock<Arc<str>>,
    pub(crate) workspace: OnceLock<Workspace>,
    /// The message that the model writes now.
    pub(crate) writing: Mutex<Arc<str>>,
    /// The window became another one since it was read.
    pub(crate) folded: AtomicBool,
    pub(crate) background: Mutex<Option<Arc<Compacting>>>,
    pub(crate) me: Weak<RunContext>,
    pub(crate) queue: Mutex<Vec<Arc<str>>>,
    pub(crate) tokens: AtomicU64,
}

/// A compaction that goes on beside the run.
pub(crate) type Compacting = Promise<Result<Compacted, String>>;

impl RunContext {
    /// The threads.
    pub fn threads(&self) -> &Store {
        &self.core.threads
    }

    /// The time.
    pub fn now(&self) -> Millis {
        self.core.threads.now()
    }

    /// Whether it is the agent that people talk to.
    pub fn is_lead(&self) -> bool {
        self.role == Role::Lead
    }

    /// The folder that its tools work in; `None`: it has none.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.get()
    }

    /// The skills that there are.
    pub fn skills(&self) -> &crate::Skills {
        &self.core.skills
    }

    /// Tells whoever watches.
    pub fn tell(&self, event: RunEvent) {
        self.events.tell(event);
    }

    /// Tells of something that went wrong and stops nothing.
    pub fn warn(&self, message: impl Into<Arc<str>>) {
        self.tell(RunEvent::Warning {
            message: message.into(),
        });
    }

    /// Messages to be remembered from, by id.
    pub fn remember_from(&self, ids: impl IntoIterator<Item = Arc<str>>) {
        lock(&self.queue).extend(ids);
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Ends at this time.
    pub(crate) async fn sleep(&self, ms: Millis) {
        let clock = self.core.threads.compactor().clock();
        clock.sleep_until(self.now().saturating_add(ms)).await;
    }

    /// Asks the model once.
    pub(crate) async fn ask(&self, request: ModelRequest) -> Result<Turn, Failure> {
        let model = self.core.models.get(&self.model)?.clone();
        let id = lock(&self.writing).clone();
        let turn = request.to_turn();
        let tell = |delta| {
            self.tell(RunEvent::Delta {
                id: id.clone(),
                delta,
            });
        };
        model.turn(&turn, &tell).await
    }

    /// What is sent outside the messages, for whoever counts.
    pub(crate) fn fixed(&self) -> Arc<[Arc<str>]> {
        let mut texts: Vec<Arc<str>> = self.system.get().into_iter().cloned().collect();
        texts.extend(self.tools.specs().iter().map(|spec| {
            let (name, description) = (&spec.name, &spec.description);
            format!("{name} {description} {}", spec.parameters).into()
        }));
        texts.into()
    }

    /// A compaction on behalf of this run: with its model, as its agent.
    pub(crate) fn compaction(&self, moment: Moment) -> CompactThread {
        CompactThread {
            model_name: Some(self.model.clone()),
            agent_name: Some(self.agent.clone()),
            moment,
            fixed: Some(self.fixed()),
            ..CompactThread::check()
        }
    }

    /// For tasks beside the run.
    pub(crate) fn shared(&self) -> Arc<Self> {
        self.me.upgrade().expect("whoever asks holds it")
    }

    /// Runs one, under the lease of the run. The hooks hear of what goes.
    pub(crate) async fn compact(
        &self,
        ask: &CompactThread,
        control: &Control,
    ) -> Result<Compacted, conspectus::threads::ThreadsError> {
        let hooks = Hooks(self);
        let work = self
            .threads()
            .compact_under(&self.key, ask, &self.held, control, &hooks);
        let compacted = work.await?;
        if compacted.is_change() {
            self.folded.store(true, Ordering::SeqCst);
        }
        Ok(compacted)
    }

    /// The section of the system prompt that each middleware adds, behind the agent's own.
    pub(crate) fn make_system(&self) {
        let own = self.profile.system_prompt.to_string();
        let added = self
            .profile
            .stack
            .all()
            .iter()
            .filter_map(|m| m.system(self));
        let parts: Vec<String> = std::iter::once(own).chain(added).collect();
        let parts: Vec<&str> = parts
            .iter()
            .map(|p| p.trim())
            .filter(|p| !p.is_empty())
            .collect();
        let _ = self.system.set(parts.join("\n\n").into());
    }
}

impl std::fmt::Debug for RunContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunContext")
            .field("key", &self.key)
            .field("run_id", &self.run_id)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// The hooks of the stack before messages are folded.
struct Hooks<'c>(&'c RunContext);

impl BeforeFold for Hooks<'_> {
    fn before_fold<'a>(&'a self, folding: Folding) -> Boxed<'a, ()> {
        Box::pin(async move {
            for middleware in self.0.profile.stack.all() {
                if let Err(why) = middleware.before_fold(self.0, &folding).await {
                    let name = middleware.name();
                    self.0
                        .warn(format!("hook {name} before folding failed: {why}"));
                }
            }
        })
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
