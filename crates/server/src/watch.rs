//! Readers of a run: each told what happens, in its own task, without holding the run up.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::Response;
use conspectus::store::ThreadKey;
use conspectus::threads::{CheckpointId, RunStatus};
use conspectus_agent::{AgentError, Events, RunEnd};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::app::App;
use crate::frames::{WAITING, going_on};
use crate::problem::Problem;
use crate::runs::{Interrupt, Modes, Out, Teller, interrupts};
use crate::stop::Phase;

/// Who reads a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    /// What is wanted.
    pub(crate) modes: Modes,
    /// The run is stopped when it goes away.
    pub(crate) cancels: bool,
}

/// The name of the event that a reader heard last.
pub(crate) struct Last(pub(crate) String);

/// Counts a run that was begun here, and stops it when the server cannot wait any longer.
pub(crate) fn started(app: &Arc<App>, key: &ThreadKey, run: &Arc<str>) {
    let (app, key, run) = (app.clone(), key.clone(), run.clone());
    let task = app.stop.task();
    tokio::spawn(async move {
        let Some(runs) = &app.runs else { return };
        let running = app.metrics.run();
        let mut end = pin!(runs.join(&key, &run));
        let end = tokio::select! {
            end = &mut end => end,
            () = app.stop.reached(Phase::Cancelled) => {
                // One that ended just now needs no word.
                let _ = runs.cancel(&key, &run);
                end.await
            }
        };
        drop(running);
        let status = end.map_or(RunStatus::Error, |end| end.status);
        app.metrics.run_ended(status);
        drop(task);
    });
}

/// Server-sent events of a run, from behind the last one that was heard.
///
/// # Errors
/// When the run died with its process.
pub(crate) async fn stream(
    app: &Arc<App>,
    key: ThreadKey,
    run: Arc<str>,
    reader: Reader,
    last: Option<Last>,
) -> Result<Response, Problem> {
    let runs = app.runs()?;
    let attempt = app.begun.attempt(&key, &run);
    let known = attempt.zip(runs.stream(&key, &run, 0).ok());
    if known.is_none() {
        elsewhere(app, &key, &run).await?;
    }
    let (frames, rest) = mpsc::channel(WAITING);
    let app = app.clone();
    tokio::spawn(async move {
        let _read = app.metrics.stream();
        let Some((attempt, events)) = known else {
            until_over(&app, &key, &run, &frames).await;
            return;
        };
        let telling = Telling {
            app: &app,
            key: &key,
            teller: Teller::new(reader.modes, key.thread.clone(), run.clone()),
            frames: &frames,
            written: None,
        };
        let heard = last.map_or(0, |Last(id)| attempt.heard(&id));
        let name = |seq| attempt.event_id(seq);
        tokio::select! {
            biased;
            // Without an end, so that clients come back to the next process. First, since the run ends by that too.
            () = app.stop.reached(Phase::Cancelled) => {}
            () = telling.all(events, heard, name) => {}
            () = frames.closed() => {
                if let (true, Some(runs)) = (reader.cancels, &app.runs) {
                    let _ = runs.cancel(&key, &run);
                }
            }
        }
    });
    Ok(going_on("text/event-stream", rest))
}

/// Writes the events of one run for one reader.
struct Telling<'a> {
    app: &'a App,
    key: &'a ThreadKey,
    teller: Teller,
    frames: &'a mpsc::Sender<Bytes>,
    /// The state that was written last.
    written: Option<CheckpointId>,
}

impl Telling<'_> {
    async fn all(mut self, mut events: Events, heard: u64, name: impl Fn(u64) -> String) {
        self.write(": connected\n\n".to_owned()).await;
        let heartbeat = self.app.settings.limits.heartbeat;
        loop {
            let told = match tokio::time::timeout(heartbeat, events.next()).await {
                Err(_) => {
                    self.write(": heartbeat\n\n".to_owned()).await;
                    continue;
                }
                Ok(None) => return,
                Ok(Some(told)) => told,
            };
            // Those before count too: what a message came to follows from all its pieces.
            let out = self.teller.tell(&told.event);
            if told.seq <= heard {
                continue;
            }
            let mut texts = Vec::new();
            for out in out {
                match out {
                    Out::Frame(event, data) => texts.push(frame(event, &data)),
                    Out::Values(checkpoint, questions) => {
                        let asked = questions.into_iter().map(|question| Interrupt {
                            id: question.id,
                            value: question.value,
                        });
                        texts.extend(self.values(checkpoint, asked.collect()).await);
                    }
                }
            }
            // The last one of an event has its name: who heard it heard all of it.
            let last = texts.len().saturating_sub(1);
            for (at, text) in texts.into_iter().enumerate() {
                let id = match at == last {
                    true => format!("id: {}\n", name(told.seq)),
                    false => String::new(),
                };
                self.write(format!("{text}{id}\n")).await;
            }
        }
    }

    /// The newest state, unless it was written before. A reader who is behind is spared those in between.
    async fn values(&mut self, at: Option<CheckpointId>, asked: Vec<Interrupt>) -> Option<String> {
        if asked.is_empty() && at.is_some() && at == self.written {
            return None;
        }
        let state = match self.app.threads.state(self.key, None).await {
            Ok(state) => state,
            Err(error) => return Some(frame("error", &problem(&Problem::from(error)))),
        };
        let is_new = self.written.replace(state.checkpoint_id) != Some(state.checkpoint_id);
        if !is_new && asked.is_empty() {
            return None;
        }
        let mut values = json!(state.values);
        if !asked.is_empty() {
            values["__interrupt__"] = json!(asked);
        }
        Some(frame("values", &values))
    }

    async fn write(&self, text: String) {
        // Who went away is noticed elsewhere.
        let _ = self.frames.send(text.into()).await;
    }
}

fn frame(event: &str, data: &Value) -> String {
    format!("event: {event}\ndata: {data}\n")
}

fn problem(problem: &Problem) -> Value {
    json!({"error": problem.code, "message": problem.detail})
}

/// The state that a run ends with, as JSON that begins with blanks while it is waited for.
pub(crate) fn in_the_end(app: &Arc<App>, key: ThreadKey, run: Arc<str>, cancels: bool) -> Response {
    let (frames, rest) = mpsc::channel(WAITING);
    let app = app.clone();
    tokio::spawn(async move {
        let mut end = pin!(end_of(&app, &key, &run));
        let heartbeat = app.settings.limits.heartbeat;
        let end = loop {
            tokio::select! {
                end = &mut end => break end,
                () = tokio::time::sleep(heartbeat) => {
                    let _ = frames.send(Bytes::from_static(b"\n")).await;
                }
                () = frames.closed() => {
                    if let (true, Some(runs)) = (cancels, &app.runs) {
                        let _ = runs.cancel(&key, &run);
                    }
                    return;
                }
            }
        };
        let text = final_values(&app, &key, end).await.to_string();
        let _ = frames.send(text.into()).await;
    });
    going_on("application/json", rest)
}

/// Waits for the end of a run, whoever runs it. `None`: another process did, and told only its state.
async fn end_of(app: &App, key: &ThreadKey, run: &Arc<str>) -> Result<Option<RunEnd>, Problem> {
    let runs = app.runs()?;
    match runs.join(key, run).await {
        Ok(end) => Ok(Some(end)),
        Err(AgentError::NoRun(_)) => {
            while elsewhere(app, key, run).await? {
                tokio::time::sleep(poll(app)).await;
            }
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

async fn final_values(app: &App, key: &ThreadKey, end: Result<Option<RunEnd>, Problem>) -> Value {
    let error = match end {
        Ok(end) => end
            .and_then(|end| end.error)
            .map(|error| json!({"error": "RunError", "message": error})),
        Err(why) => Some(problem(&why)),
    };
    let read = async {
        let info = app.threads.get(key).await?;
        let values = app.threads.state(key, None).await?.values;
        Ok((info, values))
    };
    let read: Result<_, conspectus::threads::ThreadsError> = read.await;
    let (mut values, asked) = match read {
        Ok((info, values)) => {
            let asked = interrupts(info.run.as_ref(), &values.messages);
            (json!(values), asked)
        }
        Err(why) => return json!({"__error__": problem(&Problem::from(why))}),
    };
    if !asked.is_empty() {
        values["__interrupt__"] = json!(asked);
    }
    if let Some(error) = error {
        values["__error__"] = error;
    }
    values
}

/// Whether a run that this process does not know goes on in another one.
///
/// # Errors
/// When that one died.
async fn elsewhere(app: &App, key: &ThreadKey, run: &Arc<str>) -> Result<bool, Problem> {
    let state = app.runs()?.state(key).await?;
    let state = state.filter(|state| state.mark.run_id == *run);
    match state {
        Some(state) if state.is_orphan => {
            let detail = "the process of this run died; take it up again: a run with neither input nor command";
            Err(Problem::conflict("run_killed", detail))
        }
        Some(state) => Ok(!state.mark.status.is_over()),
        None => Ok(false),
    }
}

/// What is told of a run of another process: its state in the end.
async fn until_over(app: &App, key: &ThreadKey, run: &Arc<str>, frames: &mpsc::Sender<Bytes>) {
    let waiting = async {
        while elsewhere(app, key, run).await? {
            let _ = frames.send(Bytes::from_static(b": heartbeat\n\n")).await;
            tokio::time::sleep(poll(app)).await;
        }
        Ok(None)
    };
    let end: Result<Option<RunEnd>, Problem> = tokio::select! {
        end = waiting => end,
        () = frames.closed() => return,
        () = app.stop.reached(Phase::Draining) => return,
    };
    let mut values = final_values(app, key, end).await;
    let error = values
        .as_object_mut()
        .and_then(|all| all.remove("__error__"));
    let mut text = frame("values", &values) + "\n";
    if let Some(error) = error {
        text += &(frame("error", &error) + "\n");
    }
    text += &(frame("end", &Value::Null) + "\n");
    let _ = frames.send(text.into()).await;
}

fn poll(app: &App) -> Duration {
    Duration::from_millis(app.threads.settings().poll_ms.max(1))
}
