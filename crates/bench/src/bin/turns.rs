//! What a check per turn costs, as JSON lines for `bench/side_by_side`.
//!
//! ```text
//! cargo run --release -p conspectus-bench --bin turns -- [MEAN_BYTES] [MESSAGES ..]
//! ```
#![expect(clippy::print_stdout, reason = "that is what it is for")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::time::Instant;

use conspectus::{Decision, Thread};
use conspectus_bench::{Bench, UNREACHED};

/// Turns that are timed; the thread grows by two messages with each.
const TURNS: usize = 400;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|n| n.parse().ok());
    let mean_bytes = arguments.next().unwrap_or(400);
    let mut sizes: Vec<usize> = arguments.collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    for messages in sizes {
        let bench = Bench::new(messages, mean_bytes);
        report(&bench, messages, false, bench.thread(UNREACHED));
        report(&bench, messages, true, bench.compacted());
    }
}

fn report(bench: &Bench, messages: usize, compacted: bool, mut thread: Thread) {
    let (mut turns, mut projections) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let exchange = bench.exchange();
        let start = Instant::now();
        let decision = bench.turn(&mut thread, exchange);
        turns.push(start.elapsed());
        assert!(
            matches!(decision, Decision::Send(_)),
            "no trigger is reached"
        );
        let start = Instant::now();
        let projection = thread.projection();
        projections.push(start.elapsed());
        drop(projection);
    }
    turns.sort();
    projections.sort();
    let micros = |times: &[std::time::Duration], at: usize| times[at].as_nanos() as f64 / 1e3;
    println!(
        "{{\"messages\":{messages},\"compacted\":{compacted},\"turn_us\":{:.2},\"turn_us_p95\":{:.2},\"projection_us\":{:.2}}}",
        micros(&turns, TURNS / 2),
        micros(&turns, TURNS * 95 / 100),
        micros(&projections, TURNS / 2),
    );
}
