//! [`Listed`] for Python: what LangChain's middleware becomes.

use std::sync::Arc;

use conspectus::core::listed::{
    ListAnswer, ListAsk, ListBeside, ListCall, ListClause, ListEnd, ListKeep, ListMessage,
    ListRules, Listed,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::message::Message;

/// A trigger clause: tokens, messages, share of the window.
pub(crate) type Clause = (Option<f64>, Option<f64>, Option<f64>);

pub(crate) fn clauses(trigger: Vec<Clause>) -> Vec<ListClause> {
    let clause = |(tokens, messages, fraction)| ListClause {
        tokens,
        messages,
        fraction,
    };
    trigger.into_iter().map(clause).collect()
}

/// The compaction of a list that its host replaces.
#[pyclass(module = "conspectus._native")]
pub(crate) struct ListMachine(Listed);

#[pymethods]
impl ListMachine {
    /// `beside`: a summary that the host keeps beside the list, with its tokens. `counter`: "approximate" or "approximate_anthropic", which is counted here, or "host", which is asked for.
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "keywords of one call from Python"
    )]
    #[pyo3(signature = (messages, *, trigger, keep, window, call_cap, strict, counter, force=false, beside=None))]
    fn new(
        messages: Vec<PyRef<'_, Message>>,
        trigger: Vec<Clause>,
        keep: (String, f64),
        window: Option<f64>,
        call_cap: Option<f64>,
        strict: bool,
        counter: &str,
        force: bool,
        beside: Option<(String, u64)>,
    ) -> PyResult<Self> {
        let (counts, is_anthropic) = match counter {
            "approximate" => (true, false),
            "approximate_anthropic" => (true, true),
            "host" => (false, false),
            other => return Err(PyValueError::new_err(format!("no counter {other:?}"))),
        };
        let keep = match (keep.0.as_str(), keep.1) {
            ("tokens", n) => ListKeep::Tokens(n),
            ("fraction", share) => ListKeep::Fraction(share),
            // Not negative: its caller has checked.
            (_, n) => ListKeep::Messages(n as usize),
        };
        let rules = ListRules {
            trigger: clauses(trigger),
            keep,
            window,
            call_cap,
            is_strict: strict,
            is_forced: force,
        };
        let messages = messages.iter().map(|message| ListMessage {
            view: message.0.view.clone(),
            weight: message.0.weight(is_anthropic),
        });
        let listed = Listed::new(messages.collect(), rules, counts);
        Ok(Self(match beside {
            Some((summary, weight)) => listed.beside(ListBeside {
                summary: summary.into(),
                weight,
            }),
            None => listed,
        }))
    }

    /// The size of the whole, once it was counted.
    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }

    /// What is wanted now, its name first: `("count", positions, is_total)`, `("provider",)`,
    /// `("summarise", positions, slice, earlier, is_divisible)`, `("nothing", why)`,
    /// `("replace", leading, summary, kept)`.
    fn poll<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let ask = py.detach(|| self.0.poll());
        match ask {
            ListAsk::Count { messages, is_total } => {
                ("count", messages, is_total).into_pyobject(py)
            }
            ListAsk::Provider => ("provider",).into_pyobject(py),
            ListAsk::Summarise(ListCall {
                messages,
                slice,
                earlier,
                is_divisible,
            }) => {
                let earlier = earlier.as_deref();
                ("summarise", messages, slice, earlier, is_divisible).into_pyobject(py)
            }
            ListAsk::Done(ListEnd::Nothing(why)) => ("nothing", why.as_str()).into_pyobject(py),
            ListAsk::Done(ListEnd::Replace {
                leading,
                summary,
                kept,
            }) => ("replace", leading, summary.as_ref(), kept).into_pyobject(py),
        }
    }

    /// Tokens that were asked for.
    fn counted(&mut self, py: Python<'_>, tokens: f64) {
        py.detach(|| self.0.feed(ListAnswer::Counted(tokens)));
    }

    /// Whose model it is.
    fn provided(&mut self, provider: Option<String>) {
        let provider = provider.map(Arc::from);
        self.0.feed(ListAnswer::Provider(provider));
    }

    /// The summariser's text.
    fn summarised(&mut self, text: &str) {
        self.0.feed(ListAnswer::Summary(text.into()));
    }

    /// The call was too large for the summariser.
    fn too_large(&mut self) {
        self.0.feed(ListAnswer::TooLarge);
    }
}
