//! Models of agents: what is sent, and what a streamed or whole reply with tool calls comes to.

use std::sync::Mutex;

use conspectus::core::effect::{Failure, Finish};
use conspectus::threads::Json;
use conspectus::{AgentModel, Delta, ToolSpec, Turn, TurnRequest};
use conspectus_providers::{AnthropicMessages, Endpoint, OpenAiChat, Proxy};
use conspectus_testkit::server::{HttpServer, Step};
use serde_json::{Value, json};

use crate::api::block_on;

const OPENAI: &str = concat!(
    "data: {\"model\":\"m-1-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I \",\"reasoning_content\":\"hm\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"look.\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\": 1}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":15,\"completion_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n",
    "data: [DONE]\n\n",
);

const ANTHROPIC: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1-x\",\"content\":[],\"usage\":{\"input_tokens\":7,\"cache_read_input_tokens\":8}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"sig\"}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"I \"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"look.\"}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{}}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"at\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\": 1}\"}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"look\",\"input\":{}}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":4}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

const OPENAI_WHOLE: &str = r#"{"model":"m-1-x","choices":[{"message":{"content":"I look.","tool_calls":[
    {"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\": 1}"}},
    {"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},
    "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":15,"completion_tokens":4}}"#;
const ANTHROPIC_WHOLE: &str = r#"{"model":"m-1-x","content":[{"type":"text","text":"I look."},
    {"type":"tool_use","id":"c1","name":"look","input":{"at": 1}},
    {"type":"tool_use","id":"c2","name":"look","input":{}}],
    "stop_reason":"tool_use","usage":{"input_tokens":15,"output_tokens":4}}"#;

fn request() -> TurnRequest {
    let messages = [
        json!({"type": "system", "content": "Be brief."}),
        json!({"type": "human", "content": "What is it?", "id": "h1"}),
    ];
    let tool = ToolSpec {
        name: "look".into(),
        description: "Looks.".into(),
        parameters: json!({"type": "object", "properties": {"at": {"type": "integer"}}}),
    };
    TurnRequest {
        messages: messages.iter().map(Json::from).collect(),
        tools: [tool].into(),
        max_output_tokens: Some(300),
        timeout_ms: 60_000,
    }
}

/// What is sent, what comes of it, and its pieces.
fn ask(
    is_openai: bool,
    stream: bool,
    answer: &'static str,
) -> (Value, Result<Turn, Failure>, Vec<Delta>) {
    let kind = if stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    let server =
        HttpServer::start(move |_, _| Step::answer(200, &[("content-type", kind)], answer));
    let mut endpoint = Endpoint::new(server.url(), "m-1");
    endpoint.stream = stream;
    endpoint.proxy = Proxy::None;
    let model: Box<dyn AgentModel> = match is_openai {
        true => Box::new(OpenAiChat::new(&endpoint).expect("made")),
        false => Box::new(AnthropicMessages::new(&endpoint).expect("made")),
    };
    let deltas = Mutex::new(Vec::new());
    let request = request();
    let turn = block_on(async {
        model
            .turn(&request, &|delta| {
                deltas.lock().expect("unpoisoned").push(delta)
            })
            .await
    });
    let sent = serde_json::from_str(&server.asked().remove(0).body).expect("JSON");
    (sent, turn, deltas.into_inner().expect("unpoisoned"))
}

fn check(turn: &Turn) {
    let calls: Vec<(&str, &str)> = turn.calls.iter().map(|c| (&*c.id, &*c.name)).collect();
    assert_eq!(
        (&*turn.text, calls),
        ("I look.", vec![("c1", "look"), ("c2", "look")])
    );
    assert_eq!(turn.calls[0].parsed().expect("an object")["at"], 1);
    assert_eq!(turn.calls[1].parsed().expect("an object").len(), 0);
    let usage = turn.usage.as_ref().expect("figures");
    assert_eq!(
        (usage.input, usage.output, turn.finish),
        (15, 4, Finish::ToolCalls)
    );
    assert_eq!(turn.model.as_deref(), Some("m-1-x"));
}

#[test]
fn openai_streams_calls_in_pieces() {
    let (sent, turn, deltas) = ask(true, true, OPENAI);
    check(&turn.expect("a reply"));
    let texts: Vec<Delta> = deltas
        .iter()
        .filter(|d| !matches!(d, Delta::Call { .. }))
        .cloned()
        .collect();
    assert_eq!(
        texts,
        [
            Delta::Text("I ".into()),
            Delta::Reasoning("hm".into()),
            Delta::Text("look.".into())
        ]
    );
    assert_eq!(deltas.len(), 6);
    assert_eq!(
        sent,
        json!({
            "model": "m-1", "max_tokens": 300, "stream": true, "stream_options": {"include_usage": true},
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is it?"}],
            "tools": [{"type": "function", "function": {
                "name": "look", "description": "Looks.",
                "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}},
            }}],
        })
    );
    check(&ask(true, false, OPENAI_WHOLE).1.expect("a reply"));
}

#[test]
fn anthropic_streams_calls_and_signed_reasoning() {
    let (sent, turn, deltas) = ask(false, true, ANTHROPIC);
    let turn = turn.expect("a reply");
    check(&turn);
    assert_eq!(
        turn.blocks,
        [json!({"type": "thinking", "thinking": "hm", "signature": "sig"})]
    );
    let is_first = |delta: &Delta| matches!(delta, Delta::Call { index: 0, .. });
    assert_eq!(deltas.iter().filter(|d| is_first(d)).count(), 3);
    let marked = json!({"type": "ephemeral"});
    assert_eq!(
        sent,
        json!({
            "model": "m-1", "max_tokens": 300, "stream": true,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": marked}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "What is it?", "cache_control": marked},
            ]}],
            "tools": [{
                "name": "look", "description": "Looks.",
                "input_schema": {"type": "object", "properties": {"at": {"type": "integer"}}},
            }],
        })
    );
    check(&ask(false, false, ANTHROPIC_WHOLE).1.expect("a reply"));
}

#[test]
fn a_torn_stream_and_an_overflow_are_failures() {
    let torn = OPENAI
        .split("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish")
        .next()
        .expect("a start");
    let (_, turn, deltas) = ask(true, true, torn);
    assert!(matches!(turn, Err(Failure::Unavailable { .. })), "{turn:?}");
    assert!(!deltas.is_empty());
    let error = r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens."}}"#;
    let (_, turn, _) = ask(true, false, error);
    assert!(turn.expect_err("refused").is_context_overflow());
}
