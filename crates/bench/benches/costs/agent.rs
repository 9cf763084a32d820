//! A turn of an agent with the whole stack around it, on a thread of so many messages: a request is stored, the model is
//! asked and answers at once, its reply is stored.

use std::hint::black_box;
use std::sync::Arc;

use conspectus::core::effect::Failure;
use conspectus::core::policy::{KeepOption, Options};
use conspectus::store::ThreadKey;
use conspectus::threads::{Append, CompactThread, CreateThread, Json, Settings, Threads};
use conspectus::{
    AgentModel, AgentModels, Boxed, Clock, Compactor, Delta, Models, Turn, TurnRequest,
};
use conspectus_agent::channel::skill::Reads;
use conspectus_agent::{Profile, Runs, Setup, Skills, StartRun};
use conspectus_store::MemoryStore;
use conspectus_testkit::executor::{Nursery, VirtualTime};
use criterion::Criterion;
use serde_json::json;

/// Answers at once.
struct Quick;

impl AgentModel for Quick {
    fn turn<'a>(
        &'a self,
        request: &'a TurnRequest,
        _: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>> {
        black_box(request);
        Box::pin(std::future::ready(Ok(Turn::text(
            "It was turned a little.",
        ))))
    }
}

struct World {
    time: VirtualTime,
    nursery: Nursery,
    runs: Runs,
    key: ThreadKey,
    turns: u64,
}

impl World {
    fn new(messages: usize, is_compacted: bool) -> Self {
        let (time, nursery) = (VirtualTime::new(), Nursery::new());
        let clock: Arc<dyn Clock> = Arc::new(time.clone());
        let settings = Settings {
            options: Options {
                max_context: Some(100_000_000),
                keep: Some(KeepOption::Messages(200)),
                ..Options::default()
            },
            ..Settings::new("bench")
        };
        let compactor = Arc::new(Compactor::new(Models::new(), clock));
        let threads = Threads::new(Arc::new(MemoryStore::default()), compactor, settings);
        let reads = Reads::default();
        let spawn = nursery.clone();
        let model: Result<Arc<dyn AgentModel>, String> = Ok(Arc::new(Quick));
        let runs = Runs::new(Setup {
            threads: Arc::new(threads),
            models: AgentModels::new().with("", model),
            lead: Profile::lead("You mend boilers.", &reads),
            agents: Vec::new(),
            subagents: Vec::new(),
            max_parallel_subagents: 1,
            workspaces: None,
            skills: Skills::none(),
            spawn: Arc::new(move |task| spawn.spawn(task)),
        });
        let key = ThreadKey::new("bench", "thread");
        let text = "The valve of the boiler was turned a little, step by step. ".repeat(7);
        let said = (0..messages).map(|n| {
            let kind = if n % 2 == 0 { "human" } else { "ai" };
            Json::from(
                &json!({"type": kind, "content": format!("{n}: {text}"), "id": format!("m{n}")}),
            )
        });
        let append = Append {
            messages: said.collect(),
            ..Append::default()
        };
        time.run(async {
            let threads = runs.threads();
            threads
                .create(&key, CreateThread::default())
                .await
                .expect("made");
            threads.append(&key, &append).await.expect("appended");
            if is_compacted {
                let done = threads.compact(&key, &CompactThread::default()).await;
                assert!(done.expect("an outcome").is_change());
            }
        });
        Self {
            time,
            nursery,
            runs,
            key,
            turns: 0,
        }
    }

    fn turn(&mut self) {
        let run_id: Arc<str> = format!("r{}", self.turns).into();
        self.turns += 1;
        let start = StartRun {
            run_id: run_id.clone(),
            input: vec![json!({"type": "human", "content": "Turn it a little more."})],
            ..StartRun::default()
        };
        let run = async {
            drop(self.runs.start(&self.key, start).await.expect("begun"));
            let end = self.runs.join(&self.key, &run_id).await.expect("known");
            assert_eq!(end.error, None);
        };
        self.time.run(self.nursery.beside(run));
    }
}

/// A turn at 1,000 and 10,000 messages, with all of them in the window and with all but 200 folded.
pub(crate) fn agent(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("agent turn");
    group.sample_size(20);
    for messages in [1_000, 10_000] {
        for (name, is_compacted) in [("whole", false), ("compacted", true)] {
            let mut world = World::new(messages, is_compacted);
            group.bench_function(format!("{name}/{messages}"), |bencher| {
                bencher.iter(|| world.turn());
            });
        }
    }
    group.finish();
}
