//! A check per turn: one exchange arrives, then the check before the next call, below every trigger. Flat in the
//! length of the conversation. Beside it what making the projection costs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use conspectus::Thread;
use conspectus_bench::{Bench, UNREACHED};
use criterion::{BenchmarkId, Criterion};

/// Turns between two fresh copies of the thread, so that it stays about as long as its name says.
const TURNS: u64 = 200;
/// Turns that are not timed: a copy's lists have no room yet and share the branch with the original.
const WARM: u64 = 8;

fn turns(bench: &Bench, thread: &Thread, count: u64) -> Duration {
    let mut spent = Duration::ZERO;
    let mut left = count;
    while left > 0 {
        let mut thread = thread.clone();
        for _ in 0..WARM {
            bench.turn(&mut thread, bench.exchange());
        }
        let now = left.min(TURNS);
        let exchanges: Vec<_> = (0..now).map(|_| bench.exchange()).collect();
        let start = Instant::now();
        for exchange in exchanges {
            black_box(bench.turn(&mut thread, exchange));
        }
        spent += start.elapsed();
        left -= now;
    }
    spent
}

pub(crate) fn turn(c: &mut Criterion) {
    for messages in [1_000, 10_000, 100_000] {
        let bench = Bench::new(messages, 400);
        for (state, thread) in [
            ("whole", bench.thread(UNREACHED)),
            ("compacted", bench.compacted()),
        ] {
            let mut group = c.benchmark_group(format!("turn/{state}"));
            group
                .sample_size(20)
                .measurement_time(Duration::from_secs(3));
            group.bench_function(BenchmarkId::from_parameter(messages), |b| {
                b.iter_custom(|count| turns(&bench, &thread, count));
            });
            group.finish();
            let mut group = c.benchmark_group(format!("projection/{state}"));
            group
                .sample_size(20)
                .measurement_time(Duration::from_secs(2));
            group.bench_function(BenchmarkId::from_parameter(messages), |b| {
                b.iter(|| black_box(thread.projection()));
            });
            group.finish();
        }
    }
}
