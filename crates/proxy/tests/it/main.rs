//! The proxy between a client that says anything and an upstream that answers as scripted.

mod capsules;
mod compaction;
mod corpus;
mod fidelity;
mod guard;
mod stability;
mod support;
