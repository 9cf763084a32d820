//! What stored threads cost when many write, when there are many, when one is long, and when a service runs for long.
//!
//! ```text
//! load [short] [appends|threads|long|soak]… [--minutes N] [--service PROGRAM]
//! ```
//!
//! Prints tables in markdown. SQLite writes into a temporary folder; PostgreSQL is where `CONSPECTUS_POSTGRES` says (words as
//! libpq takes them, without a database), in a database of its own, and left out without it. The soak starts `PROGRAM`, which is
//! `conspectus` with its feature `serve`. `short` does a little of everything in seconds: whether it works, not what it costs.
//! Ends with an error when something does not come out as it must, or the memory of the service is not flat.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it measures and tells"
)]

mod appends;
mod figures;
mod flat;
mod long;
mod many;
mod place;
mod soak;
mod talk;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};

/// How much is done.
struct Sizes {
    /// Appends, over all writers.
    appends: usize,
    /// Threads in one store.
    threads: usize,
    /// Threads that are opened and compacted of these.
    sample: usize,
    /// Messages of the long thread.
    messages: usize,
    /// How often it is opened.
    opened: usize,
    /// How long the service runs.
    soak: Duration,
    /// How often its memory is looked at.
    tick: Duration,
    /// What its memory may grow by in the second half.
    allowed: flat::Allowed,
}

const FULL: Sizes = Sizes {
    appends: 4_000,
    threads: 10_000,
    sample: 200,
    messages: 100_000,
    opened: 50,
    soak: Duration::from_secs(20 * 60),
    tick: Duration::from_secs(2),
    allowed: flat::WARM,
};

const SHORT: Sizes = Sizes {
    appends: 80,
    threads: 100,
    sample: 10,
    messages: 3_000,
    opened: 5,
    soak: Duration::from_secs(6),
    tick: Duration::from_millis(200),
    allowed: flat::COLD,
};

const PARTS: [&str; 4] = ["appends", "threads", "long", "soak"];

fn main() -> anyhow::Result<()> {
    let mut sizes = FULL;
    let mut parts: Vec<String> = Vec::new();
    let mut service = PathBuf::from("conspectus");
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "short" => sizes = SHORT,
            "--minutes" => {
                let minutes: f64 = words.next().context("how many minutes?")?.parse()?;
                sizes.soak = Duration::from_secs_f64(minutes * 60.0);
            }
            "--service" => service = words.next().context("which program?")?.into(),
            part if PARTS.contains(&part) => parts.push(part.to_owned()),
            other => bail!("{other:?} is none of {PARTS:?}, short, --minutes N, --service PROGRAM"),
        }
    }
    let asked = |part: &str| parts.is_empty() || parts.iter().any(|p| p == part);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        if asked("appends") {
            appends::run(&sizes).await?;
        }
        if asked("threads") {
            many::run(&sizes).await?;
        }
        if asked("long") {
            long::run(&sizes).await?;
        }
        anyhow::Ok(())
    })?;
    if asked("soak") {
        soak::run(&sizes, &service)?;
    }
    Ok(())
}
