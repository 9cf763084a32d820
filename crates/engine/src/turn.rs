//! The port to the model that an agent runs on: messages in, one reply with its tool calls out, in pieces as it comes.
//!
//! Messages are LangChain's JSON, as in [`threads`](crate::threads): what a provider's own API wants is the provider's
//! business.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use conspectus_core::effect::{Failure, Finish};
use conspectus_core::view::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::Boxed;
use crate::telemetry::traced_turns;
use crate::threads::Json;

/// A model that an agent runs on.
///
/// The contract:
///
/// - One call asks once. Whether to ask again is not the model's business.
/// - The future ends within [`TurnRequest::timeout_ms`], whatever the other side does. Dropping it stops the call.
/// - `on_delta` hears of every piece in order; [`Turn`] holds them all once more.
/// - No message of a [`Failure`] holds a key or the content of the conversation.
pub trait AgentModel: Send + Sync {
    /// Asks once.
    ///
    /// # Errors
    /// Why there is no reply.
    fn turn<'a>(
        &'a self,
        request: &'a TurnRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> Boxed<'a, Result<Turn, Failure>>;
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRequest {
    /// The messages in order, as LangChain's JSON; system messages in front.
    pub messages: Vec<Json>,
    /// The tools that it may call.
    pub tools: Arc<[ToolSpec]>,
    /// The most tokens that the reply may have; `None`: as many as the model writes.
    pub max_output_tokens: Option<u64>,
    /// The time for the whole call.
    pub timeout_ms: u64,
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: Arc<str>,
    /// What it does, for the model.
    pub description: Arc<str>,
    /// A JSON schema of its arguments.
    pub parameters: Value,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// Text goes on.
    Text(Arc<str>),
    /// Reasoning goes on.
    Reasoning(Arc<str>),
    /// A tool call begins or goes on.
    Call {
        /// Which of the reply's calls, from 0.
        index: usize,
        /// Its id, when it begins.
        id: Option<Arc<str>>,
        /// The tool, when it begins.
        name: Option<Arc<str>>,
        /// Its arguments go on, as JSON source.
        arguments: Arc<str>,
    },
}

/// A tool call of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnCall {
    /// Its id.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// Its arguments as JSON source, as the model wrote them.
    pub arguments: Arc<str>,
}

impl TurnCall {
    /// The arguments, if they are a JSON object.
    pub fn parsed(&self) -> Option<Map<String, Value>> {
        match self.arguments.trim() {
            "" | "null" => Some(Map::new()),
            text => serde_json::from_str(text).ok(),
        }
    }
}

/// A reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its text.
    pub text: Arc<str>,
    /// Blocks of content that stand before the text and must come back as they are, such as signed reasoning.
    pub blocks: Vec<Value>,
    /// Its tool calls, in order.
    pub calls: Vec<TurnCall>,
    /// How it ended.
    pub finish: Finish,
    /// What the provider reports.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub model: Option<Arc<str>>,
}

impl Turn {
    /// A reply of text alone.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            blocks: Vec::new(),
            calls: Vec::new(),
            finish: Finish::Stop,
            usage: None,
            model: None,
        }
    }

    /// As LangChain's JSON, under this id. Arguments that are no object are an invalid call there, which is still
    /// answered.
    pub fn to_message(&self, id: &str) -> Value {
        let mut content = self.blocks.clone();
        let content = match (content.is_empty(), self.text.is_empty()) {
            (true, _) => json!(self.text),
            (false, is_blank) => {
                if !is_blank {
                    content.push(json!({"type": "text", "text": self.text}));
                }
                Value::Array(content)
            }
        };
        let (mut calls, mut invalid) = (Vec::new(), Vec::new());
        for call in &self.calls {
            let (id, name) = (&call.id, &call.name);
            match call.parsed() {
                Some(args) => {
                    calls.push(json!({"name": name, "args": args, "id": id, "type": "tool_call"}));
                }
                None => invalid.push(json!({
                    "name": name, "args": call.arguments, "id": id, "type": "invalid_tool_call",
                    "error": "the arguments are no JSON object",
                })),
            }
        }
        let mut message = json!({
            "type": "ai", "id": id, "content": content, "tool_calls": calls,
            "response_metadata": {"finish_reason": finish(self.finish)},
        });
        if !invalid.is_empty() {
            message["invalid_tool_calls"] = Value::Array(invalid);
        }
        if let Some(model) = &self.model {
            message["response_metadata"]["model_name"] = json!(model);
        }
        if let Some(usage) = &self.usage {
            message["usage_metadata"] = usage_metadata(usage);
        }
        message
    }
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ToolCalls => "tool_calls",
        Finish::Refused => "refusal",
    }
}

/// LangChain counts what was read from and written to the cache as part of the input.
fn usage_metadata(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "input_token_details": {
            "cache_read": usage.cache_read,
            "cache_creation": usage.cache_write,
        },
    })
}

/// The models that agents run on, by name. One that could not be made is kept too: using it is a failure, not the end of
/// the program.
#[derive(Clone, Default)]
pub struct AgentModels(BTreeMap<Arc<str>, Made>);

/// A model, or why there is none.
type Made = Result<Arc<dyn AgentModel>, Arc<str>>;

impl AgentModels {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a model under a name, or why it could not be made.
    #[must_use]
    pub fn with<E: fmt::Display>(
        mut self,
        name: impl Into<Arc<str>>,
        model: Result<Arc<dyn AgentModel>, E>,
    ) -> Self {
        let name = name.into();
        let made = model.map(|model| traced_turns(&name, model));
        self.0
            .insert(name, made.map_err(|why| why.to_string().into()));
        self
    }

    /// The model of a name.
    ///
    /// # Errors
    /// [`Failure::Unusable`] where there is none of that name, [`Failure::Broken`] where it could not be made.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn AgentModel>, Failure> {
        match self.0.get(name) {
            Some(Ok(model)) => Ok(model),
            Some(Err(why)) => Err(Failure::Broken {
                message: format!("it could not be made: {why}").into(),
            }),
            None => Err(Failure::Unusable {
                message: format!("no model is called {name:?}; add it to the models").into(),
            }),
        }
    }
}

impl fmt::Debug for AgentModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_a_message_that_langchain_knows() {
        let call = |id: &str, arguments: &str| TurnCall {
            id: id.into(),
            name: "look".into(),
            arguments: arguments.into(),
        };
        let turn = Turn {
            blocks: vec![json!({"type": "thinking", "thinking": "hm", "signature": "s"})],
            calls: vec![call("a", r#"{"at": 1}"#), call("b", "{oh"), call("c", "")],
            finish: Finish::ToolCalls,
            usage: Some(Usage {
                input: 10,
                output: 3,
                cache_read: 4,
                ..Usage::default()
            }),
            ..Turn::text("so")
        };
        let message = turn.to_message("m1");
        assert_eq!(message["content"][1]["text"], "so");
        assert_eq!(message["tool_calls"][0]["args"]["at"], 1);
        assert_eq!(message["tool_calls"][1]["id"], "c");
        assert_eq!(message["invalid_tool_calls"][0]["args"], "{oh");
        assert_eq!(message["usage_metadata"]["total_tokens"], 13);
        assert_eq!(Turn::text("hi").to_message("m2")["content"], "hi");
    }
}
