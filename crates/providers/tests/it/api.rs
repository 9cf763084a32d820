//! The APIs, as the suite sees them: how one says a reply.

use std::future::Future;
use std::sync::Arc;

use conspectus::core::effect::{Failure, Reply};
use conspectus::{ChatModel, Meter, ModelCall, Prompt};
use conspectus_providers::{
    AnthropicMessages, BuildError, Endpoint, Key, OpenAiChat, Proxy, Secret,
};
use conspectus_testkit::server::{HttpServer, Step};
use serde_json::{Value, json};

/// The key that every call carries; it may stand nowhere else.
pub(crate) const KEY: &str = "sk-made-up-0123456789";

/// What a model says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Says {
    Text,
    CutOff,
    ToolCall,
    ReasoningAndText,
    ReasoningOnly,
    Refusal,
}

/// One provider.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    pub(crate) name: &'static str,
    pub(crate) make: fn(&Endpoint) -> Result<Arc<dyn ChatModel>, BuildError>,
    /// The reply in one document.
    pub(crate) whole: fn(Says) -> Value,
    /// The reply as a stream.
    pub(crate) stream: fn(Says) -> Vec<String>,
    /// An event that goes on for ever.
    pub(crate) more: fn(&str) -> String,
    /// An error within a stream, by its type.
    pub(crate) error: fn(&str, &str) -> String,
}

pub(crate) const APIS: [Api; 2] = [
    Api {
        name: "openai",
        make: |endpoint| Ok(Arc::new(OpenAiChat::new(endpoint)?)),
        whole: openai_whole,
        stream: openai_stream,
        more: |text| data(&json!({"choices": [{"index": 0, "delta": {"content": text}}]})),
        error: |kind, message| data(&json!({"error": {"type": kind, "message": message}})),
    },
    Api {
        name: "anthropic",
        make: |endpoint| Ok(Arc::new(AnthropicMessages::new(endpoint)?)),
        whole: anthropic_whole,
        stream: anthropic_stream,
        more: |text| {
            event(
                "content_block_delta",
                json!({"index": 0, "delta": {"type": "text_delta", "text": text}}),
            )
        },
        error: |kind, message| {
            event(
                "error",
                json!({"error": {"type": kind, "message": message}}),
            )
        },
    },
];

impl Api {
    /// A model at the server, with a key.
    pub(crate) fn endpoint(self, server: &HttpServer) -> Endpoint {
        let base = match self.name {
            "openai" => format!("{}/v1", server.url()),
            _ => server.url(),
        };
        let mut endpoint = Endpoint::new(base, "m-1");
        endpoint.key = Key::Given(Secret::new(KEY));
        endpoint.proxy = Proxy::None;
        endpoint
    }

    /// The answer of a server that says this.
    pub(crate) fn answer(self, says: Says, stream: bool) -> Vec<Step> {
        match stream {
            true => {
                let mut steps = vec![events()];
                steps.extend((self.stream)(says).into_iter().map(Step::Send));
                steps
            }
            false => json_answer(200, &(self.whole)(says).to_string()),
        }
    }

    /// Asks once.
    pub(crate) fn ask(self, endpoint: &Endpoint) -> Result<Reply, Failure> {
        let model = (self.make)(endpoint).unwrap();
        block_on(async { model.call(call(), &|| {}).await })
    }
}

pub(crate) fn call() -> ModelCall {
    ModelCall {
        prompt: Prompt::Text {
            system: "Summarise.".into(),
            user: "<new>tea \"and\" coffee</new>".into(),
        },
        max_output_tokens: 300,
        timeout_ms: 20_000,
        schema: None,
        meter: Meter::default(),
    }
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

pub(crate) fn json_answer(status: u16, body: &str) -> Vec<Step> {
    Step::answer(status, &[("content-type", "application/json")], body)
}

/// The head of a stream.
pub(crate) fn events() -> Step {
    Step::head(200, &[("content-type", "text/event-stream; charset=utf-8")])
}

fn data(json: &Value) -> String {
    format!("data: {json}\n\n")
}

fn event(name: &str, mut json: Value) -> String {
    json["type"] = name.into();
    format!("event: {name}\ndata: {json}\n\n")
}

fn openai_finish(says: Says) -> &'static str {
    match says {
        Says::CutOff => "length",
        Says::ToolCall => "tool_calls",
        Says::Refusal => "content_filter",
        _ => "stop",
    }
}

fn openai_usage() -> Value {
    json!({
        "prompt_tokens": 1536, "completion_tokens": 24, "total_tokens": 1560,
        "prompt_tokens_details": {"cached_tokens": 1280, "cache_write_tokens": 128},
        "completion_tokens_details": {"reasoning_tokens": 8},
    })
}

fn openai_whole(says: Says) -> Value {
    let mut message = json!({"role": "assistant", "content": "Tea — done.", "refusal": null});
    match says {
        Says::ToolCall => {
            message["content"] = Value::Null;
            message["tool_calls"] = json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        }
        Says::ReasoningAndText => message["reasoning_content"] = "hm, tea".into(),
        Says::ReasoningOnly => {
            message["content"] = "".into();
            message["reasoning_content"] = "hm, tea".into();
        }
        _ => {}
    }
    let finish = openai_finish(says);
    json!({
        "id": "x", "object": "chat.completion", "model": "m-1", "usage": openai_usage(),
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
    })
}

fn openai_stream(says: Says) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        data(&json!({
            "id": "x", "object": "chat.completion.chunk", "usage": null,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let mut chunks = vec![
        ": OPENROUTER PROCESSING\n\n".to_owned(),
        chunk(json!({"role": "assistant", "content": ""}), Value::Null),
    ];
    if matches!(says, Says::ReasoningAndText | Says::ReasoningOnly) {
        chunks.push(chunk(json!({"reasoning_content": "hm, tea"}), Value::Null));
    }
    match says {
        Says::ToolCall => {
            let start = json!([{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]);
            chunks.push(chunk(json!({"tool_calls": start}), Value::Null));
            let rest = json!([{"index": 0, "function": {"arguments": "{}"}}]);
            chunks.push(chunk(json!({"tool_calls": rest}), Value::Null));
        }
        Says::ReasoningOnly => {}
        _ => {
            chunks.push(chunk(json!({"content": "Tea — "}), Value::Null));
            chunks.push(chunk(json!({"content": "done."}), Value::Null));
        }
    }
    chunks.push(chunk(json!({}), openai_finish(says).into()));
    chunks.push(data(&json!({"choices": [], "usage": openai_usage()})));
    chunks.push("data: [DONE]\n\n".to_owned());
    chunks
}

fn anthropic_stop(says: Says) -> &'static str {
    match says {
        Says::CutOff => "max_tokens",
        Says::ToolCall => "tool_use",
        Says::Refusal => "refusal",
        _ => "end_turn",
    }
}

fn anthropic_blocks(says: Says) -> Vec<Value> {
    let mut blocks = Vec::new();
    if matches!(says, Says::ReasoningAndText | Says::ReasoningOnly) {
        blocks.push(json!({"type": "thinking", "thinking": "hm, tea", "signature": "s"}));
    }
    match says {
        Says::ToolCall => {
            blocks.push(json!({"type": "tool_use", "id": "c1", "name": "f", "input": {}}));
        }
        Says::ReasoningOnly => {}
        _ => blocks.push(json!({"type": "text", "text": "Tea — done."})),
    }
    blocks
}

fn anthropic_whole(says: Says) -> Value {
    json!({
        "id": "x", "type": "message", "role": "assistant", "model": "m-1",
        "content": anthropic_blocks(says), "stop_reason": anthropic_stop(says),
        "usage": {"input_tokens": 128, "cache_creation_input_tokens": 128, "cache_read_input_tokens": 1280, "output_tokens": 24},
    })
}

fn anthropic_stream(says: Says) -> Vec<String> {
    let usage = json!({"input_tokens": 128, "cache_creation_input_tokens": 128, "cache_read_input_tokens": 1280, "output_tokens": 1});
    let mut out = vec![event(
        "message_start",
        json!({"message": {"content": [], "usage": usage}}),
    )];
    for (index, block) in anthropic_blocks(says).into_iter().enumerate() {
        let mut empty = block.clone();
        let deltas = match block["type"].as_str() {
            Some("text") => {
                empty["text"] = "".into();
                vec![
                    json!({"type": "text_delta", "text": "Tea — "}),
                    json!({"type": "text_delta", "text": "done."}),
                ]
            }
            Some("thinking") => {
                empty["thinking"] = "".into();
                vec![json!({"type": "thinking_delta", "thinking": "hm, tea"})]
            }
            _ => vec![json!({"type": "input_json_delta", "partial_json": "{}"})],
        };
        out.push(event(
            "content_block_start",
            json!({"index": index, "content_block": empty}),
        ));
        out.push(event("ping", json!({})));
        for delta in deltas {
            out.push(event(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            ));
        }
        out.push(event("content_block_stop", json!({"index": index})));
    }
    let delta = json!({"stop_reason": anthropic_stop(says), "stop_sequence": null});
    out.push(event(
        "message_delta",
        json!({"delta": delta, "usage": {"output_tokens": 24}}),
    ));
    out.push(event("message_stop", json!({})));
    out
}
