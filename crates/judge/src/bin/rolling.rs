//! Ten chained compactions by a real model, once with `rolling: rewrite` and once with `segments`: what of the first
//! half of the rounds is still in the summary?
//!
//! `rolling URL MODEL [schema] [rounds=10] [round=1500] [output=300] [cap=800] [rewrite|segments] FILE[#CONVERSATION]…`
#![expect(clippy::print_stdout, reason = "a program for people")]

use anyhow::Context as _;
use conspectus::core::policy::Rolling;
use conspectus::{Document, OpenOptions};
use conspectus_judge::live::{Rolled, Setup, roll};

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, model, rest @ ..] = args.as_slice() else {
        anyhow::bail!(
            "usage: rolling URL MODEL [schema] [rounds=N] [round=TOKENS] [output=N] [cap=N] FILE[#CONVERSATION]…"
        );
    };
    let mut setup = Setup::new(url, model);
    (setup.max_output, setup.max_summary_tokens) = (300, 800);
    let (mut rounds, mut round) = (10, 1_500);
    let mut ways = vec![Rolling::Rewrite, Rolling::Segments];
    let mut sessions: Vec<&str> = Vec::new();
    for arg in rest {
        match arg.split_once('=') {
            _ if arg == "schema" => setup.takes_schema = true,
            _ if arg == "sections" => setup.takes_schema = false,
            _ if arg == "rewrite" => ways = vec![Rolling::Rewrite],
            _ if arg == "segments" => ways = vec![Rolling::Segments],
            Some(("retries", n)) => setup.max_retries = n.parse()?,
            Some(("rounds", n)) => rounds = n.parse()?,
            Some(("round", n)) => round = n.parse()?,
            Some(("output", n)) => setup.max_output = n.parse()?,
            Some(("cap", n)) => setup.max_summary_tokens = n.parse()?,
            _ => sessions.push(arg.as_str()),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for session in sessions {
        let (file, nth) = session.split_once('#').unwrap_or((session, "0"));
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {file}"))?;
        let document = Document::open(bytes, &OpenOptions::default())?;
        let conversations = document.conversations();
        let conversation = conversations
            .get(nth.parse::<usize>()?)
            .context("no such conversation")?;
        for way in &ways {
            setup.rolling = *way;
            let rolled = runtime.block_on(roll(conversation, rounds, round, &setup))?;
            println!(
                "# {} {nth}, {way:?}\n",
                file.rsplit('/').next().unwrap_or(file)
            );
            print(&rolled);
        }
    }
    Ok(())
}

fn print(rolled: &Rolled) {
    println!(
        "| round | outcome | calls | refused | seconds | summary tokens | early names |\n|--:|---|--:|--:|--:|--:|--:|"
    );
    for (at, r) in rolled.rounds.iter().enumerate() {
        let by = if r.by_model { " by the model" } else { "" };
        println!(
            "| {} | {}{by} | {} | {} | {} | {} | {} of {} |",
            at + 1,
            r.outcome,
            r.calls,
            r.refused,
            r.took_ms / 1_000,
            r.summary_tokens,
            r.early.0,
            r.early.1
        );
    }
    let told = |(n, of): (usize, usize)| format!("{n} of {of}");
    println!(
        "\nkey names of the first half: {}; needed after the last round: {}; names of later rounds: {}\n\n{}\n",
        told(rolled.key),
        told(rolled.needed),
        told(rolled.late),
        rolled.summary
    );
}
