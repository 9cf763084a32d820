//! How a run begins: anew with input, with an answer, or where one that was killed had come to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use conspectus::TurnCall;
use conspectus::core::id::CallId;
use conspectus::core::policy::Placement;
use conspectus::threads::{CompactThread, Note, Page, RunMark, RunStatus};
use serde_json::{Value, json};

use super::Run;
use super::calls::answer_of;
use crate::channel::delegation;
use crate::context::RunContext;
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Loops;
use crate::message::{Kind, Message};
use crate::state::State;
use crate::tool::ToolResult;

/// What a run begins with.
#[derive(Clone, Debug)]
pub(crate) enum Opening {
    /// Messages.
    Input(Vec<Value>),
    /// Answers to what it asked.
    Answer(Value),
    /// It goes on.
    Again,
}

impl Run {
    /// Reads the thread and runs what comes before the first model call.
    pub(super) async fn open(cx: Arc<RunContext>, opening: Opening) -> Result<Self, AgentError> {
        cx.tell(RunEvent::Started {
            run_id: cx.run_id.clone(),
            model: cx.model.clone(),
            resumed: !matches!(opening, Opening::Input(_)),
        });
        let note = cx.threads().note(&cx.key).await?;
        let mut run = Self {
            since_ms: cx.now(),
            state: State::default(),
            stored: 0,
            noted: Note::default(),
            asked: Default::default(),
            loops: Loops::default(),
            placement: Placement::Frozen,
            titled: None,
            cx,
        };
        let ask = CompactThread::check();
        run.placement = run
            .cx
            .threads()
            .before_call(&run.cx.key, &ask)
            .await?
            .placement;
        if let Some(mark) = &note.run {
            run.goes_on_from(mark);
        }
        let has_channels = run.state.read_channels(note.channels.clone());
        run.noted = note;
        run.read_window().await?;
        run.state.captured = 0;
        if !has_channels {
            run.make_channels_anew().await?;
        }
        run.state.before = ids(&run.state.messages);
        run.begin_with(opening).await?;
        Ok(run)
    }

    /// One run goes on under its own counters.
    fn goes_on_from(&mut self, mark: &RunMark) {
        let asked = mark.details["asked"].as_array();
        let asked = asked.into_iter().flatten().filter_map(Value::as_str);
        self.asked = asked.map(CallId::from).collect();
        if mark.run_id == self.cx.run_id {
            self.state.step = mark.details["step"].as_u64().unwrap_or(0);
            let tokens = mark.details["tokens"].as_u64().unwrap_or(0);
            self.cx.tokens.store(tokens, Ordering::SeqCst);
            self.since_ms = mark.since_ms;
        }
    }

    /// The window as it is stored.
    pub(super) async fn read_window(&mut self) -> Result<(), AgentError> {
        let unstored = self.state.messages.split_off(self.stored);
        let state = self.cx.threads().state(&self.cx.key, None).await?;
        let all = self.cx.threads().get(&self.cx.key).await?.messages;
        let window = state
            .values
            .messages
            .iter()
            .map(Message::of)
            .collect::<Vec<_>>();
        self.state.base = all.saturating_sub(window.len() as u64);
        self.titled.clone_from(&state.values.title);
        self.state.title = state.values.title.or(self.state.title.take());
        self.stored = window.len();
        // What was there was captured before it was folded, and is not looked at again.
        self.state.captured = window.len();
        self.state.messages = window;
        self.state.messages.extend(unstored);
        Ok(())
    }

    /// A thread that was rewound, branched off or filled by others has no channels: they follow from its messages.
    async fn make_channels_anew(&mut self) -> Result<(), AgentError> {
        const PAGE: u32 = 1_000;
        let (mut after, mut all) = (None, Vec::new());
        loop {
            let page = Page {
                limit: PAGE,
                after,
                ..Page::default()
            };
            let visible = self.cx.threads().visible(&self.cx.key, &page).await?;
            all.extend(visible.messages.iter().map(|m| Message::of(&m.message)));
            after = visible.messages.last().map(|m| m.position);
            if !visible.has_after || after.is_none() {
                break;
            }
        }
        let now = conspectus::wire::iso_time(self.cx.now());
        let found = delegation::capture(&all, 0, &[], None, &now);
        self.state.delegations = delegation::reduce(&[], &found);
        let reads = self.cx.core.skills.reads();
        let skills = reads.capture(&all, 0, 0).skills;
        self.state.skills = crate::channel::skill::reduce(&[], &skills);
        Ok(())
    }

    async fn begin_with(&mut self, opening: Opening) -> Result<(), AgentError> {
        match &opening {
            Opening::Input(input) => {
                for id in std::mem::take(&mut self.asked) {
                    let result =
                        ToolResult::text("No answer was given; the user wrote something else.");
                    self.answer_asked(&id, &result);
                }
                self.close(
                    "the run ended before this call did, and nobody knows whether it had an effect",
                );
                self.state.input = input
                    .iter()
                    .enumerate()
                    .map(|(n, m)| self.owned(n, m))
                    .collect();
            }
            Opening::Answer(answer) => {
                for id in std::mem::take(&mut self.asked) {
                    let result = ToolResult::text(answer_of(answer, id.as_str()));
                    self.answer_asked(&id, &result);
                }
            }
            Opening::Again => {}
        }
        self.cx.make_system();
        let stack = self.cx.profile.stack.clone();
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        for middleware in stack.all() {
            let mut update = middleware.before_agent(&self.cx, &self.state).await?;
            ahead.append(&mut update.ahead);
            behind.append(&mut update.messages);
            self.take(&update);
        }
        let input = std::mem::take(&mut self.state.input);
        let ahead = ahead.into_iter().map(Message::new);
        let behind = behind.into_iter().map(Message::new);
        self.state.messages.extend(ahead.chain(input).chain(behind));
        self.store(RunStatus::Running).await
    }

    fn answer_asked(&mut self, id: &CallId, result: &ToolResult) {
        let calls = self.state.messages.iter().rev().flat_map(Message::calls);
        let call = calls.into_iter().find(|call| *call.id == *id.as_str());
        if let Some(call) = call {
            let call = TurnCall {
                id: call.id,
                name: call.name,
                arguments: "".into(),
            };
            self.answer(&call, result);
        }
    }

    /// A message of the input with an id, stamped with the run.
    fn owned(&self, nth: usize, message: &Value) -> Message {
        let mut value = message.clone();
        if Message::new(value.clone()).id().is_none()
            && let Some(members) = value.as_object_mut()
        {
            let id = format!("{}-input-{nth}", self.cx.run_id);
            members.insert("id".into(), json!(id));
        }
        let is_human = Message::new(value.clone()).kind() == Kind::Human;
        let is_plain = value.get("data").is_none() && value.get("kwargs").is_none();
        if is_human
            && is_plain
            && let Some(members) = value.as_object_mut()
            && let Value::Object(extra) = members
                .entry("additional_kwargs")
                .or_insert_with(|| json!({}))
        {
            extra.insert("run_id".into(), json!(self.cx.run_id));
        }
        Message::new(value)
    }
}

fn ids(messages: &[Message]) -> std::collections::BTreeSet<String> {
    messages
        .iter()
        .filter_map(|m| m.id().map(str::to_owned))
        .collect()
}
