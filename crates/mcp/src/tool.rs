//! A server's tool as an agent's.

use std::sync::Arc;

use conspectus::{Boxed, ToolSpec};
use conspectus_agent::{RunContext, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value};

use crate::content;
use crate::server::Server;
use crate::settings::McpError;

/// Letters of what a server says about a tool that a model is told.
const MAX_DESCRIPTION: usize = 2_000;

/// A tool of a server.
#[derive(Clone, Debug)]
pub struct McpTool {
    server: Arc<Server>,
    there: String,
    spec: ToolSpec,
}

impl McpTool {
    pub(crate) fn new(server: Arc<Server>, name: Arc<str>, tool: rmcp::model::Tool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        let description: String = description
            .unwrap_or_default()
            .chars()
            .take(MAX_DESCRIPTION)
            .collect();
        Self {
            server,
            there: tool.name.into_owned(),
            spec: ToolSpec {
                name,
                description: description.into(),
                parameters: Value::Object((*tool.input_schema).clone()),
            },
        }
    }

    /// Its name for models.
    pub fn name(&self) -> &Arc<str> {
        &self.spec.name
    }

    /// Its name at the server.
    pub fn name_there(&self) -> &str {
        &self.there
    }

    /// What the server says about it.
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// Calls it. Whatever goes wrong is a result.
    pub async fn perform(&self, args: Map<String, Value>) -> ToolResult {
        let server = &self.server.settings;
        let result = match self.server.call(self.there.clone(), args).await {
            Ok(result) => {
                let text = content::text(&result);
                match result.is_error {
                    Some(true) => ToolResult::error(text),
                    _ => ToolResult::text(text),
                }
            }
            Err(why) => {
                let advice = match &why {
                    McpError::Gone => {
                        ", and whether the call had an effect is not known; the next call starts it again"
                    }
                    McpError::Silent(_) => "; ask for less, or do without it",
                    McpError::Refused(_) => "",
                    _ => "; do without it",
                };
                ToolResult::error(format!("MCP server {}: {why}{advice}", server.name))
            }
        };
        result.capped(server.max_result_chars)
    }
}

impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call<'a>(&'a self, _: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move {
            match &call.args {
                Some(args) => self.perform(args.clone()).await,
                None => ToolResult::error("the arguments are no JSON object; write them again"),
            }
        })
    }
}
