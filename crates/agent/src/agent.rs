//! What an agent is made of: its kinds, models, skills and folders.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use conspectus::AgentModels;
use conspectus::Boxed;
use conspectus::core::effect::Millis;
use conspectus::store::ThreadKey;

use crate::channel::skill::Reads;
use crate::context::Store;
use crate::limits::Limits;
use crate::stack::Stack;
use crate::tool::Tools;
use crate::tools::{ListDir, ReadFile, Recall, Search, Task, WriteFile};
use crate::wait::Gate;
use crate::workspace::part_of_path;
use crate::{AgentError, Skills};

/// A kind of agent.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name.
    pub name: Arc<str>,
    /// What it is told.
    pub system_prompt: Arc<str>,
    /// The model that it runs on; `None`: what the run says, else the default. A subagent without one runs on the model
    /// of the agent that it works for.
    pub model: Option<Arc<str>>,
    /// What it can do; the tools of its middlewares come to them.
    pub tools: Tools,
    /// What stands around it.
    pub stack: Stack,
    /// How far it may go.
    pub limits: Limits,
}

impl Profile {
    /// A lead agent with all tools and the default stack.
    pub fn lead(system_prompt: impl Into<Arc<str>>, reads: &Reads) -> Self {
        Self {
            name: "lead".into(),
            system_prompt: system_prompt.into(),
            model: None,
            tools: files().with(Task).with(Recall),
            stack: Stack::lead(reads),
            limits: Limits::default(),
        }
    }

    /// A subagent with the tools for files and its own stack. It delegates nothing.
    pub fn subagent(
        name: impl Into<Arc<str>>,
        system_prompt: impl Into<Arc<str>>,
        reads: &Reads,
    ) -> Self {
        Self {
            name: name.into(),
            system_prompt: system_prompt.into(),
            model: None,
            tools: files(),
            stack: Stack::subagent(reads),
            limits: Limits {
                max_model_calls: 50,
                ..Limits::default()
            },
        }
    }
}

fn files() -> Tools {
    Tools::new()
        .with(ReadFile)
        .with(ListDir)
        .with(WriteFile)
        .with(Search)
}

/// A kind of subagent that the tool `task` can begin.
#[derive(Clone, Debug)]
pub struct Subagent {
    /// The agent.
    pub profile: Arc<Profile>,
    /// What it is for, as the lead agent's model is told.
    pub description: Arc<str>,
    /// The time for one piece of work.
    pub timeout_ms: Millis,
}

/// How tasks are begun that outlive whoever begins them: `tokio::spawn`, or what a test has instead.
pub type Spawn = Arc<dyn Fn(Boxed<'static, ()>) + Send + Sync>;

/// Everything that runs have in common.
pub struct Setup {
    /// The threads.
    pub threads: Arc<Store>,
    /// The models that agents run on. [`Settings::models`](conspectus::threads::Settings::models) holds the same names,
    /// for compactions; the first of them is the default.
    pub models: AgentModels,
    /// The agent that a run has that names none.
    pub lead: Profile,
    /// Agents that runs and threads can name.
    pub agents: Vec<Profile>,
    /// Subagents, by the names of their profiles.
    pub subagents: Vec<Subagent>,
    /// Subagents that run at once, over all runs.
    pub max_parallel_subagents: usize,
    /// The folder under which threads have theirs; `None`: agents have no files.
    pub workspaces: Option<PathBuf>,
    /// The skills.
    pub skills: Skills,
    /// How tasks are begun.
    pub spawn: Spawn,
}

pub(crate) struct Core {
    pub(crate) threads: Arc<Store>,
    pub(crate) models: AgentModels,
    pub(crate) lead: Arc<Profile>,
    pub(crate) agents: BTreeMap<Arc<str>, Arc<Profile>>,
    pub(crate) subagents: BTreeMap<Arc<str>, Subagent>,
    pub(crate) delegating: Gate,
    pub(crate) workspaces: Option<PathBuf>,
    pub(crate) skills: Skills,
    pub(crate) spawn: Spawn,
}

impl Core {
    pub(crate) fn new(setup: Setup) -> Self {
        let agents = setup.agents.into_iter();
        let subagents = setup.subagents.into_iter();
        Self {
            threads: setup.threads,
            models: setup.models,
            lead: Arc::new(setup.lead),
            agents: agents.map(|p| (p.name.clone(), Arc::new(p))).collect(),
            subagents: subagents.map(|s| (s.profile.name.clone(), s)).collect(),
            delegating: Gate::new(setup.max_parallel_subagents),
            workspaces: setup.workspaces,
            skills: setup.skills,
            spawn: setup.spawn,
        }
    }

    /// The folder of a thread's files, where agents have files.
    pub(crate) fn workspace(&self, key: &ThreadKey) -> Option<PathBuf> {
        let root = self.workspaces.as_ref()?;
        let tenant = root.join(part_of_path(&key.tenant));
        Some(tenant.join(part_of_path(&key.thread)))
    }

    /// The agent of a name; `None`: the lead.
    pub(crate) fn profile(&self, name: Option<&str>) -> Result<Arc<Profile>, AgentError> {
        match name {
            None => Ok(self.lead.clone()),
            Some(name) if *name == *self.lead.name => Ok(self.lead.clone()),
            Some(name) => {
                let found = self.agents.get(name).cloned();
                found.ok_or_else(|| AgentError::NoAgent(name.into()))
            }
        }
    }

    /// The model that a run executes with: what it says, else its agent's, else the default.
    pub(crate) fn model(&self, said: Option<&str>, profile: &Profile) -> Arc<str> {
        let settings = self.threads.settings();
        let asked = said.or(profile.model.as_deref());
        let of_settings = settings.model(asked, Some(&profile.name));
        match (of_settings, asked) {
            (Some(model), _) => model.name.clone(),
            (None, Some(name)) => name.into(),
            (None, None) => "".into(),
        }
    }
}
