//! `conspectus chat`: an agent in the terminal, on a thread in a store. What it says goes to standard output, all else
//! to standard error, so that it can stand in a pipe.

mod hear;
mod keys;
mod line;

use std::io::IsTerminal as _;
use std::sync::Arc;

use conspectus::store::ThreadKey;
use conspectus::threads::{
    CompactThread, CreateThread, IfExists, Recall, RunStatus, Threads, ThreadsError,
};
use conspectus::{Clock, Compactor, Control};
use conspectus_agent::{AgentError, Events, Message, Question, ResumeRun, Runs, StartRun, Store};
use conspectus_providers::TokioClock;
use serde_json::{Value, json};

use self::hear::{Hearing, ask};
use self::keys::{Came, Keys};
use self::line::{HELP, Line, gauge};
use crate::Done;
use crate::args::{ChatArgs, PolicyArgs, SummaryArgs};
use crate::fail::{Exit, Fail, io_words};
use crate::job;
use crate::mcp::Begun;
use crate::threads::embedded::{ALONE, compacted_json, instance};
use crate::threads::place::checked;
use crate::threads::tree::value;
use crate::threads::{show, store};
use crate::ui::{self, Stream, Talk, Ui};
use crate::{agents, asking};

/// What is found by `/recall`.
const RECALLED: u32 = 5;

/// Talks until somebody leaves.
pub(crate) fn run(args: &ChatArgs) -> Done {
    let summary = SummaryArgs {
        model: args.model.clone(),
        base_url: args.base_url.clone(),
        provider: args.provider,
        api_key_env: args.api_key_env.clone(),
        ..SummaryArgs::default()
    };
    let policy = PolicyArgs {
        config: args.config.clone(),
        max_context: args.max_context,
        ..PolicyArgs::default()
    };
    let policy = job::policy(policy, args.model.as_deref(), &summary)?;
    let made = asking::threaded(policy.config(), &summary, policy.call_timeout_ms())?;
    if made.listed.is_empty() {
        let why = "there is no model to talk to; name one with --model (and --base-url where it is on this machine), or \
                   give the configuration a list models:";
        return Err(Fail::about(Exit::Usage, "chat", why));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|why| Fail::about(Exit::Usage, "chat", &io_words(&why)))?;
    let done = runtime.block_on(async {
        let said = policy.config().server().store.as_ref();
        let address = store::address(args.store.as_deref(), said)?;
        let store = address.open().await?;
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
        let compactor = Arc::new(Compactor::new(made.models, clock.clone()));
        let settings = policy.thread_settings(instance(), made.listed);
        let threads: Arc<Store> = Arc::new(Threads::new(store, compactor, settings));
        let servers = Begun::of(policy.config()).await;
        servers.troubles().for_each(|why| ui::warning(&why));
        let tools = servers.tools();
        let setup = agents::setup(policy.config(), threads.clone(), made.agents, &tools)?;
        let id = match &args.thread {
            Some(id) => checked(id)?,
            None => format!("chat-{}", clock.now()).into(),
        };
        let chat = Chat {
            runs: Runs::new(setup),
            threads,
            key: ThreadKey::new(ALONE, &id),
            model: args.model.as_deref().map(Into::into),
            agent: args.agent.as_deref().map(Into::into),
            place: address.name(),
            ui: Ui::new(Stream::Err, false, Talk::Normal),
            is_terminal: std::io::stdin().is_terminal() && std::io::stdout().is_terminal(),
            clock,
            started: 0,
        };
        let warnings = policy.warnings.borrow().clone();
        let done = chat.talk(args.thread.is_none(), &warnings).await;
        servers.end().await;
        done
    });
    // A line that nobody typed is not waited for.
    runtime.shutdown_background();
    done
}

/// A conversation with an agent.
struct Chat {
    runs: Runs,
    threads: Arc<Store>,
    key: ThreadKey,
    model: Option<Arc<str>>,
    agent: Option<Arc<str>>,
    place: String,
    ui: Ui,
    /// Somebody types and reads.
    is_terminal: bool,
    clock: Arc<dyn Clock>,
    /// Runs that were begun here.
    started: u64,
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Next,
    /// What is typed next is the answer.
    Answer,
    /// Somebody typed that.
    Quit,
    /// Ctrl-C said it.
    Leave,
}

impl Chat {
    async fn talk(mut self, is_new: bool, warnings: &[String]) -> Done {
        let create = CreateThread {
            if_exists: IfExists::DoNothing,
            ..CreateThread::default()
        };
        let info = self.threads.create(&self.key, create).await;
        let info = info.map_err(|why| self.trouble(&why))?;
        let mut after = After::Next;
        if self.is_terminal {
            warnings.iter().for_each(|warning| ui::warning(warning));
        }
        if info.messages > 0 && self.is_terminal {
            let title = info.title.as_deref().unwrap_or("no title");
            self.note(&format!(
                "{}: {} messages, {title}",
                self.key.thread, info.messages
            ));
        }
        match info.run.as_ref().map(|run| run.status) {
            Some(RunStatus::Interrupted) => {
                for question in self.questions().await? {
                    ask(&question)?;
                }
                after = After::Answer;
            }
            Some(RunStatus::Running) => {
                self.note("the last answer was cut off; /continue goes on with it");
            }
            _ => {}
        }
        let mut keys = Keys::listen();
        let mut exit = Exit::Done;
        loop {
            self.prompt().await?;
            let line = match keys.next().await {
                Came::Line(line) => Line::of(&line),
                Came::End => break,
                Came::Interrupt => {
                    exit = Exit::Stopped;
                    break;
                }
            };
            let result = self.act(line, after == After::Answer, &mut keys).await?;
            let Some((next, is_fine)) = result else {
                continue;
            };
            // In a pipe the exit code says what came of the last line.
            exit = match is_fine || self.is_terminal {
                true => Exit::Done,
                false => Exit::Compaction,
            };
            after = next;
            if after == After::Quit {
                break;
            }
            if after == After::Leave {
                exit = Exit::Stopped;
                break;
            }
        }
        if self.is_terminal {
            ui::write_out(b"\n")?;
        }
        if is_new && self.started > 0 {
            self.note(&format!(
                "conspectus chat --thread {} goes on with it",
                self.key.thread
            ));
        }
        Ok(exit)
    }

    /// Does what was typed. `None`: nothing came of it, and what was asked before still is.
    async fn act(
        &mut self,
        line: Line,
        is_answer: bool,
        keys: &mut Keys,
    ) -> Result<Option<(After, bool)>, Fail> {
        match line {
            Line::Blank => return Ok(None),
            Line::Help => {
                self.ui.say(HELP)?;
                return Ok(None);
            }
            Line::Wrong(why) => {
                ui::error(&why);
                return Ok((!self.is_terminal).then_some((After::Next, false)));
            }
            Line::Quit => return Ok(Some((After::Quit, true))),
            Line::Status => {
                let report = self.threads.status(&self.key).await;
                self.report(report, show::status)?;
            }
            Line::Recall(words) => {
                let recall = Recall::Words {
                    query: words.into(),
                    limit: RECALLED,
                    folded_only: false,
                };
                let found = self.threads.recall(&self.key, &recall).await;
                let found = found.map(|messages| json!({ "messages": messages }));
                let thread = self.key.thread.clone();
                self.report(found, |answer, style| {
                    show::recalled(answer, &thread, false, style)
                })?;
            }
            Line::Undo => self.moved(
                self.threads.undo(&self.key).await.map(|m| value(&m)),
                "taken back",
            )?,
            Line::Redo => self.moved(
                self.threads.redo(&self.key).await.map(|m| value(&m)),
                "in force again",
            )?,
            Line::Compact(focus) => return self.compact(focus, keys).await.map(Some),
            Line::Continue => {
                let resume = ResumeRun {
                    model_name: self.model.clone(),
                    ..ResumeRun::default()
                };
                let events = self.runs.resume(&self.key, resume).await;
                return self.hear(events, keys).await.map(Some);
            }
            Line::Say(text) if is_answer => {
                let resume = ResumeRun {
                    answer: Some(text.into()),
                    model_name: self.model.clone(),
                };
                let events = self.runs.resume(&self.key, resume).await;
                return self.hear(events, keys).await.map(Some);
            }
            Line::Say(text) => {
                self.started += 1;
                let start = StartRun {
                    run_id: format!("{}-{}", self.clock.now(), self.started).into(),
                    input: vec![json!({"type": "human", "content": text})],
                    agent_name: self.agent.clone(),
                    model_name: self.model.clone(),
                };
                let events = self.runs.start(&self.key, start).await;
                return self.hear(events, keys).await.map(Some);
            }
        }
        Ok(None)
    }

    /// Tells a run to its end. The first Ctrl-C stops it, the second one leaves.
    async fn hear(
        &self,
        events: Result<Events, AgentError>,
        keys: &Keys,
    ) -> Result<(After, bool), Fail> {
        let mut events = match events {
            Ok(events) => events,
            Err(why) => {
                ui::error(&why.to_string());
                let is_answer = why == AgentError::AnswerMissing;
                return Ok((
                    if is_answer {
                        After::Answer
                    } else {
                        After::Next
                    },
                    false,
                ));
            }
        };
        let mut hearing = Hearing::new(self.ui.style);
        let mut run: Option<Arc<str>> = None;
        let mut is_stopping = false;
        loop {
            tokio::select! {
                told = events.next() => {
                    let Some(told) = told else { break };
                    if let conspectus_agent::RunEvent::Started { run_id, .. } = &told.event {
                        run = Some(run_id.clone());
                    }
                    hearing.tell(&told.event)?;
                }
                () = keys.interrupted() => {
                    if is_stopping {
                        return Ok((After::Leave, false));
                    }
                    is_stopping = true;
                    if let Some(run) = &run {
                        // One that ended just now needs no word.
                        let _ = self.runs.cancel(&self.key, run);
                    }
                }
            }
        }
        Ok(match hearing.end {
            Some(RunStatus::Interrupted) => (After::Answer, true),
            Some(RunStatus::Success) => (After::Next, true),
            _ => (After::Next, false),
        })
    }

    /// Compacts. Ctrl-C gives it up.
    async fn compact(&self, focus: Option<String>, keys: &Keys) -> Result<(After, bool), Fail> {
        let ask = CompactThread {
            force: true,
            focus: focus.map(Into::into),
            model_name: self.model.clone(),
            agent_name: self.agent.clone(),
            ..CompactThread::default()
        };
        let control = Control::new();
        let mut work = std::pin::pin!(self.threads.compact_with(&self.key, &ask, &control));
        let mut is_stopping = false;
        let compacted = loop {
            tokio::select! {
                compacted = &mut work => break compacted,
                () = keys.interrupted() => {
                    if is_stopping {
                        return Ok((After::Leave, false));
                    }
                    is_stopping = true;
                    control.cancel();
                }
            }
        };
        let is_fine = compacted.is_ok();
        let answer = compacted.map(|compacted| compacted_json(compacted, false));
        self.report(answer, |answer, style| {
            show::compacted(answer, &self.place, style)
        })?;
        Ok((After::Next, is_fine))
    }

    /// What the last run waits to have answered.
    async fn questions(&self) -> Result<Vec<Question>, Fail> {
        let read = async {
            let note = self.threads.note(&self.key).await?;
            let state = self.threads.state(&self.key, None).await?;
            Ok((note, state))
        };
        let (note, state) = read.await.map_err(|why: ThreadsError| self.trouble(&why))?;
        let asked = note.run.map(|run| run.details["asked"].clone());
        let asked = asked.unwrap_or_default();
        let asked = asked
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let messages: Vec<Message> = state.values.messages.iter().map(Message::of).collect();
        let question = |id: &str| {
            let calls = messages.iter().rev().flat_map(Message::calls);
            let call = calls.into_iter().find(|call| &*call.id == id)?;
            Some(Question {
                id: call.id,
                value: call.args,
            })
        };
        Ok(asked.filter_map(question).collect())
    }

    /// How full the window is, and that something can be typed. Nothing in a pipe.
    async fn prompt(&self) -> Result<(), Fail> {
        if !self.is_terminal {
            return Ok(());
        }
        let gauge = match self.threads.status(&self.key).await {
            Ok(report) => gauge(report.size.tokens, report.window.tokens),
            Err(_) => String::new(),
        };
        let prompt = format!("{}> ", self.ui.style.dim(&gauge));
        Ok(ui::write_out(prompt.as_bytes())?)
    }

    fn moved(&self, moved: Result<Value, ThreadsError>, what: &str) -> Result<(), Fail> {
        self.report(moved, |moved, _| {
            format!("compaction {} is {what}\n", moved["record"])
        })
    }

    /// What was asked for, or why there is nothing.
    fn report<T: serde::Serialize>(
        &self,
        answer: Result<T, ThreadsError>,
        text: impl FnOnce(&Value, crate::show::Style) -> String,
    ) -> Result<(), Fail> {
        match answer {
            Ok(answer) => self.ui.say(&text(&value(&answer), self.ui.style)),
            Err(why) => {
                ui::error(&why.to_string());
                Ok(())
            }
        }
    }

    fn note(&self, text: &str) {
        ui::note(text);
    }

    fn trouble(&self, why: &ThreadsError) -> Fail {
        Fail::about(Exit::Input, &self.key.thread, &why.to_string())
    }
}
