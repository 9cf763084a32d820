//! The proxy between a client that says anything and an upstream that answers as scripted.

mod compaction;
mod fidelity;
mod guard;
mod support;
