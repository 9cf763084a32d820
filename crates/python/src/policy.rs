//! Options as in the configuration file, and the policy that follows for a model.

use std::sync::Arc;

use conspectus::core::policy::{ModelProfile, Policy as Resolved};
use conspectus::{Options, catalog};
use conspectus_config::Config;
use pyo3::prelude::*;

use crate::fail::{Class, json};

/// What a name for messages is.
const PLACE: &str = "options";

/// A policy.
#[pyclass(frozen, module = "conspectus._native")]
#[derive(Clone)]
pub(crate) struct Policy {
    pub(crate) resolved: Arc<Resolved>,
    pub(crate) options: Options,
    pub(crate) model: ModelProfile,
    warnings: Vec<String>,
    made_of: (
        String,
        Option<String>,
        Option<u64>,
        Option<u64>,
        Option<String>,
    ),
}

#[pymethods]
impl Policy {
    /// `options`: the section `summarization:` as YAML or JSON, in its file. `model`: the model that the conversation
    /// runs on, by the name under which the catalog may know it.
    #[new]
    #[pyo3(signature = (options, *, model=None, window=None, max_output=None, provider=None))]
    fn new(
        options: &str,
        model: Option<String>,
        window: Option<u64>,
        max_output: Option<u64>,
        provider: Option<String>,
    ) -> PyResult<Self> {
        let config = Config::load(PLACE, options).map_err(|error| Class::Policy.error(error))?;
        let known = model
            .as_deref()
            .map(|name| catalog::profile(name, provider.as_deref()));
        let known = known.unwrap_or_default();
        let profile = ModelProfile {
            window: window.or(known.window),
            max_output: max_output.or(known.max_output),
            max_input: known.max_input.filter(|_| window.is_none()),
            provider: provider.as_deref().map(Arc::from).or(known.provider),
            name: model.as_deref().map(Arc::from),
            ..known
        };
        let resolved = config
            .resolve(&profile)
            .map_err(|error| Class::Policy.error(error))?;
        let advice = resolved.advice.iter().map(ToString::to_string);
        let warnings = resolved.warnings.iter().map(ToString::to_string);
        Ok(Self {
            warnings: warnings.chain(advice).collect(),
            resolved: Arc::new(resolved.policy),
            options: config.options_for(&profile),
            model: profile,
            made_of: (options.to_owned(), model, window, max_output, provider),
        })
    }

    /// What its owner should be told.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The window in tokens.
    #[getter]
    fn window(&self) -> u64 {
        self.resolved.window
    }

    /// The most that a request may hold.
    #[getter]
    fn input_limit(&self) -> u64 {
        self.resolved.input_limit()
    }

    /// The lowest trigger in tokens.
    #[getter]
    fn trigger_tokens(&self) -> Option<u64> {
        self.resolved.trigger_tokens()
    }

    /// All numbers, as JSON.
    fn numbers(&self) -> PyResult<String> {
        json(self.resolved.as_ref())
    }

    /// What it was made of.
    #[getter]
    fn made_of(
        &self,
    ) -> (
        String,
        Option<String>,
        Option<u64>,
        Option<u64>,
        Option<String>,
    ) {
        self.made_of.clone()
    }
}

/// The JSON Schema of the configuration.
#[pyfunction]
pub(crate) fn schema() -> String {
    conspectus_config::schema()
}
