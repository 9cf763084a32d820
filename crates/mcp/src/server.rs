//! All servers: begun, asked for their tools, ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{CallToolResult, JsonObject, Tool};
use rmcp::service::{Peer, RoleClient};
use tokio::sync::Mutex;

use crate::connection::{self, Connection};
use crate::name::free;
use crate::settings::{McpError, McpSettings};
use crate::tool::McpTool;

/// The servers that agents have tools of.
#[derive(Clone)]
pub struct McpServers(Vec<Arc<Server>>);

/// The tools of a server, or why there are none.
#[derive(Debug)]
pub struct Listed {
    /// The server.
    pub name: Arc<str>,
    /// Its tools, by name.
    pub tools: Result<Vec<McpTool>, McpError>,
}

impl McpServers {
    /// None of them is begun yet.
    pub fn new(all: impl IntoIterator<Item = McpSettings>) -> Self {
        let server = |settings| {
            Arc::new(Server {
                settings,
                connection: Mutex::default(),
            })
        };
        Self(all.into_iter().map(server).collect())
    }

    /// Begins all, side by side, and asks each for its tools; in the order in which they were given.
    pub async fn connect(&self) -> Vec<Listed> {
        let asking: Vec<_> = self
            .0
            .iter()
            .map(|server| {
                let server = server.clone();
                tokio::spawn(async move { server.tools().await })
            })
            .collect();
        let mut taken = BTreeSet::new();
        let mut all = Vec::with_capacity(self.0.len());
        for (server, asked) in self.0.iter().zip(asking) {
            let tools = asked.await.unwrap_or(Err(McpError::Gone));
            let mut named = |tool: Tool| {
                let name = free(&server.settings.name, &tool.name, &mut taken);
                McpTool::new(server.clone(), name.into(), tool)
            };
            all.push(Listed {
                name: server.settings.name.clone(),
                tools: tools.map(|tools| tools.into_iter().map(&mut named).collect()),
            });
        }
        all
    }

    /// Ends all that were begun.
    pub async fn end(&self) {
        for server in &self.0 {
            if let Some(connection) = server.connection.lock().await.take() {
                connection.end().await;
            }
        }
    }
}

/// One of them.
pub(crate) struct Server {
    pub(crate) settings: McpSettings,
    connection: Mutex<Option<Connection>>,
}

impl Server {
    /// Its tools that agents may have, by name.
    async fn tools(&self) -> Result<Vec<Tool>, McpError> {
        let limit = self.settings.start;
        let asking = async { connection::tools(&self.peer().await?).await };
        let asked = tokio::time::timeout(limit, asking).await;
        let mut tools = asked.map_err(|_| McpError::Silent(limit))??;
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        tools.dedup_by(|one, other| one.name == other.name);
        let Some(wanted) = &self.settings.tools else {
            return Ok(tools);
        };
        let there = |name: &Arc<str>| tools.iter().any(|tool| *tool.name == **name);
        if let Some(unknown) = wanted.iter().find(|name| !there(name)) {
            let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
            return Err(McpError::NoTool {
                unknown: unknown.to_string(),
                there: names.join(", "),
            });
        }
        tools.retain(|tool| wanted.iter().any(|name| **name == *tool.name));
        Ok(tools)
    }

    /// Calls a tool. Nothing is called twice: whether a call that broke off had an effect is not known.
    pub(crate) async fn call(
        &self,
        tool: String,
        arguments: JsonObject,
    ) -> Result<CallToolResult, McpError> {
        let start = self.settings.start;
        let peer = tokio::time::timeout(start, self.peer()).await;
        let peer = peer.map_err(|_| McpError::Silent(start))??;
        let limit = self.settings.timeout;
        let called = tokio::time::timeout(limit, connection::call(&peer, tool, arguments)).await;
        called.map_err(|_| McpError::Silent(limit))?
    }

    /// The connection, made where there is none or it broke.
    async fn peer(&self) -> Result<Peer<RoleClient>, McpError> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| !open.is_gone()) {
            return Ok(open.peer());
        }
        // What is left of the old one goes first.
        *connection = None;
        let open = Connection::open(&self.settings.place).await?;
        let peer = open.peer();
        *connection = Some(open);
        Ok(peer)
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Server").field(&self.settings.name).finish()
    }
}
