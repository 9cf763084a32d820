//! A small MCP server over standard input and output, for tests.
//!
//! `--log FILE`: a line for each start. `--broken`: it complains and ends. `--silent`: it never answers.

mod answers;

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

use answers::{Answer, answer};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if let Some(at) = args.iter().position(|arg| arg == "--log") {
        let mut log = std::fs::OpenOptions::new();
        let log = log.append(true).create(true).open(&args[at + 1]);
        let _ = log.and_then(|mut log| writeln!(log, "{}", std::process::id()));
    }
    if has("--broken") {
        let _ = writeln!(std::io::stderr(), "no licence found\n");
        return ExitCode::from(3);
    }
    for line in stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str(&line) else {
            continue;
        };
        if has("--silent") {
            continue;
        }
        match answer(&message) {
            Answer::Say(said) => {
                let mut out = stdout().lock();
                if writeln!(out, "{said}").and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
            Answer::Nothing => {}
            Answer::Silence => std::thread::sleep(Duration::from_secs(30)),
            Answer::Death => return ExitCode::from(9),
        }
    }
    ExitCode::SUCCESS
}
