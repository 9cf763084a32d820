//! The native module of the Python package `conspectus`: policies, messages, and the two machines that Python drives by
//! poll and feed. Nothing here calls Python back, decides anything or knows LangChain's classes; values that Python only
//! hands on cross as JSON.
//!
//! A test binary has no interpreter to link with, so under `cfg(test)` the crate is empty.

#[cfg(not(test))]
mod channel;
#[cfg(not(test))]
mod conversation;
#[cfg(not(test))]
mod document;
#[cfg(not(test))]
mod fail;
#[cfg(not(test))]
mod glance;
#[cfg(not(test))]
mod list;
#[cfg(not(test))]
mod message;
#[cfg(not(test))]
mod policy;

/// The module, as Python imports it.
#[cfg(not(test))]
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::channel::{
        channel_capture, channel_contract, channel_data, delegations_reduced, skill_stamp,
        skills_reduced,
    };
    #[pymodule_export]
    use crate::conversation::Conversation;
    #[pymodule_export]
    use crate::document::{Document, count_text, formats};
    #[pymodule_export]
    use crate::glance::is_quiet;
    #[pymodule_export]
    use crate::list::ListMachine;
    #[pymodule_export]
    use crate::message::Message;
    #[pymodule_export]
    use crate::policy::{Policy, schema};
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
