//! The whole way: a conversation compacted by a model over HTTP, and untouched when that model fails.

use std::sync::Arc;

use conspectus::core::effect::{Failure, Route};
use conspectus::core::policy::{KeepOption, OnFailure, Options};
use conspectus::{
    Alone, CompactRequest, Compaction, Compactor, Control, Document, Models, OpenOptions, Outcome,
};
use conspectus_providers::TokioClock;
use conspectus_testkit::server::{HttpServer, Step};

use crate::api::{APIS, Api, Says, block_on, events, json_answer};

fn compacted(api: Api, server: &HttpServer, idle_ms: u64) -> Compaction {
    // Less than twice what the scripted usage says was read: otherwise the server would have cut it.
    let long = "turn the valve a little. ".repeat(20);
    let turns: Vec<String> = (0..12)
        .map(|n| {
            format!(
                r#"{{"role":"{}","content":"{n} {long}"}}"#,
                ["user", "assistant"][n % 2]
            )
        })
        .collect();
    let json = format!(
        r#"[{},{{"role":"user","content":"And now?"}}]"#,
        turns.join(",")
    );
    let document = Document::open(json.into_bytes(), &OpenOptions::default()).unwrap();
    let mut request = CompactRequest::command(Options {
        keep: Some(KeepOption::Messages(2)),
        on_failure: Some(OnFailure::Unchanged),
        max_retries: Some(0),
        ..Options::default()
    });
    request.manual.routes = vec![Route {
        model: Some("m".into()),
        replay: false,
        max_input: 100_000,
        max_output: 500,
        takes_schema: false,
    }];
    let mut endpoint = api.endpoint(server);
    endpoint.timeouts.idle_ms = idle_ms;
    let models = Models::new().with("m", (api.make)(&endpoint));
    let compactor = Arc::new(Compactor::new(models, TokioClock::new()));
    let conversation = &document.conversations()[0];
    block_on(compactor.compact(conversation, &request, &Alone, &Control::new())).unwrap()
}

#[test]
fn a_conversation_is_compacted() {
    for api in APIS {
        let server = HttpServer::start(move |_, _| api.answer(Says::ReasoningAndText, true));
        let compaction = compacted(api, &server, 10_000);
        assert_eq!(compaction.report.outcome, Outcome::Compacted);
        assert_eq!(compaction.summary(), Some("Tea — done."));
        assert!(server.asked()[0].body.contains("turn the valve"));
    }
}

#[test]
fn the_history_is_unchanged_whatever_the_server_does() {
    for api in APIS {
        let more = Step::Send((api.more)("Tea"));
        for (what, steps) in [
            ("stall", vec![events(), more.clone(), Step::Stall]),
            ("drop", vec![events(), more]),
            ("429", json_answer(429, "")),
            ("500", json_answer(500, "{}")),
            (
                "page",
                Step::answer(200, &[("content-type", "text/html")], "<html>"),
            ),
            ("blank", json_answer(200, "")),
            ("calls", api.answer(Says::ToolCall, true)),
            ("reasoning", api.answer(Says::ReasoningOnly, true)),
            ("length", api.answer(Says::CutOff, true)),
            (
                "repetition",
                vec![events(), Step::Repeat((api.more)("tea and tea "))],
            ),
        ] {
            let server = HttpServer::always(steps);
            let compaction = compacted(api, &server, 40);
            let report = &compaction.report;
            assert_eq!(report.outcome, Outcome::Failed, "{} {what}", api.name);
            assert!(
                !matches!(report.failure, None | Some(Failure::Broken { .. })),
                "{what}"
            );
            assert!(!compaction.is_change() && compaction.thread.records().is_empty());
            assert_eq!(server.asked().len(), 1, "{} {what}", api.name);
        }
    }
}
