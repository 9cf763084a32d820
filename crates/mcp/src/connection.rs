//! A connection to a server: made, used, found broken.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, Tool};
use rmcp::service::{ClientInitializeError, Peer, RoleClient, RunningService, serve_client};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, Command};

use crate::settings::{McpError, Place};

/// Letters of what a program wrote to its standard error that are told when it does not begin.
const LAST_WORDS: usize = 600;

/// An open connection. Dropped, it ends, and so does a program that was begun for it.
pub(crate) struct Connection(RunningService<RoleClient, ()>);

impl Connection {
    /// Makes one.
    pub(crate) async fn open(place: &Place) -> Result<Self, McpError> {
        match place {
            Place::Command { command, args, env } => begun(command, args, env).await,
            Place::Url { url, headers } => reached(url, headers).await,
        }
    }

    /// To ask by, also while others do.
    pub(crate) fn peer(&self) -> Peer<RoleClient> {
        self.0.peer().clone()
    }

    /// It broke, or the program ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.is_closed() || self.0.peer().is_transport_closed()
    }

    /// Ends it; a program is asked to end, then made to.
    pub(crate) async fn end(self) {
        // Whoever does not end has been killed.
        let _ = self.0.cancel().await;
    }
}

/// The tools of a server.
pub(crate) async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, McpError> {
    peer.list_all_tools().await.map_err(failed)
}

/// Calls a tool.
pub(crate) async fn call(
    peer: &Peer<RoleClient>,
    tool: String,
    arguments: JsonObject,
) -> Result<CallToolResult, McpError> {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    peer.call_tool(params).await.map_err(failed)
}

fn failed(why: ServiceError) -> McpError {
    match why {
        ServiceError::McpError(error) => McpError::Refused(error.message.to_string()),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => McpError::Gone,
        other => McpError::Refused(other.to_string()),
    }
}

async fn begun(
    command: &str,
    args: &[String],
    env: &[(String, String)],
) -> Result<Connection, McpError> {
    let mut program = Command::new(command);
    program.args(args).kill_on_drop(true);
    program.envs(env.iter().map(|(name, value)| (name, value)));
    // Ctrl-C at the terminal stops a run, not the servers.
    #[cfg(unix)]
    program.process_group(0);
    let started = TokioChildProcess::builder(program)
        .stderr(Stdio::piped())
        .spawn();
    let (transport, errors) = started.map_err(|why| McpError::Start {
        command: command.to_owned(),
        why: why.to_string(),
    })?;
    let words = Words::default();
    let reading = errors.map(|errors| tokio::spawn(words.clone().listen(errors)));
    match serve_client((), transport).await {
        Ok(running) => Ok(Connection(running)),
        Err(why) => {
            // The program has ended or is about to: what it wrote last says why.
            if let Some(reading) = reading {
                let _ = tokio::time::timeout(std::time::Duration::from_millis(500), reading).await;
            }
            Err(refused(&why, &words.last()))
        }
    }
}

async fn reached(url: &str, headers: &[(String, String)]) -> Result<Connection, McpError> {
    let client = conspectus_providers::http_client(url, false)
        .map_err(|why| McpError::Address(why.to_string()))?;
    let mut all = HashMap::new();
    for (name, value) in headers {
        // The value may be a key.
        let wrong = || McpError::Address(format!("the header {name} cannot be sent"));
        let mut said = value.parse::<http::HeaderValue>().map_err(|_| wrong())?;
        said.set_sensitive(true);
        all.insert(name.parse().map_err(|_| wrong())?, said);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(all);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    match serve_client((), transport).await {
        Ok(running) => Ok(Connection(running)),
        Err(why) => Err(refused(&why, "")),
    }
}

fn refused(why: &ClientInitializeError, words: &str) -> McpError {
    let mut text = match why {
        why if why.is_authorization_required() => {
            "it asks for authorization; give it a header".to_owned()
        }
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => without_url(&error.to_string()),
        other => other.to_string(),
    };
    if !words.is_empty() {
        text.push_str("; its last words: ");
        text.push_str(words);
    }
    McpError::Handshake(text)
}

/// What went wrong, without the types in front and without an address, whose query may be a key.
fn without_url(text: &str) -> String {
    let text = text.rsplit_once("] error: ").map_or(text, |(_, why)| why);
    match text.split_once(" for url (") {
        Some((before, after)) => {
            let after = after.split_once(')').map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => text.to_owned(),
    }
}

/// What a program writes to its standard error: its end is kept.
#[derive(Clone, Default)]
struct Words(Arc<Mutex<Vec<u8>>>);

impl Words {
    async fn listen(self, mut from: ChildStderr) {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&piece[..count]);
            let over = kept.len().saturating_sub(LAST_WORDS);
            kept.drain(..over);
        }
    }

    fn last(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" / ")
    }
}
