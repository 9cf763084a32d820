//! `cargo bench -p conspectus-bench`: what a turn, a compaction and a file cost. `docs/performance.md` has figures.
#![expect(clippy::disallowed_methods, reason = "it measures time")]

mod agent;
mod bytes;
mod compaction;
mod turn;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    benches,
    turn::turn,
    agent::agent,
    compaction::compaction,
    bytes::texts,
    bytes::files
);
criterion_main!(benches);
