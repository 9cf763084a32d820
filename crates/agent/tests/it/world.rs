//! An agent with a scripted model, a store in memory, files in a temporary folder.

use std::future::Future;
use std::sync::Arc;

use conspectus::core::effect::Route;
use conspectus::core::policy::{KeepOption, ModelProfile, Options};
use conspectus::store::{ThreadKey, ThreadStore};
use conspectus::threads::{CreateThread, Note, RunModel, RunStatus, Settings, Threads};
use conspectus::wire::{Format, valid};
use conspectus::{AgentModel, AgentModels, ChatModel, Clock, Compactor, Models, TurnRequest};
use conspectus_agent::channel::skill::Reads;
use conspectus_agent::{
    Events, Limits, Message, Profile, ResumeRun, RunEvent, Runs, Setup, Skills, StartRun, Store,
    Subagent,
};
use conspectus_store::MemoryStore;
use conspectus_testkit::executor::{Nursery, VirtualTime};
use conspectus_testkit::model::{
    AgentReply, Behaviour, ScriptedAgent, ScriptedChat, ScriptedModel,
};
use serde_json::{Value, json};

pub(crate) struct World {
    pub(crate) time: VirtualTime,
    pub(crate) nursery: Nursery,
    pub(crate) store: Arc<dyn ThreadStore>,
    pub(crate) model: ScriptedAgent,
    pub(crate) summariser: ScriptedChat,
    pub(crate) key: ThreadKey,
    pub(crate) options: Options,
    /// The longest summary that the model writes, in tokens.
    pub(crate) max_output: u64,
    pub(crate) folder: tempfile::TempDir,
    /// Changes the setup before it is used.
    pub(crate) adjust: Arc<dyn Fn(&mut Setup)>,
}

pub(crate) const SUMMARY: &str =
    "The boiler was looked at, and its valves were turned a little, step by step.";

impl World {
    pub(crate) fn new(replies: Vec<AgentReply>) -> Self {
        let time = VirtualTime::new();
        let model = ScriptedAgent::list(&time, replies);
        Self::with(time, model)
    }

    pub(crate) fn scripted(
        script: impl FnMut(usize, &TurnRequest) -> AgentReply + Send + 'static,
    ) -> Self {
        let time = VirtualTime::new();
        let model = ScriptedAgent::new(&time, script);
        Self::with(time, model)
    }

    fn with(time: VirtualTime, model: ScriptedAgent) -> Self {
        let summary = Behaviour::Slow {
            ms: 500,
            then: Box::new(Behaviour::text(SUMMARY)),
        };
        Self {
            summariser: ScriptedChat::new(ScriptedModel::new(summary), &time),
            nursery: Nursery::new(),
            store: Arc::new(MemoryStore::default()),
            key: ThreadKey::new("ann", "boiler-7"),
            options: Options {
                max_context: Some(12_000),
                keep: Some(KeepOption::Messages(6)),
                ..Options::default()
            },
            max_output: 1_000,
            folder: tempfile::tempdir().expect("a folder"),
            adjust: Arc::new(|_| {}),
            time,
            model,
        }
    }

    pub(crate) fn adjusted(mut self, adjust: impl Fn(&mut Setup) + 'static) -> Self {
        self.adjust = Arc::new(adjust);
        self
    }

    /// The threads of one process.
    pub(crate) fn threads(&self, instance: &str) -> Arc<Store> {
        let made: Result<Arc<dyn ChatModel>, String> = Ok(Arc::new(self.summariser.clone()));
        let models = Models::new().with("m", made);
        let clock: Arc<dyn Clock> = Arc::new(self.time.clone());
        let settings = Settings {
            options: self.options.clone(),
            models: vec![run_model("m", self.max_output)],
            ..Settings::new(instance)
        };
        let compactor = Arc::new(Compactor::new(models, clock));
        Arc::new(Threads::new(self.store.clone(), compactor, settings))
    }

    /// The agents of one process, on a thread that is there.
    pub(crate) fn runs(&self, instance: &str) -> Runs {
        let threads = self.threads(instance);
        let create = CreateThread {
            if_exists: conspectus::threads::IfExists::DoNothing,
            ..CreateThread::default()
        };
        self.run(threads.create(&self.key, create)).expect("made");
        let skills = self.folder.path().join("skills");
        for name in ["pdf", "doc", "tea", "map", "sum"] {
            let folder = skills.join(name);
            std::fs::create_dir_all(&folder).expect("made");
            let text =
                format!("---\nname: {name}\ndescription: How to {name}\n---\nDo {name} well.\n");
            std::fs::write(folder.join("SKILL.md"), text).expect("written");
        }
        let model: Arc<dyn AgentModel> = Arc::new(self.model.clone());
        let nursery = self.nursery.clone();
        let reads = Reads::default();
        let mut subagent = Profile::subagent("general", "You look things up.", &reads);
        subagent.limits.max_model_calls = 10;
        let mut setup = Setup {
            threads,
            models: AgentModels::new().with::<String>("m", Ok(model)),
            lead: Profile::lead("You mend boilers.", &reads),
            agents: Vec::new(),
            subagents: vec![Subagent {
                profile: Arc::new(subagent),
                description: "looks things up".into(),
                timeout_ms: 60_000,
            }],
            max_parallel_subagents: 3,
            workspaces: Some(self.folder.path().join("work")),
            skills: Skills::under(skills, reads),
            spawn: Arc::new(move |task| nursery.spawn(task)),
        };
        (self.adjust)(&mut setup);
        Runs::new(setup)
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.time.run(self.nursery.beside(future))
    }

    /// Runs to the end with this request: its events.
    pub(crate) fn says(&self, runs: &Runs, run_id: &str, text: &str) -> Vec<RunEvent> {
        self.run(async {
            let start = said(run_id, text);
            all(runs.start(&self.key, start).await.expect("begun")).await
        })
    }

    pub(crate) fn resumes(&self, runs: &Runs, answer: Option<Value>) -> Vec<RunEvent> {
        self.run(async {
            let resume = ResumeRun {
                answer,
                ..ResumeRun::default()
            };
            all(runs.resume(&self.key, resume).await.expect("taken up")).await
        })
    }

    /// The window as it is stored.
    pub(crate) fn window(&self, runs: &Runs) -> Vec<Message> {
        let state = self
            .run(runs.threads().state(&self.key, None))
            .expect("a state");
        state.values.messages.iter().map(Message::of).collect()
    }

    /// One line a message.
    pub(crate) fn lines(&self, runs: &Runs) -> Vec<String> {
        self.window(runs).iter().map(line).collect()
    }

    pub(crate) fn note(&self, runs: &Runs) -> Note {
        self.run(runs.threads().note(&self.key)).expect("a note")
    }
}

pub(crate) fn run_model(name: &str, max_output: u64) -> RunModel {
    RunModel {
        name: name.into(),
        profile: ModelProfile {
            name: Some(name.into()),
            ..ModelProfile::default()
        },
        route: Route {
            model: Some(name.into()),
            replay: false,
            max_input: 100_000,
            max_output,
            takes_schema: false,
        },
        endpoint: "http://model".into(),
    }
}

pub(crate) fn said(run_id: &str, text: &str) -> StartRun {
    StartRun {
        run_id: run_id.into(),
        input: vec![json!({"type": "human", "content": text})],
        ..StartRun::default()
    }
}

pub(crate) async fn all(mut events: Events) -> Vec<RunEvent> {
    let mut told = Vec::new();
    while let Some(one) = events.next().await {
        told.push(one.event.clone());
    }
    told
}

/// How it ended, and what went wrong.
pub(crate) fn ended(events: &[RunEvent]) -> (RunStatus, Option<String>) {
    match events.last() {
        Some(RunEvent::Ended { status, error, .. }) => {
            (*status, error.as_ref().map(ToString::to_string))
        }
        other => panic!("no end: {other:?}"),
    }
}

pub(crate) fn warnings(events: &[RunEvent]) -> Vec<String> {
    let warning = |event: &RunEvent| match event {
        RunEvent::Warning { message } => Some(message.to_string()),
        _ => None,
    };
    events.iter().filter_map(warning).collect()
}

pub(crate) fn line(message: &Message) -> String {
    let kind = format!("{:?}", message.kind()).to_lowercase();
    let calls = message.calls();
    let calls: Vec<String> = calls
        .iter()
        .map(|call| format!(" ->{}#{}", call.name, call.id))
        .collect();
    let answers = message
        .answers()
        .map(|id| format!(" #{id}"))
        .unwrap_or_default();
    let text = message.text();
    let text = text.replace('\n', "|");
    format!("{kind}{answers}{}: {text}", calls.concat())
}

/// The messages of a request, one line each.
pub(crate) fn request(request: &TurnRequest) -> Vec<String> {
    request
        .messages
        .iter()
        .map(|json| line(&Message::of(json)))
        .collect()
}

/// Every provider would take it.
pub(crate) fn assert_valid(request: &TurnRequest) {
    let list: Vec<&str> = request.messages.iter().map(|json| json.as_str()).collect();
    let list = format!("[{}]", list.join(","));
    let faults = valid::check(Format::LangChain, list.as_bytes());
    assert!(faults.is_empty(), "{faults:?}\n{list}");
}

pub(crate) fn limits(change: impl Fn(&mut Limits) + 'static) -> impl Fn(&mut Setup) {
    move |setup| change(&mut setup.lead.limits)
}
