//! Threads in a store, in virtual time, with a model that says what it is told to.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use conspectus::core::effect::Route;
use conspectus::core::policy::{KeepOption, ModelProfile, OnFailure, Options};
use conspectus::store::ThreadKey;
use conspectus::telemetry::{Event, Telemetry};
use conspectus::threads::{Append, CreateThread, Json, RunModel, Settings, Threads, ThreadsError};
use conspectus::{ChatModel, Clock as _, Compactor, Models};
use conspectus_store::{MemoryStore, SqliteStore};
use conspectus_testkit::executor::VirtualTime;
use conspectus_testkit::model::{Behaviour, ScriptedChat, ScriptedModel};

use super::faulty::Faulty;
use crate::postgres::Database;

pub(crate) struct World {
    pub(crate) time: VirtualTime,
    pub(crate) model: ScriptedChat,
    pub(crate) other: ScriptedChat,
    pub(crate) store: Faulty,
    pub(crate) told: Arc<Mutex<Vec<Event>>>,
    pub(crate) key: ThreadKey,
    pub(crate) options: Options,
    /// Where leases go by another clock than ours.
    database: Option<Arc<Database>>,
}

/// Runs a test in every store.
pub(crate) fn everywhere(test: impl Fn(World)) {
    test(World::new(Faulty::new(Arc::new(MemoryStore::default()))));
    let folder = tempfile::tempdir().expect("a folder");
    let sqlite = SqliteStore::open(folder.path().join("threads.db")).expect("opened");
    test(World::new(Faulty::new(Arc::new(sqlite))));
    if let Some(database) = Database::new().map(Arc::new) {
        let store = Faulty::new(Arc::new(database.open()));
        test(World {
            database: Some(database),
            ..World::new(store)
        });
    }
}

pub(crate) fn good() -> Behaviour {
    Behaviour::Slow {
        ms: 700,
        then: Box::new(Behaviour::text(
            "The valve was turned a little, step by step.",
        )),
    }
}

impl World {
    pub(crate) fn new(store: Faulty) -> Self {
        let time = VirtualTime::new();
        let options = Options {
            max_context: Some(20_000),
            keep: Some(KeepOption::Messages(4)),
            on_failure: Some(OnFailure::Unchanged),
            ..Options::default()
        };
        Self {
            model: ScriptedChat::new(ScriptedModel::new(good()), &time),
            other: ScriptedChat::new(ScriptedModel::new(good()), &time),
            time,
            store,
            told: Arc::default(),
            key: ThreadKey::new("t", "thread-1"),
            options,
            database: None,
        }
    }

    /// Waits until the leases of the dead are over.
    pub(crate) fn wait(&self) {
        self.run(self.time.sleep_until(self.time.now() + 31_000));
        if let Some(database) = &self.database {
            database.run("UPDATE lease SET until_ms = 0");
        }
    }

    /// The main model behaves like this from now on.
    pub(crate) fn behaving(mut self, behaviour: Behaviour) -> Self {
        self.model = ScriptedChat::new(ScriptedModel::new(behaviour), &self.time);
        self
    }

    /// Threads of one process.
    pub(crate) fn threads(&self, instance: &str) -> Threads<VirtualTime> {
        let made = |chat: &ScriptedChat| -> Result<Arc<dyn ChatModel>, String> {
            Ok(Arc::new(chat.clone()))
        };
        let models = Models::new()
            .with("m", made(&self.model))
            .with("n", made(&self.other));
        let told = self.told.clone();
        let listen = move |event: &Event| told.lock().expect("not poisoned").push(event.clone());
        let compactor = Compactor::new(models, self.time.clone());
        let compactor = compactor.with_telemetry(Telemetry::new().with(listen));
        let model = |name: &str| RunModel {
            name: name.into(),
            profile: ModelProfile {
                name: Some(name.into()),
                ..ModelProfile::default()
            },
            route: Route {
                model: Some(name.into()),
                replay: false,
                max_input: 100_000,
                max_output: 1_000,
                takes_schema: false,
            },
            endpoint: "http://model".into(),
        };
        let settings = Settings {
            options: self.options.clone(),
            models: vec![model("m"), model("n")],
            agents: [("scribe".into(), "n".into())].into(),
            ..Settings::new(instance)
        };
        Threads::new(Arc::new(self.store.clone()), Arc::new(compactor), settings)
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.time.run(future)
    }

    /// The thread, with a talk of so many rounds in it.
    pub(crate) fn talked(&self, rounds: usize) -> Threads<VirtualTime> {
        let threads = self.threads("one");
        self.run(async {
            threads
                .create(&self.key, CreateThread::default())
                .await
                .expect("made");
            threads
                .append(&self.key, &talk(0, rounds))
                .await
                .expect("appended");
        });
        threads
    }

    /// What was done in the store since the last time this was asked.
    pub(crate) fn done(&self) -> Vec<String> {
        std::mem::take(&mut *self.store.done.lock().expect("not poisoned"))
    }

    /// What was told since the last time.
    pub(crate) fn told(&self) -> Vec<Event> {
        std::mem::take(&mut *self.told.lock().expect("not poisoned"))
    }

    /// The names of the stored events.
    pub(crate) fn events(&self, threads: &Threads<VirtualTime>) -> Vec<String> {
        let events = self
            .run(threads.events(&self.key, 0, 1_000))
            .expect("events");
        let name = |json: &Json| {
            let value: serde_json::Value = serde_json::from_str(json.as_str()).expect("json");
            let name = value["event"]["name"].as_str().or(value["type"].as_str());
            name.expect("a name").to_owned()
        };
        events.iter().map(|told| name(&told.event)).collect()
    }
}

/// Rounds of a talk about a valve, of some 300 tokens each.
pub(crate) fn talk(from: usize, rounds: usize) -> Append {
    let mut messages = Vec::new();
    for round in from..from + rounds {
        let ask = format!("step {round}: turn the valve of boiler {round}");
        messages.push(human(&format!("h{round}"), &ask));
        let text = format!(
            "step {round} is done: {}",
            "it was turned a little. ".repeat(45)
        );
        messages.push(json(&serde_json::json!({
            "type": "ai", "content": text, "id": format!("a{round}"), "tool_calls": [],
        })));
    }
    Append {
        messages,
        ..Append::default()
    }
}

pub(crate) fn human(id: &str, text: &str) -> Json {
    json(&serde_json::json!({"type": "human", "content": text, "id": id}))
}

pub(crate) fn json(value: &serde_json::Value) -> Json {
    Json::from(value)
}

pub(crate) fn one(message: Json) -> Append {
    Append {
        messages: vec![message],
        ..Append::default()
    }
}

/// Both, side by side.
pub(crate) async fn both<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut a_done, mut b_done) = (None, None);
    poll_fn(|cx| {
        if a_done.is_none()
            && let Poll::Ready(done) = a.as_mut().poll(cx)
        {
            a_done = Some(done);
        }
        if b_done.is_none()
            && let Poll::Ready(done) = b.as_mut().poll(cx)
        {
            b_done = Some(done);
        }
        match (a_done.is_some(), b_done.is_some()) {
            (true, true) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    let done = a_done.zip(b_done);
    done.expect("both are done")
}

pub(crate) fn said<T>(result: Result<T, ThreadsError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(why) => why.to_string(),
    }
}
