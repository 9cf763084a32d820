//! A conversation that is sent to its own model once more: what goes over the wire, and what comes of the answer.

use std::sync::Arc;

use conspectus::core::effect::{Failure, Refusal, Route};
use conspectus::core::policy::{
    KeepOption, OnFailure, Options, PrefixCache, Prices, Rates, Strategy,
};
use conspectus::core::way::Why;
use conspectus::wire::replay::Ask;
use conspectus::{
    CompactRequest, Compaction, Compactor, Control, Document, ModelProfile, Models, OpenOptions,
    Outcome, Reason, Replaying,
};
use conspectus_providers::TokioClock;
use conspectus_testkit::server::HttpServer;
use serde_json::Value;

use crate::api::{APIS, Api, Says, block_on};

/// A request of the API with tools and markers, as its client sent it last.
fn document(api: Api) -> Document {
    let long = "turn the valve a little. ".repeat(20);
    let turns: Vec<String> = (0..12)
        .map(|n| {
            let role = ["user", "assistant"][n % 2];
            format!(r#"{{"role": "{role}", "content": "{n} {long}", "x":1.50}}"#)
        })
        .collect();
    let head = match api.name {
        "openai" => {
            r#""tools": [{"type":"function","function":{"name":"f"}}], "tool_choice":"auto", "stop":["x"]"#
        }
        _ => {
            r#""thinking":{"type":"enabled","budget_tokens":2000}, "max_tokens":4000, "tools":[{"name":"f","input_schema":{"type":"object"}}], "system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]"#
        }
    };
    let last = r#"{"role":"user","content":[{"type":"text","text":"And now?"}]}"#;
    let json = format!(
        r#"{{"model":"m-1", {head}, "messages": [ {}, {last} ], "metadata":{{}}}}"#,
        turns.join(", ")
    );
    Document::open(json.into_bytes(), &OpenOptions::default()).unwrap()
}

fn profile() -> ModelProfile {
    let rates = Rates {
        input: 4_000_000,
        output: 20_000_000,
        cache_read: 400_000,
        cache_write: 5_000_000,
    };
    ModelProfile {
        name: Some("run".into()),
        window: Some(100_000),
        prices: Some(Prices::flat(rates)),
        cache: Some(PrefixCache {
            ttl_ms: 300_000,
            minimum_tokens: 0,
        }),
        ..ModelProfile::default()
    }
}

fn compacted(api: Api, server: &HttpServer, document: &Document, strategy: Strategy) -> Compaction {
    let mut request = CompactRequest::command(Options {
        keep: Some(KeepOption::Messages(2)),
        on_failure: Some(OnFailure::Unchanged),
        max_retries: Some(0),
        strategy: Some(strategy),
        ..Options::default()
    });
    request.model = profile();
    request.manual.routes = vec![Route {
        model: Some("run".into()),
        replay: true,
        max_input: 90_000,
        max_output: 500,
        takes_schema: false,
    }];
    let model = (api.make)(&api.endpoint(server));
    let compactor = Arc::new(Compactor::new(
        Models::new().with("run", model),
        TokioClock::new(),
    ));
    let around = Replaying::new(document, 0);
    let conversation = &document.conversations()[0];
    block_on(compactor.compact(conversation, &request, &around, &Control::new())).unwrap()
}

#[test]
fn the_request_is_the_conversation_but_for_model_cap_and_streaming() {
    for api in APIS {
        let server = HttpServer::start(move |_, _| api.answer(Says::ReasoningAndText, true));
        let document = document(api);
        let compaction = compacted(api, &server, &document, Strategy::Replay);
        assert_eq!(
            compaction.report.outcome,
            Outcome::Compacted,
            "{}",
            api.name
        );
        let sent = server.asked().remove(0).body;
        // Everything up to the end of the last message.
        let normal = std::str::from_utf8(document.bytes()).unwrap();
        let list = normal.find("\"messages\"").unwrap();
        let end = normal.rfind("\"}]} ]").unwrap() + 4;
        assert!(sent.contains(&normal[list..end]), "{sent}");
        let tools = normal.find("\"tools\"").unwrap();
        let tools = &normal[tools..normal[tools..].find("}]").unwrap() + tools + 2];
        assert!(sent.contains(tools), "{sent}");
        // The rest is what the wire makes of it, but for the fields of the provider.
        let json: Value = serde_json::from_str(&sent).unwrap();
        let last = &json["messages"].as_array().unwrap().last().unwrap()["content"];
        let instruction = last.as_str().unwrap().to_owned();
        let pieces: Vec<_> = document.conversations()[0]
            .views()
            .iter()
            .map(|view| conspectus::core::projection::Piece::Keep(view.handle))
            .collect();
        let body = document
            .replay(0, &pieces, &Ask::new(&instruction, 500))
            .unwrap();
        let body = String::from_utf8(body).unwrap();
        let (stream, cap) = match api.name {
            "openai" => (
                r#","stream":true,"stream_options":{"include_usage":true}}"#,
                r#""max_tokens":500"#,
            ),
            _ => (r#","stream":true}"#, r#""max_tokens":2500"#),
        };
        assert_eq!(sent, format!("{}{stream}", &body[..body.len() - 1]));
        assert!(sent.contains(cap), "{sent}");
        assert_eq!(
            sent.contains(r#""tool_choice":"none""#),
            api.name == "openai"
        );
        // 1,280 of 1,536 tokens came from the cache, 128 went into it, 24 were written.
        let micros =
            (128 * 4_000_000 + 1_280 * 400_000 + 128 * 5_000_000 + 24 * 20_000_000) / 1_000_000;
        assert_eq!(compaction.report.measured.spent_micros, micros);
    }
}

#[test]
fn a_reply_that_calls_a_tool_is_no_summary() {
    for api in APIS {
        let server = HttpServer::start(move |_, _| api.answer(Says::ToolCall, true));
        let compaction = compacted(api, &server, &document(api), Strategy::Replay);
        let report = &compaction.report;
        assert_eq!(report.outcome, Outcome::Failed);
        let refusal = Some(Failure::NotASummary(Refusal::ToolCall));
        assert_eq!(report.failure, refusal, "{}", api.name);
        assert!(!compaction.is_change());
    }
}

/// One that speaks another API, and a file that is no request, get a transcript, and it is said why.
#[test]
fn what_cannot_be_replayed_is_told() {
    let [openai, anthropic] = APIS;
    let log = || {
        let long = "turn the valve a little. ".repeat(20);
        let line = |n: usize| {
            let kind = ["user", "assistant"][n % 2];
            let parent = n
                .checked_sub(1)
                .map_or("null".to_owned(), |p| format!("\"u{p}\""));
            format!(
                r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"{kind}","content":[{{"type":"text","text":"{n} {long}"}}]}}}}"#
            )
        };
        let lines: Vec<_> = (0..13).map(line).collect();
        Document::open(lines.join("\n").into_bytes(), &OpenOptions::default()).unwrap()
    };
    for (api, document) in [(openai, document(anthropic)), (anthropic, log())] {
        let server = HttpServer::start(move |_, _| api.answer(Says::Text, true));
        let compaction = compacted(api, &server, &document, Strategy::Auto);
        let report = &compaction.report;
        assert_eq!(report.outcome, Outcome::Compacted);
        let why = Reason::Transcribed(Why::NotPossible);
        assert!(report.reasons.contains(&why), "{:?}", report.reasons);
        let body = &server.asked()[0].body;
        assert!(body.contains("turn the valve") && !body.contains("The work stops here"));
    }
}
