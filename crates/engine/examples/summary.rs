//! Prints the summary that a file's conversation would get, without a model.
//!
//!     cargo run -p conspectus --example summary -- session.jsonl [TRIGGER_TOKENS]
#![expect(clippy::print_stdout, reason = "an example for people")]

use conspectus::core::policy::{Clause, TriggerOption};
use conspectus::{CompactRequest, Document, Embedded, OpenOptions, Options, compact};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file with a conversation")?;
    let tokens = arguments.next().map(|t| t.parse()).transpose()?;
    let trigger = match tokens {
        Some(_) => TriggerOption::Any(vec![Clause {
            tokens,
            ..Clause::default()
        }]),
        None => TriggerOption::Unset,
    };
    let options = Options {
        trigger,
        ..Options::default()
    };
    let document = Document::open(std::fs::read(file)?, &OpenOptions::default())?;
    for conversation in document.conversations().iter().take(1) {
        let result = compact(
            conversation,
            &CompactRequest::command(options.clone()),
            &mut Embedded::default(),
        )?;
        println!("{}: {:?}", result.report.outcome, result.report.measured);
        println!("{}", result.summary().unwrap_or("(no summary)"));
    }
    Ok(())
}
