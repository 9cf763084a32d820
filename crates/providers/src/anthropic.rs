//! Anthropic's Messages.

use std::borrow::Cow;

use conspectus::core::effect::{Failure, Reply};
use conspectus::core::view::Usage;
use conspectus::wire::anthropic_usage;
use conspectus::wire::json::{Object, string};
use conspectus::wire::replay::room_for_thinking;
use conspectus::wire::sse::SseEvent;
use conspectus::{
    About, AgentModel, Boxed, ChatModel, Delta, Format, ModelCall, Prompt, Turn, TurnRequest,
};
use serde_json::{Map, Value, json};

use crate::body;
use crate::dialect::{Dialect, Odd};
use crate::draft::{Draft, End};
use crate::endpoint::{Auth, Endpoint};
use crate::error::BuildError;
use crate::messages;
use crate::transport::Transport;

/// The API version that is asked for, unless a header of the endpoint says another.
const VERSION: &str = "2023-06-01";

/// A model behind `POST …/v1/messages`: Anthropic and gateways that speak its API.
#[derive(Debug)]
pub struct AnthropicMessages {
    transport: Transport,
    spelling: Spelling,
}

#[derive(Debug, Default)]
pub(crate) struct Spelling {
    model: String,
    fields: Map<String, Value>,
    stream: bool,
    schema: bool,
}

impl AnthropicMessages {
    /// Reads the key and makes the HTTP client. Nothing is sent yet.
    ///
    /// # Errors
    /// When the key cannot be read or the URL, a header, the proxy or the certificates cannot be used.
    pub fn new(endpoint: &Endpoint) -> Result<Self, BuildError> {
        let url = endpoint.url(&["v1", "messages"])?;
        let auth = Auth::Header("x-api-key".into());
        let version = [("anthropic-version", VERSION)];
        Ok(Self {
            transport: Transport::new(endpoint, url, &auth, &version)?,
            spelling: Spelling {
                model: endpoint.model.clone(),
                fields: endpoint.fields.clone(),
                stream: endpoint.stream,
                schema: endpoint.schema,
            },
        })
    }
}

impl ChatModel for AnthropicMessages {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        Box::pin(self.transport.call(&self.spelling, call, alive))
    }

    fn about(&self) -> About {
        self.transport.about("anthropic", &self.spelling.model)
    }

    fn takes(&self) -> Option<Format> {
        Some(Format::Anthropic)
    }
}

impl AgentModel for AnthropicMessages {
    fn turn<'a>(
        &'a self,
        request: &'a TurnRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>> {
        Box::pin(self.transport.turn(&self.spelling, request, on_delta))
    }
}

/// The API wants a cap; so much is taken by every model.
const MOST_OUTPUT: u64 = 8_192;

impl Dialect for Spelling {
    fn turn_body(&self, request: &TurnRequest) -> Result<Vec<u8>, Failure> {
        let (system, messages) = messages::anthropic(&request.messages);
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        let most = request.max_output_tokens.unwrap_or(MOST_OUTPUT);
        body.insert("max_tokens".into(), json!(most));
        if !system.is_empty() {
            // What stands in front of the messages is the same for a whole run.
            body.insert(
                "system".into(),
                json!([
                    {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}},
                ]),
            );
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": tool.name, "description": tool.description, "input_schema": tool.parameters,
                })
            });
            body.insert("tools".into(), Value::Array(tools.collect()));
        }
        body.insert("messages".into(), messages);
        body.insert("stream".into(), json!(self.stream));
        body.extend(self.fields.clone());
        Ok(Value::Object(body).to_string().into_bytes())
    }

    fn body(&self, call: &ModelCall) -> Result<Vec<u8>, Failure> {
        match &call.prompt {
            Prompt::Text { system, user } => Ok(self.ask(system, user, call)),
            Prompt::Body(bytes) => body::set(
                bytes,
                &[
                    ("model", Some(string::encode(&self.model))),
                    ("max_tokens", Some(cap(bytes, call.max_output_tokens))),
                    ("stream", Some(self.stream.to_string())),
                ],
            ),
        }
    }

    fn whole(&self, json: &str, draft: &mut Draft) -> Result<(), Odd> {
        let answer = Object::of(json.trim()).ok_or(Odd::Foreign)?;
        if answer.value("error").is_some() {
            return Err(Odd::Stated(json.to_owned()));
        }
        let content = answer.array("content").ok_or(Odd::Foreign)?;
        for (at, json) in content.0.into_iter().enumerate() {
            begin_block(at, json, draft);
            let block = Object::of(json).unwrap_or_default();
            if let Some(input) = block
                .value("input")
                .filter(|_| draft.calls.contains_key(&at))
            {
                draft.call(at, "", "", input);
            }
        }
        draft.model = answer.string("model").map(Cow::into_owned);
        read_end(&answer, draft);
        draft.usage = answer.object("usage").and_then(|u| anthropic_usage(&u));
        draft.is_complete = true;
        Ok(())
    }

    fn event(&self, event: &SseEvent, draft: &mut Draft) -> Result<(), Odd> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        let json = Object::of(data).ok_or(Odd::Foreign)?;
        if event.event == "error" || json.value("error").is_some() {
            return Err(Odd::Stated(data.to_owned()));
        }
        match json.string("type").as_deref() {
            Some("message_start") => {
                let message = json.object("message").unwrap_or_default();
                draft.usage = message.object("usage").and_then(|u| anthropic_usage(&u));
                draft.model = message.string("model").map(Cow::into_owned);
            }
            Some("content_block_start") => {
                begin_block(
                    index(&json),
                    json.value("content_block").unwrap_or(""),
                    draft,
                );
            }
            Some("content_block_delta") => {
                let delta = json.object("delta").unwrap_or_default();
                let text = |key: &str| delta.string(key).unwrap_or_default();
                let at = index(&json);
                match delta.string("type").as_deref() {
                    Some("text_delta") => draft.say(&text("text")),
                    Some("input_json_delta") if draft.calls.contains_key(&at) => {
                        draft.call(at, "", "", &text("partial_json"));
                    }
                    Some("thinking_delta") => {
                        draft.think(&text("thinking"));
                        add(draft, at, "thinking", &text("thinking"));
                    }
                    Some("signature_delta") => add(draft, at, "signature", &text("signature")),
                    _ => {}
                }
            }
            Some("message_delta") => {
                let delta = json.object("delta").unwrap_or_default();
                read_end(&delta, draft);
                if let Some(usage) = json.object("usage") {
                    draft.usage = Some(later(draft.usage.take(), &usage));
                }
            }
            Some("message_stop") => draft.is_complete = true,
            // Pings, ends of blocks, and what is not known.
            _ => {}
        }
        Ok(())
    }
}

impl Spelling {
    fn ask(&self, system: &str, user: &str, call: &ModelCall) -> Vec<u8> {
        let mut request = Map::new();
        request.insert("model".into(), json!(self.model));
        request.insert("max_tokens".into(), json!(call.max_output_tokens));
        // An empty text block is refused.
        if !system.is_empty() {
            request.insert("system".into(), json!(system));
        }
        let messages = json!([{"role": "user", "content": user}]);
        request.insert("messages".into(), messages);
        request.insert("stream".into(), json!(self.stream));
        request.extend(self.fields.clone());
        let schema = call.schema.as_deref().filter(|_| self.schema);
        let format = schema
            .map(|schema| format!(r#"{{"format":{{"type":"json_schema","schema":{schema}}}}}"#));
        body::with_format(request, "output_config", format)
    }
}

/// What the text may have, and what the body's own thinking takes before it.
fn cap(body: &[u8], text_tokens: u64) -> String {
    let request = std::str::from_utf8(body).ok().and_then(Object::of);
    let cap = room_for_thinking(&request.unwrap_or_default(), text_tokens);
    cap.to_string()
}

fn index(event: &Object<'_>) -> usize {
    let index = event.number("index").unwrap_or(0);
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// A block of content begins, or is whole but for a call's input.
fn begin_block(at: usize, json: &str, draft: &mut Draft) {
    let block = Object::of(json).unwrap_or_default();
    let text = |key: &str| block.string(key).unwrap_or_default();
    match block.string("type").as_deref() {
        Some("text") => draft.say(&text("text")),
        Some("tool_use") => draft.call(at, &text("id"), &text("name"), ""),
        Some("thinking" | "redacted_thinking") => {
            draft.think(&text("thinking"));
            if let Ok(block) = serde_json::from_str(json) {
                draft.blocks.insert(at, block);
            }
        }
        Some(kind) => draft.has_call |= is_call(kind),
        None => {}
    }
}

/// A member of a block that comes in pieces goes on.
fn add(draft: &mut Draft, at: usize, key: &str, piece: &str) {
    if let Some(Value::Object(block)) = draft.blocks.get_mut(&at) {
        let so_far = block.get(key).and_then(Value::as_str).unwrap_or_default();
        let whole = [so_far, piece].concat();
        block.insert(key.to_owned(), json!(whole));
    }
}

fn is_call(block: &str) -> bool {
    matches!(block, "tool_use" | "server_tool_use" | "mcp_tool_use")
}

fn read_end(holder: &Object<'_>, draft: &mut Draft) {
    if let Some(reason) = holder.string("stop_reason") {
        draft.end = Some(End::of(&reason));
    }
}

/// The figures at the end are for the whole call; those that it leaves out were told at the beginning.
fn later(before: Option<Usage>, usage: &Object<'_>) -> Usage {
    let mut all = anthropic_usage(usage).or(before).unwrap_or_default();
    all.output = usage.number("output_tokens").unwrap_or(all.output);
    all
}
