//! Compacts sessions by a real model over HTTP and prints everything: calls with sizes, times and verdicts, what the
//! model wrote, what was committed, and what code keeps beside it. Ends with 1 when a session does not come out smaller.
//!
//! `replay` asks for a normal turn first and then compacts the same request by replay, so that the server's own count of
//! cached tokens tells what replay saves; `anthropic` speaks Anthropic's API to the server.
//!
//! `real-model URL MODEL [schema] [replay] [anthropic] [tokens=3000] [output=500] [retries=1] FILE[#CONVERSATION]…`
#![expect(clippy::print_stdout, reason = "a program for people")]

use anyhow::Context as _;
use conspectus::core::record::Author;
use conspectus::wire::Target;
use conspectus::{Document, Format, OpenOptions, Reason};
use conspectus_judge::live::{Asked, Ran, Setup, end_to_end, replayed};

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, model, rest @ ..] = args.as_slice() else {
        anyhow::bail!(
            "usage: real-model URL MODEL [schema] [replay] [anthropic] [tokens=N] [output=N] FILE[#CONVERSATION]…"
        );
    };
    let mut setup = Setup::new(url, model);
    let mut tokens = 3_000;
    let mut by_replay = false;
    let mut sessions: Vec<&str> = Vec::new();
    for arg in rest {
        match arg.split_once('=') {
            _ if arg == "schema" => setup.takes_schema = true,
            _ if arg == "sections" => setup.takes_schema = false,
            _ if arg == "replay" => by_replay = true,
            _ if arg == "anthropic" => setup.anthropic = true,
            Some(("retries", n)) => setup.max_retries = n.parse()?,
            Some(("tokens", n)) => tokens = n.parse()?,
            Some(("output", n)) => {
                setup.max_output = n.parse()?;
                setup.max_summary_tokens = setup.max_output;
            }
            _ => sessions.push(arg.as_str()),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut bad = 0;
    for session in sessions {
        let (file, nth) = session.split_once('#').unwrap_or((session, "0"));
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {file}"))?;
        let document = Document::open(bytes, &OpenOptions::default())?;
        let conversations = document.conversations();
        let conversation = conversations
            .get(nth.parse::<usize>()?)
            .context("no such conversation")?;
        let name = file.rsplit('/').next().unwrap_or(file);
        println!("# {name} conversation {nth}\n");
        let ran = if by_replay {
            let chat = match document.format() {
                Format::OpenAi => None,
                _ => Some(document.convert(&[], Target::OpenAi)?),
            };
            let chat = chat.map(|bytes| Document::open(bytes, &OpenOptions::default()));
            let chat = chat.transpose()?;
            let nth = nth.parse::<usize>()?;
            let conversation = chat
                .as_ref()
                .map_or(conversation, |c| &c.conversations()[nth]);
            let replayed = runtime.block_on(replayed(conversation, tokens, &setup))?;
            println!("the turn before: {}", told(&replayed.turn));
            replayed.ran
        } else {
            runtime.block_on(end_to_end(conversation, tokens, &setup))?
        };
        print(&ran);
        bad += usize::from(!ran.is_good());
    }
    anyhow::ensure!(bad == 0, "{bad} sessions did not come out as they should");
    Ok(())
}

fn print(ran: &Ran) {
    for (at, asked) in ran.asked.iter().enumerate() {
        println!(
            "call {}{}: {}",
            at + 1,
            if asked.is_repair { " (again)" } else { "" },
            told(asked)
        );
    }
    let measured = ran.report.measured;
    println!(
        "{}: {} messages, {} tokens, then {:?}; folded {}",
        ran.report.outcome,
        ran.messages,
        measured.tokens_before,
        measured.tokens_after,
        measured.messages_removed
    );
    if let Some(failure) = &ran.report.failure {
        println!("failure: {failure}");
    }
    let reasons: Vec<String> = ran
        .report
        .reasons
        .iter()
        .map(|r| match r {
            Reason::Unfounded(n) => format!("unfounded {n}"),
            Reason::Overridden(n) => format!("overridden {n}"),
            other => other.as_str().to_owned(),
        })
        .collect();
    println!("reasons: {}", reasons.join(", "));
    let Some(record) = &ran.record else { return };
    if let Some(summary) = &record.summary {
        let by = match &summary.author {
            Author::Model(_) => "the model",
            Author::Digest => "the digest",
        };
        println!("\n## summary by {by}\n\n{}", summary.text);
    }
    println!("\n## beside it\n\n{}\n", record.durable);
}

fn told(asked: &Asked) -> String {
    let seconds = asked.took_ms / 1_000;
    match &asked.answer {
        Err(failure) => format!("{seconds} s, failed: {failure}"),
        Ok(reply) => {
            let usage = reply.usage.clone().unwrap_or_default();
            let verdict = asked
                .refused
                .map_or("accepted".into(), |why| format!("refused: {why}"));
            format!(
                "{seconds} s, {} tokens in ({} cached), {} out, {:?}, {verdict}\n<<<\n{}\n>>>",
                usage.input, usage.cache_read, usage.output, reply.finish, reply.text
            )
        }
    }
}
