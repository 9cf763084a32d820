//! Prints the random conversation of a seed: `cargo run -p conspectus-testkit --example show -- 7 anthropic`.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use conspectus_testkit::transcript::{Format, Knobs, Transcript};

fn main() {
    let mut args = std::env::args().skip(1);
    let seed = args.next().and_then(|s| s.parse().ok()).unwrap_or(0);
    let wanted = args.next().unwrap_or_default();
    let format = Format::ALL.into_iter().find(|f| f.name() == wanted);
    let format = format.unwrap_or(Format::OpenAi);
    let talk = Transcript::generate(seed, &Knobs::default());
    let nasties: Vec<_> = talk.nasties().iter().map(|n| n.name()).collect();
    println!("{}", nasties.join(", "));
    println!("{}", String::from_utf8_lossy(&talk.render(format).body()));
}
