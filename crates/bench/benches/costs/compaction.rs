//! A compaction of 10,000 messages (4 MB) whose counts are known: prune and plan, and all of it with the digest.

use std::hint::black_box;
use std::time::Duration;

use conspectus::{Decision, Embedded, Manual, drive};
use conspectus_bench::{Bench, UNREACHED};
use criterion::{BatchSize, Criterion};

pub(crate) fn compaction(c: &mut Criterion) {
    let bench = Bench::new(10_000, 400);
    let src = bench.sources();
    let mut group = c.benchmark_group("compaction/10000");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(5));
    let manual = Manual::default();
    for (state, thread) in [
        ("whole", bench.thread(UNREACHED)),
        ("compacted", bench.compacted()),
    ] {
        group.bench_function(format!("plan/{state}"), |b| {
            b.iter(|| black_box(thread.preview(&manual, src)));
        });
        // The check that finds the trigger reached: plan, prune, and whether folding would pay.
        group.bench_function(format!("plan and prune/{state}"), |b| {
            b.iter_batched_ref(
                || thread.clone(),
                |thread| black_box(thread.manual(0, &manual, src)),
                BatchSize::LargeInput,
            );
        });
    }
    let thread = bench.thread(UNREACHED);
    group.bench_function("all of it, digest included", |b| {
        b.iter_batched(
            || thread.clone(),
            |mut thread| {
                if let Decision::Start(attempt, _) = thread.manual(0, &manual, src) {
                    black_box(drive(&mut thread, *attempt, src, &mut Embedded::default()));
                }
                thread
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}
