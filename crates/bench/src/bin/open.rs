//! What opening a file costs in time and memory.
//!
//!     open make openai|claude MESSAGES MEAN_BYTES FILE    writes a made-up conversation
//!     open read FILE                                      opens it, fills a thread, prints time and peak memory
//!
//! Time is the processor's, so that what else the machine does matters less.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use conspectus::core::count::Estimator;
use conspectus::{Document, OpenOptions, Policy, Sources, Thread};
use conspectus_bench::{Shape, claude_code, openai};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", format, messages, mean_bytes, file] => {
            make(format, messages.parse()?, mean_bytes.parse()?, file)
        }
        ["read", file] => read(file),
        _ => Err("open make openai|claude MESSAGES MEAN_BYTES FILE, or open read FILE".into()),
    }
}

fn make(format: &str, messages: usize, mean_bytes: usize, file: &str) -> Done {
    let shape = Shape {
        messages,
        mean_bytes,
    };
    let text = match format {
        "openai" => openai(shape),
        _ => claude_code(shape),
    };
    Ok(std::fs::write(file, text)?)
}

fn read(file: &str) -> Done {
    let bytes = std::fs::read(file)?;
    let size = bytes.len();
    let read = spent_ms()?;
    let document = Document::open(bytes, &OpenOptions::default())?;
    let opened = spent_ms()?;
    let peak_open = peak_bytes()?;
    let conversation = &document.conversations()[0];
    let src = Sources {
        texts: conversation,
        counter: &Estimator,
    };
    let resolved = Policy::resolve(&Default::default(), &Default::default())?;
    let mut thread = Thread::new(std::sync::Arc::new(resolved.policy));
    thread.append(conversation.views().iter().cloned(), src);
    let filled = spent_ms()?;
    let peak = peak_bytes()?;
    println!(
        "{:?}: {:.1} MB, {} messages; read {:.0} ms, open {:.0} ms, thread {:.0} ms; peak {:.2} x the file after open, {:.2} x with the thread",
        document.format(),
        size as f64 / 1e6,
        thread.branch().len(),
        read,
        opened - read,
        filled - opened,
        peak_open as f64 / size as f64,
        peak as f64 / size as f64,
    );
    Ok(())
}

/// The processor time of this thread so far, as Linux tells it.
fn spent_ms() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanos: u64 = stat.split(' ').next().unwrap_or("0").parse()?;
    Ok(nanos as f64 / 1e6)
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
