//! Plays random lives of conversations and tells what was covered and what did not hold:
//! `cargo run --release -p conspectus-testkit --bin campaign -- --runs 1000000 --threads 2`.
//! With `--features planted` and `--planted`: how many runs it takes to catch each planted bug.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "it tells, and says how fast it was"
)]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use conspectus_testkit::campaign::{Tally, smallest};

const USAGE: &str = "campaign [--runs N] [--seed N] [--threads N] [--planted] [--seeds N,N,..: each one made small]";
/// Lives that a thread takes at a time.
const SHARE: u64 = 64;

#[derive(Clone, Debug)]
struct Wanted {
    runs: u64,
    seed: u64,
    threads: u64,
    planted: bool,
    /// Only these lives, each one told.
    seeds: Vec<u64>,
}

fn wanted() -> Result<Wanted, String> {
    let mut wanted = Wanted {
        runs: 10_000,
        seed: 0,
        threads: 2,
        planted: false,
        seeds: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a number"));
        let number = |value: &str| {
            let plain = value.replace('_', "");
            plain.parse().map_err(|_| format!("{value} is no number"))
        };
        match arg.as_str() {
            "--runs" => wanted.runs = number(&value()?)?,
            "--seed" => wanted.seed = number(&value()?)?,
            "--threads" => wanted.threads = number(&value()?)?,
            "--seeds" => {
                wanted.seeds = value()?.split(',').map(number).collect::<Result<_, _>>()?
            }
            "--planted" => wanted.planted = true,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(wanted)
}

fn main() -> ExitCode {
    match wanted() {
        Ok(wanted) if !wanted.seeds.is_empty() => some(&wanted.seeds),
        Ok(wanted) if wanted.planted => planted(&wanted),
        Ok(wanted) => campaign(&wanted),
        Err(what) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
    }
}

fn campaign(wanted: &Wanted) -> ExitCode {
    // A panic is counted; its message once is enough.
    std::panic::set_hook(Box::new(|info| eprintln!("panic: {info}")));
    let start = Instant::now();
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let all = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..wanted.threads.max(1))
            .map(|_| {
                scope.spawn(|| {
                    let mut tally = Tally::default();
                    loop {
                        let from = next.fetch_add(SHARE, Ordering::Relaxed);
                        if from >= wanted.runs {
                            break;
                        }
                        let to = wanted.runs.min(from + SHARE);
                        (from..to).for_each(|n| tell_broken(&mut tally, wanted.seed + n));
                        done.fetch_add(to - from, Ordering::Relaxed);
                    }
                    if let Ok(mut all) = all.lock() {
                        all.merge(&tally);
                    }
                })
            })
            .collect();
        scope.spawn(|| progress(start, wanted.runs, &done, &over));
        workers.into_iter().for_each(|worker| drop(worker.join()));
        over.store(true, Ordering::Relaxed);
    });
    let tally = all.into_inner().unwrap_or_default();
    let seconds = start.elapsed().as_secs_f64();
    println!("{tally}");
    for (kind, found) in &tally.faults {
        println!("{}", smallest(found.seed()));
        if kind.counts {
            let seeds: Vec<String> = found.seeds.iter().map(u64::to_string).collect();
            println!("all of them again: --seeds {}\n", seeds.join(","));
        }
    }
    println!(
        "{} runs in {seconds:.0} s, {:.0} runs/s on {} threads, seeds from {}",
        tally.runs,
        tally.runs as f64 / seconds,
        wanted.threads,
        wanted.seed
    );
    match tally.broken() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Plays a life and tells at once if something did not hold in it: a run that is stopped has found something too.
fn tell_broken(tally: &mut Tally, seed: u64) {
    let before = tally.broken();
    tally.add(seed);
    if tally.broken() > before {
        eprintln!("seed {seed} is broken");
    }
}

/// The lives of these seeds, each one made small if something does not hold in it.
fn some(seeds: &[u64]) -> ExitCode {
    let mut tally = Tally::default();
    for seed in seeds {
        tally.add(*seed);
        println!("{}", smallest(*seed));
    }
    match tally.broken() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn progress(start: Instant, runs: u64, done: &AtomicU64, over: &AtomicBool) {
    let mut told = Duration::ZERO;
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
        let since = start.elapsed();
        if since - told >= Duration::from_secs(10) {
            told = since;
            let done = done.load(Ordering::Relaxed);
            let rate = done as f64 / since.as_secs_f64();
            eprintln!("{done} of {runs}, {rate:.0} a second");
        }
    }
}

#[cfg(feature = "planted")]
fn planted(wanted: &Wanted) -> ExitCode {
    use conspectus_core::planted::Bug;
    use conspectus_testkit::campaign::caught;
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = 0;
    for bug in Bug::ALL {
        match caught(*bug, wanted.seed, wanted.runs) {
            Some((runs, how)) => println!("{runs:>7}  {:<36} {how}", bug.name()),
            None => {
                missed += 1;
                println!(" missed  {:<36} in {} runs", bug.name(), wanted.runs);
            }
        }
    }
    match missed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

#[cfg(not(feature = "planted"))]
fn planted(_: &Wanted) -> ExitCode {
    eprintln!("bugs are planted with --features planted");
    ExitCode::from(2)
}
