//! The engine command of the cases' judge: reads one case on standard input and prints the trace of the engine.
//!
//! `judge.py --engine 'cargo run -q --release -p conspectus-judge --bin case-runner' --blind`

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use conspectus_judge::cases::{DIES, Json, die, run};

fn main() -> anyhow::Result<()> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    // A case in which a process dies has this program started again, as that process.
    if std::env::args().nth(1).as_deref() == Some(DIES) {
        return die(&input);
    }
    let case = Json::parse(&input).context("the input is not a case")?;
    let trace = serde_json::to_string(&run(&case)?)?;
    std::io::stdout().write_all(trace.as_bytes())?;
    Ok(())
}
