//! Tools of ours for MCP clients, over standard input and output.

use std::sync::Arc;

use conspectus::ToolSpec;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, serve_server};
use rmcp::{ServerHandler, transport};
use tokio::sync::Mutex;

use crate::settings::McpError;

/// A tool that is offered.
#[derive(Clone, Debug)]
pub struct Offered {
    /// As clients are told of it.
    pub spec: ToolSpec,
    /// It changes nothing.
    pub is_read_only: bool,
}

/// Whoever has tools to offer.
pub trait Offers: Send + 'static {
    /// All of them.
    fn tools(&self) -> Vec<Offered>;

    /// What a client is told of how to use them.
    fn instructions(&self) -> String;

    /// Performs a call. It may take its time: it is called where that holds nobody up, one call after the other.
    ///
    /// # Errors
    /// In words that say what to try.
    fn call(&mut self, tool: &str, arguments: JsonObject) -> Result<String, String>;
}

/// Serves a client until its end of the input.
///
/// # Errors
/// When it does not speak as a client should.
pub async fn serve(offers: impl Offers) -> Result<(), McpError> {
    let handler = Handler {
        tools: offers.tools(),
        instructions: offers.instructions(),
        offers: Arc::new(Mutex::new(Box::new(offers))),
    };
    let running = serve_server(handler, transport::stdio()).await;
    let running = running.map_err(|why| McpError::NoClient(why.to_string()))?;
    // How it ended is the client's business.
    let _ = running.waiting().await;
    Ok(())
}

struct Handler {
    tools: Vec<Offered>,
    instructions: String,
    offers: Arc<Mutex<Box<dyn Offers>>>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        let about = Implementation::new("conspectus", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(tools)
            .with_server_info(about)
            .with_instructions(self.instructions.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |offered: &Offered| {
            let schema = offered.spec.parameters.as_object().cloned();
            let (name, about) = (&offered.spec.name, &offered.spec.description);
            let tool = Tool::new(
                name.to_string(),
                about.to_string(),
                schema.unwrap_or_default(),
            );
            tool.with_annotations(ToolAnnotations::new().read_only(offered.is_read_only))
        };
        let tools = self.tools.iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let is_there = |offered: &Offered| *offered.spec.name == *request.name;
        if !self.tools.iter().any(is_there) {
            let why = format!("there is no tool {}", request.name);
            return Err(ErrorData::invalid_params(why, None));
        }
        let mut offers = self.offers.clone().lock_owned().await;
        let work = move || offers.call(&request.name, request.arguments.unwrap_or_default());
        let said = tokio::task::spawn_blocking(work).await;
        let result = match said {
            Ok(Ok(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(Err(why)) => CallToolResult::error(vec![ContentBlock::text(why)]),
            Err(_) => return Err(ErrorData::internal_error("a fault; please report it", None)),
        };
        Ok(result.into())
    }
}
