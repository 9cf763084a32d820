//! How a conversation is made, what is added to it, and what outlives the process.

use std::sync::Arc;

use conspectus::core::count::counter_for;
use conspectus::core::effect::Input;
use conspectus::core::id::{CallId, RecordId};
use conspectus::core::record::Record;
use conspectus::core::thread::{BreakerState, Fixed, Learnt};
use conspectus::core::view::Usage;
use conspectus::{OpenThread, Partials, Thread, TokenCounter, open_thread};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Conversation, Surface};
use crate::document::{Document, request};
use crate::fail::{Class, json, of_json};
use crate::message::{Message, Shelf};
use crate::policy::Policy;


/// What outlives the process beside the messages.
#[derive(Serialize, Deserialize)]
struct Saved {
    record: Option<Record>,
    breaker: BreakerState,
    learnt: Learnt,
}

impl Conversation {
    /// Nothing was done with it yet.
    fn fresh(
        policy: &Policy,
        counter: Arc<dyn TokenCounter>,
        surface: Surface,
        thread: Thread,
    ) -> Self {
        Self {
            policy: policy.clone(),
            counter,
            surface,
            thread,
            attempt: None,
            partials: Partials::default(),
            wakes: Vec::new(),
            now: 0,
        }
    }

    fn append_all(&mut self, messages: Vec<Message>) {
        let Surface::Shelf(shelf) = &mut self.surface else {
            return;
        };
        let from = shelf.0.len();
        shelf
            .0
            .extend(messages.into_iter().map(|message| message.0));
        let new = shelf.0[from..].iter().zip(from..);
        let views: Vec<_> = new.map(|(message, at)| message.view_at(at)).collect();
        let (thread, src) = self.split();
        thread.append(views, src);
        if let Some(mut attempt) = self.attempt.take() {
            let delta = self.thread.delta(from);
            attempt.feed(self.now, Input::Appended(delta), self.src());
            self.attempt = Some(attempt);
        }
    }
}

#[pymethods]
impl Conversation {
    /// Messages, and what stands beside them in every request: system text and tool definitions.
    #[new]
    #[pyo3(signature = (policy, messages=Vec::new(), *, fixed=Vec::new(), counter=None))]
    fn new(
        py: Python<'_>,
        policy: &Policy,
        messages: Vec<PyRef<'_, Message>>,
        fixed: Vec<String>,
        counter: Option<&str>,
    ) -> PyResult<Self> {
        let counter = match counter {
            None => counter_for(policy.resolved.counter),
            Some(name) => crate::document::counter(name)?,
        };
        let thread = Thread::new(policy.resolved.clone());
        let shelf = Surface::Shelf(Shelf::default());
        let mut made = Self::fresh(policy, counter, shelf, thread);
        made.set_fixed(fixed);
        let messages = messages.iter().map(|message| (**message).clone()).collect();
        py.detach(|| made.append_all(messages));
        Ok(made)
    }

    /// The conversation of a document. It takes no further messages.
    #[staticmethod]
    #[pyo3(signature = (policy, document, at=0))]
    fn of_document(
        py: Python<'_>,
        policy: &Policy,
        document: &Document,
        at: usize,
    ) -> PyResult<Self> {
        let conversation = document.conversation(at)?;
        let opened = py.detach(|| open_thread(conversation, &request(policy)));
        let OpenThread {
            thread, counter, ..
        } = opened.map_err(|error| Class::Policy.error(error))?;
        let surface = Surface::Document(document.clone(), at);
        Ok(Self::fresh(policy, counter, surface, thread))
    }

    /// Messages again, with what [`Conversation::saved`] gave. What no longer fits the messages is left out: then nothing
    /// is folded.
    #[staticmethod]
    #[pyo3(signature = (policy, messages, saved, *, fixed=Vec::new(), counter=None))]
    fn restore(
        py: Python<'_>,
        policy: &Policy,
        messages: Vec<PyRef<'_, Message>>,
        saved: &str,
        fixed: Vec<String>,
        counter: Option<&str>,
    ) -> PyResult<Self> {
        let saved: Saved = of_json(saved, "what was saved")?;
        let mut made = Self::new(py, policy, Vec::new(), fixed, counter)?;
        let all: Vec<Message> = messages.iter().map(|message| (**message).clone()).collect();
        made.thread.set_breaker(saved.breaker);
        made.thread.set_learnt(saved.learnt);
        py.detach(|| {
            let known = saved.record.as_ref().map_or(0, |record| {
                usize::try_from(record.upto.0).map_or(usize::MAX, |upto| upto.saturating_add(1))
            });
            let (before, after) = all.split_at(known.min(all.len()));
            made.append_all(before.to_vec());
            if let Some(record) = saved.record {
                // The records before it are not kept: it says all that they said.
                let alone = Record {
                    id: RecordId(0),
                    parent: None,
                    ..record
                };
                let expect = made.thread.expect();
                let (thread, src) = made.split();
                thread.commit(&alone, expect, src);
            }
            made.append_all(after.to_vec());
        });
        Ok(made)
    }

    /// What outlives the process beside the messages, as JSON.
    fn saved(&self) -> PyResult<String> {
        json(&Saved {
            record: self.thread.active().map(|record| record.as_ref().clone()),
            breaker: self.thread.breaker(),
            learnt: self.thread.learnt(),
        })
    }

    /// System text and tools as they are now.
    fn set_fixed(&mut self, texts: Vec<String>) {
        let fixed = Fixed::of(texts.iter().map(String::as_str), self.counter.as_ref());
        self.thread.set_fixed(fixed);
    }

    /// The numbers that decide from now on, as for another model.
    fn set_policy(&mut self, policy: &Policy) {
        self.thread.set_policy(policy.resolved.clone());
        self.policy = policy.clone();
    }

    /// Adds messages.
    fn append(&mut self, py: Python<'_>, messages: Vec<PyRef<'_, Message>>) -> PyResult<()> {
        if matches!(self.surface, Surface::Document(..)) {
            return Err(Class::State
                .error("a document's conversation takes no messages; open the longer document"));
        }
        let messages = messages.iter().map(|message| (**message).clone()).collect();
        py.detach(|| self.append_all(messages));
        Ok(())
    }

    /// Calls that are waited for: they stay.
    fn set_pending(&mut self, ids: Vec<String>) {
        let pending = ids.iter().map(|id| CallId::from(id.as_str())).collect();
        let (thread, src) = self.split();
        thread.set_pending(pending, src);
    }

    /// Keeps a message for good.
    fn pin(&mut self, at: usize) {
        if let Some(node) = self.thread.branch().path().get(at).copied() {
            self.thread.pin(node);
        }
    }

    /// What the provider, or a counter of the host's own, said of the request that the newest reply answers.
    fn usage(&mut self, input: u64, output: u64) {
        self.thread.usage(Usage {
            input,
            output,
            ..Usage::default()
        });
    }

    /// A request is sent now.
    fn sent(&mut self, now: u64) {
        self.thread.sent(now);
    }
}
