//! Tools of MCP servers, for `chat` and in `conspectus mcp`.

use std::io::Write as _;
use std::process::Stdio;

use conspectus_testkit::server::{HttpServer, Step};
use serde_json::{Value, json};

use crate::scripted::{body, called, is_agent, said};
use crate::support::{Place, Ran};

/// An MCP server over HTTP with one tool, which asks for a key.
fn tickets() -> HttpServer {
    HttpServer::start(|_, asked| {
        let json = [("content-type", "application/json")];
        if asked.header("x-key") != Some("k-17") {
            return Step::answer(401, &json, "{}");
        }
        let Ok(message) = serde_json::from_str::<Value>(&asked.body) else {
            return Step::answer(405, &json, "");
        };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "tickets", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "find", "description": "Finds a ticket.\nSlowly.", "inputSchema": {"type": "object"},
            }]}),
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": "ticket 17: the red valve leaks"}]})
            }
            _ => return Step::answer(202, &json, ""),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        Step::answer(200, &json, &answer.to_string())
    })
}

fn config(place: &Place, tickets: &HttpServer, more: &str) {
    let url = tickets.url();
    let text = format!(
        "mcp:\n  tickets:\n    url: {url}/mcp\n    headers: {{x-key: $TICKETS_KEY}}\n  gone: {{command: no-such-program}}\n{more}"
    );
    place.write("c.yaml", text.as_bytes());
}

#[test]
fn servers_and_their_tools_are_listed() {
    let (place, tickets) = (Place::new(), tickets());
    config(&place, &tickets, "");
    let mut command = place.command(&["mcp", "--config", "c.yaml"]);
    let ran = Ran::of(&command.env("TICKETS_KEY", "k-17").output().expect("runs"));
    let expect = "tickets: 1 tool\n  mcp__tickets__find  Finds a ticket.\ngone: the program no-such-program cannot be started: \
                  No such file or directory (os error 2)\n";
    assert_eq!((ran.code, ran.out.as_str()), (3, expect), "{}", ran.err);
    let ran = place.run(&["mcp", "--config", "c.yaml", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        report["servers"][0],
        json!({"name": "tickets", "tools": [], "error": "the environment variable TICKETS_KEY is not set"})
    );
    let mut command = place.command(&["mcp", "--config", "c.yaml"]);
    let ran = Ran::of(
        &command
            .env("TICKETS_KEY", "k-wrong")
            .output()
            .expect("runs"),
    );
    assert!(
        ran.out.contains("tickets: no answer as of an MCP server"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("k-wrong"), "{}", ran.out);
    place.write("none.yaml", b"models: []\n");
    let ran = place.run(&["mcp", "--config", "none.yaml"]);
    assert!(
        ran.code == 2 && ran.err.contains("there are no servers"),
        "{}",
        ran.err
    );
}

#[test]
fn an_agent_calls_a_servers_tool() {
    let (place, tickets) = (Place::new(), tickets());
    let model = HttpServer::start(|_, asked| match is_agent(asked) {
        false => said("A ticket was looked for."),
        true if asked.body.contains("red valve") => said("The red valve leaks."),
        true => called("", "c1", "mcp__tickets__find", &json!({"id": 17})),
    });
    config(
        &place,
        &tickets,
        "agents:\n  lead: {tools: [mcp__tickets, mcp__gone__look]}\n",
    );
    let url = format!("{}/v1", model.url());
    let args = [
        "chat",
        "--config",
        "c.yaml",
        "--model",
        "m",
        "--base-url",
        &url,
        "--store",
        "sqlite:chat.db",
    ];
    let mut command = place.command(&args);
    Place::without_keys(&mut command);
    let mut child = command
        .env("TICKETS_KEY", "k-17")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"What is ticket 17?\n").expect("it reads");
    drop(stdin);
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "The red valve leaks.\n"),
        "{}",
        ran.err
    );
    assert!(
        ran.err
            .contains("MCP server gone: the program no-such-program cannot be started"),
        "{}",
        ran.err
    );
    // Only what the agent may have, which is the server's tool and those that belong to its middleware.
    let tools = body(&model.asked()[0])["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert!(
        names.contains(&"mcp__tickets__find") && !names.contains(&"read_file"),
        "{names:?}"
    );
}
