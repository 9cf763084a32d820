//! Prints how well standing rules are found and kept. With `--all`, each miss and each wrong find.
#![expect(clippy::print_stdout, reason = "a program for people")]

use conspectus_judge::constraints::{
    Labelled, Survival, Tally, compint, is_found, labelled, measure, sessions, survive,
};
use conspectus_judge::sessions::shared;

fn main() -> anyhow::Result<()> {
    let all = std::env::args().any(|a| a == "--all");
    sample(all)?;
    let Some(shared) = shared() else {
        println!("\nshared data not found, COMPINT and sessions left out");
        return Ok(());
    };
    let constraints = compint(&shared)?;
    let found: Vec<_> = constraints.iter().filter(|c| is_found(c)).collect();
    println!(
        "\nCOMPINT: {} of {} constraints found",
        found.len(),
        constraints.len()
    );
    for missed in constraints.iter().filter(|c| !is_found(c)) {
        println!("  not found: {missed}");
    }
    println!(
        "\n| sessions | summary by | compactions | injected | found | verbatim after the tenth |"
    );
    println!("|--:|---|--:|--:|--:|--:|");
    let sessions = sessions(&shared, &constraints)?;
    for kind in ["tau-bench", "claude-code"] {
        for with_model in [true, false] {
            let mut survival = Survival::default();
            for session in sessions.iter().filter(|s| s.name.starts_with(kind)) {
                survive(session, with_model, &mut survival)?;
            }
            print_survival(kind, with_model, &survival, all);
        }
    }
    Ok(())
}

fn sample(all: bool) -> anyhow::Result<()> {
    let messages = labelled()?;
    println!(
        "| half | messages | with rules | rules | found | recall | finds | right | either way | wrong | wrong a message | precision |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for half in ["dev", "held_out", "fresh", "all"] {
        let mine = messages
            .iter()
            .filter(|m: &&Labelled| half == "all" || m.half == half);
        let t = measure(mine);
        print_tally(half, &t);
        if all && half != "all" {
            t.missed.iter().for_each(|m| println!("  missed: {m}"));
            t.wrong.iter().for_each(|m| println!("  wrong: {m}"));
        }
    }
    Ok(())
}

fn print_tally(half: &str, t: &Tally) {
    println!(
        "| {half} | {} | {} | {} | {} | {:.2} | {} | {} | {} | {} | {:.3} (strictly {:.3}) | {:.2} (strictly {:.2}) |",
        t.messages,
        t.with_rules,
        t.labelled,
        t.recalled,
        t.recall(),
        t.found,
        t.right,
        t.borderline,
        t.wrong.len(),
        t.wrong_per_message(false),
        t.wrong_per_message(true),
        t.precision(false),
        t.precision(true),
    );
}

fn print_survival(kind: &str, with_model: bool, s: &Survival, all: bool) {
    let by = if with_model {
        "a model that forgets"
    } else {
        "the digest"
    };
    println!(
        "| {} {kind} | {by} | {} | {} | {} | {} |",
        s.sessions, s.compactions, s.injected, s.found, s.survived
    );
    if all {
        println!(
            "  other rules: {}, sessions with fewer than ten compactions: {}",
            s.others, s.short
        );
        s.lost.iter().for_each(|l| println!("  {l}"));
    }
}
