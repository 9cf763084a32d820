//! OpenAI's chat completions, which nearly every server speaks.

use std::borrow::Cow;

use conspectus::core::effect::{Failure, Reply};
use conspectus::wire::json::{Array, Kind, Object, string};
use conspectus::wire::openai_usage;
use conspectus::wire::sse::SseEvent;
use conspectus::{
    About, AgentModel, Boxed, ChatModel, Delta, Format, ModelCall, Prompt, Turn, TurnRequest,
};
use serde_json::{Map, Value, json};

use crate::body;
use crate::dialect::{Dialect, Odd};
use crate::draft::{Draft, End};
use crate::endpoint::{Auth, Endpoint, OutputCap};
use crate::error::BuildError;
use crate::messages;
use crate::transport::Transport;

/// A model behind `POST …/chat/completions`: OpenAI, Azure, vLLM, llama.cpp, Ollama, LM Studio, LiteLLM, OpenRouter and
/// whatever else speaks it.
#[derive(Debug)]
pub struct OpenAiChat {
    transport: Transport,
    spelling: Spelling,
}

#[derive(Debug, Default)]
pub(crate) struct Spelling {
    model: String,
    fields: Map<String, Value>,
    stream: bool,
    schema: bool,
    cap: &'static str,
}

impl OpenAiChat {
    /// Reads the key and makes the HTTP client. Nothing is sent yet.
    ///
    /// # Errors
    /// When the key cannot be read or the URL, a header, the proxy or the certificates cannot be used.
    pub fn new(endpoint: &Endpoint) -> Result<Self, BuildError> {
        let url = endpoint.url(&["chat", "completions"])?;
        let host = url.host_str().unwrap_or_default();
        let wants_new_name = host == "api.openai.com" || host.ends_with(".openai.azure.com");
        let cap = match endpoint.output_cap {
            OutputCap::MaxTokens => MAX_TOKENS,
            OutputCap::MaxCompletionTokens => MAX_COMPLETION_TOKENS,
            OutputCap::Auto if wants_new_name => MAX_COMPLETION_TOKENS,
            OutputCap::Auto => MAX_TOKENS,
        };
        Ok(Self {
            transport: Transport::new(endpoint, url, &Auth::Bearer, &[])?,
            spelling: Spelling {
                model: endpoint.model.clone(),
                fields: endpoint.fields.clone(),
                stream: endpoint.stream,
                schema: endpoint.schema,
                cap,
            },
        })
    }
}

impl ChatModel for OpenAiChat {
    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        Box::pin(self.transport.call(&self.spelling, call, alive))
    }

    fn about(&self) -> About {
        self.transport.about("openai", &self.spelling.model)
    }

    fn takes(&self) -> Option<Format> {
        Some(Format::OpenAi)
    }
}

impl AgentModel for OpenAiChat {
    fn turn<'a>(
        &'a self,
        request: &'a TurnRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>> {
        Box::pin(self.transport.turn(&self.spelling, request, on_delta))
    }
}

const MAX_TOKENS: &str = "max_tokens";
const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

impl Dialect for Spelling {
    fn turn_body(&self, request: &TurnRequest) -> Result<Vec<u8>, Failure> {
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("messages".into(), messages::openai(&request.messages)?);
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({"type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.parameters,
                }})
            });
            body.insert("tools".into(), Value::Array(tools.collect()));
        }
        if let Some(most) = request.max_output_tokens {
            body.insert(self.cap.into(), json!(most));
        }
        body.insert("stream".into(), json!(self.stream));
        if self.stream {
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        body.extend(self.fields.clone());
        Ok(Value::Object(body).to_string().into_bytes())
    }

    fn body(&self, call: &ModelCall) -> Result<Vec<u8>, Failure> {
        match &call.prompt {
            Prompt::Text { system, user } => Ok(self.ask(system, user, call)),
            Prompt::Body(bytes) => self.extended(bytes, call.max_output_tokens),
        }
    }

    fn whole(&self, json: &str, draft: &mut Draft) -> Result<(), Odd> {
        let answer = Object::of(json.trim()).ok_or(Odd::Foreign)?;
        if answer.value("error").is_some() {
            return Err(Odd::Stated(json.to_owned()));
        }
        let choices = answer.array("choices").ok_or(Odd::Foreign)?;
        let choice = choices.0.first().copied().and_then(Object::of);
        let choice = choice.ok_or(Odd::Foreign)?;
        read_choice(&choice, "message", draft);
        read_usage(&answer, draft);
        draft.model = answer.string("model").map(Cow::into_owned);
        draft.is_complete = true;
        Ok(())
    }

    fn event(&self, event: &SseEvent, draft: &mut Draft) -> Result<(), Odd> {
        let data = event.data.trim();
        if data == "[DONE]" {
            draft.is_complete = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let chunk = Object::of(data).ok_or(Odd::Foreign)?;
        if chunk.value("error").is_some() || event.event == "error" {
            return Err(Odd::Stated(data.to_owned()));
        }
        let choices = chunk.array("choices").unwrap_or_default();
        // More than one choice is never asked for.
        if let Some(choice) = choices.0.first().copied().and_then(Object::of) {
            read_choice(&choice, "delta", draft);
        }
        read_usage(&chunk, draft);
        if draft.model.is_none() {
            draft.model = chunk.string("model").map(Cow::into_owned);
        }
        Ok(())
    }
}

impl Spelling {
    fn ask(&self, system: &str, user: &str, call: &ModelCall) -> Vec<u8> {
        let mut request = Map::new();
        request.insert("model".into(), json!(self.model));
        let messages = json!([
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ]);
        request.insert("messages".into(), messages);
        request.insert(self.cap.into(), json!(call.max_output_tokens));
        request.insert("stream".into(), json!(self.stream));
        if self.stream {
            request.insert("stream_options".into(), json!({"include_usage": true}));
        }
        request.extend(self.fields.clone());
        let schema = call.schema.as_deref().filter(|_| self.schema);
        let format = schema.map(|schema| format!(r#"{{"type":"json_schema","json_schema":{{"name":"summary","strict":true,"schema":{schema}}}}}"#));
        body::with_format(request, "response_format", format)
    }

    fn extended(&self, bytes: &[u8], max_output_tokens: u64) -> Result<Vec<u8>, Failure> {
        let other = match self.cap {
            MAX_TOKENS => MAX_COMPLETION_TOKENS,
            _ => MAX_TOKENS,
        };
        let options = self.stream.then(|| r#"{"include_usage":true}"#.to_owned());
        body::set(
            bytes,
            &[
                ("model", Some(string::encode(&self.model))),
                (self.cap, Some(max_output_tokens.to_string())),
                (other, None),
                ("stream", Some(self.stream.to_string())),
                ("stream_options", options),
            ],
        )
    }
}

fn read_choice(choice: &Object<'_>, message: &str, draft: &mut Draft) {
    if let Some(message) = choice.object(message) {
        draft.say(&text_of(&message));
        let thoughts = ["reasoning_content", "reasoning"];
        if let Some(thought) = thoughts.iter().find_map(|key| message.string(key)) {
            draft.think(&thought);
        }
        let calls = message.array("tool_calls").unwrap_or_default().0;
        for (n, call) in calls.into_iter().filter_map(Object::of).enumerate() {
            let function = call.object("function").unwrap_or_default();
            let text = |value: Option<Cow<'_, str>>| value.unwrap_or_default().into_owned();
            // Pieces of a stream say which call they go on with; whole calls are numbered by their place.
            let at = call.number("index").and_then(|at| usize::try_from(at).ok());
            let (id, name) = (text(call.string("id")), text(function.string("name")));
            let arguments = match function.value("arguments") {
                Some(json) if Kind::of(json) == Kind::Object => json.to_owned(),
                _ => text(function.string("arguments")),
            };
            draft.call(at.unwrap_or(n), &id, &name, &arguments);
        }
        let has_calls = |key: &str| {
            let calls = message.array(key);
            calls.is_some_and(|calls| !calls.0.is_empty())
        };
        draft.has_call |= has_calls("tool_calls") || message.object("function_call").is_some();
        draft.has_refusal |= message.string("refusal").is_some_and(|r| !r.is_empty());
    }
    if let Some(reason) = choice.string("finish_reason") {
        draft.end = Some(End::of(&reason));
    }
}

/// Content as text, or as a list of parts.
fn text_of<'a>(message: &Object<'a>) -> Cow<'a, str> {
    match message.value("content").map(|c| (Kind::of(c), c)) {
        Some((Kind::String, content)) => string::decode(content),
        Some((Kind::Array, content)) => {
            let parts = Array::of(content).unwrap_or_default().0;
            let texts = parts.into_iter().filter_map(|part| {
                let part = Object::of(part)?;
                let is_text = part.string("type").is_some_and(|t| t == "text");
                part.string("text").filter(|_| is_text)
            });
            texts.collect::<String>().into()
        }
        _ => Cow::Borrowed(""),
    }
}

fn read_usage(answer: &Object<'_>, draft: &mut Draft) {
    let usage = answer.object("usage");
    draft.usage = usage
        .and_then(|usage| openai_usage(&usage))
        .or(draft.usage.take());
}
