//! What threads run with: the host's options, its models and agents, and what follows for one thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::count::{TokenCounter, counter_for};
use conspectus_core::effect::{Millis, Route};
use conspectus_core::policy::{ModelProfile, Options, Policy, PolicyWarning, Strategy};

use super::error::ThreadsError;
use super::meta::Meta;
use super::overlay::overlay;
use crate::catalog;

/// A model that conversations can run on, or that writes summaries.
#[derive(Clone, Debug, PartialEq)]
pub struct RunModel {
    /// The name that requests, agents and options say. The [`Compactor`](crate::Compactor)'s models know it by the
    /// same one.
    pub name: Arc<str>,
    /// What is known of it.
    pub profile: ModelProfile,
    /// How it is asked for summaries.
    pub route: Route,
    /// Where it is: what is learnt about its limits holds there.
    pub endpoint: Arc<str>,
}

/// What the host says for all its threads.
#[derive(Clone)]
pub struct Settings {
    /// The options. A thread's own policy is laid over them.
    pub options: Options,
    /// The models. The first is the default; without any, summaries are digests.
    pub models: Vec<RunModel>,
    /// Which model an agent runs on.
    pub agents: BTreeMap<Arc<str>, Arc<str>>,
    /// A counter of one's own; `None`: what the policy says.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// The name of this instance, which no other process on the same store has: leases are held under it.
    pub instance: Arc<str>,
    /// How long a lease lasts that is not renewed: for so long a killed process holds its threads.
    pub lease_ms: Millis,
    /// How often a subscription looks for events of other processes.
    pub poll_ms: Millis,
}

impl Settings {
    /// Our own options, no models.
    pub fn new(instance: impl Into<Arc<str>>) -> Self {
        Self {
            options: Options::default(),
            models: Vec::new(),
            agents: BTreeMap::new(),
            counter: None,
            instance: instance.into(),
            lease_ms: 30_000,
            poll_ms: 1_000,
        }
    }

    /// The model that a request runs on: the one it names, else the one of its agent, else the default. A name that
    /// nobody knows goes straight to the default, as in deer-flow.
    pub fn model(&self, model_name: Option<&str>, agent_name: Option<&str>) -> Option<&RunModel> {
        let of_agent = || {
            let model = self.agents.get(agent_name?)?;
            Some(model.as_ref())
        };
        let name = model_name.map(str::trim).filter(|name| !name.is_empty());
        let asked = name.or_else(of_agent);
        asked
            .and_then(|name| self.named(name))
            .or(self.models.first())
    }

    fn named(&self, name: &str) -> Option<&RunModel> {
        self.models.iter().find(|model| *model.name == *name)
    }

    /// What follows for a thread.
    ///
    /// # Errors
    /// When the thread's own policy is none, or what comes of both cannot work.
    pub(crate) fn run(&self, meta: &Meta, asked: &Asked<'_>) -> Result<Run, ThreadsError> {
        let agent = asked.agent_name.or(meta.agent.as_deref());
        let elsewhere = meta.runs_on.as_ref().filter(|on| {
            asked.model_name.is_none() && agent.is_none() && self.named(&on.model).is_none()
        });
        let model = match &meta.runs_on {
            Some(on) if asked.model_name.is_none() && agent.is_none() => {
                self.named(&on.model).or(self.models.first())
            }
            _ => self.model(asked.model_name, agent),
        };
        let mut options = match &meta.policy {
            Some(own) => overlay(&self.options, own)?,
            None => self.options.clone(),
        };
        options.strategy = asked.strategy.or(options.strategy);
        let others = self.models.iter().map(|model| model.profile.clone());
        options.others.extend(others);
        let profile = match elsewhere {
            Some(on) => catalog::profile(&on.model, on.provider.as_deref()),
            None => model.map(|m| m.profile.clone()).unwrap_or_default(),
        };
        let resolved = Policy::resolve(&options, &profile)?;
        let counter = self.counter.clone();
        let counter = counter.unwrap_or_else(|| counter_for(resolved.policy.counter));
        Ok(Run {
            routes: self.routes(&resolved.policy, model),
            model: match elsewhere {
                Some(on) => Some(on.model.clone()),
                None => model.map(|m| m.name.clone()),
            },
            endpoint: model
                .filter(|_| elsewhere.is_none())
                .map(|m| m.endpoint.clone())
                .unwrap_or_else(|| "".into()),
            policy: Arc::new(resolved.policy),
            counter,
            options,
            profile,
            warnings: resolved.warnings,
        })
    }

    /// The model that the policy names for summaries, then the one that the conversation runs on.
    fn routes(&self, policy: &Policy, run: Option<&RunModel>) -> Vec<Route> {
        let named = policy.summary.model.as_deref();
        let writer = named.and_then(|name| self.named(name));
        let mut routes: Vec<Route> = Vec::new();
        for model in writer.into_iter().chain(run) {
            if routes.iter().all(|r| r.model != model.route.model) {
                routes.push(model.route.clone());
            }
        }
        routes
    }
}

/// What a request says about how to run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    pub(crate) model_name: Option<&'a str>,
    pub(crate) agent_name: Option<&'a str>,
    pub(crate) strategy: Option<Strategy>,
}

/// What one thread runs with.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) policy: Arc<Policy>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) routes: Vec<Route>,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) endpoint: Arc<str>,
    pub(crate) options: Options,
    pub(crate) profile: ModelProfile,
    pub(crate) warnings: Vec<PolicyWarning>,
}
