//! Our part of `bench/side_by_side`, and fixed work for `scripts/instructions.sh`: one figure as JSON.
//!
//! ```text
//! cargo run --release -p conspectus-bench --bin side -- check|firing|session|memory MEAN_BYTES MESSAGES
//! ```
//!
//! Microseconds; of memory megabytes.
#![expect(clippy::print_stdout, reason = "that is what it is for")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use conspectus::{Decision, Embedded, drive};
use conspectus_bench::{Bench, UNREACHED};

/// Compactions that are timed.
const FIRINGS: usize = 9;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, mean, messages] = arguments.as_slice() else {
        bail!("expected check, firing, session or memory, then MEAN_BYTES and MESSAGES");
    };
    let (mean, messages) = (mean.parse()?, messages.parse()?);
    let figure = match what.as_str() {
        "check" => check(messages, mean),
        "firing" => firing(&Bench::new(messages, mean)),
        "session" => session(&Bench::new(messages, mean)),
        "memory" => memory(messages, mean)?,
        other => bail!("{other}: expected check, firing, session or memory"),
    };
    println!("{{\"figure\":{figure:.3}}}");
    Ok(())
}

/// So many turns on a short thread, each with its projection: one of them.
fn check(turns: usize, mean: usize) -> f64 {
    let bench = Bench::new(100, mean);
    let mut thread = bench.thread(UNREACHED);
    let start = Instant::now();
    for _ in 0..turns {
        let decision = bench.turn(&mut thread, bench.exchange());
        assert!(
            matches!(decision, Decision::Send(_)),
            "no trigger is reached"
        );
        std::hint::black_box(thread.projection());
    }
    micros(start.elapsed()) / turns as f64
}

/// Check, plan, shortening, digest and commit: the median.
fn firing(bench: &Bench) -> f64 {
    let src = bench.sources();
    let due = bench.thread(1);
    let mut times = Vec::new();
    for _ in 0..FIRINGS {
        let mut thread = due.clone();
        let start = Instant::now();
        let Decision::Start(attempt, _) = thread.before_call(0, &[], src) else {
            panic!("a trigger of one token is reached");
        };
        drive(&mut thread, *attempt, src, &mut Embedded::default());
        times.push(start.elapsed());
        assert!(thread.active().is_some(), "it was compacted");
    }
    times.sort();
    micros(times[FIRINGS / 2])
}

/// All checks of a session of which each turn has four messages, two checks a turn.
fn session(bench: &Bench) -> f64 {
    let src = bench.sources();
    let mut thread = bench.empty(UNREACHED);
    let mut spent = Duration::ZERO;
    for turn in bench.conversation().views().chunks_exact(4) {
        let [request, exchange, rest] = [&turn[..1], &turn[1..3], &turn[3..]];
        for new in [request, exchange] {
            let new = new.to_vec();
            let start = Instant::now();
            thread.append(new, src);
            let decision = thread.before_call(0, &[], src);
            spent += start.elapsed();
            assert!(
                matches!(decision, Decision::Send(_)),
                "no trigger is reached"
            );
        }
        thread.append(rest.to_vec(), src);
    }
    micros(spent)
}

/// What a conversation and a thread over it take.
fn memory(messages: usize, mean: usize) -> anyhow::Result<f64> {
    let before = resident()?;
    let bench = Bench::new(messages, mean);
    let mut thread = bench.thread(UNREACHED);
    let decision = thread.before_call(0, &[], bench.sources());
    assert!(
        matches!(decision, Decision::Send(_)),
        "no trigger is reached"
    );
    Ok((resident()? - before) / 1e6)
}

/// Bytes of this process in memory.
fn resident() -> anyhow::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").context("/proc is not there")?;
    let pages: f64 = text
        .split_whitespace()
        .nth(1)
        .context("two numbers were expected")?
        .parse()?;
    Ok(pages * 4096.0)
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
