//! Every provider against a scripted server: what it asks, what it makes of answers, and that nothing hangs.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod api;
mod compacting;
mod contract;
mod faults;
mod replaying;
mod requests;
mod tls;
mod turns;
