//! Runs of agents: started, watched, waited for, stopped and taken up again. Paths and shapes are LangGraph's.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use conspectus::store::ThreadKey;
use conspectus::threads::{CreateThread, IfExists, Json, Metadata, RunStatus, check_messages};
use conspectus_agent::{AgentError, ResumeRun, Runs, StartRun};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::state::{Point, messages, newest_only};
use super::threads::not_offered;
use crate::answer::{Answer, Answered};
use crate::app::App;
use crate::parts::Object;
use crate::problem::Problem;
use crate::read::{Asked, Body, Named, within};
use crate::runs::{Modes, Run, Where, ended, shown};
use crate::watch::{Last, Reader, in_the_end, started, stream};

/// The longest name of an agent or a model.
const MAX_NAME: usize = 128;
/// Names that clients have for whatever agent a thread has.
const ANY_AGENT: [&str; 3] = ["agent", "lead", "lead_agent"];

/// A run to begin, or one to take up again.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Start {
    assistant_id: Option<Arc<str>>,
    input: Option<Object<Input>>,
    command: Option<Object<Command>>,
    agent_name: Option<Arc<str>>,
    model_name: Option<Arc<str>>,
    context: Option<Object<Context>>,
    config: Option<Object<Configured>>,
    stream_mode: Option<Modes>,
    on_disconnect: Option<OnDisconnect>,
    multitask_strategy: Option<Multitask>,
    if_not_exists: Option<IfNotExists>,
    checkpoint: Option<Point>,
    checkpoint_id: Option<String>,
    /// LangGraph's, which change nothing here: every event can be heard again, every step is stored, what a run has
    /// is its thread's.
    #[serde(rename = "stream_resumable")]
    _stream_resumable: Option<bool>,
    #[serde(rename = "stream_subgraphs")]
    _stream_subgraphs: Option<bool>,
    #[serde(rename = "checkpoint_during")]
    _checkpoint_during: Option<bool>,
    #[serde(rename = "strict_resume")]
    _strict_resume: Option<bool>,
    #[serde(rename = "durability")]
    _durability: Option<Durability>,
    #[serde(rename = "metadata")]
    _metadata: Option<Metadata>,
    /// LangGraph's, which are not offered.
    interrupt_before: Option<Value>,
    interrupt_after: Option<Value>,
    feedback_keys: Option<Value>,
    webhook: Option<Value>,
    after_seconds: Option<Value>,
    on_completion: Option<Value>,
    langsmith_tracer: Option<Value>,
}

/// What is said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    /// One message, or a list of them.
    messages: Json,
}

/// What takes a run up again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    /// The answer; `null` for a run that asked nothing.
    #[serde(default)]
    resume: Value,
}

/// What clients say beside the input. Other members are other programs'.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    agent_name: Option<Arc<str>>,
    model_name: Option<Arc<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Configured {
    configurable: Option<Object<Context>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnDisconnect {
    #[default]
    Continue,
    Cancel,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Multitask {
    /// One that runs is left alone.
    #[default]
    Reject,
    /// It is stopped first.
    Interrupt,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum IfNotExists {
    #[default]
    Reject,
    Create,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Durability {
    Sync,
    Async,
    Exit,
}

/// What a run begins with.
enum Opening {
    Input(Vec<Value>),
    /// The answer, where one is given.
    Resume(Option<Value>),
}

/// What is asked for, checked.
struct Asking {
    opening: Opening,
    agent: Option<Arc<str>>,
    model: Option<Arc<str>>,
    multitask: Multitask,
    reader: Reader,
}

impl Start {
    async fn asking(self, app: &App, key: &ThreadKey) -> Result<Asking, Problem> {
        for (name, value) in [
            ("interrupt_before", &self.interrupt_before),
            ("interrupt_after", &self.interrupt_after),
            ("feedback_keys", &self.feedback_keys),
            ("webhook", &self.webhook),
            ("after_seconds", &self.after_seconds),
            ("on_completion", &self.on_completion),
            ("langsmith_tracer", &self.langsmith_tracer),
        ] {
            not_offered(name, value.as_ref())?;
        }
        let context = self.context.map(|Object(said)| said).unwrap_or_default();
        let configured = self.config.and_then(|Object(config)| config.configurable);
        let configured = configured.map(|Object(said)| said).unwrap_or_default();
        let assistant = self.assistant_id.filter(|id| !ANY_AGENT.contains(&&**id));
        let agent = self.agent_name.or(context.agent_name);
        let agent = agent.or(configured.agent_name).or(assistant);
        let model = self.model_name.or(context.model_name);
        let model = model.or(configured.model_name);
        for (name, value) in [("an agent's name", &agent), ("a model's name", &model)] {
            let chars = value.as_ref().map_or(0, |value| value.chars().count());
            if chars > MAX_NAME {
                let detail = format!("{name} has at most {MAX_NAME} characters");
                return Err(Problem::invalid(detail));
            }
        }
        let opening = match (self.input, self.command) {
            (Some(_), Some(_)) => {
                let detail = "input begins a run, command takes one up again; send one of them";
                return Err(Problem::invalid(detail));
            }
            (Some(Object(input)), None) => Opening::Input(said(&input)?),
            (None, Some(Object(command))) => {
                Opening::Resume(Some(command.resume).filter(|answer| !answer.is_null()))
            }
            (None, None) => Opening::Resume(None),
        };
        if self.if_not_exists == Some(IfNotExists::Create) {
            let create = CreateThread {
                if_exists: IfExists::DoNothing,
                ..CreateThread::default()
            };
            app.threads.create(key, create).await?;
        }
        newest_only(app, key, self.checkpoint, self.checkpoint_id).await?;
        Ok(Asking {
            opening,
            agent: agent.filter(|name| !name.trim().is_empty()),
            model,
            multitask: self.multitask_strategy.unwrap_or_default(),
            reader: Reader {
                modes: self.stream_mode.unwrap_or_default().or_values(),
                cancels: self.on_disconnect == Some(OnDisconnect::Cancel),
            },
        })
    }
}

/// The messages of an input. What is wrong with them is said before the run begins.
fn said(input: &Input) -> Result<Vec<Value>, Problem> {
    let messages = messages(Some(&input.messages))?;
    if messages.is_empty() {
        let detail =
            "input.messages is empty; say something, or send neither input nor command to go on";
        return Err(Problem::invalid(detail));
    }
    check_messages(&messages)?;
    let parsed = messages.iter().map(|m| serde_json::from_str(m.as_str()));
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error| Problem::invalid(format!("input.messages: {error}")))
}

/// Begins a run or takes one up again: its id, and who is to read it.
async fn begin(app: &Arc<App>, named: &Named, start: Start) -> Result<(Arc<str>, Reader), Problem> {
    let runs = app.runs()?;
    if !app.stop.is_running() {
        return Err(Problem::unavailable("stopping", "the server is stopping"));
    }
    let key = named.key();
    let asking = start.asking(app, &key).await?;
    let run: Arc<str> = match asking.opening {
        Opening::Input(input) => {
            let start = StartRun {
                run_id: Uuid::now_v7().to_string().into(),
                input,
                agent_name: asking.agent,
                model_name: asking.model,
            };
            let run = start.run_id.clone();
            app.begun.add(&key, &run, app.threads.now());
            let begun = match runs.start(&key, start.clone()).await {
                Err(AgentError::Busy) if asking.multitask == Multitask::Interrupt => {
                    interrupt(runs, &key).await?;
                    runs.start(&key, start).await
                }
                begun => begun,
            };
            begun?;
            run
        }
        Opening::Resume(answer) => {
            let resume = ResumeRun {
                answer,
                model_name: asking.model,
            };
            let state = runs.state(&key).await?;
            let run = state.map(|state| state.mark.run_id);
            let run = run.ok_or(AgentError::NothingToResume)?;
            runs.resume(&key, resume).await?;
            app.begun.add(&key, &run, app.threads.now());
            run
        }
    };
    started(app, &key, &run);
    Ok((run, asking.reader))
}

/// Stops the run that a thread has here, and waits for its end.
async fn interrupt(runs: &Runs, key: &ThreadKey) -> Result<(), Problem> {
    let running = runs.state(key).await?;
    let running = running.filter(|state| state.mark.status == RunStatus::Running);
    if let Some(state) = running {
        runs.cancel(key, &state.mark.run_id)?;
        runs.join(key, &state.mark.run_id).await?;
    }
    Ok(())
}

/// Where the run is, for clients that ask for it later or again. `Location` is what LangGraph's clients lay over their
/// base URL.
fn with_place(mut response: Response, thread: &str, run: &str) -> Response {
    let headers = response.headers_mut();
    let place = format!("/api/threads/{thread}/runs/{run}");
    let again = format!("/threads/{thread}/runs/{run}/stream");
    for (name, value) in [(header::CONTENT_LOCATION, place), (header::LOCATION, again)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    named: Named,
    Body(start): Body<Start>,
) -> Result<Response, Problem> {
    let (run, _) = begin(&app, &named, start).await?;
    let shown = look(&app, &named, &run).await?;
    let response = Answer(shown).into_response();
    Ok(with_place(response, &named.thread, &run))
}

pub(crate) async fn create_and_stream(
    State(app): State<Arc<App>>,
    named: Named,
    Body(start): Body<Start>,
) -> Result<Response, Problem> {
    let (run, reader) = begin(&app, &named, start).await?;
    let response = stream(&app, named.key(), run.clone(), reader, None).await?;
    Ok(with_place(response, &named.thread, &run))
}

pub(crate) async fn create_and_wait(
    State(app): State<Arc<App>>,
    named: Named,
    Body(start): Body<Start>,
) -> Result<Response, Problem> {
    let (run, reader) = begin(&app, &named, start).await?;
    let response = in_the_end(&app, named.key(), run.clone(), reader.cancels);
    Ok(with_place(response, &named.thread, &run))
}

/// Which runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    limit: Option<u32>,
    offset: Option<u32>,
    status: Option<Status>,
    #[serde(rename = "select")]
    _select: Option<String>,
}

/// LangGraph's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    Running,
    Error,
    Success,
    Timeout,
    Interrupted,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Error => "error",
            Self::Success => "success",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A thread keeps its last run.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(list): Asked<List>,
) -> Answered<Vec<Run>> {
    app.page(list.limit.unwrap_or(10))?;
    let last = last(&app, &named).await?;
    let asked = last.filter(|run| list.status.is_none_or(|s| s.as_str() == run.status));
    let asked = asked.filter(|_| list.offset.unwrap_or(0) == 0);
    Ok(Answer(asked.into_iter().collect()))
}

pub(crate) async fn get(State(app): State<Arc<App>>, named: Named) -> Answered<Run> {
    let run = run_of(&named);
    Ok(Answer(look(&app, &named, &run).await?))
}

fn run_of(named: &Named) -> Arc<str> {
    named.other.clone().unwrap_or_else(|| "".into())
}

/// The last run of a thread as it is stored.
pub(super) async fn last(app: &App, named: &Named) -> Result<Option<Run>, Problem> {
    let key = named.key();
    let info = app.threads.get(&key).await?;
    let Some(mark) = &info.run else {
        return Ok(None);
    };
    let is_orphan = match &app.runs {
        Some(runs) if !mark.status.is_over() => {
            runs.state(&key).await?.is_some_and(|s| s.is_orphan)
        }
        _ => false,
    };
    Ok(Some(shown(&named.thread, mark, info.updated_ms, is_orphan)))
}

/// A run by its id: as it is stored, else as this process knows it.
async fn look(app: &App, named: &Named, run: &Arc<str>) -> Result<Run, Problem> {
    let last = last(app, named).await?;
    if let Some(last) = last.filter(|last| last.run_id == *run) {
        return Ok(last);
    }
    let key = named.key();
    let none = || Problem::from(AgentError::NoRun(run.clone()));
    let attempt = app.begun.attempt(&key, run).ok_or_else(none)?;
    let runs = app.runs()?;
    // One that is over is at hand; one that runs is not waited for.
    let end = within(Duration::ZERO, runs.join(&key, run))
        .await
        .transpose()?;
    Ok(ended(&named.thread, run, attempt.at_ms, end.as_ref()))
}

pub(crate) async fn join(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(query): Asked<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let reader = reader(&query)?;
    let run = run_of(&named);
    look(&app, &named, &run).await?;
    let response = in_the_end(&app, named.key(), run.clone(), reader.cancels);
    Ok(with_place(response, &named.thread, &run))
}

pub(crate) async fn listen(
    State(app): State<Arc<App>>,
    named: Named,
    headers: HeaderMap,
    Asked(query): Asked<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let reader = reader(&query)?;
    let run = run_of(&named);
    look(&app, &named, &run).await?;
    let last = headers.get("last-event-id");
    let last = last.map(|id| id.to_str().unwrap_or_default().to_owned());
    let response = stream(&app, named.key(), run.clone(), reader, last.map(Last)).await?;
    Ok(with_place(response, &named.thread, &run))
}

/// Who reads, by the query.
fn reader(query: &[(String, String)]) -> Result<Reader, Problem> {
    let (mut modes, mut cancels) = (Modes::default(), false);
    for (name, value) in query {
        match name.as_str() {
            "stream_mode" => modes = modes.of_query(value).map_err(Problem::invalid)?,
            "cancel_on_disconnect" => cancels = is_yes(name, value)?,
            _ => {
                return Err(Problem::invalid(format!(
                    "the query is not as expected: unknown field `{}`",
                    short(name)
                )));
            }
        }
    }
    Ok(Reader {
        modes: modes.or_values(),
        cancels,
    })
}

fn short(name: &str) -> String {
    name.chars().take(40).collect()
}

fn is_yes(name: &str, value: &str) -> Result<bool, Problem> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(Problem::invalid(format!("{name} is 0, 1, true or false"))),
    }
}

/// How to stop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stopping {
    wait: Option<String>,
    action: Option<Action>,
    #[serde(rename = "reason")]
    _reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Interrupt,
    Rollback,
}

/// Stops a run of this process.
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    named: Named,
    Asked(stopping): Asked<Stopping>,
) -> Result<StatusCode, Problem> {
    if stopping.action == Some(Action::Rollback) {
        let detail = "what a run said stays; action can be interrupt only, and rewind takes its messages away";
        return Err(Problem::invalid(detail));
    }
    let waits = stopping
        .wait
        .map(|wait| is_yes("wait", &wait))
        .transpose()?;
    let run = run_of(&named);
    let key = named.key();
    let shown = look(&app, &named, &run).await?;
    if shown.state != Where::Running {
        let detail = "the run does not run any more";
        return Err(Problem::conflict("run_over", detail));
    }
    let runs = app.runs()?;
    match runs.cancel(&key, &run) {
        Err(AgentError::NoRun(_)) => {
            let detail = "the run is another process's; ask that one";
            return Err(Problem::conflict("run_elsewhere", detail));
        }
        stopped => stopped?,
    }
    if waits != Some(true) {
        return Ok(StatusCode::ACCEPTED);
    }
    runs.join(&key, &run).await?;
    Ok(StatusCode::NO_CONTENT)
}
