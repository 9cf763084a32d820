//! Prints what every real session of the shared data comes to, in every preset. With a folder as its
//! argument, the sessions below that.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people"
)]

use std::path::PathBuf;

use anyhow::Context as _;
use conspectus_judge::sessions;

fn main() -> anyhow::Result<()> {
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = named.or_else(|| sessions::shared().map(|s| s.join("data")));
    let folder = folder.context("no sessions found, name a folder or set CONSPECTUS_SHARED")?;
    let (tallies, unread) = sessions::all(&folder)?;
    println!(
        "| format | files | conversations | messages | tried | outcomes | tokens after / before | invalid | not smaller |"
    );
    println!("|---|--:|--:|--:|--:|---|--:|--:|--:|");
    let mut bad = 0;
    for (format, t) in &tallies {
        let outcomes: Vec<String> = t.outcomes.iter().map(|(k, n)| format!("{k} {n}")).collect();
        let share = 100.0 * t.tokens.1 as f64 / t.tokens.0.max(1) as f64;
        println!(
            "| {format} | {} | {} | {} | {} | {} | {share:.1}% | {} | {} |",
            t.files.len(),
            t.conversations,
            t.messages,
            t.tried,
            outcomes.join(", "),
            t.invalid.len(),
            t.larger.len(),
        );
        for line in &t.unchanged {
            eprintln!("unchanged: {line}");
        }
        bad += t.invalid.len() + t.larger.len();
        for line in t.invalid.iter().chain(&t.larger).take(20) {
            eprintln!("{line}");
        }
    }
    println!("\n{} files of formats that are not read yet", unread.len());
    for line in &unread {
        eprintln!("not read: {line}");
    }
    anyhow::ensure!(bad == 0, "{bad} results are invalid or not smaller");
    Ok(())
}
