//! Anthropic's Messages.

use conspectus::core::effect::{Failure, Reply};
use conspectus::core::view::Usage;
use conspectus::wire::anthropic_usage;
use conspectus::wire::json::{Object, string};
use conspectus::wire::replay::room_for_thinking;
use conspectus::wire::sse::SseEvent;
use conspectus::{About, Boxed, ChatModel, Format, ModelCall, Prompt};
use serde_json::{Map, Value, json};

use crate::body;
use crate::dialect::{Dialect, Odd};
use crate::draft::{Draft, End};
use crate::endpoint::{Auth, Endpoint};
use crate::error::BuildError;
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

impl Dialect for Spelling {
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
        for block in content.0.into_iter().filter_map(Object::of) {
            match block.string("type").as_deref() {
                Some("text") => draft
                    .text
                    .push_str(&block.string("text").unwrap_or_default()),
                Some(kind) => draft.has_call |= is_call(kind),
                None => {}
            }
        }
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
            }
            Some("content_block_start") => {
                let block = json.object("content_block").unwrap_or_default();
                match block.string("type").as_deref() {
                    Some("text") => draft
                        .text
                        .push_str(&block.string("text").unwrap_or_default()),
                    Some(kind) => draft.has_call |= is_call(kind),
                    None => {}
                }
            }
            Some("content_block_delta") => {
                let delta = json.object("delta").unwrap_or_default();
                if delta.string("type").as_deref() == Some("text_delta") {
                    draft
                        .text
                        .push_str(&delta.string("text").unwrap_or_default());
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
