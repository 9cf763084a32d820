//! Questions to the user: the run stops at one, and the answer takes it up again.

use std::future::ready;
use std::sync::Arc;

use conspectus::{Boxed, ToolSpec};
use serde_json::{Value, json};

use super::{Middleware, NextTool};
use crate::context::RunContext;
use crate::tool::{Tool, ToolCall, ToolOutcome, ToolResult, schema};

/// The tool that asks.
const ASK: &str = "ask_clarification";

/// Stops the run where the model asks the user. The call stays open, whatever is compacted meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clarification;

impl Middleware for Clarification {
    fn name(&self) -> &'static str {
        "clarification"
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(Ask)]
    }

    fn wrap_tool_call<'a>(
        &'a self,
        _: &'a RunContext,
        call: &'a ToolCall,
        next: NextTool<'a>,
    ) -> Boxed<'a, ToolOutcome> {
        match call.text("question").filter(|_| *call.name == *ASK) {
            Some(question) => {
                let options = call.args.as_ref().and_then(|args| args.get("options"));
                let value =
                    json!({"question": question, "options": options.unwrap_or(&Value::Null)});
                Box::pin(ready(ToolOutcome::Ask(value)))
            }
            None => next.run(call),
        }
    }
}

struct Ask;

impl Tool for Ask {
    fn spec(&self) -> ToolSpec {
        let mut parameters = schema(&[
            ("question", "string", "The question"),
            ("?options", "array", "Answers to choose from"),
        ]);
        parameters["properties"]["options"]["items"] = json!({"type": "string"});
        ToolSpec {
            name: ASK.into(),
            description: "Asks the user and waits for the answer. Only for what cannot be found out otherwise.".into(),
            parameters,
        }
    }

    fn call<'a>(&'a self, _: &'a RunContext, _: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(ready(ToolResult::error("`question` is missing")))
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}
