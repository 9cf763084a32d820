//! The events of a run as LangGraph's clients hear them.
//!
//! Pure: what an event becomes follows from it and from those before it. The whole state is read by whoever asks
//! ([`Out::Values`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus::Delta;
use conspectus::threads::{CheckpointId, Json};
use conspectus_agent::{Kind, Message, Question, RunEvent};
use serde_json::{Map, Value, json};

use super::Modes;

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Out {
    /// An event.
    Frame(&'static str, Value),
    /// The state, unless this one was written before. With what the run asks, if it stopped there.
    Values(Option<CheckpointId>, Vec<Question>),
}

/// Tells one reader of one run.
#[derive(Debug)]
pub(crate) struct Teller {
    modes: Modes,
    thread: Arc<str>,
    run: Arc<str>,
    model: Arc<str>,
    checkpoint: Option<CheckpointId>,
    /// Replies under way, as far as they came.
    partial: BTreeMap<Arc<str>, Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    text: String,
    reasoning: String,
    calls: Vec<Call>,
}

#[derive(Debug, Default)]
struct Call {
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    arguments: String,
}

impl Teller {
    /// Of a run of a thread, in these modes.
    pub(crate) fn new(modes: Modes, thread: Arc<str>, run: Arc<str>) -> Self {
        Self {
            modes,
            thread,
            run,
            model: "".into(),
            checkpoint: None,
            partial: BTreeMap::new(),
        }
    }

    /// What an event becomes.
    pub(crate) fn tell(&mut self, event: &RunEvent) -> Vec<Out> {
        match event {
            RunEvent::Started { model, resumed, .. } => {
                self.model = model.clone();
                let data = json!({
                    "run_id": self.run, "thread_id": self.thread, "attempt": 1, "model": model, "resumed": resumed,
                });
                vec![Out::Frame("metadata", data)]
            }
            RunEvent::Checkpoint { checkpoint_id } => {
                self.checkpoint = Some(*checkpoint_id);
                self.values(Vec::new())
            }
            RunEvent::Message { message } => self.message(message),
            RunEvent::Delta { id, delta } => self.delta(id, delta),
            RunEvent::Retry { id, .. } => {
                let mut out = self.custom(event);
                self.partial.remove(id);
                // A whole message takes the place of its pieces.
                let blank = json!({"type": "ai", "id": id, "content": ""});
                if self.modes.tuples {
                    out.push(Out::Frame("messages", json!([blank, self.metadata()])));
                }
                if self.modes.messages {
                    out.push(Out::Frame("messages/partial", json!([blank])));
                }
                out
            }
            RunEvent::Interrupted { questions } => {
                let mut out = Vec::new();
                if self.modes.updates {
                    out.push(Out::Frame("updates", json!({"__interrupt__": questions})));
                }
                out.extend(self.values(questions.clone()));
                out
            }
            RunEvent::Ended {
                status,
                error,
                stop_reason,
            } => {
                let mut out = Vec::new();
                if let Some(error) = error {
                    let data = json!({"error": "RunError", "message": error});
                    out.push(Out::Frame("error", data));
                }
                let data = json!({"status": status, "stop_reason": stop_reason});
                out.push(Out::Frame("end", data));
                out
            }
            other => self.custom(other),
        }
    }

    fn values(&self, questions: Vec<Question>) -> Vec<Out> {
        match self.modes.values {
            true => vec![Out::Values(self.checkpoint, questions)],
            false => Vec::new(),
        }
    }

    fn custom(&self, event: &RunEvent) -> Vec<Out> {
        match self.modes.custom {
            true => vec![Out::Frame("custom", json!(event))],
            false => Vec::new(),
        }
    }

    /// A whole message. What people said they know.
    fn message(&mut self, json: &Json) -> Vec<Out> {
        let message = Message::of(json);
        let node = match message.kind() {
            Kind::Ai => "model",
            Kind::Tool => "tools",
            _ => return Vec::new(),
        };
        let was_told = message.id().and_then(|id| self.partial.remove(id));
        let mut out = Vec::new();
        if self.modes.tuples {
            let whole = match was_told {
                // Its pieces were told: what is left is what comes at the end only.
                Some(_) => last_piece(message.value()),
                None => message.value().clone(),
            };
            out.push(Out::Frame("messages", json!([whole, self.metadata()])));
        }
        if self.modes.messages {
            out.push(Out::Frame("messages/complete", json!([message.value()])));
        }
        if self.modes.updates {
            let mut update = Map::new();
            update.insert(node.to_owned(), json!({"messages": [message.value()]}));
            out.push(Out::Frame("updates", Value::Object(update)));
        }
        out
    }

    fn delta(&mut self, id: &Arc<str>, delta: &Delta) -> Vec<Out> {
        let is_first = !self.partial.contains_key(id);
        let partial = self.partial.entry(id.clone()).or_default();
        partial.take(delta);
        let mut out = Vec::new();
        if self.modes.tuples {
            out.push(Out::Frame(
                "messages",
                json!([piece(id, delta), self.metadata()]),
            ));
        }
        if self.modes.messages {
            if is_first {
                let mut about = Map::new();
                about.insert(id.to_string(), json!({"metadata": self.metadata()}));
                out.push(Out::Frame("messages/metadata", Value::Object(about)));
            }
            let so_far = self.partial.get(id).map(|partial| partial.message(id));
            out.push(Out::Frame("messages/partial", json!([so_far])));
        }
        out
    }

    fn metadata(&self) -> Value {
        json!({
            "run_id": self.run, "thread_id": self.thread, "langgraph_node": "model", "ls_model_name": self.model,
        })
    }
}

impl Partial {
    fn take(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(text),
            Delta::Reasoning(text) => self.reasoning.push_str(text),
            Delta::Call {
                index,
                id,
                name,
                arguments,
            } => {
                // A model that skips numbers does not make us keep what lies between.
                const MOST: usize = 1_000;
                if *index >= MOST {
                    return;
                }
                if self.calls.len() <= *index {
                    self.calls.resize_with(index + 1, Call::default);
                }
                let call = &mut self.calls[*index];
                call.id = id.clone().or(call.id.take());
                call.name = name.clone().or(call.name.take());
                call.arguments.push_str(arguments);
            }
        }
    }

    /// The message as far as it came. Arguments that are not whole yet are none.
    fn message(&self, id: &Arc<str>) -> Value {
        let calls = self.calls.iter().map(|call| {
            let args = serde_json::from_str::<Value>(&call.arguments);
            let args = args.ok().filter(Value::is_object).unwrap_or(json!({}));
            json!({"name": call.name, "args": args, "id": call.id, "type": "tool_call"})
        });
        let calls: Vec<Value> = calls.collect();
        let mut message =
            json!({"type": "ai", "id": id, "content": self.text, "tool_calls": calls});
        if !self.reasoning.is_empty() {
            message["additional_kwargs"] = json!({"reasoning_content": self.reasoning});
        }
        message
    }
}

/// A piece of a reply, as LangChain's.
fn piece(id: &Arc<str>, delta: &Delta) -> Value {
    let mut chunk =
        json!({"type": "AIMessageChunk", "id": id, "content": "", "tool_call_chunks": []});
    match delta {
        Delta::Text(text) => chunk["content"] = json!(text),
        Delta::Reasoning(text) => chunk["additional_kwargs"] = json!({"reasoning_content": text}),
        Delta::Call {
            index,
            id,
            name,
            arguments,
        } => {
            chunk["tool_call_chunks"] = json!([{
                "index": index, "id": id, "name": name, "args": arguments, "type": "tool_call_chunk",
            }]);
        }
    }
    chunk
}

/// The end of a reply that was told in pieces.
fn last_piece(message: &Value) -> Value {
    let mut chunk = json!({
        "type": "AIMessageChunk", "id": message["id"], "content": "", "tool_call_chunks": [], "chunk_position": "last",
    });
    for key in ["usage_metadata", "response_metadata"] {
        if let Some(value) = message.get(key) {
            chunk[key] = value.clone();
        }
    }
    chunk
}

#[cfg(test)]
mod tests {
    use conspectus::threads::RunStatus;

    use super::*;

    fn frames(modes: &[&str], events: &[RunEvent]) -> Vec<(&'static str, Value)> {
        let modes = modes
            .iter()
            .try_fold(Modes::default(), |all, mode| all.with(mode));
        let mut teller = Teller::new(modes.expect("they are offered"), "t".into(), "r".into());
        let out = events.iter().flat_map(|event| teller.tell(event));
        out.map(|out| match out {
            Out::Frame(event, data) => (event, data),
            Out::Values(_, questions) => ("values", json!(questions)),
        })
        .collect()
    }

    fn text(text: &str) -> RunEvent {
        RunEvent::Delta {
            id: "r-0".into(),
            delta: Delta::Text(text.into()),
        }
    }

    fn call(id: Option<&str>, arguments: &str) -> RunEvent {
        RunEvent::Delta {
            id: "r-0".into(),
            delta: Delta::Call {
                index: 0,
                id: id.map(Into::into),
                name: id.map(|_| "look".into()),
                arguments: arguments.into(),
            },
        }
    }

    fn message(value: &Value) -> RunEvent {
        RunEvent::Message {
            message: Json::from(value),
        }
    }

    #[test]
    fn pieces_are_told_once_and_the_end_holds_what_only_the_end_knows() {
        let whole = json!({"type": "ai", "id": "r-0", "content": "Tea.", "usage_metadata": {"input_tokens": 3}});
        let tool = json!({"type": "tool", "id": "x", "tool_call_id": "c", "content": "hot"});
        let events = [text("Te"), text("a."), message(&whole), message(&tool)];
        let told = frames(&["messages-tuple"], &events);
        let kinds: Vec<_> = told.iter().map(|(_, data)| &data[0]["type"]).collect();
        assert_eq!(
            kinds,
            ["AIMessageChunk", "AIMessageChunk", "AIMessageChunk", "tool"]
        );
        assert_eq!(told[1].1[0]["content"], "a.");
        assert_eq!(told[2].1[0]["content"], "");
        assert_eq!(told[2].1[0]["usage_metadata"]["input_tokens"], 3);
        assert_eq!(told[0].1[1]["run_id"], "r");
    }

    #[test]
    fn a_message_grows() {
        let events = [text("Te"), call(Some("c"), "{\"a\":"), call(None, "1}")];
        let told = frames(&["messages"], &events);
        let names: Vec<_> = told.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "messages/metadata",
                "messages/partial",
                "messages/partial",
                "messages/partial"
            ]
        );
        assert_eq!(told[2].1[0]["tool_calls"][0]["args"], json!({}));
        let expect = json!([{"name": "look", "args": {"a": 1}, "id": "c", "type": "tool_call"}]);
        assert_eq!(told[3].1[0]["tool_calls"], expect);
    }

    #[test]
    fn a_model_that_is_asked_again_begins_anew() {
        let retry = RunEvent::Retry {
            id: "r-0".into(),
            failure: "it is busy".into(),
        };
        let told = frames(
            &["messages", "messages-tuple"],
            &[text("Half"), retry, text("All")],
        );
        let last = told.last().expect("there are some");
        assert_eq!(last.1[0]["content"], "All");
        assert!(
            told.iter()
                .any(|(name, data)| *name == "messages" && data[0]["type"] == "ai"),
            "what was told in pieces is taken back"
        );
    }

    #[test]
    fn an_end_says_how() {
        let events = [
            RunEvent::Interrupted {
                questions: vec![Question {
                    id: "c".into(),
                    value: json!({"question": "Which?"}),
                }],
            },
            RunEvent::Ended {
                status: RunStatus::Error,
                error: Some("broken".into()),
                stop_reason: None,
            },
        ];
        let told = frames(&["values", "updates"], &events);
        let names: Vec<_> = told.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["updates", "values", "error", "end"]);
        assert_eq!(told[0].1["__interrupt__"][0]["value"]["question"], "Which?");
        assert_eq!(told[2].1["message"], "broken");
        assert_eq!(told[3].1["status"], "error");
    }

    #[test]
    fn only_what_is_asked_for() {
        let ended = RunEvent::Warning {
            message: "odd".into(),
        };
        assert!(frames(&["values"], &[text("x"), ended.clone()]).is_empty());
        assert_eq!(frames(&["custom"], &[ended])[0].1["event"], "warning");
    }
}
