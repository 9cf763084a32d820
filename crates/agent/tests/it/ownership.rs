//! Which model sums up: the one that the run executes with, on all three paths, shown by what reaches scripted servers.

use std::path::Path;
use std::sync::Arc;

use conspectus::core::effect::Route;
use conspectus::core::policy::{Clause, KeepOption, ModelProfile, Options, TriggerOption};
use conspectus::store::ThreadKey;
use conspectus::threads::{
    CompactThread, CreateThread, PatchThread, RunModel, RunStatus, Settings, Threads,
};
use conspectus::{AgentModel, AgentModels, ChatModel, Clock, Compactor, Models};
use conspectus_agent::channel::skill::Reads;
use conspectus_agent::{Profile, Runs, Setup, Skills, StartRun, Subagent};
use conspectus_providers::{Endpoint, OpenAiChat, Proxy, TokioClock};
use conspectus_store::MemoryStore;
use conspectus_testkit::server::{Asked, HttpServer, Step};
use serde_json::{Value, json};

const SUMMARY: &str =
    "The boiler was looked at, and its valves were turned a little, step by step.";

/// A model behind a server. With tools it works, without it sums up.
fn server(status: u16) -> HttpServer {
    HttpServer::start(move |_, asked| {
        let headers = [("content-type", "application/json")];
        if status != 200 {
            return Step::answer(status, &headers, r#"{"error":{"message":"invalid key"}}"#);
        }
        let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        let message = match body["tools"].is_array() {
            true => work(&body),
            false => json!({"content": SUMMARY}),
        };
        let answer = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        Step::answer(200, &headers, &answer.to_string())
    })
}

/// The lead gives one piece of work away; whoever has none of that reads until there is something to fold.
fn work(body: &Value) -> Value {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let all = body["messages"].to_string();
    let call = |name: &str, args: Value| {
        let id = format!("c{}", messages.len());
        json!({"content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": args.to_string()}}]})
    };
    let reads = all.matches("tool_calls").count() + all.matches("conversation_record").count();
    if all.contains("DELEGATE") {
        return match all.contains("tool_calls") {
            true => json!({"content": "It is done."}),
            false => call(
                "task",
                json!({"description": "read", "prompt": "READ", "subagent_type": "general"}),
            ),
        };
    }
    match reads < 8 {
        true => call("list_dir", json!({"path": format!("d{}", messages.len())})),
        false => json!({"content": "All is read."}),
    }
}

/// The number of requests for a summary that reached a server.
fn summaries(server: &HttpServer) -> usize {
    let is_summary = |asked: &Asked| !asked.body.contains("\"tools\"");
    server
        .asked()
        .iter()
        .filter(|asked| is_summary(asked))
        .count()
}

fn endpoint(server: &HttpServer) -> Endpoint {
    let mut endpoint = Endpoint::new(server.url(), "m");
    endpoint.stream = false;
    endpoint.proxy = Proxy::None;
    endpoint
}

/// Servers by name; the first is the default. `broken`: constructors that fail. `summary`: the configured model.
struct Scene<'a> {
    servers: &'a [(&'a str, &'a HttpServer)],
    broken: &'a [&'a str],
    summary: Option<&'a str>,
    folder: &'a Path,
}

impl Scene<'_> {
    fn runs(&self) -> Runs {
        let (mut chat, mut agents, mut listed) = (Models::new(), AgentModels::new(), Vec::new());
        for name in self.broken {
            chat = chat.with(*name, Err::<Arc<dyn ChatModel>, _>("no key in MY_KEY"));
        }
        for (name, server) in self.servers {
            let made = || OpenAiChat::new(&endpoint(server));
            chat = chat.with(*name, made().map(|m| Arc::new(m) as Arc<dyn ChatModel>));
            agents = agents.with(*name, made().map(|m| Arc::new(m) as Arc<dyn AgentModel>));
        }
        let names = self
            .servers
            .iter()
            .map(|(name, _)| *name)
            .chain(self.broken.iter().copied());
        for name in names {
            listed.push(RunModel {
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
                endpoint: name.into(),
            });
        }
        let settings = Settings {
            options: Options {
                max_context: Some(60_000),
                keep: Some(KeepOption::Messages(2)),
                trigger: TriggerOption::Any(vec![Clause {
                    messages: Some(9),
                    ..Clause::default()
                }]),
                model: self.summary.map(Into::into),
                ..Options::default()
            },
            models: listed,
            agents: [("scribe".into(), "third".into())].into(),
            ..Settings::new("one")
        };
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
        let threads = Threads::new(
            Arc::new(MemoryStore::default()),
            Arc::new(Compactor::new(chat, clock)),
            settings,
        );
        let reads = Reads::default();
        let mut general = Profile::subagent("general", "You read.", &reads);
        general.model = Some("third".into());
        Runs::new(Setup {
            threads: Arc::new(threads),
            models: agents,
            lead: Profile::lead("You mend boilers.", &reads),
            agents: vec![Profile {
                name: "scribe".into(),
                ..Profile::lead("You write.", &reads)
            }],
            subagents: vec![Subagent {
                profile: Arc::new(general),
                description: "reads".into(),
                timeout_ms: 60_000,
            }],
            max_parallel_subagents: 1,
            workspaces: Some(self.folder.to_path_buf()),
            skills: Skills::none(),
            spawn: Arc::new(|task| drop(tokio::spawn(task))),
        })
    }

    async fn run(
        &self,
        runs: &Runs,
        key: &ThreadKey,
        text: &str,
        model: Option<&str>,
        agent: Option<&str>,
    ) {
        runs.threads()
            .create(key, CreateThread::default())
            .await
            .expect("made");
        let long = format!(
            "{text} {}",
            "The boiler is old and its valves are many. ".repeat(60)
        );
        let start = StartRun {
            run_id: "r1".into(),
            input: vec![json!({"type": "human", "content": long})],
            model_name: model.map(Into::into),
            agent_name: agent.map(Into::into),
        };
        drop(runs.start(key, start).await.expect("begun"));
        let end = runs.join(key, "r1").await.expect("known");
        assert_eq!((end.status, end.error), (RunStatus::Success, None));
    }
}

fn block_on<F: std::future::Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

#[test]
fn f7_the_lead_is_summed_up_by_its_own_model_though_the_first_is_broken() {
    let (first, second) = (server(401), server(200));
    let folder = tempfile::tempdir().expect("a folder");
    let scene = Scene {
        servers: &[("first", &first), ("second", &second)],
        broken: &[],
        summary: None,
        folder: folder.path(),
    };
    block_on(async {
        let runs = scene.runs();
        scene
            .run(
                &runs,
                &ThreadKey::new("t", "a"),
                "Read.",
                Some("second"),
                None,
            )
            .await;
    });
    assert_eq!(first.asked().len(), 0);
    assert!(summaries(&second) >= 1);
}

#[test]
fn f7_a_configured_model_comes_first_and_the_runs_own_where_it_or_its_constructor_is_broken() {
    for (status, broken, configured) in [(200, false, 1), (401, false, 1), (200, true, 0)] {
        let (first, second, small) = (server(401), server(200), server(status));
        let folder = tempfile::tempdir().expect("a folder");
        let all = [("first", &first), ("second", &second), ("small", &small)];
        let (servers, broken_names): (&[_], &[_]) = match broken {
            true => (&all[..2], &["small"]),
            false => (&all, &[]),
        };
        let scene = Scene {
            servers,
            broken: broken_names,
            summary: Some("small"),
            folder: folder.path(),
        };
        block_on(async {
            let runs = scene.runs();
            scene
                .run(
                    &runs,
                    &ThreadKey::new("t", "a"),
                    "Read.",
                    Some("second"),
                    None,
                )
                .await;
        });
        assert!(summaries(&small) >= configured, "{status} {broken}");
        let by_own = summaries(&second) > 0;
        assert_eq!(
            by_own,
            status != 200 || broken,
            "{status} {broken}: {}",
            summaries(&second)
        );
        assert_eq!(first.asked().len(), 0);
    }
}

#[test]
fn f7_a_subagent_is_summed_up_by_its_own_model_and_a_custom_agent_by_its() {
    let (first, second, third) = (server(401), server(200), server(200));
    let folder = tempfile::tempdir().expect("a folder");
    let servers = [("first", &first), ("second", &second), ("third", &third)];
    let scene = Scene {
        servers: &servers,
        broken: &[],
        summary: None,
        folder: folder.path(),
    };
    block_on(async {
        let runs = scene.runs();
        scene
            .run(
                &runs,
                &ThreadKey::new("t", "a"),
                "DELEGATE.",
                Some("second"),
                None,
            )
            .await;
        assert_eq!(
            (summaries(&second), summaries(&third) >= 1),
            (0, true),
            "the subagent runs on the third"
        );
        let before = summaries(&third);
        scene
            .run(
                &runs,
                &ThreadKey::new("t", "b"),
                "Read.",
                None,
                Some("scribe"),
            )
            .await;
        assert!(summaries(&third) > before, "the agent's own");
    });
    assert_eq!((first.asked().len(), summaries(&second)), (0, 0));
}

#[test]
fn f7_a_command_takes_the_model_of_the_request_then_of_the_agent_then_the_default() {
    let (first, second, third) = (server(200), server(200), server(200));
    let folder = tempfile::tempdir().expect("a folder");
    let servers = [("first", &first), ("second", &second), ("third", &third)];
    let scene = Scene {
        servers: &servers,
        broken: &[],
        summary: None,
        folder: folder.path(),
    };
    block_on(async {
        let runs = scene.runs();
        let threads = runs.threads();
        for (n, (model, agent, at)) in [
            (Some("second"), Some("scribe"), &second),
            (None, Some("scribe"), &third),
            (None, None, &first),
            (Some("nobody"), None, &first),
        ]
        .into_iter()
        .enumerate()
        {
            let key = ThreadKey::new("t", &format!("m{n}"));
            threads
                .create(&key, CreateThread::default())
                .await
                .expect("made");
            let patch = PatchThread {
                agent_name: agent.map(Into::into),
                ..PatchThread::default()
            };
            threads.patch(&key, patch).await.expect("patched");
            let messages = (0..12).map(|m| {
                let kind = if m % 2 == 0 { "human" } else { "ai" };
                conspectus::threads::Json::from(
                    &json!({"type": kind, "content": "The boiler is old. ".repeat(80)}),
                )
            });
            let append = conspectus::threads::Append {
                messages: messages.collect(),
                ..Default::default()
            };
            threads.append(&key, &append).await.expect("appended");
            let before = summaries(at);
            let ask = CompactThread {
                model_name: model.map(Into::into),
                ..CompactThread::default()
            };
            let compacted = threads.compact(&key, &ask).await.expect("an outcome");
            assert_eq!(compacted.outcome.as_str(), "compacted", "{n}");
            assert_eq!(summaries(at), before + 1, "{n}");
        }
    });
}
