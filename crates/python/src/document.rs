//! A file or a request body: looked into, compacted, written again byte for byte around what changed.

use std::sync::Arc;

use conspectus::core::count::counter_for;
use conspectus::core::policy::CounterChoice;
use conspectus::{
    CompactRequest, Embedded, Format, Manual, OpenOptions, RenderContext, TokenCounter, compact,
    inspect, wire,
};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::fail::{Class, json};
use crate::policy::Policy;

/// A document that was read.
#[pyclass(frozen, module = "conspectus._native")]
#[derive(Clone)]
pub(crate) struct Document(pub(crate) Arc<wire::Document>);

impl Document {
    pub(crate) fn conversation(&self, at: usize) -> PyResult<&wire::Conversation> {
        let found = self.0.conversations().get(at);
        found.ok_or_else(|| PyIndexError::new_err(format!("no conversation {at}")))
    }
}

pub(crate) fn request(policy: &Policy) -> CompactRequest {
    CompactRequest {
        model: policy.model.clone(),
        enable: true,
        ..CompactRequest::command(policy.options.clone())
    }
}

#[pymethods]
impl Document {
    /// `format`: found by content when not named.
    #[new]
    #[pyo3(signature = (data, *, format=None, lenient=false))]
    fn new(py: Python<'_>, data: Vec<u8>, format: Option<&str>, lenient: bool) -> PyResult<Self> {
        let format = format.map(str::parse::<Format>).transpose();
        let format = format.map_err(|error| Class::Read.error(error))?;
        let options = OpenOptions { format, lenient };
        let read = py.detach(|| wire::Document::open(data, &options));
        let read = read.map_err(|error| Class::Read.error(error))?;
        Ok(Self(Arc::new(read)))
    }

    /// The format of its messages.
    #[getter]
    fn format(&self) -> String {
        self.0.format().to_string()
    }

    /// How many conversations it holds.
    fn __len__(&self) -> usize {
        self.0.conversations().len()
    }

    /// The file itself.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.bytes())
    }

    /// Where the tokens of a conversation are, as JSON.
    #[pyo3(signature = (policy, at=0))]
    fn inspect(&self, py: Python<'_>, policy: &Policy, at: usize) -> PyResult<String> {
        let conversation = self.conversation(at)?;
        let found = py.detach(|| inspect(conversation, &request(policy)));
        json(&found.map_err(|error| Class::Policy.error(error))?)
    }

    /// The document with a conversation compacted without a model, the report and the summary as JSON.
    #[pyo3(signature = (policy, at=0, *, only_if_triggered=false, below_keep=false))]
    fn compact<'py>(
        &self,
        py: Python<'py>,
        policy: &Policy,
        at: usize,
        only_if_triggered: bool,
        below_keep: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, String, Option<String>)> {
        let conversation = self.conversation(at)?;
        let request = CompactRequest {
            only_if_triggered,
            manual: Manual {
                below_keep,
                ..Manual::default()
            },
            ..request(policy)
        };
        let made = py.detach(|| {
            let made = compact(conversation, &request, &mut Embedded::default());
            let made = made.map_err(|error| Class::Policy.error(error))?;
            let rendered = match made.is_change() {
                true => self.rendered(at, &made.projection())?,
                false => self.0.bytes().to_vec(),
            };
            PyResult::Ok((rendered, made))
        });
        let (rendered, made) = made?;
        let report = json(&made.report)?;
        let summary = made.summary().map(str::to_owned);
        Ok((PyBytes::new(py, &rendered), report, summary))
    }
}

impl Document {
    pub(crate) fn rendered(
        &self,
        at: usize,
        projection: &conspectus::Projection,
    ) -> PyResult<Vec<u8>> {
        let context = RenderContext::default();
        let rendered = self.0.render(&[(at, projection)], &context);
        rendered.map_err(|error| Class::State.error(error))
    }
}

/// The counter of this name.
pub(crate) fn counter(name: &str) -> PyResult<Arc<dyn TokenCounter>> {
    Ok(counter_for(match name {
        "estimator" => CounterChoice::Estimator,
        "langchain" => CounterChoice::LangChain { tenths: 40 },
        "langchain_anthropic" => CounterChoice::LangChain { tenths: 33 },
        "bytes4" => CounterChoice::Bytes4,
        other => {
            let known = "estimator, langchain, langchain_anthropic, bytes4";
            return Err(Class::Policy.error(format!("no counter {other:?}; there are {known}")));
        }
    }))
}

/// Tokens of a text by a counter.
#[pyfunction]
#[pyo3(signature = (text, counter="estimator"))]
pub(crate) fn count_text(py: Python<'_>, text: &str, counter: &str) -> PyResult<u64> {
    let counter = self::counter(counter)?;
    Ok(py.detach(|| counter.tokens(counter.text(text))))
}

/// The names of the formats.
#[pyfunction]
pub(crate) fn formats() -> Vec<String> {
    Format::ALL.iter().map(ToString::to_string).collect()
}
