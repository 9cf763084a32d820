//! A running server, and what is asked of it.

mod models;

use std::sync::{Arc, Mutex};

use conspectus::core::effect::Route;
use conspectus::telemetry::Telemetry;
use conspectus::threads::{RunModel, Settings as ThreadSettings, Threads};
use conspectus::{AgentModel, AgentModels, ChatModel, Clock, Compactor, ModelProfile, Models};
use conspectus_agent::channel::skill::Reads;
use conspectus_agent::{Profile, Runs, Setup, Skills};
use conspectus_config::Config;
use conspectus_providers::TokioClock;
use conspectus_server::{Log, Metrics, Server, Settings, Tokens};
use conspectus_store::MemoryStore;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) use conspectus_testkit::client::{Reply, Stream, ask, open, read};
pub(crate) use models::{Broken, Gate, Held, Says, calls, scripted};

/// A server in this process, on a free port.
pub(crate) struct Service {
    runtime: Runtime,
    address: String,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
    log: Arc<Mutex<Vec<String>>>,
}

/// How it is to run.
#[derive(Default)]
pub(crate) struct With<'a> {
    /// The configuration file.
    pub(crate) config: &'a str,
    /// The file of tokens.
    pub(crate) tokens: &'a str,
    /// Models by name; the first is the default.
    pub(crate) models: Vec<(&'a str, Arc<dyn ChatModel>)>,
    /// The models of agents by name; none: the service runs no agents.
    pub(crate) agents: Vec<(&'a str, Arc<dyn AgentModel>)>,
    /// Changes the agents before they run.
    pub(crate) adjust: Option<fn(&mut Setup)>,
}

impl Service {
    /// Without a file.
    pub(crate) fn start() -> Self {
        Self::with(With::default())
    }

    /// With this section `server:`.
    pub(crate) fn server(section: &str) -> Self {
        let config = format!("server: {section}\n");
        Self::with(With {
            config: &config,
            ..With::default()
        })
    }

    pub(crate) fn with(with: With<'_>) -> Self {
        let config = Config::load("config.yaml", with.config).expect("the file is fine");
        let mut section = config.server().clone();
        section.listen = Some("127.0.0.1:0".parse().expect("an address"));
        let tokens = match with.tokens {
            "" => Tokens::default(),
            text => Tokens::parse(text).expect("they are fine"),
        };
        let settings = Settings::new(&section, tokens).expect("it may run so");
        let runtime = Runtime::new().expect("threads");
        let _entered = runtime.enter();
        let mut models = Models::new();
        let mut threads = ThreadSettings::new("test");
        threads.options = config.options().clone();
        threads.poll_ms = 20;
        for (name, model) in with.models {
            models = models.with::<String>(name, Ok(model));
            threads.models.push(listed(name));
        }
        let metrics = Metrics::new();
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
        let telemetry = Telemetry::new().with(metrics.clone());
        let compactor = Compactor::new(models, clock).with_telemetry(telemetry);
        let store = Arc::new(MemoryStore::default());
        let threads = Arc::new(Threads::new(store, Arc::new(compactor), threads));
        let runs = (!with.agents.is_empty()).then(|| {
            let mut setup = setup(threads.clone());
            for (name, model) in with.agents {
                setup.models = setup.models.with::<String>(name, Ok(model));
            }
            with.adjust
                .into_iter()
                .for_each(|adjust| adjust(&mut setup));
            Runs::new(setup)
        });
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = log.clone();
        let sink = Log::new(move |line| lines.lock().expect("whole").push(line.to_owned()));
        let server = Server::bind(settings, threads, metrics, sink);
        let mut server = runtime.block_on(server).expect("a free port");
        if let Some(runs) = runs {
            server = server.with_runs(runs);
        }
        let address = server.address().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = runtime.spawn(server.run(async {
            let _ = stopped.await;
        }));
        drop(_entered);
        Self {
            runtime,
            address,
            stop: Some(stop),
            running: Some(running),
            log,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Tells it to stop; what is under way goes on.
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits until it has ended.
    pub(crate) fn ended(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            self.runtime
                .block_on(running)
                .expect("it ends without a panic");
        }
    }

    /// The lines of its log so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().expect("whole").clone()
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, &[], Some(body))
    }

    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        let body = body.map(Value::to_string);
        let mut all = headers.to_vec();
        if body.is_some() && !headers.iter().any(|(name, _)| *name == "content-type") {
            all.push(("content-type", "application/json"));
        }
        ask(
            &self.address,
            method,
            path,
            &all,
            body.as_deref().map(str::as_bytes),
        )
    }

    /// Makes a thread.
    pub(crate) fn thread(&self, id: &str) {
        let made = self.post("/api/threads", &json!({"thread_id": id}));
        assert_eq!(made.status, 200, "{made:?}");
    }

    /// Makes a thread that is long enough to be compacted, with a policy that lets little stay.
    pub(crate) fn long_thread(&self, id: &str) {
        let policy = json!({"keep": {"type": "messages", "value": 2}});
        let made = self.post("/api/threads", &json!({"thread_id": id, "policy": policy}));
        assert_eq!(made.status, 200, "{made:?}");
        let appended = self.post(&format!("/api/threads/{id}/messages"), &talk(12));
        assert_eq!(appended.status, 200, "{appended:?}");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A body of so many messages, each with something of its own in it.
pub(crate) fn talk(messages: usize) -> Value {
    let texts = (0..messages).map(|at| {
        let kind = if at % 2 == 0 { "human" } else { "ai" };
        let words: Vec<String> = (0..60)
            .map(|word| format!("w{}", at * 97 + word * 7))
            .collect();
        let content = format!(
            "Step {at} of the plan is about src/part{at}.rs: {}.",
            words.join(" ")
        );
        json!({"type": kind, "id": format!("m{at}"), "content": content})
    });
    json!({"messages": texts.collect::<Vec<_>>()})
}

fn setup(threads: Arc<Threads<Arc<dyn Clock>>>) -> Setup {
    Setup {
        threads,
        models: AgentModels::new(),
        lead: Profile::lead("You make tea.", &Reads::default()),
        agents: Vec::new(),
        subagents: Vec::new(),
        max_parallel_subagents: 3,
        workspaces: None,
        skills: Skills::none(),
        spawn: Arc::new(|task| {
            tokio::spawn(task);
        }),
    }
}

fn listed(name: &str) -> RunModel {
    RunModel {
        name: name.into(),
        profile: ModelProfile {
            name: Some(name.into()),
            window: Some(100_000),
            ..ModelProfile::default()
        },
        route: Route {
            model: Some(name.into()),
            replay: false,
            max_input: 80_000,
            max_output: 8_000,
            takes_schema: false,
        },
        endpoint: "here".into(),
    }
}
