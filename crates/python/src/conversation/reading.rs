//! What a conversation shows: the request, the summary, the registries, what was folded and shortened.

use conspectus::{Manual, Report};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::{Conversation, Surface};
use crate::fail::{Class, json, of_json};
use crate::message::Message;

#[pymethods]
impl Conversation {
    /// The JSON of its messages.
    fn messages(&self) -> Vec<String> {
        match &self.surface {
            Surface::Shelf(shelf) => shelf.0.iter().map(|inner| inner.json.clone()).collect(),
            Surface::Document(document, at) => {
                let conversation = &document.0.conversations()[*at];
                let all = conversation.views().iter();
                all.map(|view| conversation.json_of(view.handle).to_owned())
                    .collect()
            }
        }
    }

    fn __len__(&self) -> usize {
        self.thread.branch().len()
    }

    /// How many of the messages of the list are here already, from the start, by what they say.
    fn common(&self, messages: Vec<PyRef<'_, Message>>) -> usize {
        let here = self.thread.branch().views().iter();
        here.zip(&messages)
            .take_while(|(here, there)| here.ident == there.0.view.ident)
            .count()
    }

    /// The size, as JSON.
    fn size(&self) -> PyResult<String> {
        json(&self.thread.size(self.src()))
    }

    /// What would go and stay, as JSON: one word a message.
    fn plan(&self, request: &str) -> PyResult<String> {
        let request: Manual = of_json(request, "request")?;
        json(&self.thread.preview(&request, self.src()).fates)
    }

    /// The request that would be sent now: `("keep", at)`, `("edit", at, json)`,
    /// `("insert", kind, role, text, call_id, tool)`.
    fn projection<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let projection = self.thread.projection();
        let entries = projection
            .pieces()
            .map(|piece| self.surface.entry(piece).into_tuple(py));
        PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether every message is shown as it is and nothing is inserted.
    #[getter]
    fn is_untouched(&self) -> bool {
        self.thread.projection().is_untouched()
    }

    /// The document with this conversation as it would be sent.
    fn rendered<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Surface::Document(document, at) = &self.surface else {
            return Err(
                Class::State.error("these messages came one by one; ask for the projection")
            );
        };
        let projection = self.thread.projection();
        let bytes = match projection.is_untouched() {
            true => document.0.bytes().to_vec(),
            false => py.detach(|| document.rendered(*at, &projection))?,
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// The summary in force.
    #[getter]
    fn summary(&self) -> Option<String> {
        let summary = self.thread.active()?.summary.as_ref()?;
        Some(summary.text.to_string())
    }

    /// What code keeps beside the summary.
    #[getter]
    fn durable(&self) -> Option<String> {
        let record = self.thread.active()?;
        (!record.durable.is_empty()).then(|| record.durable.to_string())
    }

    /// The positions of the messages that are folded.
    #[getter]
    fn folded(&self) -> Vec<usize> {
        (0..self.thread.branch().len())
            .filter(|at| self.thread.is_folded(*at))
            .collect()
    }

    /// What the conversation's own structure tells: files, tests, todos, rules; as JSON.
    fn registries(&self) -> PyResult<String> {
        json(self.thread.ledger())
    }

    /// How messages and the record in force are sized, as JSON.
    fn report(&self) -> PyResult<Option<String>> {
        let report = self.thread.active().map(|record| Report {
            outcome: match record.summary {
                Some(_) => conspectus::Outcome::Compacted,
                None => conspectus::Outcome::Pruned,
            },
            record: Some(record.id),
            measured: record.measured,
            reasons: record.why.clone(),
            failure: None,
        });
        report.map(|report| json(&report)).transpose()
    }

    /// Takes the last compaction back.
    fn undo(&mut self) -> bool {
        let (thread, src) = self.split();
        thread.undo(src).is_some()
    }

    /// Puts it in force again.
    fn redo(&mut self) -> bool {
        let (thread, src) = self.split();
        thread.redo(src).is_some()
    }

    /// What was shortened, whole, by the reference in its marker: `(message, text)`.
    fn recall(&self, reference: &str) -> Vec<(u32, String)> {
        let found = self.thread.recall(reference, self.surface.texts());
        found
            .into_iter()
            .map(|found| (found.message.0, found.text))
            .collect()
    }

    /// Messages that hold most of the words of `query`, folded ones included, best first: `(at, words)`.
    fn search(&self, py: Python<'_>, query: &str, limit: usize) -> Vec<(usize, u64)> {
        py.detach(|| {
            let asked = conspectus::terms::Terms::asked(query);
            let texts = self.surface.texts();
            let views = self.thread.branch().views().iter().enumerate();
            let matched = views.map(|(at, view)| {
                let terms = conspectus::terms::Terms::of_message(view, texts);
                (at, terms.matched(&asked))
            });
            let mut found: Vec<(usize, u64)> = matched.filter(|(_, n)| *n > 0).collect();
            found.sort_by_key(|(at, n)| (std::cmp::Reverse(*n), std::cmp::Reverse(*at)));
            found.truncate(limit);
            found
        })
    }
}
