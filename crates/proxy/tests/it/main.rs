//! The proxy between a client that says anything and an upstream that answers as scripted.

mod apis;
mod background;
mod between;
mod binding;
mod capsules;
mod compaction;
mod corpus;
mod fidelity;
mod figures;
mod guard;
mod random;
mod stability;
mod strict;
mod support;
#[cfg(feature = "tracing")]
mod traces;
mod waiting;
