//! Compacts a conversation with a model over HTTP and prints the summary.
//!
//! `cargo run -p conspectus-providers --example compact -- BASE_URL MODEL FILE [MAX_INPUT [MAX_OUTPUT]]`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;

use conspectus::core::effect::{Event, Route};
use conspectus::core::policy::KeepOption;
use conspectus::{
    ChatModel, CompactRequest, Compactor, Control, Document, Models, OpenOptions, Options,
    Surroundings,
};
use conspectus_providers::{Endpoint, OpenAiChat, TokioClock};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [base_url, model, file, rest @ ..] = args.as_slice() else {
        return Err("usage: compact BASE_URL MODEL FILE [MAX_INPUT [MAX_OUTPUT]]".into());
    };
    let max_input = rest.first().map_or(Ok(4_000), |n| n.parse())?;
    let max_output = rest.get(1).map_or(Ok(300), |n| n.parse())?;

    let model = OpenAiChat::new(&Endpoint::new(base_url, model))?;
    let models = Models::new().with_run::<String>(Ok(
        std::sync::Arc::new(model) as std::sync::Arc<dyn ChatModel>
    ));
    let compactor = Compactor::new(models, TokioClock::new());

    let document = Document::open(std::fs::read(file)?, &OpenOptions::default())?;
    let conversation = document
        .conversations()
        .first()
        .ok_or("the file is empty")?;
    let mut request = CompactRequest::command(Options {
        keep: Some(KeepOption::Messages(4)),
        max_summary_tokens: Some(300),
        // A small machine reads a thousand tokens in minutes.
        call_timeout_ms: Some(600_000),
        deadline_ms: Some(1_200_000),
        ..Options::default()
    });
    request.manual.routes = vec![Route {
        model: None,
        replay: false,
        max_input,
        max_output,
        takes_schema: false,
    }];

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let control = Control::new();
    let run = compactor.compact(conversation, &request, &Listener, &control);
    let compaction = runtime.block_on(run)?;
    let report = &compaction.report;
    let measured = report.measured;
    println!(
        "{}: {} tokens, then {:?}",
        report.outcome, measured.tokens_before, measured.tokens_after
    );
    if let Some(failure) = &report.failure {
        println!("the model: {failure}");
    }
    println!("{}", compaction.summary().unwrap_or("no summary"));
    Ok(())
}

struct Listener;

impl Surroundings for Listener {
    fn emit(&self, event: &Event) {
        match event {
            Event::Progress { done, of, .. } => println!("part {done} of {of}"),
            Event::ModelFailed { failure, .. } => println!("passed over: {failure}"),
            _ => {}
        }
    }
}
