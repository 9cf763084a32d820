//! Errors of ours as the package's exceptions, which are Python classes: they have several bases and an outcome.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::PyType;

/// A class of `conspectus.errors`.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    Policy,
    Read,
    State,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Policy => "PolicyError",
            Self::Read => "ReadError",
            Self::State => "StateError",
        }
    }

    /// The exception with this message.
    pub(crate) fn error(self, message: impl Display) -> PyErr {
        Python::attach(|py| {
            let class = py
                .import("conspectus.errors")
                .and_then(|module| module.getattr(self.name()))
                .and_then(|class| Ok(class.cast_into::<PyType>()?));
            match class {
                Ok(class) => PyErr::from_type(class, message.to_string()),
                Err(error) => error,
            }
        })
    }
}

/// A value that Python only hands on.
pub(crate) fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| Class::State.error(error))
}

/// The value again.
pub(crate) fn of_json<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| Class::State.error(format!("{what}: {error}")))
}
