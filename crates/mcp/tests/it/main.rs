//! Servers as they are: a program, and one over HTTP.

mod http;
mod program;

#[path = "../scripted/answers.rs"]
mod answers;

use conspectus_agent::ToolResult;
use conspectus_mcp::{McpServers, McpSettings, McpTool};
use serde_json::{Map, Value, json};

/// The tools of the only server.
async fn only(servers: &McpServers) -> Vec<McpTool> {
    let mut all = servers.connect().await;
    let listed = all.pop().expect("one server");
    listed.tools.expect("it has tools")
}

/// Calls a tool by the server's name for it.
async fn call(tools: &[McpTool], name: &str, args: Value) -> ToolResult {
    let tool = tools.iter().find(|tool| tool.name_there() == name);
    let args = match args {
        Value::Object(args) => args,
        _ => Map::new(),
    };
    tool.expect("it is there").perform(args).await
}

#[track_caller]
fn check(result: &ToolResult, is_error: bool, text: &str) {
    assert_eq!((result.is_error, &*result.content), (is_error, text));
}

/// What both kinds of servers are asked.
async fn is_a_server(settings: McpSettings) {
    let servers = McpServers::new([settings]);
    let tools = only(&servers).await;
    let names: Vec<&str> = tools.iter().map(|tool| &**tool.name()).collect();
    let expected = ["dies", "echo", "fails", "long", "refuses", "sleeps", "word"];
    assert_eq!(names, expected.map(|name| format!("mcp__boiler__{name}")));
    assert_eq!(tools[1].description(), "It echo.");
    check(
        &call(&tools, "echo", json!({"text": "hello"})).await,
        false,
        "hello",
    );
    check(
        &call(&tools, "fails", json!({})).await,
        true,
        "Error: there is no ticket 7",
    );
    check(
        &call(&tools, "refuses", json!({})).await,
        true,
        "Error: MCP server boiler: the ticket must be a number",
    );
    let long = call(&tools, "long", json!({})).await;
    assert!(long.content.len() == 1_000 && long.content.contains("\n...\n"));
    // Several at once.
    let said = ["a", "b", "c", "d"].map(|text| call(&tools, "echo", json!({ "text": text })));
    let mut got = Vec::new();
    for said in said {
        got.push(said.await.content);
    }
    assert_eq!(
        got.iter().map(|text| &**text).collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
    servers.end().await;
}
