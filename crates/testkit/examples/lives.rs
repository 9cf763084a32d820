//! Plays lives in which things go wrong: `cargo run -p conspectus-testkit --example lives -- 0 1000`.
//! Prints what happened how often, and each failing life made small (the first of each invariant).
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::collections::BTreeMap;

use conspectus_testkit::simulate::conversation::{Life, Story, play, shrink};
use conspectus_testkit::transcript::Knobs;

fn main() {
    let mut args = std::env::args().skip(1).map(|s| s.parse().unwrap_or(0));
    let (from, to) = (args.next().unwrap_or(0), args.next().unwrap_or(200));
    let knobs = Knobs {
        max_turns: 15,
        ..Knobs::default()
    };
    let mut story = Story::default();
    let mut failed: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for seed in from..to {
        let life = Life::new(seed, &knobs);
        match play(&life) {
            Ok(one) => story.add(&one),
            Err(fault) => {
                let told = [" (strict parity)", ""][usize::from(!fault.parity)];
                let told = if fault.is_the_hosts() {
                    " (the host's)"
                } else {
                    told
                };
                let number = [fault.number(), told].concat();
                let entry = failed.entry(number).or_insert((0, seed));
                entry.0 += 1;
                println!("seed {seed}, step {}: {}", fault.step, fault.what);
            }
        }
    }
    println!("{story}");
    for (number, (times, seed)) in &failed {
        let small = shrink(&Life::new(*seed, &knobs));
        println!("invariant {number}: {times} lives, first seed {seed}, made small:");
        println!(
            "{} messages, {}",
            small.talk.messages.len(),
            small.format.name()
        );
        if let Err(fault) = play(&small) {
            println!("{fault}");
        }
    }
}
