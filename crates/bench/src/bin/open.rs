//! What opening a file costs in time and memory.
//!
//!     open make openai|claude MEGABYTES FILE    writes a made-up conversation
//!     open read FILE                            opens it, fills a thread, prints milliseconds and peak memory
#![expect(clippy::print_stdout, reason = "that is what it is for")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::time::Instant;

use conspectus::core::count::Estimator;
use conspectus::{Document, OpenOptions, Policy, Sources, Thread};
use conspectus_bench::{Shape, claude_code, openai};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", format, megabytes, file] => make(format, megabytes.parse()?, file),
        ["read", file] => read(file),
        _ => Err("open make openai|claude MEGABYTES FILE, or open read FILE".into()),
    }
}

fn make(format: &str, megabytes: usize, file: &str) -> Done {
    // Bytes a message takes in the file, its members included.
    let (text, bytes): (fn(Shape) -> String, usize) = match format {
        "openai" => (openai, 800),
        _ => (claude_code, 1_480),
    };
    let messages = megabytes * 1_000_000 / bytes;
    Ok(std::fs::write(
        file,
        text(Shape {
            messages,
            mean_bytes: 600,
        }),
    )?)
}

fn read(file: &str) -> Done {
    let start = Instant::now();
    let bytes = std::fs::read(file)?;
    let size = bytes.len();
    let read = start.elapsed();
    let document = Document::open(bytes, &OpenOptions::default())?;
    let opened = start.elapsed();
    let peak_open = peak_bytes()?;
    let conversation = &document.conversations()[0];
    let src = Sources {
        texts: conversation,
        counter: &Estimator,
    };
    let resolved = Policy::resolve(&Default::default(), &Default::default())?;
    let mut thread = Thread::new(std::sync::Arc::new(resolved.policy));
    thread.append(conversation.views().iter().cloned(), src);
    let filled = start.elapsed();
    let peak = peak_bytes()?;
    println!(
        "{:?}: {:.1} MB, {} messages; read {:.0} ms, open {:.0} ms, thread {:.0} ms; peak {:.2} x the file after open, {:.2} x with the thread",
        document.format(),
        size as f64 / 1e6,
        thread.branch().len(),
        read.as_secs_f64() * 1e3,
        (opened - read).as_secs_f64() * 1e3,
        (filled - opened).as_secs_f64() * 1e3,
        peak_open as f64 / size as f64,
        peak as f64 / size as f64,
    );
    Ok(())
}

/// The most memory that this process ever had resident, as Linux tells it.
fn peak_bytes() -> Result<usize, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .ok_or("no VmHWM here")?;
    Ok(kilobytes.trim().parse::<usize>()? * 1024)
}
