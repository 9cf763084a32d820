//! The port to tools, and the set of those that an agent has.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus::{Boxed, ToolSpec};
use serde_json::{Map, Value, json};

use crate::context::RunContext;
use crate::text::bounded;

/// Something that a model can call.
///
/// What goes wrong is a result ([`ToolResult::error`]): the model is told and goes on. Dropping the future stops the
/// call, unless the tool [hears of it itself](Self::hears_cancel).
pub trait Tool: Send + Sync {
    /// As the model is told of it. The same for a whole run.
    fn spec(&self) -> ToolSpec;

    /// Performs a call.
    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult>;

    /// Performing it twice does no harm: a run that was killed meanwhile calls it again. The model is told of other
    /// calls that nobody knows whether they had an effect.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// It waits for [`RunContext::cancel`] itself and has times of its own.
    fn hears_cancel(&self) -> bool {
        false
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its id.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// The arguments; `None`: what the model wrote is no JSON object.
    pub args: Option<Map<String, Value>>,
}

impl ToolCall {
    /// An argument that is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.args.as_ref()?.get(key)?.as_str()
    }

    /// An argument that is a whole number, zero or more.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.args.as_ref()?.get(key)?.as_u64()
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// What the model is shown.
    pub content: Arc<str>,
    /// It failed.
    pub is_error: bool,
    /// Structured metadata for code (`additional_kwargs`); the model is not shown it.
    pub extra: Map<String, Value>,
}

impl ToolResult {
    /// A good result.
    pub fn text(content: impl Into<Arc<str>>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            extra: Map::new(),
        }
    }

    /// A failure, in words that say what to try.
    pub fn error(what: impl std::fmt::Display) -> Self {
        Self {
            content: format!("Error: {what}").into(),
            is_error: true,
            extra: Map::new(),
        }
    }

    /// With at most so many characters: the middle of what is longer is left out.
    #[must_use]
    pub fn capped(mut self, max_chars: usize) -> Self {
        if self.content.len() > max_chars {
            self.content = bounded(&self.content, max_chars).into();
        }
        self
    }

    /// As LangChain's message of a tool.
    pub fn to_message(&self, call: &str, name: &str, id: &str, max_chars: usize) -> Value {
        json!({
            "type": "tool", "id": id, "name": name, "tool_call_id": call,
            "content": bounded(&self.content, max_chars),
            "status": if self.is_error { "error" } else { "success" },
            "additional_kwargs": self.extra,
        })
    }
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOutcome {
    /// It has a result.
    Done(ToolResult),
    /// A person must answer it: the run stops, and the answer becomes the result.
    Ask(Value),
}

/// The tools of an agent, by name.
#[derive(Clone, Default)]
pub struct Tools(BTreeMap<Arc<str>, Arc<dyn Tool>>);

impl Tools {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more; the later of two with one name is the tool.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.add(Arc::new(tool));
        self
    }

    /// With all of these.
    #[must_use]
    pub fn with_all<T: Tool + 'static>(self, tools: impl IntoIterator<Item = T>) -> Self {
        tools.into_iter().fold(self, Self::with)
    }

    pub(crate) fn add(&mut self, tool: Arc<dyn Tool>) {
        self.0.insert(tool.spec().name, tool);
    }

    /// The tool of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get(name)
    }

    /// Without this one.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// As a model is told of them, by name: the same order each time.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        self.0.values().map(|tool| tool.spec()).collect()
    }

    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.0.keys().map(AsRef::as_ref).collect();
        names.join(", ")
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A JSON schema of arguments: name, type, description; those without `?` in front must be there.
pub(crate) fn schema(fields: &[(&str, &str, &str)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind, description) in fields {
        let (name, is_optional) = match name.strip_prefix('?') {
            Some(name) => (name, true),
            None => (*name, false),
        };
        properties.insert(
            name.to_owned(),
            json!({"type": kind, "description": description}),
        );
        if !is_optional {
            required.push(name);
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
