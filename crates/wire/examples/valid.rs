//! Judges requests by the strict validators, for `scripts/proxy-sdk-test.sh` and `scripts/proxy-clients.sh`: lines of
//! `{"path": …, "raw": …}`, where the raw body is a string, on standard input. Says what is wrong, and fails if anything is.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::io::BufRead as _;

use conspectus_wire::{Format, valid};
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut checked, mut wrong) = (0, 0);
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line: Value = serde_json::from_str(&line?)?;
        let (Some(path), Some(raw)) = (line["path"].as_str(), line["raw"].as_str()) else {
            return Err(format!("line {}: no path or no raw", number + 1).into());
        };
        let Some(format) = format(path) else { continue };
        checked += 1;
        for fault in valid::check(format, raw.as_bytes()) {
            wrong += 1;
            println!("request {} to {path}: {fault}", number + 1);
        }
    }
    println!("{checked} requests checked, {wrong} rules broken");
    if checked == 0 || wrong > 0 {
        return Err("the requests are not valid".into());
    }
    Ok(())
}

/// What the bodies of a path are.
fn format(path: &str) -> Option<Format> {
    [
        ("/chat/completions", Format::OpenAi),
        ("/responses", Format::Responses),
        ("/messages", Format::Anthropic),
    ]
    .into_iter()
    .find_map(|(end, format)| path.ends_with(end).then_some(format))
}
