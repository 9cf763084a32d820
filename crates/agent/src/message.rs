//! A message of a thread, parsed: LangChain's JSON in its usual forms.

use std::borrow::Cow;
use std::sync::Arc;

use conspectus::threads::{Json, to_value};
use serde_json::Value;

/// A message. Cloning copies a pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Message(Arc<Value>);

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The host.
    System,
    /// A person, or the host in their place.
    Human,
    /// The model.
    Ai,
    /// A tool.
    Tool,
    /// Something else.
    Other,
}

/// A tool call as a message shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// Its id.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// The arguments; no object where they are none.
    pub args: Value,
}

impl Message {
    /// Of a JSON value.
    pub fn new(value: Value) -> Self {
        Self(Arc::new(value))
    }

    /// Of stored JSON; what cannot be parsed says nothing.
    pub fn of(json: &Json) -> Self {
        Self::new(to_value(json.as_str()).unwrap_or(Value::Null))
    }

    /// As it is stored.
    pub fn to_json(&self) -> Json {
        Json::from(&*self.0)
    }

    /// The whole value.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// Where the fields stand: LangChain also writes them one level down.
    fn fields(&self) -> &Value {
        let inner = ["data", "kwargs"].iter().find_map(|key| self.0.get(*key));
        inner.filter(|inner| inner.is_object()).unwrap_or(&self.0)
    }

    /// Who speaks.
    pub fn kind(&self) -> Kind {
        let said = |value: &Value| {
            let named = value.get("role").or_else(|| value.get("type"))?.as_str()?;
            Some(match named.strip_suffix("Chunk").unwrap_or(named) {
                "human" | "user" | "HumanMessage" => Kind::Human,
                "ai" | "assistant" | "AIMessage" => Kind::Ai,
                "system" | "developer" | "SystemMessage" => Kind::System,
                "tool" | "function" | "ToolMessage" => Kind::Tool,
                _ => return None,
            })
        };
        said(self.fields())
            .or_else(|| said(&self.0))
            .unwrap_or(Kind::Other)
    }

    /// Its id.
    pub fn id(&self) -> Option<&str> {
        self.fields().get("id")?.as_str()
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.fields().get("name")?.as_str()
    }

    /// A member of `additional_kwargs`.
    pub fn extra(&self, key: &str) -> Option<&Value> {
        self.fields().get("additional_kwargs")?.get(key)
    }

    /// Whether that member is there and neither null, false, zero nor empty.
    pub fn has_extra(&self, key: &str) -> bool {
        self.extra(key).is_some_and(is_truthy)
    }

    /// Its text.
    pub fn text(&self) -> Cow<'_, str> {
        match self.fields().get("content") {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(Value::Array(blocks)) => {
                let text = |block: &Value| match block {
                    Value::String(text) => Some(text.clone()),
                    block => Some(block.get("text")?.as_str()?.to_owned()),
                };
                Cow::Owned(blocks.iter().filter_map(text).collect())
            }
            _ => Cow::Borrowed(""),
        }
    }

    /// The call that it answers.
    pub fn answers(&self) -> Option<&str> {
        self.fields().get("tool_call_id")?.as_str()
    }

    /// Whether the tool said that it failed.
    pub fn is_error(&self) -> bool {
        self.fields().get("status").and_then(Value::as_str) == Some("error")
    }

    /// Its tool calls, those with unreadable arguments included, in order. Calls without an id are none.
    pub fn calls(&self) -> Vec<Called> {
        if self.kind() != Kind::Ai {
            return Vec::new();
        }
        let lists = ["tool_calls", "invalid_tool_calls"];
        let lists = lists
            .iter()
            .filter_map(|key| self.fields().get(*key)?.as_array());
        lists.flatten().filter_map(called).collect()
    }

    /// A person said it: neither a summary nor hidden.
    pub fn is_real_user(&self) -> bool {
        self.kind() == Kind::Human
            && self.name() != Some("summary")
            && !self.has_extra("hide_from_ui")
    }
}

fn called(call: &Value) -> Option<Called> {
    let function = call.get("function");
    let name = call.get("name").and_then(Value::as_str);
    let name = name.or_else(|| function?.get("name")?.as_str())?;
    let id = call.get("id")?.as_str().filter(|id| !id.is_empty())?;
    let args = call.get("args").or_else(|| function?.get("arguments"));
    let args = match args {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(args) => args.clone(),
        None => Value::Null,
    };
    Some(Called {
        id: id.into(),
        name: name.into(),
        args,
    })
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_with_half_of_a_surrogate_pair_is_read() {
        let json = Json::parse(r#"{"type":"human","content":"half \ud83d"}"#).expect("JSON");
        let message = Message::of(&json);
        assert_eq!(
            (message.kind(), &*message.text()),
            (Kind::Human, "half \u{fffd}")
        );
    }

    #[test]
    fn every_form_of_a_message_is_read() {
        let check = |value: Value, kind: Kind, text: &str, calls: &[&str]| {
            let message = Message::new(value);
            let names = message.calls();
            let names: Vec<&str> = names.iter().map(|call| &*call.name).collect();
            assert_eq!(
                (message.kind(), &*message.text(), &names[..]),
                (kind, text, calls)
            );
        };
        check(
            json!({"type": "human", "content": "hi"}),
            Kind::Human,
            "hi",
            &[],
        );
        check(
            json!({"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}),
            Kind::Human,
            "ab",
            &[],
        );
        let raw = json!({"type": "ai", "data": {"content": "", "tool_calls": [
            {"id": "1", "function": {"name": "task", "arguments": "{\"a\": 1}"}},
            {"name": "no_id", "args": {}},
        ]}});
        check(raw.clone(), Kind::Ai, "", &["task"]);
        assert_eq!(Message::new(raw).calls()[0].args["a"], 1);
        check(Value::Null, Kind::Other, "", &[]);
    }

    #[test]
    fn a_hidden_message_or_a_summary_is_no_request() {
        let check =
            |value: Value, expect: bool| assert_eq!(Message::new(value).is_real_user(), expect);
        check(json!({"type": "human", "content": "x"}), true);
        check(json!({"type": "human", "name": "summary"}), false);
        check(
            json!({"type": "human", "additional_kwargs": {"hide_from_ui": true}}),
            false,
        );
        check(
            json!({"type": "human", "additional_kwargs": {"hide_from_ui": 0}}),
            true,
        );
        check(json!({"type": "ai", "content": "x"}), false);
    }
}
